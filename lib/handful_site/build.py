"""Build the book: ``python -m handful_site.build [bundle | notebooks | chapter NAME]``.

Without an argument the whole book is built.  Steps: scenario rows and scripts (esbuild), pages
(Jupyter Book, warnings are errors), notebooks for download, then the finish that sets the maths and
leaves nothing inline.  All output goes to ``_build``.

jupyter-cache looks at a notebook's cells only, so a change in the package would publish stale
mathematics. Hence pages and executed cells are kept in a folder named after a hash of the package
and of the lock file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import yaml

from handful.scenario import page_rows
from handful_study import export
from handful_study.book import address

from . import bootstrap, inpage, notebooks, postprocess, wheel
from .contents import chapters

ROOT = bootstrap.ROOT
BUILD = ROOT / "_build"
SITE = ROOT / os.environ.get(
    "HANDFUL_SITE", "_build/html"
)  # tests look at a book elsewhere too, as `make publish` asks them to
SCRIPTS = BUILD / "js"
NOTEBOOKS = BUILD / "notebooks"
WHEELS = BUILD / "wheels"
KEEP = 2
START = time.monotonic()


def say(text: str) -> None:
    """Print one line of progress."""
    print(f"[{time.monotonic() - START:6.1f} s] {text}", flush=True)


def stop(text: str) -> NoReturn:
    """Print the reason and exit with an error."""
    print(f"\n{text}", file=sys.stderr)
    raise SystemExit(1)


def digest(paths) -> str:
    """Return the SHA-256 of names and contents, 16 digits."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()[:16]


