// Shapes (shapes.js) as elements of a drawing.
import { put, s } from "../dom.js";

const MAKE = {
  rect: () => s("rect"),
  line: () => s("line"),
  path: () => s("path"),
  circle: () => s("circle"),
  text: () => s("text"),
};
/** @param {number} x */
export const round = (x) => Math.round(x * 100) / 100;
/**
 * @param {Shape['t']} kind
 * @returns {SVGElement}
 */
export const make = (kind) => MAKE[kind]();

/**
 * @param {SVGElement} node
 * @param {Shape} shape
 */
export function write(node, shape) {
  put(
    node,
    "class",
    shape.c
      .split(" ")
      .map((word) => `sc-${word}`)
      .join(" "),
  );
  if (shape.t === "text") {
    put(node, "x", round(shape.x));
    put(node, "y", round(shape.y));
    put(node, "text-anchor", shape.a);
    put(node, "text", shape.s);
  } else if (shape.t === "rect") {
    put(node, "x", round(shape.x));
    put(node, "y", round(shape.y));
    put(node, "width", round(Math.max(shape.w, 0)));
    put(node, "height", round(Math.max(shape.h, 0)));
  } else if (shape.t === "line") {
    for (const name of /** @type {const} */ (["x1", "y1", "x2", "y2"]))
      put(node, name, round(shape[name]));
  } else if (shape.t === "circle") {
    put(node, "cx", round(shape.x));
    put(node, "cy", round(shape.y));
    put(node, "r", round(shape.r));
  } else {
    put(
      node,
      "d",
      shape.p.length ? `M${shape.p.map(([x, y]) => `${round(x)},${round(y)}`).join("L")}` : "M0,0",
    );
    put(node, "stroke-width", shape.w);
  }
}
