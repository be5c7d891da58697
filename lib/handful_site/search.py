"""The search index: sections, plots, formulas, letters, terms, claims, exercises, sources, facts.

``read`` takes the entries out of a page as Sphinx wrote it, ``collect`` puts those of all pages
together with the registered formulas, and ``write`` has ``search/index.mjs`` make the index that
``search/find.js`` asks. ``search_names.toml`` has the names under which readers look for what the
book calls otherwise. Exercises are cards, problems and assignments; the answer of a card and the
solution of a problem are in no entry. Every entry leads to an anchor.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, NavigableString

from .extensions.roles import registry

# Nobody looks for the page of a lost address, or for that of Sphinx's own search.
EXCLUDED_PAGES = {"404.html", "search.html"}
# What has entries of its own, repeats others, or is no prose.
SKIPPED = {"script", "style", "template", "svg", "noscript", "button", "form"}
SKIPPED_CLASSES = {
    "headerlink",
    "card",
    "cards",
    "problem",
    "cell_input",
    "explorer",
    "glossary",
    "notation",
    "citation",
    "entry",
    "numbers-index",
    "eqno",
    "lecture-time",
    "claim",
    "ledger-checked",
    "entry-found",
    "toctree-wrapper",
    "prev-next-footer",
}
BLOCKS = {
    "p",
    "li",
    "div",
    "dd",
    "dt",
    "td",
    "th",
    "tr",
    "table",
    "section",
    "summary",
    "details",
    "ul",
    "ol",
    "pre",
}


def other_names() -> dict[str, list[str]]:
    """Return the further names of places by their address."""
    groups = tomllib.loads(Path(__file__).with_name("search_names.toml").read_text("utf-8"))
    pages = {"glossary": "glossary.html#term-", "notation": "notation.html#symbol-row-"}
    names: dict[str, list[str]] = {}
    for group, places in groups.items():
        for place, found in places.items():
            names.setdefault(pages.get(group, "") + place, []).extend(found)
    return names


# Maths as words

_SIGNS = """
    cdot · times × approx ≈ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ infty ∞ sum Σ to → rightarrow →
    Rightarrow ⇒ pm ± propto ∝ ll ≪ gg ≫ in ∈ ldots … dots … cdots … oplus ⊕ partial ∂ ell ℓ
    star * ast * alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ
    kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω
    Gamma Γ Delta Δ Theta Θ Lambda Λ Sigma Σ Phi Φ Psi Ψ Omega Ω % % $ $ & & _ _ { { } }
