// Shapes of a scene, in pixels from the top left; shapes.py makes the same and says what their
// classes mean.
/**
 * @param {number} x
 * @param {number} y
 * @param {number} w
 * @param {number} h
 * @param {string} c
 * @returns {RectShape}
 */
export const rect = (x, y, w, h, c) => ({ t: "rect", x, y, w, h, c });
/**
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {string} [c]
 * @returns {LineShape}
 */
export const line = (x1, y1, x2, y2, c = "soft") => ({ t: "line", x1, y1, x2, y2, c });
/**
 * @param {Pair[]} points
 * @param {string} c
 * @param {number} [w]
 * @returns {PathShape}
 */
export const path = (points, c, w = 1.5) => ({ t: "path", p: points, w, c });
/**
 * @param {number} x
 * @param {number} y
 * @param {number} r
 * @param {string} c
 * @returns {CircleShape}
 */
export const circle = (x, y, r, c) => ({ t: "circle", x, y, r, c });
/**
 * @param {number} x
 * @param {number} y
 * @param {string} s
 * @param {string} [c]
 * @param {Anchor} [a]
 * @returns {TextShape}
 */
export const text = (x, y, s, c = "soft", a = "start") => ({ t: "text", x, y, s, c, a });
