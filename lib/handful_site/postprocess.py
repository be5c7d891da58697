"""The finish of the site: maths set, nothing inline, and nothing loaded from elsewhere.

``finish(raw, site, scripts)`` reads the folder that Sphinx made, writes the site beside it, and
leaves the input as it was, so it can run again.  Every page then complies with POLICY, which has no
``unsafe-`` keyword.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Comment, Tag

from handful.query import registry
from handful.symbolic.quantities import table

from . import (
    asset_bundle,
    book_files,
    formula_cells,
    icons,
    inpage,
    jumps,
    letters,
    licences,
    offline,
    page_metadata,
    search,
    wheel,
)
from .edition import address
from .elements import classes, having, one, set_classes, value
from .theme import POLICY

# Sphinx's and its extensions' scripts and sheets, which no page asks for, and its own records.
UNWANTED_FILES = ("*.js", "*.css", ".buildinfo*", ".doctrees", "locales", "objects.inv")
# The sheets of the site, in the order in which they count.
SHEETS = ("katex/katex.css", "handful.css", "code.css", "styles.css")
CODE_COLORS = {"light": "a11y-high-contrast-light", "dark": "a11y-high-contrast-dark"}
STYLE = re.compile(r' style="([^"]*)"')


class FinishError(RuntimeError):
    """A fault that keeps a page from being published; the message names the page."""


class Styles:
    """The style attributes of the whole site, each turned into a class in one sheet."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.blocks: dict[str, str] = {}

    def name(self, declarations: str) -> str:
        """Return the class for these declarations."""
        rule = ";".join(part.strip() for part in declarations.split(";") if part.strip())
        # Not s1 and s2: those are strings in highlighted code, which would then stand on a lower
        # line.
        return self.names.setdefault(rule, f"st{len(self.names)}")

    def in_text(self, html: str) -> str:
        """Replace style attributes in markup by classes.

        It is meant for KaTeX's output, whose tags have class before style.
        """
        html = re.sub(
            r' class="([^"]*)" style="([^"]*)"',
            lambda m: f' class="{m[1]} {self.name(m[2])}"',
            html,
        )
        return STYLE.sub(lambda m: f' class="{self.name(m[1])}"', html)

    def sheet(self) -> str:
        """Return the style sheet with all classes."""
        # :not(#_) lifts the class above every rule with classes only, which is where an attribute
        # stood.
        rules = [f".{name}:not(#_){{{rule}}}" for rule, name in self.names.items() if rule]
        return "\n".join([*rules, *(f".{name}{{{body}}}" for body, name in self.blocks.items())])


class InText(Protocol):
    """Anything that rewrites markup, as `Styles` does."""

    def in_text(self, html: str, /) -> str:
        """Return the markup in its new form."""


class Maths:
    """The formulas of the whole site, typeset together; a page holds placeholders meanwhile."""

    def __init__(self) -> None:
        self.wanted: dict[tuple[str, bool], list[str]] = {}
        self.number: dict[tuple[str, bool], int] = {}
        # What the boxes of live numbers show, {"formulas": {name: {"latex"}}, "letters": …}: one
        # file for all pages, which a page asks for when the first box opens.
        self.asked: dict[str, dict] = {}

    def want(self, tex: str, display: bool, page: str) -> str:
        """Ask for a formula, and return the placeholder for it."""
        self.wanted.setdefault((tex, display), []).append(page)
        return f"\ue000{self.number.setdefault((tex, display), len(self.number))}\ue001"

    def typeset(self, node: list[str], root: Path, styles: InText) -> list[str]:
        """Typeset all formulas with KaTeX, and return their markup in order."""
        jobs = [{"tex": tex, "display": display} for tex, display in self.wanted]
        script = Path(__file__).with_name("typeset.mjs")
        done = subprocess.run(
            [*node, str(script)], input=json.dumps(jobs), capture_output=True, text=True, cwd=root
        )
        if done.returncode:
            raise FinishError(f"typeset.mjs stopped: {done.stderr.strip()[-2000:]}")
        results = json.loads(done.stdout)
        wrong = [
            f"{', '.join(dict.fromkeys(pages))}: {result['error']}\n    in {tex}"
            for ((tex, _), pages), result in zip(self.wanted.items(), results, strict=True)
            if "error" in result
        ]
        if wrong:
            raise FinishError("Formulas that KaTeX cannot set:\n  " + "\n  ".join(wrong))
        return [styles.in_text(result["html"]) for result in results]

    def boxes(self, formulas: list[str]) -> str:
        """Return what boxes show, as JSON.

        It holds formulas and letters as they are set; the tree of each formula that is named for
        the letter that it gives; and what letters are unless said otherwise.
        """
        set_by_kind = {
            kind: {
                name: formulas[self.number[entry["latex"], False]]
                for name, entry in sorted(entries.items())
            }
            for kind, entries in self.asked.items()
        }
        known = {
            "trees": {
                n: formula.tree() for n, formula in registry().items() if n == formula.gives.name
            },
            "defaults": {n: q.default for n, q in table.items() if q.default is not None},
        }
        return json.dumps({**set_by_kind, **known}, ensure_ascii=False, separators=(",", ":"))