"""
_TEXT_OF_COMMAND: dict[str, str] = {
    **dict(re.findall(r"(\S+) (\S+)", _SIGNS)),
    **dict.fromkeys(("left", "right", "displaystyle", "big", "bigl", "bigr", "Big", "limits"), ""),
    **{"!": "", "quad": " ", "qquad": " ", "\\": "; "},
}
_FONT_COMMAND = re.compile(
    r"\\(?:mathrm|text|mathit|mathbf|mathcal|operatorname\*?|textrm|mathbb|hat|bar|tilde|vec|overline)\s*\{([^{}]*)\}"
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")


def tex_to_text(tex: str) -> str:
    r"""Return a formula as a person would type it.

    >>> tex_to_text(r"B^{*} = \frac{w N_{\mathrm{total}}}{2 N_{\mathrm{active}}}")
    'B* = w N_total/(2 N_active)'
    >>> tex_to_text(r"\gamma = 1 - \left(1 - \frac{k}{E}\right)^{B}")
    'γ = 1 - (1 - k/E)^B'
    """

    def fraction(found: re.Match) -> str:
        above, below = found[1].strip(), found[2].strip()
        above = f"({above})" if re.search(r"[-+]", above) else above
        return f"{above}/{f'({below})' if re.search(r'[-+ ]', below) else below}"

    text = re.sub(r"\\(begin|end)\{[^{}]*\}(\{[lcr|]*\})?|&(?!\w+;)", " ", tex)
    before = None
    while before != text:
        before = text
        text = _FONT_COMMAND.sub(lambda m: m[1].replace(r"\,", " ").strip(), text)
        text = re.sub(
            r"_\{([^{}]*)\}", lambda m: "_" + re.sub(r"[\s,]+", "_", tex_to_text(m[1])), text
        )
        text = re.sub(r"\^\{\s*(\*|\\ast|\\star)\s*\}", "*", text)
        text = re.sub(r"\^\{\s*([\w.]+)\s*\}", r"^\1", text)
        text = _FRACTION.sub(fraction, text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", r"√(\1)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text)
    text = re.sub(
        r"\\([A-Za-z]+|.)",
        lambda m: _TEXT_OF_COMMAND.get(m[1], m[1] if len(m[1]) > 1 else " "),
        text,
    )
    text = re.sub(r"\^\*|(?<=\w)\^\s*\*", "*", re.sub(r"[{}~]", "", text))
    return re.sub(r"\s+([),;])", r"\1", re.sub(r"\s+", " ", text)).strip()


# Reading a page


def text_of(node) -> str:
    """Return the text of a node without what has entries of its own."""
    pieces: list[str] = []

    def walk(node) -> None:
        for child in node.children:
            if isinstance(child, NavigableString):
                if type(child) is NavigableString:
                    pieces.append(str(child))
            elif child.name in SKIPPED or SKIPPED_CLASSES.intersection(child.get("class") or ()):
                continue
            elif child.has_attr("data-tex"):
                pieces.append(
                    tex_to_text(child["data-tex"]) + (". " if child.name == "div" else "")
                )
            else:
                walk(child)
                if child.name in BLOCKS:
                    pieces.append(" ")

    if node is not None:
        walk(node)
    text = re.sub(r"[\s\u00ad\u200b]+", " ", "".join(pieces)).replace(" ()", "").replace("()", "")
    return re.sub(r"\s+([,.;:)])", r"\1", text).strip()


def _sections(section, page: str, trail: list[str]):
    heading = section.find(["h1", "h2", "h3", "h4"], recursive=False)
    if heading is None or not section.get("id"):
        return
    title = text_of(heading)
    inner = [
        child
        for child in section.find_all("section", recursive=False)
        if not {"problem", "formula-entry"}.intersection(child.get("class") or ())
    ]
    parts = (
        text_of(child)
        if child.name
        in ("p", "ul", "ol", "div", "dl", "blockquote", "details", "table", "figure", "aside")
        else ""
        for child in section.find_all(True, recursive=False)
        if child is not heading
        and child.name not in SKIPPED
        and not SKIPPED_CLASSES.intersection(child.get("class") or ())
    )
    text = " ".join(part for part in parts if part)
    if text or heading.name == "h1":
        # A page's first heading stands at its top: no anchor brings the reader past the bar above
        # it.
        yield {
            "kind": "section",
            "page": page,
            "anchor": "" if heading.name == "h1" else section["id"],
            "title": title,
            "trail": trail,
            "text": text,
        }
    for child in inner:
        yield from _sections(child, page, [*trail, title])


def _descendants(node):
    """Yield every element below a node except drawings, nine tenths of a chapter's elements."""
    for child in node.find_all(True, recursive=False):
        if child.name not in SKIPPED:
            yield child
            yield from _descendants(child)


def _element_entry(node, page: str) -> dict | None:
    """Return the entry of an element with an id, by the classes that the build gives it.

    The result is None where the element is not an entry of its own.
    """
    classes, anchor = set(node.get("class") or ()), node["id"]

    def entry(kind, title, text="", **more):
        return {
            "kind": kind,
            "page": page,
            "anchor": anchor,
            "title": title,
            "trail": [],
            "text": text,
            **more,
        }

    def part(name: str):
        return node.find(class_=name)

    if classes & {"explorer", "schematic"}:
        still = node.find(role="img", attrs={"aria-label": True})
        return entry("plot", text_of(part("explorer-title")), still["aria-label"] if still else "")
    if node.name == "dt" and "glossary" in node.parent.get("class", ()):
        return entry("term", text_of(node), text_of(node.find_next_sibling("dd")))
    if anchor.startswith("claim-") and "entry" in classes:
        return entry(
            "claim",
            text_of(part("entry-said")),
            text_of(part("entry-why")),
            note=text_of(part("verdict")),
            trail=[f"{node['data-who']}, {text_of(part('lecture-time'))}"],
        )
    if node.has_attr("data-card") and page != "review.html":  # where the same cards stand again
        return entry("card", text_of(part("card-front")))
    if node.has_attr("data-problem") and page == "practice.html":
        return entry(
            "problem",
            text_of(part("problem-name")),
            text_of(part("problem-text")),
            note=text_of(part("problem-level")),
        )
    if anchor.startswith("assignment-"):
        questions = node.find_next(id=anchor.replace("assignment-", "questions-", 1))
        return entry("assignment", text_of(node), text_of(questions))
    if node.name == "tr" and anchor.startswith(("chip-", "model-")):
        name, figures, *_ = (text_of(cell) for cell in node.find_all("td"))
        return entry("fact", name, figures)
    if "citation" in classes:
        return entry("source", text_of(node.find("p")))
    return None


