"""A small book of cards for browser tests.

The module has ways to answer the cards, and to look into the store that the pages keep.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from handful_site import bootstrap, build

CHAPTERS = {
    "one": ["floor", "cost", "batch", "share"],
    "two": ["racks", "copies", "hiding", "wide"],
    "three": ["tiers", "disk", "rent", "pause"],
}
CARDS = [card for cards in CHAPTERS.values() for card in cards]


def card(name: str, chapter: str) -> str:
    return (
        f'<div class="card" id="card-{name}" data-card="{name}" data-kind="recall" '
        f'data-chapter="{chapter}" data-section="about-{name}">'
        f'<div class="card-front"><p>What of {name}?</p></div><details class="card-back">'
        f"<summary>Show the answer</summary><p>This of {name}.</p></details>"
        '<p class="card-foot"><span class="card-kind">Recall</span> · <a '
        f'href="{chapter}.html#about-{name}">About {name}</a> · <a class="lecture-time" '
        'href="#t">1:05</a></p></div>'
    )


def page(title: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><link rel="icon" href="favicon.svg">'
        '<link rel="stylesheet" href="handful.css">'
        '<script type="module" src="handful.js"></script></head><body><main>'
        '<article class="article">'
        f"<section><h1>{title}</h1>{body}</section></article></main></body></html>"
    )


def write_book(folder: Path, chapters: dict[str, list[str]] = CHAPTERS) -> None:
    """Review, Progress and a page for each chapter, as the build would write them."""
    build.bundle()
    for name in ("handful.js", "handful.css", "study.js", "favicon.svg"):
        shutil.copy(build.SCRIPTS / name, folder / name)
    listed = [
        {"name": name, "title": name.capitalize(), "cards": cards, "problems": [f"problem-{name}"]}
        for name, cards in chapters.items()
    ]
    block = (
        '<script type="application/json" '
        f'class="study-book">{json.dumps({"chapters": listed})}</script>'
    )
    groups = {
        name: f'<section id="{name}"><h2>{name.capitalize()}</h2>'
        '<div class="cards" role="group" '
        f'aria-label="Cards">{"".join(card(c, name) for c in cards)}</div></section>'
        for name, cards in chapters.items()
    }
    pages = {
        "index": "",
        "review": f'<p>Today.</p><div data-study="review">{block}{"".join(groups.values())}</div>',
        "progress": f'<div data-study="progress">{block}</div>',
        **groups,
    }
    for name, body in pages.items():
        (folder / f"{name}.html").write_text(page(name.capitalize(), body), "utf-8")


def show(tab, address: str, name: str):
    """Open a page of it and wait until its script has done its part."""
    shown = tab.open(f"{address}{name}.html")
    rule = {"review": ".is-up .study-stage > *", "progress": ".study-panel"}.get(name)
    if rule:
        shown.wait_for_selector(rule)
    return shown


DUMP = """async () => {
  const ask = (request) => new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error); });
  const db = await ask(indexedDB.open("handful-study")),
    tx = db.transaction(["events", "cards", "days", "problems", "meta"]);
  const [events, cards, days, problems, meta] = await Promise.all(
    ["events", "cards", "days", "problems", "meta"].map((name) =>
      ask(tx.objectStore(name).getAll())));
  db.close();
  return { events, cards: Object.fromEntries(cards.flatMap(({ states }) => states)),
    days, problems, settings: meta.find(({ name }) => name === "cache")?.settings };
}"""


def dump(shown) -> dict:
    """All that the store holds, each part in an order of its own."""
    found = shown.evaluate(DUMP)
    found["events"].sort(key=lambda e: (e["at"], e["id"]))
    found["days"].sort(key=lambda d: d["day"])
    return found


REPLAY = """import { readFileSync } from "node:fs";
const { derive } = await import(process.argv[1]);
const steps = derive(JSON.parse(readFileSync(0, "utf8")));
let step;
while (!(step = steps.next()).done);
const { cards, days, problems, settings } = step.value;
console.log(JSON.stringify({
  cards: Object.fromEntries(cards),
  days: [...days.values()].sort((a, b) => a.day - b.day),
  problems: [...problems.values()], settings }));"""


def replayed(events: list[dict]) -> dict:
    """Return what the log alone gives, computed outside of the page."""
    module = build.ROOT / "lib" / "handful_study" / "web" / "derive.js"
    done = subprocess.run(
        [*bootstrap.node_command(), "--input-type=module", "-e", REPLAY, module.as_uri()],
        input=json.dumps(events),
        capture_output=True,
        text=True,
        check=True,
        cwd=build.ROOT,
    )
    return json.loads(done.stdout)


def assert_replays(shown) -> dict:
    """Assert that the store's copies are what its log gives; return the store."""
    found = dump(shown)
    made = replayed(found["events"])
    assert {part: found[part] for part in made if part != "settings" or found[part]} == {
        part: made[part] for part in made if part != "settings" or found[part]
    }
    return found


