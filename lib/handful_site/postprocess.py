"""The finish of the site: maths set, nothing inline, and nothing loaded from elsewhere.

``finish(raw, site, scripts)`` reads the folder that Sphinx made, writes the site beside it, and
leaves the input as it was, so it can run again.  Every page then complies with POLICY, which has no
``unsafe-`` keyword.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from bs4 import BeautifulSoup, Comment, Tag

from . import (
    asset_bundle,
    editions,
    icons,
    inpage,
    licences,
    offer,
    offline,
    page_metadata,
    search,
    section_height_estimates,
    sheets,
    theme_accessibility,
    wheel,
)
from .elements import classes, having, one, set_classes, value

POLICY = "default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none'"

# Of the theme and of Jupyter Book's fixed extensions, what no page of ours uses; of their scripts
# none: theme_controls.js does what the book needs of them.
UNWANTED_FILES = (
    "*.map",
    "*.js",
    "*.LICENSE.txt",
    "sphinx-thebe.*",
    "togglebutton.*",
    "cop*button*",
    "check-solid.svg",
    "play-solid.svg",
    "scripts",
    "vendor",
    "*webpack-macros.html",
    ".buildinfo",
    ".doctrees",
    "locales",
    "logo_*",
)
UNWANTED_TAGS = (
    'link[href*="sphinx-thebe"]',
    'script[type="text/x-thebe-config"]',
    'meta[name^="docsearch"]',
    "#ethical-ad-placement",
    # Folded answers are <details>, which need no script.
    'link[href*="togglebutton"]',
    'link[href*="copybutton"]',
    # Widgets' state serves a widget manager, which no page loads.
    'script[type="application/vnd.jupyter.widget-state+json"]',
    'link[rel="preconnect"]',
    'link[rel="dns-prefetch"]',
    'link[rel="preload"][as="script"]',
    # The bar across the top holds a second search field and a second menu button, no more; news
    # about other versions would be fetched.
    "#pst-header",
    ".pst-async-banner-revealer",
)
EARLY = (Path(__file__).parent / "web" / "color_mode_init.js").read_text("utf-8")
RUNS = ("module", "text/javascript", "application/javascript")
HANDLERS = {"window.print()": "print", "toggleFullScreen()": "fullscreen"}
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


def strip(soup: BeautifulSoup, page: str) -> None:
    """Remove what the theme adds for services that the book does not use."""
    for selector in UNWANTED_TAGS:
        for tag in soup.select(selector):
            tag.decompose()
    if soup.select_one('script[type="application/vnd.jupyter.widget-view+json"]'):
        raise FinishError(
            f"{page}: a cell shows a bare widget, which is dead on a page without a kernel; "
            "show an object that also has an HTML form, such as an Explorer."
        )
    for tag in soup.find_all("script"):
        if (
            tag.get("type", "module") not in RUNS
            or tag.has_attr(asset_bundle.EARLY)
            or urlsplit(str(tag.get("src", ""))).netloc
        ):
            continue  # data; what color_mode_init.js replaces; and what check_links refuses
        if tag.find_parent("section"):
            raise FinishError(
                f"{page}: a script stands within the text; put it into a module of the page."
            )
        tag.decompose()
    if not soup.select_one(".sd-tab-set, [class*=' sd-'], [class^='sd-']"):
        for tag in soup.select('[href*="sphinx-design"]'):
            tag.decompose()
    seen: set[str] = set()
    for tag in soup.find_all(["meta", "link", "script"]):
        key = str(tag)
        if (tag.name == "meta" and tag.get("name") == "viewport") or (
            tag.name == "script" and not tag.get("type")
        ):
            key = str(tag.get("name") or key)
            if key in seen:
                tag.decompose()
                continue
        seen.add(key)
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()


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


def take_out(soup: BeautifulSoup, page: str, up: str, static: Path, styles: Styles) -> None:
    """Move scripts, style elements and style attributes of a page into files and classes."""
    inline = static / "inline"
    inline.mkdir(parents=True, exist_ok=True)

    def store(text: str, suffix: str) -> str:
        name = f"{hashlib.sha256(text.encode()).hexdigest()[:12]}.{suffix}"
        (inline / name).write_text(text, "utf-8")
        return f"{up}_static/inline/{name}"

    for tag in soup.select(f"script[{asset_bundle.EARLY}]:not([src])"):
        ahead = (
            (static / "handful" / "ahead.js").read_text("utf-8")
            if soup.select_one("[data-study]")
            else ""
        )
        tag["src"], tag.string = store(EARLY + ahead, "js"), ""
    for tag in soup.find_all("style"):
        figure = tag.find_parent("svg")
        if figure is not None:
            # A figure's own rules ("* {stroke-linejoin: round}") must not reach the page round it.
            name = styles.blocks.setdefault(tag.string or "", f"b{len(styles.blocks)}")
            set_classes(figure, [*classes(figure), name])
            tag.decompose()
        else:
            tag.replace_with(
                soup.new_tag("link", rel="stylesheet", href=store(tag.string or "", "css"))
            )
    for tag in soup.find_all(style=True):
        set_classes(tag, [*classes(tag), styles.name(value(tag, "style"))])
        del tag["style"]
    for tag in soup.find_all(lambda t: any(name.startswith("on") for name in t.attrs)):
        for name in [name for name in tag.attrs if name.startswith("on")]:
            if value(tag, name).strip() not in HANDLERS:
                raise FinishError(
                    f"{page}: {name}={tag[name]!r} is a script within a tag; put it into a module."
                )
            tag["data-do"] = HANDLERS[value(tag, name).strip()]
            del tag[name]


def dress(soup: BeautifulSoup, up: str) -> None:
    """Add the policy, our style sheets and our one script."""
    head = one(soup, "head")
    one(soup, "html")["data-theme"] = (
        "light"  # until color_mode_init.js knows better, which with scripts off is never
    )
    policy = soup.new_tag("meta", content=POLICY)
    policy["http-equiv"] = "Content-Security-Policy"
    charset = head.find("meta", charset=True)
    charset.insert_after(policy) if charset else head.insert(0, policy)
    for name in ("handful/katex/katex.css", "handful/handful.css", "handful/styles.css"):
        head.append(soup.new_tag("link", rel="stylesheet", href=f"{up}_static/{name}"))
    page_metadata.icons(soup, up)
    # Text and its sheet come first; the script is needed only when they are there.
    head.append(
        soup.new_tag(
            "script",
            attrs={
                "type": "module",
                "async": "",
                "fetchpriority": "low",
                "src": f"{up}_static/handful/handful.js",
            },
        )
    )
    if soup.select_one("[data-study]"):  # where cards and problems are what the page is for
        head.append(
            soup.new_tag(
                "link",
                attrs={
                    "rel": "modulepreload",
                    "fetchpriority": "low",
                    "href": f"{up}_static/handful/study.js",
                },
            )
        )
    offline.dress(soup, up)


def offer_notebook(
    soup: BeautifulSoup, page: str, up: str, notebooks: set[str], wheels: list[Path]
) -> None:
    """Add the page's notebook, where there is one, and its package to the download menu."""
    name = page.removesuffix(".html")
    menu = soup.select_one(".dropdown-download-buttons .dropdown-menu")
    source = menu.select_one("a.btn-download-source-button") if menu else None
    row = source.find_parent("li") if source else None
    if row is None or name not in notebooks:
        return
    item = copy.copy(row)
    link = one(item, "a")
    link["href"], link["title"], link["download"] = (
        f"{up}_sources/{name}.ipynb",
        "Download as a notebook",
        "",
    )
    one(link, ".btn__text-container").string = "Notebook (.ipynb)"
    row.insert_before(item)
    for package in wheels:
        item = copy.copy(item)
        link = one(item, "a")
        link["href"], link["title"] = (
            f"{up}{wheel.FOLDER}/{package.name}",
            "Download the package that the notebook needs",
        )
        one(link, ".btn__text-container").string = "Its package (.whl)"
        row.insert_before(item)


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


