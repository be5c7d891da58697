// What ESLint asks of the page's scripts: `npm run lint`.
import js from "@eslint/js";
import globals from "globals";

const SITE = "lib/handful_site";
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
        GUESS_MARK: "readonly",
