"""Words in the plots of the built book: none on another, few on a curve, all within the drawing."""

from __future__ import annotations

import pytest

from handful_site import build

pytestmark = pytest.mark.browser

PLACES = 20  # of the cursor, over the width of a plot
# Words that a curve may run through, of all of a page's, at each width.
CROSSED = {375: 0.3, 1280: 0.02}

# Visible words with their boxes, line by line.
WORDS = """(svg) => [...svg.querySelectorAll("text")].filter((text) =>
    getComputedStyle(text).visibility !== "hidden").flatMap((text) => {
  const lines = text.querySelectorAll("tspan");
  return [...(lines.length ? lines : [text])].map((line) => {
    const { left, right, top, bottom } = line.getBoundingClientRect(), tall = bottom - top;
    // A box has room for accents and for the next line; letters fill its middle.
    return { text, said: line.textContent, left: left + 0.5, right: right - 0.5,
      top: top + 0.22 * tall, bottom: bottom - 0.2 * tall };
  });
}).filter((word) => word.right > word.left && word.said.trim())"""
MEET = """(a, b) =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom"""

# Words that overlap, those that leave the drawing, and those that stand on the plot with the number
# of them that a curve runs through.
LOOK = (
    f"""(figure) => {{
  const wordsOf = {WORDS}, meet = {MEET};"""
    + """
  const found = { overlap: [], outside: [], words: 0, crossed: [] };
  const svg = figure.querySelector(".ex-stage svg"), frame = svg?.getBoundingClientRect();
  if (!frame?.width) return found;
  const words = wordsOf(svg);
  words.forEach((a, i) => {
    for (const b of words.slice(i + 1)) if (meet(a, b)) found.overlap.push([a.said, b.said]);
    if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1
      || a.bottom > frame.bottom + 1) found.outside.push(a.said);
  });
  const surface = svg.querySelector(".ex-surface")?.getBoundingClientRect();
  if (!surface) return found;
  const placed = words.filter(({ text }) => text.closest(".ex-labels, .ex-marks, .ex-dots"));
  found.words = placed.length;
  const hit = new Set();
  for (const path of svg.querySelectorAll(".ex-curve")) {
    const place = path.getScreenCTM();
    for (let at = 0; at <= path.getTotalLength(); at += 2) {
      const { x, y } = path.getPointAtLength(at).matrixTransform(place);
      if (x < surface.left || x > surface.right || y < surface.top || y > surface.bottom) continue;
      for (const word of placed)
        if (x > word.left && x < word.right && y > word.top && y < word.bottom) hit.add(word.said);
    }
  }
  found.crossed = [...hit];
  return found; }"""
)

# With the cursor pressed to each of so many places: words on words, on its plate, or cut by its
# line, which has to run behind letters that have a rim.
MOVE = (
    f"""async (figure, places) => {{
  const wordsOf = {WORDS}, meet = {MEET};"""
    + """
  const svg = figure.querySelector(".ex-stage svg"), surface = svg?.querySelector(".ex-surface");
  const grip = svg?.querySelector(".ex-grip"), line = svg?.querySelector(".ex-cursor-line");
  const faults = new Set();
  if (!grip || !surface?.checkVisibility()) return [];
  for (let k = 0; k < places; k++) {
    const { left, top, width, height } = surface.getBoundingClientRect();
    const at = { clientX: left + ((k + 0.5) / places) * width, clientY: top + height / 2 };
    for (const kind of ["pointerdown", "pointerup"])
      surface.dispatchEvent(new PointerEvent(kind,
        { ...at, bubbles: true, pointerId: 1, pointerType: "mouse", button: 0, isPrimary: true }));
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    const plate = grip.querySelector("rect").getBoundingClientRect(),
      rule = line.getBoundingClientRect(),
      words = wordsOf(svg).filter(({ text }) => !grip.contains(text));
    words.forEach((a, i) => {
      for (const b of words.slice(i + 1)) if (meet(a, b)) faults.add(`${a.said} on ${b.said}`);
      if (meet(a, plate)) faults.add(`the cursor on ${a.said}`);
      const behind = line.compareDocumentPosition(a.text) & Node.DOCUMENT_POSITION_FOLLOWING;
      if (meet(a, rule) && !(behind && getComputedStyle(a.text).paintOrder.startsWith("stroke")))
        faults.add(`the cursor's line through ${a.said}`);
    });
  }
  return [...faults]; }"""
)