def log_file(events: list[dict]) -> str:
    return json.dumps(
        {"format": "handful-study-log", "version": 1, "exported": 1, "events": events}
    )


def front(page) -> str:
    return page.locator(".study-stage .card-front").inner_text()


def said(page) -> str:
    return page.locator(".study-sitting .study-news").inner_text()


def counts(page) -> list[int]:
    return [int(text) for text in page.locator(".study-count b").all_inner_texts()]


def reveal(page) -> None:
    if not page.locator(".study-stage .study-grade").count():
        page.keyboard.press("Space")
    page.wait_for_selector(".study-stage .study-grade")


def answer(page, grade: int) -> None:
    """Show the answer and grade it, by keys; waits until the next thing is there."""
    reveal(page)
    page.keyboard.press(str(grade))
    page.wait_for_function("() => !document.querySelector('.study-stage .study-grade')")


def undo(page) -> None:
    before = page.evaluate("document.querySelector('.study-sitting .study-news').firstChild")
    page.evaluate("document.querySelector('.study-sitting .study-news').replaceChildren()")
    page.keyboard.press("u")
    page.wait_for_function("() => document.querySelector('.study-sitting .study-news p')")
    assert before is None or said(page)


def give(page, path) -> str:
    """Choose a file for import, and what the page says in the end."""
    if not page.locator(".study-data").is_visible():
        page.locator(".study-data-fold > summary").click()
    page.evaluate("document.querySelector('.study-data > [role=status]').textContent = ''")
    page.locator("#study-import").set_input_files(path)
    page.wait_for_function(
        "() => /Imported|Not imported/.test(document.querySelector('.study-data > "
        "[role=status]').textContent)",
        timeout=60_000,
    )
    return page.locator(".study-data > [role=status]").inner_text()


def unfold(page) -> None:
    """Open what a chapter keeps folded: its stacks of cards, its problems and its verdicts."""
    page.locator("details.fold").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")


def walk_chapter(page) -> None:
    """Use a part of each kind on a chapter's page of the built book.

    The parts are a plot, a live number's box, and a card.
    """
    plot = page.locator("figure.explorer .ex").first
    plot.scroll_into_view_if_needed()
    drawn = plot.locator(".ex-svg").first
    before = drawn.inner_html()
    plot.locator("input[type=range]").first.press("PageUp")
    page.wait_for_function(
        "([node, before]) => node.innerHTML !== before", arg=[drawn.element_handle(), before]
    )
    page.locator(".live[role=button]").first.click()
    page.locator(".pop-formula .katex").first.wait_for()
    page.keyboard.press("Escape")
    unfold(page)
    page.locator("[data-card] summary").first.click()
    page.locator(".study-grade").first.wait_for()


def missed(card: str, times: int) -> list[dict]:
    """Return a card that was forgotten so many times, with an easy answer before each."""
    start, day = 1_750_000_000_000, 86_400_000
    grades = [4] + [1, 3] * times
    return [
        {
            "id": f"{card}-{n:04d}",
            "at": start + n * day,
            "zone": 0,
            "kind": "grade",
            "card": card,
            "grade": g,
        }
        for n, g in enumerate(grades)
    ]
