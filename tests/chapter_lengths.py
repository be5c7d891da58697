"""Print what each chapter asks of a reader: words, interruptions, numbers and explorers.

Run it on the built book: ``.venv/bin/python tests/chapter_lengths.py [FOLDER]``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parents[1]
UNSEEN = (
    "script, style, template, noscript, [hidden], .headerlink, .explorer-data, .cell_input, form, "
    ".for-ears"
)
# What a reader has to deal with before the text goes on; a formula is part of it.
STOPS = "figure, table, .fold, .cards, .admonition, .problems, .ask"


def words(node: Tag) -> int:
    """Count the words of a node, a formula as one."""
    return len(re.findall(r"\w[\w.,’'-]*", node.get_text(" ")))


def lengths(page: str) -> dict[str, float]:
    """Return the figures of a chapter's page, everything on it closed."""
    article = BeautifulSoup(page, "lxml").select_one("article")
    assert isinstance(article, Tag)
    for node in article.select(UNSEEN):
        node.decompose()
    for formula in article.select(".katex"):
        formula.replace_with("x")
    for fold in article.select("details:not([open])"):
        for child in list(fold.children):
            if not (isinstance(child, Tag) and child.name == "summary"):
                child.extract()
    runs, run, prose, numbers = [], 0, 0, 0
    for node in article.select(f"section > p, section > ul, section > ol, {STOPS}"):
        if node.name in ("p", "ul", "ol") and not node.find_parent(class_=["problems", "ask"]):
            run += words(node)
            if node.name == "p":
                prose += words(node)
                numbers += len(node.select(".live, .fact"))
        elif run:
            runs.append(run)
            run = 0
    runs = [*runs, run] if run else runs
    return {
        "words": words(article),
        "between": sum(runs) / len(runs),
        "apart": prose / max(1, numbers),
        "explorers": len(article.select("figure.explorer")),
    }


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "_build" / "html"
    sys.path.insert(0, str(ROOT / "lib"))
    from handful_evidence.claims import CHAPTERS

    print(f"{'':28s}words  words between  words a number  explorers")
    for name in CHAPTERS:
        path = folder / f"{name}.html"
        if path.exists():
            one = lengths(path.read_text("utf-8"))
            print(
                f"{name:28s}{one['words']:5.0f}  {one['between']:13.0f}  {one['apart']:14.0f}"
                f"  {one['explorers']:9.0f}"
            )
    print(f"{'bounds':28s}{4500:5d}  {250:13d}  {25:14d}  {5:9d}")


if __name__ == "__main__":
    main()