@pytest.mark.parametrize("width", sorted(CROSSED))
def test_words_stand_free_of_each_other_and_of_curves(page_name, width, site, shared):
    if "explorer-spec" not in (build.SITE / page_name).read_text("utf-8"):
        return
    tab = shared(width=width, reduced_motion="reduce")
    page = tab.open(site + page_name)
    words, crossed, wrong = 0, [], []
    for figure in page.locator("figure.explorer").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".ex").wait_for()
        found = figure.evaluate(LOOK)
        moved = figure.evaluate(MOVE, PLACES)
        if found["overlap"] or found["outside"] or moved:
            wrong.append((figure.get_attribute("id"), found["overlap"], found["outside"], moved))
        words += found["words"]
        crossed += found["crossed"]
    print(f"{page_name} at {width}: curves run through {len(crossed)} of {words} words")
    assert wrong == []
    assert len(crossed) <= CROSSED[width] * words, crossed
    assert tab.faults == []


PRESS_EACH = f"""async (figure) => {{
  const look = {LOOK}, found = [];
  for (const button of figure.querySelectorAll(".ex-preset-button")) {{
    button.click();
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
    for (const pair of look(figure).overlap) found.push([button.textContent, ...pair]);
  }}
  return found; }}"""


@pytest.mark.parametrize(
    "page_of, name",
    [
        ("latency-and-cost", "fast-and-slow"),
    ],
)
def test_two_rules_side_by_side_have_words_apart_on_the_narrowest_phone(
    page_of, name, site, shared
):
    """Where the words of a rule have room on neither side of it, they stand across it."""
    page = shared(width=320, reduced_motion="reduce").open(f"{site}{page_of}.html")
    figure = page.locator(f"#explorer-{name}")
    figure.scroll_into_view_if_needed()
    figure.locator(".ex").wait_for()
    assert figure.evaluate(LOOK)["overlap"] == []
    assert figure.evaluate(PRESS_EACH) == []


# What a person would not write: 1e9, 10^9, bare prefixes and abbreviations of big numbers, zeros
# after the point (but cents), 1 × 10⁹, shares of one.
ODD = r"""(figure) => {
  for (const data of figure.querySelectorAll("details")) data.open = true;
  const nodes = "text, .ex-value, .ex-note, .ex-words, .ex-over, output, .ex-ends span, td, th";
  const odd = [/(^|[^\\w])\\d[\\d.]*[eE][-+]?\\d/, /\\^/, /\\d\\s(bn|tn|qn|[kMGT])$/,
    /(^|[^$\\d.,])\\d[\\d,]*\\.\\d*0($|[^\\d.])/, /(^|[^\\d.])1\\s×\\s10/, /shares? of (1|one)/];
  return [...figure.querySelectorAll(nodes)].map((node) => node.textContent)
    .filter((text) => odd.some((one) => one.test(text))); }"""


def test_numbers_in_plots_are_written_as_people_write_them(page_name, site, shared):
    if "explorer-spec" not in (build.SITE / page_name).read_text("utf-8"):
        return
    page = shared(reduced_motion="reduce").open(site + page_name)
    for figure in page.locator("figure.explorer").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".ex").wait_for()
        # The blocks of a cipher are hexadecimal.
        if figure.get_attribute("id") != "explorer-feistel":
            assert figure.evaluate(ODD) == [], figure.get_attribute("id")
