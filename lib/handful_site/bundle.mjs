// Bundles the page's modules with esbuild: node bundle.mjs OUT_FOLDER
//   handful.js, handful.css    every page loads them: theme_controls.js (theme), then site.js (explorers,
//                              live numbers, bar)
//   study.js                   cards and problems; asked for by pages that have some, once they
//                              have been shown
//   color_mode_init.js         sets light or dark before a page is painted, in any browser
//   database.js                opens the learner's store; in the head of the pages that are about it
//   search.js                  the search; asked for by whoever reaches for it
//   guess.js                   asks what a plot will show; asked for where the reader is asked, or has
//                              guessed
//   form.js                    a model and chip of the reader's own; asked for by the page that has it
//   boxes.js                   what opens in place; asked for by the first box
//   schematic.js               steps of schematics; asked for by pages that have some
//   python.js                  cells that run in the page; asked for on a click
//   measure.js                 measures the reader's machine; asked for on a click
//   runs.js                    reads result files of servers; asked for by the page that has a place
//   measure/worker.js          what does it, in a folder of its own (hosting.py says why)
//   explorer.js, explorer.css  one module for anywidget: export default { render }
//   katex/                     its style sheet and woff2 fonts
// The scenario rows are imported as "handful-rows"; build.py writes them first.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
  copyFileSync,
  readdirSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import wabt from "wabt";
import { fused, plain, TURN } from "./measure/kernel.mjs";
import { PROMISED } from "./promised.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2]);
mkdirSync(out, { recursive: true });

const entries = {
  study: 'export * from "../handful_study/web/study.js";',
  database:
    'import { openDatabase } from "../handful_study/web/database.js"; window.studyOpening = openDatabase(); ' +
    "window.studyOpening.catch(() => {});",
  search: 'export * from "./web/search/search.js";',
  guess: 'export * from "../handful_explorers/web/guess.js";',
  schematic: 'export * from "../handful_explorers/web/schematic.js";',
  boxes: 'export * from "./web/boxes.js";',
  form: 'export * from "./web/custom_scenario_form.js";',
  python: 'export * from "./python/cells.js";',
  "measure/worker": 'import "./measure/worker.js";',
  measure: 'export * from "./measure/measure.js";',
  runs: 'export * from "./runs/runs.js";',
  handful: 'import "./web/theme.css"; import "./web/theme_controls.js"; import "./web/site.js";',
  explorer: 'export { default } from "../handful_explorers/web/explorer.js";',
};

const assembler = await wabt();
// A module of WebAssembly as base64.
/** @param {string} text */
const assembled = (text) =>
  Buffer.from(
    assembler.parseWat("kernel", text, { simd: true, relaxed_simd: true }).toBinary({}).buffer,
  ).toString("base64");

/** @type {Record<string, string>} */
const marks = {
  FUSED_KERNEL: JSON.stringify(assembled(fused)),
  PLAIN_KERNEL: JSON.stringify(assembled(plain)),
  KERNEL_TURN: String(TURN),
};
// d3-array's own bundle holds internmap; KaTeX is copied below.
const held = new Set(["katex", "internmap"]);
// Whose the fonts are, where the package's licence names the one from whom it has them.
const ADOBE = "Copyright Adobe (http://www.adobe.com/), with Reserved Font Name 'Source'.\n\n";
/** @type {Record<string, string>} */
const OWNERS = { "@fontsource/source-serif-4": ADOBE, "@fontsource-variable/source-sans-3": ADOBE };
for (const [name, contents] of Object.entries(entries)) {
  const result = await build({
    stdin: { contents, resolveDir: here, sourcefile: `${name}.entry.js` },
    outfile: join(out, `${name}.js`),
    bundle: true,
    minify: true,
    format: name === "database" ? "iife" : "esm",
    target: PROMISED,
    alias: { "handful-rows": join(out, "rows.json") },
    loader: { ".json": "json", ".svg": "file", ".woff2": "file" },
    define: marks,
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  for (const { inputs } of Object.values(result.metafile.outputs))
    for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
      const owner = input.match(/.*node_modules\/((@[^/]+\/)?[^/]+)/)?.[1];
      if (bytesInOutput && owner) held.add(owner);
    }
  // The address of what is asked for later changes with what it holds, so that no old copy is used.
  const late = !["database", "handful", "explorer"].includes(name);
  if (late)
    marks[`${name.toUpperCase().replace("/", "_")}_MARK`] = JSON.stringify(
      createHash("sha256")
        .update(readFileSync(join(out, `${name}.js`)))
        .digest("hex")
        .slice(0, 8),
    );
  writeFileSync(join(out, `${name}.meta.json`), JSON.stringify(result.metafile));
  if (!late && name !== "database" && !existsSync(join(out, `${name}.css`)))
    writeFileSync(join(out, `${name}.css`), "");
}

writeFileSync(
  join(out, "color_mode_init.js"),
  (
    await transform(readFileSync(join(here, "web/color_mode_init.js"), "utf8"), {
      minify: true,
      target: "es5",
    })
  ).code,
);
copyFileSync(join(here, "favicon.svg"), join(out, "favicon.svg"));

// What the scripts and sheets hold of others goes under its licence, which stands beside them;
// licences.py adds to it.
const packages = join(here, "../../node_modules");
const notices = [...held].sort().map((name) => {
  const file = readdirSync(join(packages, name)).find((entry) =>
    /^licen[cs]e(\.txt|\.md)?$/i.test(entry),
  );
  if (!file) throw new Error(`${name} has no licence file.`);
  const rule = "=".repeat(78);
  const licence = readFileSync(join(packages, name, file), "utf8").trim();
  return `${rule}\n${name}\n${rule}\n\n${OWNERS[name] || ""}${licence}`;
});
writeFileSync(join(out, "licences.txt"), `${notices.join("\n\n\n")}\n`);

// KaTeX's sheet with the one font format that every browser of the last ten years reads, and without
// Fraktur, in which no formula is written and which every reader would keep for offline.
const katex = dirname(createRequire(import.meta.url).resolve("katex"));
const sheet = readFileSync(join(katex, "katex.min.css"), "utf8")
  .replace(/,url\([^)]+\.(woff|ttf)\) format\("[^"]+"\)/g, "")
  .replace(/@font-face\{[^}]*Fraktur[^}]*\}/g, "");
mkdirSync(join(out, "katex", "fonts"), { recursive: true });
writeFileSync(
  join(out, "katex", "katex.css"),
  (await transform(sheet, { loader: "css", minify: true })).code,
);
for (const font of readdirSync(join(katex, "fonts")).filter((name) =>
  /^(?!.*Fraktur).*\.woff2$/.test(name),
))
  copyFileSync(join(katex, "fonts", font), join(out, "katex", "fonts", font));