def strip(soup: BeautifulSoup, page: str) -> None:
    """Remove what a kernel would use, and comments; refuse what cannot work on a page."""
    if soup.select_one('script[type="application/vnd.jupyter.widget-view+json"]'):
        raise FinishError(
            f"{page}: a cell shows a bare widget, which is dead on a page without a kernel; "
            "show an object that also has an HTML form, such as an Explorer."
        )
    # Widgets' state serves a widget manager, which no page loads.
    for tag in soup.select('script[type="application/vnd.jupyter.widget-state+json"]'):
        tag.decompose()
    for tag in soup.select("body script"):
        if "json" not in str(tag.get("type", "")):
            raise FinishError(
                f"{page}: a script stands within the text; put it into a module of the page."
            )
    for tag in soup.find_all("style"):
        if tag.find_parent("svg") is None:
            raise FinishError(
                f"{page}: a <style> stands within the text; put its rules into a sheet of the site."
            )
    for tag in soup.find_all(lambda t: any(name.startswith("on") for name in t.attrs)):
        name = next(name for name in tag.attrs if name.startswith("on"))
        raise FinishError(
            f"{page}: {name}={tag[name]!r} is a script within a tag; put it into a module."
        )
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    # For a mouse; the page's contents lead to the same places, and a heading's name stays its own.
    for link in soup.select("a.headerlink"):
        link["aria-hidden"], link["tabindex"] = "true", "-1"


def name_cells(soup: BeautifulSoup) -> None:
    """Say of a table's head cells what they head, and of sources that they are a list's entries.

    >>> soup = BeautifulSoup(
    ...     "<table><thead><tr><th> </th><th>Cost</th></tr></thead></table>", "html.parser"
    ... )
    >>> name_cells(soup)
    >>> print(soup)
    <table><thead><tr><td> </td><th scope="col">Cost</th></tr></thead></table>
    """
    for cell in soup.select("th"):
        if not cell.get_text(strip=True) and not cell.find(["img", "svg"]):
            cell.name = "td"  # an empty corner heads nothing
        elif cell.find_parent("thead") and not cell.get("scope"):
            cell["scope"] = "col"
    for entry in soup.select('[role="doc-biblioentry"]'):
        entry["role"] = "listitem"  # the older role is withdrawn, and was never one of a list's


def fold(soup: BeautifulSoup) -> None:
    """Turn an admonition of class "dropdown" into <details>.

    Its title opens it, with scripts and without.
    """
    for box in soup.select("div.admonition.dropdown"):
        box.name = "details"
        one(box, ".admonition-title").name = "summary"


def hold_back(soup: BeautifulSoup) -> None:
    """Move the contents of each card into <noscript>, on the page of all cards.

    With scripts on, they are text until the card is asked.

    Two hundred cards are forty thousand elements, which a phone would style and lay out before the
    first question.
    """
    for card in soup.select('[data-study="review"] .card[data-card]'):
        inside = soup.new_tag("noscript")
        inside.extend([child.extract() for child in list(card.contents)])
        card.append(inside)


