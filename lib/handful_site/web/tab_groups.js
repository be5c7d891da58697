// Fewer stops of the Tab key.  What can be followed within a paragraph, a list, a table, a code cell
// or a row of buttons has one stop; arrows, Home and End go from one to the next, up and down go by
// the rows of a list or a table.  The groups are found anew at each press of Tab, so that whatever
// comes and goes is in them; who uses no Tab key notices nothing.
import { announce } from "../../handful_explorers/web/dom.js";

const ITEMS = "a[href], button, summary, [role=button]";
// What stays a stop of its own: the next thing to do, and what has keys of its own.
const ALONE =
  ".pop *, dialog *, [data-study] *, .study-grades *, .problem-next, .downloads li *, " +
  ".schematic-controls *";
const WHOLE = ".cards, .problem"; // one group with all that they hold
const PARTS =
  ".entry, .book-chapters, .page-contents nav, .page-tools, .prev-next, .site-footer, .bar-tools, " +
  ".ex-tools, .ex-presets, figure, table, .cell";
const LISTS = "ul, ol, dl";
// Where Tab enters a group, unless at its first: what comes next for most readers.
const ENTRY = "[aria-current], .problem-check, .letters";
const HEADING_LINK = ":is(h1, h2, h3, h4) > .headerlink";

/** @type {WeakSet<Element>} */
const passedOver = new WeakSet(); // by this module, and not by whoever made them
let tabbed = false; // whether the last key was Tab
let known = false; // whether the reader has used the arrows on this page

/**
 * @param {Element | null} node
 * @returns {node is HTMLElement}
 */
const isHTML = (node) => node instanceof HTMLElement;

/** @param {HTMLElement} item */
function reach(item) {
  if (passedOver.delete(item)) item.tabIndex = 0;
}

// A long list or table has a group for each letter that it goes by (jumps.py).
/** @param {HTMLElement} item */
function letterOf(item) {
  let row = item.closest(".glossary > *, .numbers-index tr");
  while (row && isHTML(row) && !row.dataset.jump) row = row.previousElementSibling;
  return row;
}

/** @param {HTMLElement} item */
function blockOf(item) {
  const letter = letterOf(item);
  if (letter) return letter;
  const part = item.closest(WHOLE) ?? item.closest(PARTS);
  if (part) return part.matches("figure") ? item : part;
  // Questions to oneself stand one below the other.
  if (item.matches(".admonition > summary")) return item.parentElement?.parentElement ?? item;
  let list = item.closest(LISTS);
  for (let outer = list; outer; outer = outer.parentElement?.closest(LISTS) ?? null) list = outer;
  return list ?? item.closest("p, figcaption") ?? item;
}

// The text hides by attributes, and most of it has no style yet, which would have to be computed.
/** @param {HTMLElement} item */
const visible = (item) =>
  item.closest("article")
    ? !item.closest("[hidden], details:not([open]) > :not(summary)")
    : item.checkVisibility({ checkVisibilityCSS: true });

// The groups, in the order of the page.  The link of a heading goes with what comes below it.
function groups() {
  /** @type {Map<Element, HTMLElement[]>} */
  const found = new Map();
  /** @type {HTMLElement[]} */
  let links = [];
  for (const item of document.querySelectorAll(ITEMS)) {
    if (!isHTML(item) || (item.tabIndex < 0 && !passedOver.has(item))) continue;
    if (item.matches(ALONE)) {
      reach(item); // a menu may have become a dialog since
      continue;
    }
    if (item.matches(":disabled") || !visible(item)) continue;
    links.push(item);
    if (item.matches(HEADING_LINK)) continue;
    const block = blockOf(item),
      items = found.get(block);
    if (items) items.push(...links);
    else found.set(block, links);
    links = [];
  }
  return found;
}

/** @param {HTMLElement[]} items */
const entryOf = (items) =>
  items.find((item) => item.matches(ENTRY)) ??
  items.find((item) => !item.matches(HEADING_LINK)) ??
  items[0];

