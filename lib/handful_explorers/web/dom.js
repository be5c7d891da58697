// The few helpers that building elements takes.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const h = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

// Writing an attribute or a text costs even when it changes nothing; in a frame, most change
// nothing.
export function put(node, name, value) {
  const text = String(value),
    seen = (node.seen ||= {});
  if (seen[name] !== text) {
    seen[name] = text;
    if (name === "text") {
      if (node.firstChild?.nodeType === 3) node.firstChild.data = text;
      else node.textContent = text;
    } else node.setAttribute(name, text);
  }
}

export function show(node, visible) {
  put(node, "display", visible ? "inline" : "none");
}

// Keyed elements that are made once and then kept.
export class Pool {
  constructor(parent, make) {
    Object.assign(this, { parent, make, items: new Map(), used: new Set() });
  }

  get(key) {
    let item = this.items.get(key);
    if (!item) {
      item = this.make(key);
      this.items.set(key, item);
      this.parent.append(item.node || item);
    }
    if (!this.used.has(key)) {
      this.used.add(key);
      show(item.node || item, true);
    }
    return item;
  }

  // Hide what this frame did not ask for.
  done() {
    for (const [key, item] of this.items) if (!this.used.has(key)) show(item.node || item, false);
    this.used.clear();
  }
}

// Text widths without touching layout: a canvas, and a memory.
const widths = new Map();
let brush;
export function textWidth(text, font) {
  const key = font + text;
  let width = widths.get(key);
  if (width === undefined) {
    brush ||= document.createElement("canvas").getContext("2d");
    brush.font = font;
    width = brush.measureText(text).width;
    if (widths.size > 4000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

// Calls `take(width)` once the host has a width, before it is painted, and whenever that changes;
// returns how to stop it. To ask at once would lay out what is far from the screen, and to ask in a
// frame would lay it out twice.
const unseen = new Map();
export function watchWidth(host, take) {
  let known = 0;
  const look = () => {
    const width = Math.round(host.clientWidth);
    unseen.delete(host);
    if (width && width !== known) take((known = width));
  };
  const watcher = new ResizeObserver(look);
  watcher.observe(host);
  unseen.set(host, look);
  return () => {
    watcher.disconnect();
    unseen.delete(host);
  };
}
// What is on the screen already, or about to be printed, cannot wait for that.
export function lookWithin(root) {
  for (const [host, look] of [...unseen]) if (root.contains(host)) look();
}

// Says what happened to those who do not see it happen.
let ears;
export function announce(text) {
  if (!ears) document.body.append((ears = h("div", { class: "for-ears", role: "status" })));
  ears.textContent = text;
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
