// The few helpers that building elements takes.
const SVG = "http://www.w3.org/2000/svg";

/** Which event a handler gets follows from the attribute's name ("onclick"), hence `any`.
 * @typedef {string | number | boolean | null | undefined | URL | ((event: any) => unknown)}
 *   Attribute
 * @typedef {Record<string, Attribute> | null} Attributes
 * @typedef {Node | string | null | undefined} Child
 */

/**
 * @template {Element} E
 * @param {E} node
 * @param {Attributes | undefined} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = String(value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Hand a text over as a file.
/**
 * @param {string} text
 * @param {string} name
 * @param {string} type
 */
export function saveAs(text, name, type) {
  const address = URL.createObjectURL(new Blob([text], { type })),
    link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Writing an attribute or a text costs even when it changes nothing; in a frame, most change
// nothing.
/**
 * @param {Element & { seen?: Record<string, string> }} node
 * @param {string} name
 * @param {unknown} value
 */
export function put(node, name, value) {
  const text = String(value),
    seen = (node.seen ||= {});
  if (seen[name] !== text) {
    seen[name] = text;
    if (name === "text") {
      if (node.firstChild instanceof Text) node.firstChild.data = text;
      else node.textContent = text;
    } else node.setAttribute(name, text);
  }
}

/**
 * @param {Element} node
 * @param {boolean} visible
 */
export function show(node, visible) {
  put(node, "display", visible ? "inline" : "none");
}

/** @param {Element | { node: Element }} item */
const nodeOf = (item) => ("node" in item ? item.node : item);

/**
 * Keyed elements that are made once and then kept.
 *
 * @template {Element | { node: Element }} Item
 * @template {string | number} [Key=string]
 */
export class Pool {
  /**
   * @param {Element} parent
   * @param {(key: Key) => Item} make
   */
  constructor(parent, make) {
    this.parent = parent;
    this.make = make;
    /** @type {Map<Key, Item>} */
    this.items = new Map();
    /** @type {Set<Key>} */
    this.used = new Set();
  }

  /**
   * @param {Key} key
   * @returns {Item}
   */
  get(key) {
    let item = this.items.get(key);
    if (!item) {
      item = this.make(key);
      this.items.set(key, item);
      this.parent.append(nodeOf(item));
    }
    if (!this.used.has(key)) {
      this.used.add(key);
      show(nodeOf(item), true);
    }
    return item;
  }

  // Hide what this frame did not ask for.
  done() {
    for (const [key, item] of this.items) if (!this.used.has(key)) show(nodeOf(item), false);
    this.used.clear();
  }
}

function paintbrush() {
  const found = document.createElement("canvas").getContext("2d");
  if (!found) throw new Error("This browser draws on no canvas.");
  return found;
}

// Text widths without touching layout: a canvas, and a memory.
/** @type {Map<string, number>} */
const widths = new Map();
/** @type {CanvasRenderingContext2D | undefined} */
let brush;
/**
 * @param {string} text
 * @param {string} font
 * @returns {number}
 */
export function textWidth(text, font) {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    brush ||= paintbrush();
    brush.font = font;
    width = brush.measureText(text).width;
    if (widths.size > 4000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

// Who has drawn text whose width was that of another font, until the page's own has come.
/** @type {Set<() => void>} */
const watched = new Set();
globalThis.document?.fonts?.addEventListener("loadingdone", () => {
  widths.clear();
  for (const again of watched) again();
});

// Calls `take(width)` once the host has a width, before it is painted, and whenever that or a font
// changes; returns how to stop it. To ask at once would lay out what is far from the screen, and to ask in a
// frame would lay it out twice.
/** @type {Map<Element, () => void>} */
const unseen = new Map();
/**
 * @param {Element} host
 * @param {(width: number) => void} take
 * @returns {() => void}
 */
export function watchWidth(host, take) {
  let known = 0;
  const look = () => {
    const width = Math.round(host.clientWidth);
    unseen.delete(host);
    if (width && width !== known) take((known = width));
  };
  const again = () => known && take(known);
  const watcher = new ResizeObserver(look);
  watcher.observe(host);
  unseen.set(host, look);
  watched.add(again);
  return () => {
    watcher.disconnect();
    watched.delete(again);
    unseen.delete(host);
  };
}
// What is on the screen already, or about to be printed, cannot wait for that.
/** @param {Node} root */
export function lookWithin(root) {
  for (const [host, look] of [...unseen]) if (root.contains(host)) look();
}

// Says what happened to those who do not see it happen.
/** @type {HTMLElement | undefined} */
let ears;
/** @param {string} text */
export function announce(text) {
  if (!ears) document.body.append((ears = h("div", { class: "for-ears", role: "status" })));
  ears.textContent = text;
}

// Asked once: it answers for what holds then, too, and frames ask for it.
/** @type {MediaQueryList | undefined} */
let reduced;
export const calm = () => (reduced ||= matchMedia("(prefers-reduced-motion: reduce)")).matches;

const THRESHOLD = 8; // pixels that a finger goes before it means something

// What a press means: a mouse means what it points at, a finger does once it has gone further
// sideways than up or down.
export class Intent {
  /** @param {PointerEvent} event */
  constructor({ pointerId, pointerType, clientX, clientY }) {
    this.id = pointerId;
    this.x = clientX;
    this.y = clientY;
    this.sideways = pointerType !== "touch";
  }

  // Whether this press goes sideways, now that it is here.
  /** @param {PointerEvent} event */
  follow({ pointerId, clientX, clientY }) {
    if (pointerId !== this.id) return false;
    const across = Math.abs(clientX - this.x);
    this.sideways ||= across > THRESHOLD && across > Math.abs(clientY - this.y);
    return this.sideways;
  }
}

// A slider that a finger moves sideways only.  The browser's own jumps to where it is touched, also
// by a swipe that scrolls the page: what it says before the finger has gone sideways is taken back.
/**
 * @param {HTMLInputElement} input
 * @param {(position: number, done: boolean) => void} take
 */
export function listenToSlider(input, take) {
  /** @type {{ intent: Intent, before: string } | null} */
  let press = null;
  const hear = (/** @type {boolean} */ done) => {
    if (press && !press.intent.sideways) input.value = press.before;
    else take(Number(input.value), done);
  };
  input.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch") press = { intent: new Intent(event), before: input.value };
  });
  input.addEventListener("pointermove", (event) => press?.intent.follow(event));
  input.addEventListener("pointerup", (event) => {
    if (!press) return;
    if (!press.intent.sideways) {
      const { left, width } = input.getBoundingClientRect(),
        { min, max } = input;
      input.value = String(
        Number(min) + ((event.clientX - left) / width) * (Number(max) - Number(min)),
      );
    }
    press = null;
    hear(true);
  });
  input.addEventListener("pointercancel", () => {
    if (!press) return;
    input.value = press.before;
    press = null;
    hear(true);
  });
  // A page is as long in both directions, which the browser's own need not be.
  input.addEventListener("keydown", (event) => {
    const pages = { PageUp: 1, PageDown: -1 }[event.key];
    if (!pages) return;
    event.preventDefault();
    input.value = String(Number(input.value) + pages * Math.ceil(Number(input.max) / 10));
    hear(true);
  });
  input.addEventListener("input", () => hear(false));
  input.addEventListener("change", () => hear(true));
}