def mark_maths(soup: Tag, page: str, maths: Maths) -> None:
    """Replace each formula by a placeholder.

    Formulas are elements with data-tex, and "latex" within our own JSON blocks.
    """
    for tag in having(soup, "data-tex"):
        tex, display = value(tag, "data-tex"), tag.name == "div" or tag.has_attr("data-display")
        if not display and len(tex) > 60:
            set_classes(tag, [*classes(tag), "is-long"])  # may scroll on a phone: see theme.css
        placeholder = maths.want(tex, display, page)
        del tag["data-tex"]
        tag.string = placeholder
    for block in soup.select('script[type="application/json"].explorer-spec'):
        data = json.loads(block.string or "null")
        if _latex_in(data, page, maths):
            block.string = _json(data)
    for block in soup.select("script#live-maths"):
        for kind, entries in json.loads(block.string or "{}").items():
            maths.asked.setdefault(kind, {}).update(entries)
            _latex_in(entries, page, maths)
        one(soup, "script#live-numbers")["data-boxes"] = (
            "../" * page.count("/") + "_static/handful/boxes.json"
        )
        block.decompose()


def _latex_in(data, page: str, maths: Maths) -> bool:
    found = False
    for part in list(
        data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    ):
        found |= _latex_in(part, page, maths)
    if isinstance(data, dict) and isinstance(data.get("latex"), str):
        data["latex_html"], found = "\ue002" + maths.want(data["latex"], False, page), True
    return found


def _json(data) -> str:
    # "<" is written so that no string can end the script element that holds it.
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def name_styles(soup: BeautifulSoup, styles: Styles) -> None:
    """Turn style attributes, and the style elements of figures, into classes."""
    for tag in soup.find_all("style"):
        # A figure's own rules ("* {stroke-linejoin: round}") must not reach the page round it.
        figure = tag.find_parents("svg")[0]
        name = styles.blocks.setdefault(tag.string or "", f"b{len(styles.blocks)}")
        set_classes(figure, [*classes(figure), name])
        tag.decompose()
    for tag in soup.find_all(style=True):
        set_classes(tag, [*classes(tag), styles.name(value(tag, "style"))])
        del tag["style"]


def set_canonical(soup: BeautifulSoup, page: str, base: str) -> None:
    """Write the page's address on the published site, at `base`, into its head."""
    if base and page not in ("404.html", "search.html"):
        one(soup, "head").append(soup.new_tag("link", rel="canonical", href=address(base, page)))


def code_colors() -> str:
    """Return the sheet with the colours of code, in light and dark."""
    from pygments.formatters import HtmlFormatter

    return "\n".join(
        HtmlFormatter(style=style).get_style_defs(f'html[data-theme="{mode}"] .highlight')
        for mode, style in CODE_COLORS.items()
    )


def _redirect(lone: BeautifulSoup) -> BeautifulSoup:
    """Return a page round the lone <meta> that Jupyter Book writes for a root of another name."""
    return BeautifulSoup(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"/>{lone}'
        "<title>A Handful of Equations</title></head><body></body></html>",
        "html.parser",
    )


def check_links(soup: BeautifulSoup, page: str) -> None:
    """Refuse anything that would make a browser ask another host.

    A test in tests/book checks the same.
    """
    for tag in soup.select(
        "script[src], img[src], link[href], iframe[src], source[src], video[src], audio[src]"
    ):
        address = str(tag.get("src") or tag.get("href") or "")
        relation: str | list[str] = tag.get("rel") or []
        if (
            urlsplit(address).netloc or address.startswith("data:")
        ) and "canonical" not in relation:
            raise FinishError(
                f"{page}: <{tag.name}> asks for {address[:80]}; pages may load this site's files "
                "only."
            )


def link_chapters(pages: dict[str, BeautifulSoup], found: dict[str, dict]) -> None:
    """Say in the reference of formulas which page's text shows each, from what the search read."""
    places = search.chapter_places(search.in_order(found))
    for soup in pages.values():
        for line in soup.select("[data-formula-chapter]"):
            place = places.get(value(line, "data-formula-chapter"))
            del line["data-formula-chapter"]
            if place is None:
                line.decompose()
                continue
            page, anchor = place
            head = soup.new_tag("strong", string="In the book:")
            link = soup.new_tag("a", href=f"{page}#{anchor}", string=found[page]["title"])
            line.extend([head, " ", link])


