// Shapes of a scene, in pixels from the top left; shapes.py makes the same and says what their
// classes mean.
export const rect = (x, y, w, h, c) => ({ t: "rect", x, y, w, h, c });
export const line = (x1, y1, x2, y2, c = "soft") => ({ t: "line", x1, y1, x2, y2, c });
export const path = (points, c, w = 1.5) => ({ t: "path", p: points, w, c });
export const circle = (x, y, r, c) => ({ t: "circle", x, y, r, c });
export const text = (x, y, s, c = "soft", a = "start") => ({ t: "text", x, y, s, c, a });