function arrange() {
  const now = document.activeElement;
  for (const [block, items] of groups()) {
    const stop = items.find((item) => item === now) ?? entryOf(items),
      letter = isHTML(block) && items.length > 1 ? block.dataset.jump : "";
    for (const item of items) {
      if (letter && item === stop)
        item.setAttribute(
          "aria-description",
          `Under ${letter}: arrow keys, Home and End go through ${items.length} links`,
        );
      else if (letter) item.removeAttribute("aria-description");
      if (item === stop) reach(item);
      else if (!passedOver.has(item)) {
        passedOver.add(item);
        item.tabIndex = -1;
      }
    }
  }
  document.querySelector(".is-at")?.classList.remove("is-at");
}

// Letters -----------------------------------------------------------------------------------------

/** @param {HTMLElement} stop */
const lettersOf = (stop) =>
  stop.matches(".letters") && stop.parentElement
    ? [...stop.parentElement.querySelectorAll("[data-letter]")]
        .filter(isHTML)
        .sort((a, b) => Number(a.dataset.n) - Number(b.dataset.n)) // as they are read
    : [];

// Goes to another letter of an equation, and says whether there was one; before the first stands the
// equation as a whole.
/**
 * @param {HTMLElement} stop
 * @param {string} key
 */
function toLetter(stop, key) {
  const letters = lettersOf(stop),
    at = letters.findIndex((letter) => letter.matches(".is-at")),
    next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: letters.length - 1 }[key];
  if (!letters.length || next === undefined || next < -1 || next >= letters.length) return false;
  letters[at]?.classList.remove("is-at");
  if (next < 0) return true;
  letters[next].classList.add("is-at");
  letters[next].scrollIntoView({ block: "nearest", inline: "nearest" });
  announce((letters[next].dataset.letter ?? "").replaceAll("_", " "));
  return true;
}

// Arrows ------------------------------------------------------------------------------------------

/** @param {Element} item */
const rowOf = (item) => item.closest("tr, li");

/**
 * @param {HTMLElement[]} items
 * @param {HTMLElement} from
 * @param {string} key
 */
function itemAt(items, from, key) {
  const at = items.indexOf(from);
  if (key === "Home") return items[0];
  if (key === "End") return items[items.length - 1];
  if (key === "ArrowLeft") return items[at - 1];
  if (key === "ArrowRight") return items[at + 1];
  const row = rowOf(from),
    ahead = key === "ArrowDown" ? items.slice(at + 1) : items.slice(0, Math.max(at, 0)).reverse();
  return ahead.find((item) => rowOf(item) !== row);
}

/** @param {KeyboardEvent} event */
function move(event) {
  const { key, target } = event;
  if (!/^(Arrow(Left|Right|Up|Down)|Home|End)$/.test(key)) return;
  if (!(target instanceof HTMLElement) || !target.matches(ITEMS) || target.matches(ALONE)) return;
  const items = [...groups().values()].find((group) => group.includes(target)) ?? [];
  if (toLetter(target, key)) {
    event.preventDefault();
    known = true;
    return;
  }
  const to = itemAt(items, target, key);
  if (!to || to === target) return;
  event.preventDefault();
  known = true;
  document.querySelector(".is-at")?.classList.remove("is-at");
  to.focus();
  arrange();
}

// Until the arrows have been used, what is reached by Tab shows that they can be.
/** @param {FocusEvent} event */
function hint({ target: stop }) {
  if (known || !tabbed || !(stop instanceof HTMLElement)) return;
  const more = [...groups().values()].some((group) => group.length > 1 && group.includes(stop));
  if (!more && !stop.matches(".letters")) return;
  stop.classList.add("has-arrows");
  stop.addEventListener("blur", () => stop.classList.remove("has-arrows"), { once: true });
}

export function mountTabGroups() {
  // An older browser cannot tell what is hidden, and keeps a stop for each.
  if (!("checkVisibility" in Element.prototype)) return;
  // Before others hear of the key: who moves the focus on Tab finds the groups in order.
  document.addEventListener(
    "keydown",
    ({ key, target }) => {
      tabbed = key === "Tab";
      if (tabbed && !(target instanceof Element && target.closest(".pop"))) arrange();
    },
    true,
  );
  document.addEventListener("keydown", (event) => {
    const { altKey, ctrlKey, metaKey, shiftKey } = event;
    if (!event.defaultPrevented && !altKey && !ctrlKey && !metaKey && !shiftKey) move(event);
  });
  document.addEventListener("focusin", hint);
}
