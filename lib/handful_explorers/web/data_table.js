// The data of a plot as a table.
import { h } from "./dom.js";

/**
 * @param {Table} table
 * @param {string} [caption]
 */
export const dataTable = ({ head, body }, caption) =>
  h(
    "table",
    null,
    caption ? h("caption", { text: caption }) : null,
    h("thead", null, h("tr", null, ...head.map((text) => h("th", { scope: "col", text })))),
    h(
      "tbody",
      null,
      ...body.map((row) =>
        h(
          "tr",
          null,
          ...row.map((text, i) => h(i ? "td" : "th", { scope: i ? null : "row", text })),
        ),
      ),
    ),
  );
