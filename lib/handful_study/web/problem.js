// One problem: the field for its answer, what is said of it, its hints, and its numbers, which a
// seed draws.
import { calm, h } from "../../handful_explorers/web/dom.js";
import { formatValue } from "../../handful_explorers/web/units.js";
import { check, shownTexts } from "./check.js";
import { chart } from "./gantt.js";

export const MOST_SEED = 0xffffffff;
const HIGHEST_DRAWN = 99999; // seeds that are drawn here are short, so that they can be read out
const MARKS = { right: ["✓", "Right."], wrong: ["✗", "Not yet."], unread: ["–", "Not counted."] };
let made = 0;

/**
 * @param {Element} node
 * @returns {node is HTMLElement}
 */
const isHTML = (node) => node instanceof HTMLElement;

// What the build has put into every problem.
/**
 * @param {Element} node
 * @param {string} rule
 * @returns {HTMLElement}
 */
function requiredChild(node, rule) {
  const found = node.querySelector(rule);
  if (found && isHTML(found)) return found;
  throw new Error(`There is no ${rule} in it.`);
}

/** @param {Element} node */
const copyOfContent = (node) => [...node.cloneNode(true).childNodes];
/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// A sentence of check.js without the word that the mark before it says already.
/** @param {string} text */
const withoutVerdict = (text) => capital(text.replace(/^(?:Right|Not yet)(?:\.|: )/, ""));

export class Problem {
  /**
   * @param {HTMLElement} node
   * @param {import('./problems.js').Around} page
   * @param {number} [seed]
   */
  constructor(node, page, seed = 0) {
    this.node = node;
    this.page = page;
    this.seed = seed;
    this.id = node.dataset.problem ?? "";
    this.number = ++made;
    /** @type {ProblemSpec} */
    this.spec = JSON.parse(requiredChild(node, "script.problem-spec").textContent ?? "");
    /** @type {HTMLElement[]} */
    this.drawn = [...node.querySelectorAll("[data-drawn]")].filter(isHTML);
    this.turns = [...node.querySelectorAll(".problem-turns > li")];
    this.hints = [...node.querySelectorAll("details.hint")].filter(
      (hint) => hint instanceof HTMLDetailsElement,
    );
    this.choices = [...node.querySelectorAll(".problem-choices > li")];
    /** @type {HTMLInputElement | HTMLTextAreaElement | null} */
    this.input = null;
    /** @type {HTMLInputElement[] | null} */
    this.options = null;
    /** @type {HTMLAnchorElement | null} */
    this.link = null;
    this.verdict = h("div", { class: "problem-verdict", role: "status" });
    this.done = h("span", { class: "problem-done" });
    this.form = h("form", {
      class: "problem-form",
      onsubmit: (event) => {
        event.preventDefault();
        this.check();
      },
    });
    this.varies =
      this.spec.draw.some(([, values]) => new Set(values).size > 1) || this.spec.cases.length > 1;
    this.build();
    this.draw(seed, false);
  }

  build() {
    const field = `answer-${this.number}`;
    requiredChild(this.node, ".problem-head").append(this.done);
    const button = h("button", { type: "submit", class: "problem-check", text: "Check" });
    this.form.append(...this.fields(field, button));
    (
      this.node.querySelector(".problem-choices") || requiredChild(this.node, ".problem-text")
    ).after(this.form, this.verdict);
    const tools = h("p", { class: "problem-tools" });
    if (this.varies) {
      this.link = h("a", { class: "problem-seed", title: "A link to these numbers" });
      tools.append(
        h("button", {
          type: "button",
          class: "problem-tool",
          text: "New numbers",
          onclick: () => this.draw(this.another()),
        }),
      );
    }
    tools.append(
      h("button", {
        type: "button",
        class: "problem-tool",
        text: "Start over",
        onclick: () => this.reset(),
      }),
    );
    if (this.link) tools.append(this.link);
    requiredChild(this.node, "details.solution").after(tools);
    // Hints come one by one: the second shows itself when the first has been read.
    this.hints.forEach((hint, i) => {
      hint.hidden = i > 0;
      hint.addEventListener("toggle", () => {
        if (!hint.open) return;
        hint.dataset.seen = "";
        if (this.hints[i + 1]) this.hints[i + 1].hidden = false;
      });
    });
    this.mark();
  }

  /**
   * @param {string} field
   * @param {HTMLElement} button
   * @returns {Node[]}
   */
  fields(field, button) {
    const { kind } = this.spec;
    if (kind === "choice") {
      this.radios(field);
      return [button];
    }
    const about = h("span", { id: `${field}-about`, class: "problem-about", text: this.about() });
    const common = {
      id: field,
      "aria-describedby": about.id,
      autocomplete: "off",
      autocapitalize: "off",
      autocorrect: "off",
      spellcheck: "false",
    };
    if (kind === "schedule") {
      this.input = h("textarea", {
        ...common,
        class: "problem-orders",
        onkeydown: (event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.form.requestSubmit();
        },
      });
      return [
        h("label", { for: field, text: "The order of each stage, a line each" }),
        this.input,
        about,
        button,
      ];
    }
    this.input = h("input", { ...common, type: "text", maxlength: "300" });
    return [
      h("label", { for: field, text: this.answerPrompt() }),
      h("span", { class: "problem-line" }, this.input, button),
      about,
    ];
  }

  answerPrompt() {
    return "asked" in this.spec ? this.spec.asked : "";
  }

  about() {
    const { spec } = this;
    if (spec.kind === "number")
      return `Counted as right within ${formatValue(spec.tolerance, "%")}.`;
    if (spec.kind === "expression")
      return "In the letters above, in any form that comes to the same.";
    return "Spaces between the pieces; Ctrl and Enter check.";
  }

