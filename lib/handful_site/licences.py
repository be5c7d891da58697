"""The licences of the third-party parts of a published book, in one file beside its scripts.

bundle.mjs writes the first part, of the npm packages in our scripts and of the fonts.  ``write``
adds the Python packages whose parts the pages hold, and what those include.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

# Distributions whose sheets or modules are on the site: the colours of code, then Python in the
# page.
PACKAGES = (
    "Pygments",
    "accessible-pygments",
    "SymPy",
    "mpmath",
)
# Carried inside of them without a licence of their own; the copyright lines are the makers'.
MIT = {
    "latex2mathml": "Copyright (c) 2016 Ronie Martinez",
}
OFL = {
    "KaTeX's fonts": "Copyright (c) 2009-2010, Design Science, Inc. (www.mathjax.org)\n"
    "Copyright (c) 2014-2018 Khan Academy (www.khanacademy.org),\n"
    "with Reserved Font Names KaTeX_Main, KaTeX_Math and the like, one for each font.",
}
PYODIDE = """Its source is at https://github.com/pyodide/pyodide.  Compiled into it, \
under terms that their sources carry:
Emscripten and musl (MIT), CPython (below), zlib, bzip2, liblzma, Zstandard, SQLite, libffi, \
Expat, mpdecimal, HACL*."""

RULE = "=" * 78
FIRST = (
    "What the pages of this book hold of others, each with its licence.  The book's own stand "
    "on the page About."
)


def licence(name: str) -> str:
    """Return the licence that an installed distribution carries.

    Raises
    ------
    FileNotFoundError
        Where it carries none.

    >>> "Redistribution and use" in licence("Sphinx")
    True
    """
    found = [
        path
        for path in metadata.files(name) or ()
        if path.name.split(".")[0].upper() in ("LICENSE", "LICENCE", "COPYING")
        and ".dist-info" in str(path)
    ]
    if not found:
        raise FileNotFoundError(
            f"The package {name} carries no licence; name its licence in licences.py."
        )
    return found[0].read_text("utf-8").strip()


def notices(npm: Path) -> dict[str, str]:
    """Return the licences of what the site holds besides npm packages, by name.

    `npm` is the folder node_modules.
    """

    def body(path: str, start: str) -> str:
        text = (npm / path).read_text("utf-8")
        return text[text.index(start) :].strip()

    mit, ofl = (
        body("katex/LICENSE", "Permission is hereby granted"),
        body("@fontsource/source-serif-4/LICENSE", "SIL OPEN FONT LICENSE"),
    )
    return {
        **{name: licence(name) for name in PACKAGES},
        **{name: f"The MIT License (MIT)\n\n{line}\n\n{mit}" for name, line in MIT.items()},
        **{
            name: f"{line}\n\nThis Font Software is licensed under the SIL Open Font License, "
            f"Version 1.1.\n\n{ofl}"
            for name, line in OFL.items()
        },
        # axe-core is a tool of our tests under the same licence as Pyodide, whose package brings no
        # text of it.
        "Pyodide": f"{PYODIDE}\n\n{body('axe-core/LICENSE', 'Mozilla Public License')}",
        # The text of this small package is CPython's own.
        "CPython and its standard library": licence("typing_extensions"),
    }


def write(folder: Path, npm: Path) -> None:
    """Write licences.txt in `folder`, after what bundle.mjs wrote there."""
    path = folder / "licences.txt"
    scripts = [path.read_text("utf-8").strip()] if path.exists() else []
    parts = [f"{RULE}\n{name}\n{RULE}\n\n{text}" for name, text in notices(npm).items()]
    path.write_text("\n\n\n".join([FIRST, *scripts, *parts]) + "\n", "utf-8")
