// Where a followed result leads: the place is unfolded and shown, and the words that were asked for
// are marked until Escape, or the button that says so, takes the marks away.
import { h } from "../../../handful_explorers/web/dom.js";
import { matches } from "./text.js";

const MOST = 600,
  UNREAD = ".katex, script, style, svg, noscript, template, .bar, .headerlink, .find-clear";

/**
 * @param {Element} root
 * @param {Set<string>} terms
 */
function ranges(root, terms) {
  /** @type {Range[]} */
  const found = [],
    walk = document.createTreeWalker(
      root,
      NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT,
      (node) => {
        if (!(node instanceof Element)) return NodeFilter.FILTER_ACCEPT;
        return node.matches(UNREAD) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
      },
    );
  for (let node = walk.nextNode(); node && found.length < MOST; node = walk.nextNode()) {
    if (!(node instanceof Text)) continue;
    for (const [start, end] of matches(node.data, terms)) {
      const range = new Range();
      range.setStart(node, start);
      range.setEnd(node, end);
      found.push(range);
    }
  }
  return found;
}

// A button that takes the marks away.
/** @param {() => void} stop */
function clearButton(stop) {
  /** @type {HTMLButtonElement} */
  const button = h(
    "button",
    {
      type: "button",
      class: "find-clear",
      text: "Clear the marks",
      onclick: () => {
        stop();
        CSS.highlights?.delete("find");
        for (const node of document.querySelectorAll(".find-here"))
          node.classList.remove("find-here");
        button.remove();
      },
    },
    h("kbd", { "aria-hidden": "true", text: "Esc" }),
  );
  return button;
}

/** @param {string[]} list */
export function showTarget(list) {
  const root = document.querySelector("main article") || document.querySelector("main"),
    terms = new Set(list.filter((name) => name.length > 1));
  const target = () =>
    location.hash.length > 1
      ? document.getElementById(decodeURIComponent(location.hash.slice(1)))
      : null;
  const here = () => {
    const node = target();
    return node?.matches("section")
      ? node.querySelector("h1, h2, h3, h4, .problem-row, .problem-head") || node
      : node;
  };
  /** @type {HTMLElement | null} */ (document.querySelector(".find-clear"))?.click();
  if (!root) return;

  const stop = new AbortController(),
    { signal } = stop;
  let moved = false;
  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"])
    addEventListener(
      kind,
      () => {
        moved = true;
      },
      { once: true, passive: true, signal },
    );
  const mark = () => {
    if ("Highlight" in window && CSS.highlights && !signal.aborted)
      CSS.highlights.set("find", new Highlight(...ranges(root, terms)));
  };
  const show = () => {
    const node = target();
    if (!node || signal.aborted) return;
    for (let up = node.parentElement; up; up = up.parentElement)
      if (up instanceof HTMLDetailsElement) up.open = true;
    here()?.classList.add("find-here");
    const { top } = node.getBoundingClientRect();
    if (!moved && (top < 0 || top > innerHeight * 0.5)) node.scrollIntoView({ block: "start" });
  };
  // Plots, cards and problems take their places while the page comes up, and what is far away gets
  // its height late.
  const look = () => {
    show();
    mark();
  };
  look();
  for (const wait of [150, 500, 1200, 2500]) setTimeout(wait === 150 ? show : look, wait);

  const clear = clearButton(() => stop.abort());
  if ("Highlight" in window) document.body.append(clear);
  addEventListener(
    "keydown",
    (event) => {
      if (event.key === "Escape" && !document.querySelector("dialog[open]")) clear.click();
    },
    { signal },
  );
}