def finish(
    raw: Path,
    site: Path,
    scripts: Path,
    node: list[str],
    root: Path,
    notebooks: Path | None = None,
    base: str = "",
    earlier: Sequence[str] = (),
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
    earlier : sequence of str, optional
        Names of earlier editions that will stand beside it.
    """
    fresh = site.with_name(site.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(raw, fresh, ignore=shutil.ignore_patterns(*UNWANTED_FILES, "*.html"))
    static = fresh / "_static"
    shutil.copytree(
        scripts, static / "handful", ignore=shutil.ignore_patterns("*.meta.json", "rows.json")
    )
    licences.write(static / "handful", root / "node_modules")
    icons.write(static / "handful")
    made = (
        {path.stem: path for path in notebooks.glob("*.ipynb")}
        if notebooks and notebooks.exists()
        else {}
    )
    for path in made.values():
        shutil.copy(path, fresh / "_sources" / path.name)
    bound = offer.made()
    offer.lay(fresh, bound)
    wheels = wheel.publish(notebooks.with_name("wheels"), fresh) if notebooks and made else []
    python = inpage.publish(notebooks.with_name("pyodide"), fresh) if notebooks else ("", 0)

    styles, maths, pages, glyphs, found = Styles(), Maths(), {}, set(), {}
    for path in sorted(raw.rglob("*.html")):
        page = path.relative_to(raw).as_posix()
        if page.startswith("_static/"):
            continue
        up = "../" * page.count("/")
        soup = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        if soup.head is None:
            # The redirect that Jupyter Book writes for a book whose root has another name: a lone
            # <meta>.
            soup = BeautifulSoup(
                f'<!doctype html><html lang="en"><head><meta charset="utf-8"/>{soup}'
                "<title>A Handful of Equations</title></head><body></body></html>",
                "html.parser",
            )
        strip(soup, page)
        search.dress(soup, page)
        found[page] = search.read(soup, page)
        fold(soup)
        hold_back(soup)
        theme_accessibility.mend(soup)
        offer_notebook(soup, page, up, set(made), wheels)
        offer.place(soup, up, bound)
        inpage.offer(soup, up, *python)
        mark_maths(soup, page, maths)
        section_height_estimates.keep(soup)
        take_out(soup, page, up, static, styles)
        dress(soup, up)
        page_metadata.place(soup, page)
        editions.sign(soup, page, base, earlier)
        check_links(soup, page)
        glyphs |= {
            name
            for tag in soup.select("[class*=fa-]")
            for name in classes(tag)
            if name.startswith("fa-")
        }
        pages[page] = soup
    page_metadata.describe(pages, fresh, root)
    to_find = search.gather(found, maths)
    formulas = maths.typeset(node, root, styles)
    boxes = json.dumps(
        {
            kind: {
                name: formulas[maths.number[entry["latex"], False]]
                for name, entry in sorted(entries.items())
            }
            for kind, entries in maths.asked.items()
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    (static / "handful" / "boxes.json").write_text(boxes, "utf-8")
    (static / "handful" / "styles.css").write_text(styles.sheet(), "utf-8")
    sheets.trim(static, raw / "_static", glyphs)
    if wrong := search.write(to_find, formulas, fresh, pages, node, root):
        raise FinishError(f"search/index.mjs stopped: {wrong[-2000:]}")
    shared = asset_bundle.shared(pages)
    for page, soup in pages.items():
        asset_bundle.relink(soup, page, shared)
        # Within JSON (marked \ue002) the markup is a string and is escaped as one.
        html = re.sub(
            "\ue002\ue000(\\d+)\ue001", lambda m: _json(formulas[int(m[1])])[1:-1], str(soup)
        )
        html = re.sub("\ue000(\\d+)\ue001", lambda m: formulas[int(m[1])], html)
        (fresh / page).parent.mkdir(parents=True, exist_ok=True)
        (fresh / page).write_text(html, "utf-8")
    if wrong := asset_bundle.bundle(fresh, shared, node, root):
        raise FinishError(f"asset_bundle.mjs stopped: {wrong[-2000:]}")
    (static / "handful" / "ahead.js").unlink(missing_ok=True)
    asset_bundle.stamp(fresh, pages)
    offline.write(fresh, POLICY)  # last: an edition is what its files hold
    shutil.rmtree(site, ignore_errors=True)
    fresh.rename(site)
    return sorted(pages)
