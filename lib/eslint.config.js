// What ESLint asks of the page's scripts: `npm run lint`.
import js from "@eslint/js";
import globals from "globals";

const SITE = "lib/handful_site";
// Safari reads them from 16.4 on, the book promises 15.4 (tests/book/test_promised_browsers.py).
const LOOKBEHIND = "A pattern that looks behind stops the script in older browsers of the promise.";
const WORKERS = [`${SITE}/measure/worker.js`, `${SITE}/python/worker.js`];

export default [
  { ignores: ["_build/", ".venv/", "dist/", "mutants/", "node_modules/"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, sourceType: "module" },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      complexity: ["error", 20],
      eqeqeq: "error",
      "no-implicit-globals": "error",
      "no-nested-ternary": "error",
      "no-restricted-syntax": [
        "error",
        { selector: "Literal[raw=/\\(\\?<[=!]/]", message: LOOKBEHIND },
        { selector: "TemplateElement[value.raw=/\\(\\?<[=!]/]", message: LOOKBEHIND },
      ],
      "no-shadow": "error",
      "no-unused-vars": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: ["lib/**/*.js"],
    ignores: [`${SITE}/web/offline/sw.js`, ...WORKERS],
    languageOptions: {
      // bundle.mjs puts the marks of the files that are asked for later in place of these names.
      globals: {
        ...globals.browser,
        MEASURE_MARK: "readonly",
        RUNS_MARK: "readonly",
        MEASURE_WORKER_MARK: "readonly",
        FORM_MARK: "readonly",
        GUESS_MARK: "readonly",
        PYTHON_MARK: "readonly",
        SCHEMATIC_MARK: "readonly",
        BOXES_MARK: "readonly",
        SEARCH_MARK: "readonly",
        STUDY_MARK: "readonly",
      },
    },
  },
  { files: ["**/*.mjs", "lib/eslint.config.js"], languageOptions: { globals: globals.node } },
  // A classic script, which the build puts its list of files before (offline.py).
  {
    files: [`${SITE}/web/offline/sw.js`],
    languageOptions: {
      sourceType: "script",
      globals: { ...globals.serviceworker, EDITION: "readonly" },
    },
    // Its global scope is its own: no other script runs in it.
    rules: { "no-implicit-globals": "off" },
  },
  {
    files: WORKERS,
    languageOptions: {
      // bundle.mjs assembles kernel.mjs, and puts the result in place of these names.
      globals: {
        ...globals.worker,
        FUSED_KERNEL: "readonly",
        KERNEL_TURN: "readonly",
        PLAIN_KERNEL: "readonly",
      },
    },
  },
  // Runs in any browser, also in one that knows no `const`: it says there why nothing else runs.
  {
    files: [`${SITE}/web/color_mode_init.js`],
    languageOptions: { ecmaVersion: 5, sourceType: "script" },
    rules: {
      "no-unused-vars": ["error", { caughtErrors: "none" }], // ES5 has no catch without a name
      "no-var": "off",
      "prefer-const": "off",
    },
  },
];
