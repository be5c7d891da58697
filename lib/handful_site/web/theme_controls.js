// What stands round the text (theme/layout.html): menus, colours, the page's contents, downloads,
// copies.
import { h } from "../../handful_explorers/web/dom.js";

const WIDE = matchMedia("(min-width: 992px)"),
  DARK = matchMedia("(prefers-color-scheme: dark)");
/**
 * @param {string} rule
 * @param {ParentNode} within
 * @returns {HTMLElement[]}
 */
const all = (rule, within = document) =>
  [...within.querySelectorAll(rule)].filter((node) => node instanceof HTMLElement);
/**
 * The nearest such element round what an event happened to; most are links.
 *
 * @param {Event} event
 * @param {string} rule
 * @returns {HTMLAnchorElement | null}
 */
const closest = ({ target }, rule) =>
  target instanceof Element ? /** @type {HTMLAnchorElement | null} */ (target.closest(rule)) : null;

// Light, dark, or as the system has it.  After "as the system" the next is the one that differs
// from it.
const root = document.documentElement;
/** @type {Record<string, string>} */
const MODES = { light: "light", dark: "dark", auto: "as the system" };
/** @param {string} mode */
function setColor(mode) {
  root.dataset.mode = mode;
  const system = DARK.matches ? "dark" : "light";
  root.dataset.theme = mode === "auto" ? system : mode;
  nameColorButton();
}
function nameColorButton() {
  document
    .querySelector(".color-mode-button")
    ?.setAttribute("aria-label", `Colours: ${MODES[root.dataset.mode ?? ""] ?? MODES.auto}`);
}
DARK.addEventListener("change", () => {
  if (root.dataset.mode === "auto") setColor("auto");
});
function nextColor() {
  const mode = root.dataset.mode ?? "",
    order = DARK.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  setColor(order[(order.indexOf(mode) + 1) % 3]);
  try {
    localStorage.setItem("mode", root.dataset.mode ?? "");
  } catch {
    /* then for this page only */
  }
}

function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else root.requestFullscreen?.();
}

// A column beside the text; where there is no room for one it lies in a dialog over the page.
/**
 * @param {string} name
 * @param {boolean} folds
 */
function menu(name, folds) {
  const button = document.querySelector(`.${name}-button`),
    side = document.getElementById(name),
    over = document.getElementById(`${name}-dialog`);
  if (!button || !side || !(over instanceof HTMLDialogElement)) return;
  const tell = () => {
    const beside = folds && WIDE.matches && !side.classList.contains("is-folded");
    button.setAttribute("aria-expanded", String(over.open || beside));
  };
  button.addEventListener("click", () => {
    if (folds && WIDE.matches) side.classList.toggle("is-folded");
    else {
      over.append(side);
      over.showModal();
    }
    tell();
  });
  over.addEventListener("close", () => {
    over.after(side);
    tell();
  });
  over.addEventListener("click", ({ target, clientX, clientY }) => {
    const { left, right, top, bottom } = over.getBoundingClientRect();
    const beside =
      target === over && (clientX < left || clientX > right || clientY < top || clientY > bottom);
    if (beside || (target instanceof Element && target.closest("a[href]"))) over.close();
  });
  WIDE.addEventListener("change", tell);
  tell();
}

// The page's contents show where the reader is: the last heading above the line below the upper
// third, none above the first of them, or the one chosen.
/** @param {HTMLElement} nav */
function follow(nav) {
  /** @type {Map<Element, HTMLAnchorElement>} */
  const links = new Map();
  for (const link of all('a[href^="#"]', nav)) {
    if (!(link instanceof HTMLAnchorElement)) continue;
    const target = document.getElementById(decodeURIComponent(link.hash.slice(1))),
      heading = target?.querySelector("h1, h2, h3, h4, h5, h6") || target;
    if (heading) links.set(heading, link);
  }
  let chosen = -Infinity;
  const show = (/** @type {HTMLAnchorElement | undefined} */ here) => {
    for (const link of links.values())
      if (link === here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    for (const entry of all("li", nav))
      entry.classList.toggle("is-here", Boolean(here && entry.contains(here)));
  };
  const choose = (/** @type {string} */ hash) => {
    const link = [...links.values()].find((one) => hash.length > 1 && one.hash === hash);
    if (!link) return;
    chosen = performance.now();
    show(link);
  };
  choose(location.hash);
  addEventListener("hashchange", () => choose(location.hash));
  // Whoever goes on from there has not chosen where that leads.
  const leave = () => {
    chosen = -Infinity;
  };
  for (const way of ["wheel", "touchmove", "keydown"])
    addEventListener(way, leave, { passive: true });
  document.addEventListener("click", (event) => {
    const link = closest(event, "a[href]");
    leave();
    if (link?.hash && link.hash === location.hash && link.pathname === location.pathname)
      choose(link.hash);
  });
  /** @type {Set<Element>} */
  const passed = new Set();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries)
        if (isIntersecting) passed.add(target);
        else passed.delete(target);
      // the way to what was chosen leads past others
      if (performance.now() < chosen + 1000) return;
      const last = [...links.keys()].filter((heading) => passed.has(heading)).pop();
      show(last && links.get(last));
    },
    { rootMargin: "10000000px 0px -70% 0px" }, // all above counts, however far
  );
  for (const heading of links.keys()) watcher.observe(heading);
}