def read(soup: BeautifulSoup, page: str) -> dict:
    """Return the entries of a page, its rows of letters, and its formulas.

    The keys are "entries", "rows", "shown", "live", "reference", "title" and "order".
    """
    main = soup.find("article", class_="article")
    found: dict[str, Any] = {
        "entries": [],
        "rows": {},
        "shown": {},
        "live": {},
        "reference": {},
        "title": page,
        "order": [],
    }
    if main is None or page in EXCLUDED_PAGES:
        return found
    for node in _descendants(main):
        anchor = node.get("id", "")
        if anchor and (entry := _element_entry(node, page)):
            found["entries"].append(entry)
        elif anchor.startswith("symbol-row-"):
            found["rows"][anchor.removeprefix("symbol-row-")] = anchor
        elif node.has_attr("data-formula-chapter"):
            name = node["data-formula-chapter"]
            found["reference"][name] = node.find_parent(class_="formula-entry")["id"]
        elif node.has_attr("data-tex") and not node.find_parent(class_="formula-entry"):
            if holder := node.find_parent(class_=["text_latex", "derivation"]):
                found["shown"].setdefault(_without_style(node["data-tex"]), holder)
        elif (
            node.has_attr("data-live")
            and anchor
            and not node.find_parent(class_=["card", "problem"])
        ):
            found["live"].setdefault(node["data-live"].rpartition("-")[0], anchor)
    for section in main.find_all("section", recursive=False):
        found["entries"] += _sections(section, page, [])
    found["title"] = text_of(main.find("h1")) or page
    if menu := page == "index.html" and soup.find(class_="book-chapters"):
        found["order"] = [link["href"] for link in menu.find_all("a", class_="internal")]
    return found


def _without_style(tex: str) -> str:
    return tex.strip().removeprefix(r"\displaystyle").strip()


# Putting together


def chapter_places(pages: dict[str, dict]) -> dict[str, tuple[str, str]]:
    """Return page and anchor of each registered formula that the text of a page shows.

    The first page where a cell shows the formula comes first, then the first page with a live
    number of it.
    """

    def place(name: str, formula) -> tuple[str, str] | None:
        tex = _without_style(formula.latex())
        for page, found in pages.items():
            if tex in found["shown"]:
                return page, _anchor(found["shown"][tex], name)
        for page, found in pages.items():
            if name in found["live"]:
                return page, found["live"][name]
        return None

    found = {name: place(name, formula) for name, formula in registry().items()}
    return {name: at for name, at in found.items() if at}


def _formulas(pages: dict[str, dict], maths) -> list[dict]:
    """Return the entries of formulas and letters that have a place.

    A formula is found where a chapter shows it and at its entry in the reference; where it has
    neither, at the row of its letter in the notation.
    """
    from handful.symbolic.quantities import table

    def anchors(kind: str) -> dict[str, tuple[str, str]]:
        return {n: (page, at) for page, found in pages.items() for n, at in found[kind].items()}

    if not any(found["rows"] or found["shown"] or found["live"] for found in pages.values()):
        return []
    rows, reference, places = anchors("rows"), anchors("reference"), chapter_places(pages)
    made = []
    for name, formula in registry().items():
        tex, gives = formula.latex(), formula.gives.name
        letters = f"{tex_to_text(formula.gives.latex)} {name} {tex_to_text(tex)}"
        title = replace(formula.gives, name=name).label
        chapter, entry = places.get(name), reference.get(name)
        if place := chapter or entry or rows.get(gives):
            # Variants are those that give the same on one page; one with no place but the letter's
            # row is the letter's formula's.
            at = places.get(gives) if place == rows.get(gives) else None
            made.append(
                {
                    **_letter_entry("formula", place, title),
                    "text": formula.meaning,
                    "variant_of": f"{(at or place)[0]} {gives}",
                    "letters": letters,
                    "named": tex_to_text(formula.gives.latex) if name == gives else "",
                    "html": maths.want(tex, False, "search"),
                }
            )
        if chapter and entry:
            made.append(
                {
                    **_letter_entry("formula", entry, title),
                    "text": "",
                    "variant_of": f"{entry[0]} {gives}",
                    "letters": name,
                    "html": maths.want(tex, False, "search"),
                }
            )
    for name, place in rows.items():
        quantity = table[name]
        if name in registry():
            continue  # the formula says all that the letter's row says, and more
        made.append(
            {
                **_letter_entry("letter", place, quantity.label),
                "text": quantity.meaning,
                "letters": f"{tex_to_text(quantity.latex)} {name}",
                "named": tex_to_text(quantity.latex),
                "html": maths.want(quantity.latex, False, "search"),
            }
        )
    return made