def copy_files(raw: Path, site: Path, scripts: Path, root: Path, notebooks: Path | None) -> None:
    """Copy into `site` what goes there as it is: pictures, sources, scripts, notebooks, the wheel.

    The arguments are those of `finish`.
    """
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(raw, site, ignore=shutil.ignore_patterns(*UNWANTED_FILES, "*.html"))
    ours = site / "_static" / "handful"
    shutil.copytree(scripts, ours, ignore=shutil.ignore_patterns("*.meta.json", "rows.json", ".*"))
    licences.write(ours, root / "node_modules")
    icons.write(ours)
    made = sorted(notebooks.glob("*.ipynb")) if notebooks else []
    for path in made:
        shutil.copy(path, site / "_sources" / path.name)
    if notebooks and made:
        wheel.publish(notebooks.with_name("wheels"), site)


def read_page(path: Path, page: str) -> BeautifulSoup:
    """Return a page that Sphinx wrote, without what no page may have."""
    soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
    if soup.head is None:
        soup = _redirect(soup)
    strip(soup, page)
    return soup


def with_formulas(html: str, formulas: list[str]) -> str:
    """Return a page with its formulas in the place of their placeholders."""
    # Within JSON (marked \ue002) the markup is a string and is escaped as one.
    html = re.sub("\ue002\ue000(\\d+)\ue001", lambda m: _json(formulas[int(m[1])])[1:-1], html)
    return re.sub("\ue000(\\d+)\ue001", lambda m: formulas[int(m[1])], html)


def finish(
    raw: Path,
    site: Path,
    scripts: Path,
    node: list[str],
    root: Path,
    notebooks: Path | None = None,
    base: str = "",
) -> list[str]:
    """Write the site and return its pages.

    Parameters
    ----------
    raw : Path
        What Sphinx wrote.
    site : Path
        Where the site goes; replaced as a whole.
    scripts : Path
        What bundle.mjs wrote.
    node : list of str
        The command that runs Node.
    root : Path
        The folder that holds node_modules.
    notebooks : Path, optional
        Folder of .ipynb files to offer for download.
    base : str, optional
        The address that the site will have, for canonical links.
    """
    fresh = site.with_name(site.name + ".new")
    static, files = fresh / "_static", book_files.current()
    copy_files(raw, fresh, scripts, root, notebooks)
    book_files.copy_to(fresh, files)
    python = inpage.publish(notebooks.with_name("pyodide"), fresh) if notebooks else ("", 0)
    styles, maths, pages, found = Styles(), Maths(), {}, {}
    for path in sorted(raw.rglob("*.html")):
        page = path.relative_to(raw).as_posix()
        up = "../" * page.count("/")
        soup = read_page(path, page)
        found[page] = search.read(soup, page)
        fold(soup)
        hold_back(soup)
        name_cells(soup)
        formula_cells.hide(soup)
        book_files.add_links(soup, up, files)
        inpage.offer(soup, up, *python)
        letters.mark_page(soup)
        jumps.add(soup)
        mark_maths(soup, page, maths)
        name_styles(soup, styles)
        set_canonical(soup, page, base)
        check_links(soup, page)
        pages[page] = soup
    page_metadata.describe(pages, fresh, root)
    to_find = search.collect(found, maths)
    link_chapters(pages, found)
    formulas = maths.typeset(node, root, styles)
    (static / "handful" / "boxes.json").write_text(maths.boxes(formulas), "utf-8")
    (static / "handful" / "styles.css").write_text(styles.sheet(), "utf-8")
    (static / "handful" / "code.css").write_text(code_colors(), "utf-8")
    if wrong := search.write(to_find, formulas, fresh, pages, node, root):
        raise FinishError(f"search/index.mjs stopped: {wrong[-2000:]}")
    for page, soup in pages.items():
        (fresh / page).parent.mkdir(parents=True, exist_ok=True)
        (fresh / page).write_text(with_formulas(str(soup), formulas), "utf-8")
    if wrong := asset_bundle.bundle(static, SHEETS, node, root):
        raise FinishError(f"asset_bundle.mjs stopped: {wrong[-2000:]}")
    asset_bundle.stamp(fresh, pages)
    offline.write(fresh, POLICY)  # last: an edition is what its files hold
    shutil.rmtree(site, ignore_errors=True)
    fresh.rename(site)
    return sorted(pages)
