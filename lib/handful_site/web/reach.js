// What of the theme's faults follows the page's state: theme_accessibility.py mends the rest when the book is
// built.

// Tables and formulas that may be wider than the screen.  A box that scrolls is a stop of the Tab
// key, for Safari has no other way to scroll it by keys; one that does not is none.
const WIDE =
  ".highlight > pre, .pst-scrollable-table-container, .ex-table, .explorer-data, .plain-table, " +
  ".notation, .math-block > .math, .derivation .math, span.math > .katex, .problem-gantt, " +
  ".study-plot";

/** @type {Record<string, string>} */
const MODES = { light: "light", dark: "dark", auto: "as the system" };

/** @param {Element} box */
function scrolls(box) {
  return (
    (box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible") ||
    (box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY === "auto")
  );
}

// Returns a function that takes in boxes which come later.
function watchWide() {
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
  return (/** @type {ParentNode} */ root) => {
    for (const box of root.querySelectorAll(WIDE))
      if (!seen.has(box)) {
        seen.add(box);
        watcher.observe(box);
      }
  };
}

export function mendReach() {
  const root = document.documentElement,
    take = watchWide();
  take(document);
  // unfolded answers and tables
  document.addEventListener(
    "toggle",
    ({ target }) => take(/** @type {ParentNode} */ (target)),
    true,
  );
  const name = () => {
    for (const button of document.querySelectorAll(".theme-switch-button"))
      button.setAttribute("aria-label", `Colours: ${MODES[root.dataset.mode ?? ""] || MODES.auto}`);
  };
  new MutationObserver(name).observe(root, { attributeFilter: ["data-mode"] });
  name();
  // The theme's menu: a column beside the text, or a dialog over it.
  const toggle = document.querySelector(".primary-toggle"),
    side = document.getElementById("pst-primary-sidebar"),
    over = document.getElementById("pst-primary-sidebar-modal");
  if (!toggle || !side || !(over instanceof HTMLDialogElement)) return;
  const state = () =>
    toggle.setAttribute(
      "aria-expanded",
      String(over.open || (innerWidth >= 992 && !side.classList.contains("pst-sidebar-hidden"))),
    );
  const watcher = new MutationObserver(state);
  for (const node of [side, over]) watcher.observe(node, { attributeFilter: ["class", "open"] });
  addEventListener("resize", state);
  state();
}