def _letter_entry(kind: str, place: tuple[str, str], title: str) -> dict:
    """Return what entries of formulas and of letters share."""
    return {"kind": kind, "page": place[0], "anchor": place[1], "title": title, "trail": []}


def _anchor(holder, name: str) -> str:
    """Return the anchor of a formula that a cell shows; make one where it has none."""
    if not holder.get("id"):
        holder["id"] = f"formula-{name}"
    return holder["id"]


def in_order(pages: dict[str, dict]) -> dict[str, dict]:
    """Return the pages that have entries, in reading order."""
    order: list[str] = next(
        (found["order"] for page, found in pages.items() if page == "index.html"), []
    )
    names = sorted(
        (page for page, found in pages.items() if found["entries"]),
        key=lambda page: (
            order.index(page) if page in order else page != "index.html" and len(order),
            page,
        ),
    )
    return {name: pages[name] for name in names}


def collect(pages: dict[str, dict], maths) -> dict:
    """Return all entries in reading order: {"pages": [[address, title]], "entries": [...]}.

    The formulas of results are asked of `maths`.
    """
    pages = in_order(pages)
    first: dict[tuple, dict] = {}  # an entry that is on several pages counts on the first
    for entry in (entry for found in pages.values() for entry in found["entries"]):
        if entry["title"]:
            first.setdefault((entry["kind"], entry["title"], entry["text"]), entry)
    entries = [*first.values(), *_formulas(pages, maths)]
    called = other_names()
    for entry in entries:  # several formulas may stand at one place, and the first is named
        address = entry["page"] + (f"#{entry['anchor']}" if entry["anchor"] else "")
        if address in called:
            entry["names"] = called.pop(address)
    return {"pages": [[name, found["title"]] for name, found in pages.items()], "entries": entries}


def write(
    book: dict,
    formulas: list[str],
    site: Path,
    pages: dict[str, BeautifulSoup],
    node: list[str],
    root: Path,
) -> str:
    """Write the index and the maths of results under hashed names, and name them in the pages.

    Return what went wrong, or "".
    """
    folder = site / "_static" / "handful"

    def store(stem: str, text: str) -> str:
        name = f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
        (folder / name).write_text(text, "utf-8")
        return name

    # What is read aloud is the title and the meaning, so that results need no MathML.
    def shown(entry: dict) -> str:
        return re.sub(
            r'<span class="katex-mathml">.*?</span>(?=<span class="katex-html")',
            "",
            re.sub("\ue000(\\d+)\ue001", lambda m: formulas[int(m[1])], entry.pop("html", "")),
            flags=re.S,
        )

    book = {
        **book,
        "maths": store(
            "search-maths",
            json.dumps(
                {i: text for i, e in enumerate(book["entries"]) if (text := shown(e))},
                ensure_ascii=False,
                separators=(",", ":"),
            ),
        ),
    }
    done = subprocess.run(
        [*node, str(Path(__file__).parent / "web" / "search" / "index.mjs")],
        input=json.dumps(book),
        capture_output=True,
        text=True,
        cwd=root,
    )
    if done.returncode:
        return done.stderr.strip() or "no reason given"
    name = store("search-index", done.stdout)
    for page, soup in pages.items():
        if soup.body:
            soup.body["data-search"] = "../" * page.count("/") + f"_static/handful/{name}"
    return ""
