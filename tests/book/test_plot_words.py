"""Words in the plots of the built book: none on another, few on a curve, all within the drawing."""

from __future__ import annotations

import pytest

from handful_site import build

pytestmark = pytest.mark.browser

CURSORS = (0.02, 0.25, 0.5, 0.75, 0.98)  # of the width of a plot
# Words that a curve may run through, of all of a page's, at each width.
CROSSED = {375: 0.3, 1280: 0.02}

# Visible words with their boxes, those that overlap, those that leave the drawing, and those that
# stand on the plot with the number of them that a curve runs through.
LOOK = """(figure) => {
  const found = { overlap: [], outside: [], words: 0, crossed: [] };
  const svg = figure.querySelector(".ex-stage svg"), frame = svg?.getBoundingClientRect();
  if (!frame?.width) return found;
  const texts = [...svg.querySelectorAll("text")].filter((text) =>
    getComputedStyle(text).visibility !== "hidden");
  const words = texts.flatMap((text) => {
    const lines = text.querySelectorAll("tspan");
    return [...(lines.length ? lines : [text])].map((line) => {
      const { left, right, top, bottom } = line.getBoundingClientRect(), tall = bottom - top;
      // A box has room for accents and for the next line; letters fill its middle.
      return { text, said: line.textContent, left: left + 0.5, right: right - 0.5,
        top: top + 0.22 * tall, bottom: bottom - 0.2 * tall };
    });
  }).filter((word) => word.right > word.left && word.said.trim());
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const grip = svg.querySelector(".ex-grip"),
    plate = grip?.querySelector("rect").getBoundingClientRect();
  words.forEach((a, i) => {
    for (const b of words.slice(i + 1)) if (meet(a, b)) found.overlap.push([a.said, b.said]);
    if (plate?.width && !grip.contains(a.text) && meet(a, plate))
      found.overlap.push([a.said, "the cursor"]);
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

# A press at a share of the width of the plot; what it draws is drawn once this is back.
PRESS = """async (figure, share) => {
  const surface = figure.querySelector(".ex-surface"), frame = surface.getBoundingClientRect();
  const at = { clientX: frame.left + share * frame.width, clientY: frame.top + frame.height / 2 };
  for (const kind of ["pointerdown", "pointerup"])
    surface.dispatchEvent(new PointerEvent(kind,
      { ...at, bubbles: true, pointerId: 1, pointerType: "mouse", button: 0, isPrimary: true }));
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame); }"""


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
        moves = figure.locator(".ex-grip").count() and figure.locator(".ex-surface").is_visible()
        for share in (None, *CURSORS) if moves else (None,):
            if share is not None:
                figure.evaluate(PRESS, share)
            found = figure.evaluate(LOOK)
            if found["overlap"] or found["outside"]:
                wrong.append((figure.get_attribute("id"), share, found))
            words += found["words"]
            crossed += found["crossed"]
    print(f"{page_name} at {width}: curves run through {len(crossed)} of {words} words")
    assert wrong == []
    assert len(crossed) <= CROSSED[width] * words, crossed
    assert tab.faults == []


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