// The menu stands where it stood on the page before; on the first one, so that this page's line is
// in sight.
/** @param {HTMLElement} side */
function keepPlace(side) {
  const PLACE = "sidebar-scroll-top",
    here = all("a.current", side).pop();
  let before;
  try {
    before = sessionStorage.getItem(PLACE);
  } catch {
    return;
  }
  // known from its scrolling: to ask when the page is left would lay it out once more
  let place = Number(before);
  side.addEventListener(
    "scroll",
    () => {
      place = side.scrollTop;
    },
    { passive: true },
  );
  addEventListener("pagehide", () => sessionStorage.setItem(PLACE, String(place)));
  if (before !== null) {
    if (Number(before)) side.scrollTop = Number(before); // which lays the page out
    return;
  }
  if (!here) return;
  const watcher = new IntersectionObserver(
    ([{ intersectionRatio }]) => {
      watcher.disconnect();
      if (intersectionRatio < 1)
        side.scrollTop += here.getBoundingClientRect().top - innerHeight / 2;
    },
    { root: side },
  );
  watcher.observe(here);
}

// Text that has not been on the screen yet has an estimated height only (content-visibility), and
// plots grow when they come near: who jumps to a place is kept at it until it stands still, or
// until they move on by themselves.
function arrive() {
  const place =
    location.hash.length > 1
      ? document.getElementById(decodeURIComponent(location.hash.slice(1)))
      : null;
  if (!place) return;
  const end = performance.now() + 2000,
    moves = ["wheel", "touchstart", "pointerdown", "keydown"],
    leave = new AbortController();
  for (const kind of moves)
    addEventListener(kind, () => leave.abort(), { passive: true, signal: leave.signal });
  const keep = () => {
    if (leave.signal.aborted) return;
    if (place.checkVisibility?.() !== false) place.scrollIntoView(); // a fold may still be opening
    if (performance.now() < end) requestAnimationFrame(keep);
    else leave.abort();
  };
  requestAnimationFrame(keep);
}

// Up again, offered to who turns back, where it lies on nothing that is worked by hand.
/** @param {HTMLElement} button */
function upward(button) {
  let before = scrollY,
    shown = false;
  button.addEventListener("click", () => scrollTo({ top: 0 }));
  const covers = () => {
    const { left, right, top, bottom } = button.getBoundingClientRect();
    return [left, (left + right) / 2, right - 1].some((x) =>
      [top, bottom - 1].some((y) =>
        document
          .elementsFromPoint(x, y)
          .some((node) => node.closest(".ex, .problem, .card, .prev-next")),
      ),
    );
  };
  addEventListener(
    "scroll",
    () => {
      const wanted = scrollY < before && scrollY > innerHeight && !covers();
      before = scrollY;
      if (wanted === shown) return;
      shown = wanted;
      button.classList.toggle("is-shown", shown);
    },
    { passive: true },
  );
}

// Folded menus of the bar close when the reader turns elsewhere.
/** @param {HTMLDetailsElement} details */
function foldAway(details) {
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (!(target instanceof Element)) return;
    if (!details.contains(target) || target.closest("a, button")) details.open = false;
  });
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    details.open = false;
    details.querySelector("summary")?.focus();
  });
}

/** @param {HTMLElement} block */
function offerCopy(block) {
  const button = h("button", {
    type: "button",
    class: "copy-code",
    "aria-label": "Copy this code",
    text: "Copy",
  });
  button.addEventListener("click", async () => {
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(
        (block.querySelector("pre")?.textContent ?? "").trimEnd(),
      );
    } catch {
      said = "Not allowed";
    }
    button.textContent = said;
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  block.append(button);
}

/** @type {Record<string, () => void>} */
const actions = { print: () => window.print(), fullscreen: fullScreen };
addEventListener("click", (event) => {
  actions[closest(event, "[data-do]")?.dataset.do ?? ""]?.();
  if (closest(event, ".color-mode-button")) nextColor();
});

function start() {
  // Who comes back, or loads the page again, is put by the browser where they were.
  const anew = () => {
    if (history.state?.arrived) return;
    history.replaceState({ ...history.state, arrived: true }, "");
    arrive();
  };
  const [entry] = performance.getEntriesByType("navigation");
  if (entry instanceof PerformanceNavigationTiming && entry.type === "navigate") anew();
  addEventListener("hashchange", anew);
  addEventListener("click", (event) => {
    const link = closest(event, "a[href*='#']"); // to where the address leads already
    if (
      link &&
      !event.defaultPrevented &&
      link.hash === location.hash &&
      link.pathname === location.pathname &&
      link.search === location.search
    )
      arrive();
  });
  nameColorButton();
  menu("book-contents", true);
  menu("page-contents", false);
  const nav = all("#page-contents nav")[0],
    side = document.getElementById("book-contents"),
    top = all(".back-to-top")[0];
  if (nav) follow(nav);
  if (side) keepPlace(side);
  if (top) upward(top);
  for (const details of all("details.downloads"))
    if (details instanceof HTMLDetailsElement) foldAway(details);
  (window.requestIdleCallback || setTimeout)(() => {
    for (const block of all(
      ".cell_input .highlight, .article > section > .highlight, .article " +
        "div[class*=highlight-] > .highlight",
    ))
      if (!block.querySelector(".copy-code")) offerCopy(block);
  });
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
