// Tables and formulas that may be wider than the screen.  A box that scrolls is a stop of the Tab
// key, for Safari has no other way to scroll it by keys; one that does not is none, nor is an
// equation, whose letters come into view as arrows go to them.
const WIDE =
  ".highlight > pre, .scrollable-table, .ex-table, .explorer-data, .plain-table, " +
  ".notation, .math-block > .math:not(.lettered), .derivation .math:not(.lettered), span.math > .katex, .problem-gantt, " +
  ".study-plot";

/** @param {Element} box */
function scrolls(box) {
  return (
    (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible") ||
    (box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY === "auto")
  );
}

export function watchWideBoxes() {
  // It calls after a layout that comes anyway, and again when a box's size changes.
  const watcher = new ResizeObserver((entries) => {
    // first look at all, then write
    const found = entries.map(({ target }) => ({ box: target, wide: scrolls(target) }));
    for (const { box, wide } of found) {
      if (wide === box.hasAttribute("tabindex")) continue;
      if (wide) box.setAttribute("tabindex", "0");
      else box.removeAttribute("tabindex");
    }
  });
  const seen = new WeakSet();
  const take = (/** @type {ParentNode} */ root) => {
    for (const box of root.querySelectorAll(WIDE))
      if (!seen.has(box)) {
        seen.add(box);
        watcher.observe(box);
      }
  };
  take(document);
  // unfolded answers and tables
  document.addEventListener(
    "toggle",
    ({ target }) => take(/** @type {ParentNode} */ (target)),
    true,
  );
}