def package_files(scripts: bool) -> list[Path]:
    """Return the files that scripts are bundled from, or those that cells and pages depend on.

    Of the packages, cells and pages depend on all but this one, and on this one's extensions and
    theme.
    """
    library, site = ROOT / "lib", Path(__file__).parent
    files = [p for p in library.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    if scripts:
        return [p for p in files if p.suffix in (".js", ".mjs", ".css", ".svg", ".json")]
    return [
        p
        for p in files
        if p.suffix in (".py", ".csv", ".json", ".toml", ".html")
        and (
            not p.is_relative_to(site)
            or p.is_relative_to(site / "extensions")
            or p.is_relative_to(site / "theme")
        )
    ]


def node() -> list[str]:
    """Return the command for Node, or exit where there is none."""
    command = bootstrap.node_command()
    if command is None:
        stop("Node is missing; run `make tools`.")
    return command


def bundle() -> None:
    """Write scenario rows, then scripts and sheets, into ``_build/js``.

    The step is skipped while the sources are unchanged.
    """
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    rows = SCRIPTS / "rows.json"
    text = json.dumps(page_rows(), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if not rows.exists() or rows.read_text("utf-8") != text:
        rows.write_text(text, "utf-8")
    stamp, want = (
        SCRIPTS / ".made-from",
        digest([*package_files(scripts=True), rows, ROOT / "package-lock.json"]),
    )
    if stamp.exists() and stamp.read_text() == want:
        return
    say("scripts and style sheets (esbuild)")
    script = Path(__file__).with_name("bundle.mjs")
    done = subprocess.run(
        [*node(), str(script), str(SCRIPTS)], cwd=ROOT, capture_output=True, text=True
    )
    sys.stderr.write(done.stderr)
    if done.returncode:
        stop("The page's scripts could not be bundled; esbuild says why above.")
    stamp.write_text(want)


def work_folder() -> Path:
    """Return the folder of Sphinx's output for the package as it is now, which may not exist."""
    return BUILD / "book" / digest([*package_files(scripts=False), ROOT / "requirements.lock"])


def fresh_folder() -> Path:
    """Return the folder of Sphinx's output for the package as it is now; remove older ones."""
    folder = work_folder()
    if not folder.exists():
        say("the package has changed (or this is the first build): every cell runs again")
        folder.mkdir(parents=True)
    os.utime(folder)
    for old in sorted(folder.parent.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)[
        KEEP:
    ]:
        shutil.rmtree(old)
    return folder


def elsewhere(line: str) -> bool:
    """Return whether a warning about one chapter only misses what the whole book has."""
    if found := re.search(r"could not find bibtex key \"(.+?)\"", line):
        sources = (ROOT / "book" / "references.bib").read_text("utf-8")
        return re.search(rf"^@\w+\{{{re.escape(found[1])},", sources, re.M) is not None
    if found := re.search(r"(?:Unknown source document|target not found:) '(.+?)'", line):
        label = f"({found[1]})="
        return (ROOT / "book" / f"{found[1]}.md").exists() or any(
            label in path.read_text("utf-8") for path in (ROOT / "book").glob("*.md")
        )
    return False


def sphinx(folder: Path, toc: dict, whole: bool) -> tuple[Path, list[str]]:
    """Run Jupyter Book with progress, and return the folder of raw pages and the errors.

    In the whole book warnings are errors, and pages offer their notebooks. A single chapter is
    built in spite of its errors, and what only the whole book has is no error.
    """
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    config["sphinx"]["config"]["html_theme_options"] = {"notebooks": "yes" if whole else ""}
    config["execute"]["cache"] = str(folder / "cache")
    (folder / "config.yml").write_text(
        yaml.safe_dump(config, sort_keys=False, allow_unicode=True), "utf-8"
    )
    (folder / "toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), "utf-8")
    pages = chapters(toc)
    command = [
        str(Path(sys.executable).with_name("jupyter-book")),
        "build",
        str(ROOT / "book"),
        "--path-output",
        str(folder),
        "--config",
        str(folder / "config.yml"),
        "--toc",
        str(folder / "toc.yml"),
        *(["-W", "--keep-going"] if whole else []),
    ]
    # One hash seed and no colours: the same source gives the same pages.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    log, errors, done = [], [], 0
    for line in process.stdout or ():
        line = re.sub(r"\x1b\[[\d;]*m", "", line)
        log.append(line)
        if found := re.search(
            r"(reading sources|writing output)\.\.\. \[\s*\d+%\].*?([\w./-]+)\s*$", line
        ):
            done = done + 1 if found[1] == "reading sources" else done
            if found[1] == "reading sources":
                say(f"    page {done} of at most {len(pages)}: {found[2]}")
        elif (
            re.search(r"WARNING|ERROR|Error:|Exception", line)
            and "TCP without encryption" not in line
            and (whole or not elsewhere(line))
        ):
            print("    " + line.rstrip(), flush=True)
            errors.append(line.rstrip())
    code = process.wait()
    raw = folder / "_build" / "html"
    (folder / "log.txt").write_text("".join(log), "utf-8")
    if code or not raw.exists():
        for report in sorted((raw / "reports").rglob("*.err.log")) if raw.exists() else ():
            print(f"\n{report.name}:\n{report.read_text('utf-8')[-4000:]}", file=sys.stderr)
        stop(
            f"The book did not build; the warnings and errors are above, the whole log in "
            f"{(folder / 'log.txt').relative_to(ROOT)}."
        )
    return raw, errors


def publish(raw: Path, site: Path, base: str = "") -> None:
    """Finish the pages into `site`, at the address `base`."""
    say("maths, icons and policy: finishing the pages")
    try:
        pages = postprocess.finish(raw, site, SCRIPTS, node(), ROOT, NOTEBOOKS, base)
    except postprocess.FinishError as error:
        stop(str(error))
    say(f"{len(pages)} pages in {site.relative_to(ROOT)}")


def package() -> Path:
    """Build the wheel of this package; after bundle(), whose script it holds."""
    sources = [
        p
        for folder in ("lib", "exercises")
        for p in (ROOT / folder).rglob("*")
        if p.is_file() and "__pycache__" not in p.parts
    ]
    try:
        return wheel.build(
            ROOT, WHEELS, digest([*sources, ROOT / "pyproject.toml", SCRIPTS / ".made-from"])
        )
    except RuntimeError as error:
        stop(str(error))


def make_notebooks(pages: list[str], base: str = "") -> None:
    """Write the chapters as notebooks, into NOTEBOOKS."""
    site = base or address()
    made = notebooks.convert(
        ROOT / "book", NOTEBOOKS, pages, package(), site and site.rstrip("/") + "/"
    )
    say(f"{len(made)} notebooks in {NOTEBOOKS.relative_to(ROOT)}")


def raw_pages(base: str = "") -> Path:
    """Build all pages, with warnings as errors, and the files beside them.

    Return the folder of raw pages.
    """
    bundle()
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    folder = fresh_folder()
    say(f"pages: {len(chapters(toc))} (Jupyter Book)")
    raw, _ = sphinx(folder, toc, whole=True)
    make_notebooks(chapters(toc), base)
    if missing := inpage.prepare(ROOT / "node_modules" / "pyodide", BUILD / "pyodide", package()):
        say(missing)
    files = export.site_files(raw / "_static" / "downloads")
    say(f"cards to take along: {', '.join(path.name for path in files)}")
    return raw


def book(site: Path = SITE, base: str = "") -> None:
    """Build the whole book."""
    publish(raw_pages(base), site, base)


def chapter(name: str) -> None:
    """Build one chapter into ``_build/chapter``, and exit with an error where it has any.

    Links to other chapters lead nowhere.
    """
    known = chapters(yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8")))
    if name not in known:
        stop(f"There is no chapter {name!r}; make chapter NAME=… takes one of: {', '.join(known)}.")
    bundle()
    state = digest([*package_files(scripts=False), ROOT / "requirements.lock"])
    folder = BUILD / "chapter-work" / f"{name}-{state}"
    for old in folder.parent.glob(f"{name}-*"):
        if old != folder:
            shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    say(f"{name} (Jupyter Book)")
    raw, errors = sphinx(folder, {"format": "jb-book", "root": name}, whole=False)
    publish(raw, BUILD / "chapter")
    if errors:
        # A page that is not read again would be silent about them.
        shutil.rmtree(folder / "_build" / ".doctrees")
        lines = "\n".join(f"    {line}" for line in errors)
        stop(f"{name} is built, but with warnings or errors:\n{lines}")


def main(arguments: list[str]) -> None:
    """Run the step that the command line names."""
    match arguments:
        case []:
            book()
        case ["bundle"]:
            bundle()
        case ["notebooks"]:
            toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
            bundle()
            make_notebooks(chapters(toc))
        case ["chapter", name]:
            chapter(name)
        case _:
            stop("Usage: python -m handful_site.build [bundle | notebooks | chapter NAME]")


if __name__ == "__main__":
    main(sys.argv[1:])