  // The choices become real radio buttons, in the list where they stood.
  /** @param {string} field */
  radios(field) {
    const list = requiredChild(this.node, ".problem-choices");
    list.setAttribute("role", "radiogroup");
    list.setAttribute("aria-label", "Your answer");
    this.options = this.choices.map((item, i) => {
      const id = `${field}-${i}`,
        input = h("input", { type: "radio", id, name: field, value: String(i) }),
        text = requiredChild(item, ".choice-text");
      item.setAttribute("role", "presentation");
      text.replaceWith(
        h(
          "div",
          { class: "choice-line" },
          input,
          h("label", { class: "choice-text", for: id }, ...text.childNodes),
        ),
      );
      input.addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          this.form.requestSubmit();
        }
      });
      return input;
    });
  }

  /** @returns {number} */
  another() {
    const seed = 1 + Math.floor(Math.random() * HIGHEST_DRAWN);
    return seed === this.seed ? this.another() : seed;
  }

  // Show the numbers of a seed; what was answered before is cleared.
  /**
   * @param {number} seed
   * @param {boolean} [told]
   */
  draw(seed, told = true) {
    this.seed = seed;
    const texts = shownTexts(this.spec, seed);
    for (const span of this.drawn) {
      const text = texts[Number(span.dataset.drawn)];
      if (span.textContent === text) continue;
      span.textContent = text;
      span.classList.toggle("is-new", told);
      span.addEventListener("animationend", () => span.classList.remove("is-new"), { once: true });
    }
    if (this.link) {
      const query = new URLSearchParams({ [`problem-${this.id}`]: String(seed) });
      this.link.href = `?${query}#${this.node.id}`;
      this.link.textContent = `Numbers ${seed}`;
    }
    if (!told) return;
    this.clear();
    this.say(h("p", { text: "New numbers are in the text." }));
    this.page.address?.(this);
  }

  clear() {
    if (this.input) this.input.value = "";
    for (const option of this.options || []) option.checked = false;
    for (const item of this.choices) requiredChild(item, ".choice-says").hidden = true;
    this.say();
    /** @type {NodeListOf<HTMLDetailsElement>} */
    const folds = this.node.querySelectorAll("details.hint, details.solution");
    for (const details of folds) details.open = false;
    this.hints.forEach((hint, i) => {
      hint.hidden = i > 0;
      delete hint.dataset.seen;
    });
  }

  reset() {
    this.draw(0);
    this.say(h("p", { text: "As it was at the beginning." }));
    (this.input || this.options?.[0])?.focus();
  }

  check() {
    const given = this.options
      ? String(this.options.findIndex((option) => option.checked))
      : (this.input?.value ?? "");
    const found = check(this.spec, given, this.seed);
    this.show(found);
    if (this.input) this.input.setAttribute("aria-invalid", String(found.kind === "unread"));
    if (found.kind === "unread") return;
    const { kind: verdict, turn } = found,
      { id: problem, seed } = this;
    const noted = this.page.attempt?.({
      problem,
      seed,
      given,
      verdict: /** @type {"right" | "wrong"} */ (verdict),
      ...(turn === undefined ? {} : { turn }),
      hints: this.hints.filter((hint) => "seen" in hint.dataset).length,
    });
    Promise.resolve(noted).then(() => this.mark());
  }

  /** @param {Verdict} found */
  show({ kind, says, turn, played }) {
    const [sign, word] = MARKS[kind];
    const place = this.options?.findIndex((option) => option.checked) ?? -1;
    const chosen =
      this.options && kind !== "unread" ? requiredChild(this.choices[place], ".choice-says") : null;
    const known = chosen || (turn === undefined ? null : this.turns[turn]),
      text = says === undefined ? "" : withoutVerdict(says);
    this.say(
      h(
        "p",
        { class: `problem-said is-${kind}` },
        h("span", { class: "problem-sign", "aria-hidden": "true", text: `${sign} ` }),
        h("strong", { text: word }),
        text ? ` ${text}` : "",
      ),
      ...(known ? copyOfContent(known) : []),
      ...(played ? [chart(played, this.verdict.clientWidth)] : []),
      ...(kind === "right" ? this.onward() : []),
    );
  }

  // After a right answer, the way to the next problem here that has not been solved.
  /** @returns {HTMLElement[]} */
  onward() {
    const all = [...document.querySelectorAll(".problem[data-problem]")].filter(isHTML),
      later = all.slice(all.indexOf(this.node) + 1);
    const next = later.find(
      (node) => node.offsetParent && !node.querySelector(".problem-done.is-right"),
    );
    if (!next) return [];
    const go = () => {
      /** @type {HTMLElement | null} */
      const folded = next.querySelector('.problem-open[aria-expanded="false"]');
      folded?.click();
      next.scrollIntoView({ block: "start", behavior: calm() ? "instant" : "smooth" });
      /** @type {HTMLElement | null} */
      const field = next.querySelector(".problem-form input, .problem-form textarea, [type=radio]");
      field?.focus({ preventScroll: true });
    };
    return [
      h(
        "p",
        null,
        h("button", { type: "button", class: "problem-next", text: "Next problem", onclick: go }),
      ),
    ];
  }

  /** @param {Node[]} nodes */
  say(...nodes) {
    this.verdict.replaceChildren(...nodes);
    this.input?.removeAttribute("aria-invalid");
  }

  // Whether this problem has been solved before, where the page remembers that.
  mark() {
    const result = this.page.results?.()[this.id];
    const tried = result?.wrong ? "tried" : "";
    this.done.textContent = result?.right ? "✓ solved" : tried;
    this.done.classList.toggle("is-right", Boolean(result?.right));
    this.node.dispatchEvent(new CustomEvent("problem-mark"));
  }
}
