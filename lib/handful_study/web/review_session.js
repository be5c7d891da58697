// The page Review: what is due today, a card at a time.
import { h } from "../../handful_explorers/web/dom.js";
import { plural } from "../../handful_explorers/web/units.js";
import { answerOf, backOf, grade, gradeBar, GRADES, leechNote } from "./answer.js";
import { dayOf, isBuried, isLeech, queue, span, zoneAt } from "./spaced_repetition.js";
import { percent, whenDay, whenDue } from "./wording.js";

const KEYS = [
  ["Space or Enter", "show the answer"],
  ["1 2 3 4", "Again, Hard, Good, Easy"],
  ["U or Ctrl+Z", "undo the last answer, and the one before, and so on"],
  ["B", "not today: the card comes back tomorrow"],
  ["?", "this help"],
];
const WRITES =
  "input:not([type=checkbox], [type=radio], [type=range], [type=button]), textarea, select, " +
  "[contenteditable]";
const ACTS = "a[href], button, summary, input, label, select, textarea";

/** @type {(text: string, key: string, onclick: () => void) => HTMLElement} */
const button = (text, key, onclick) =>
  h(
    "button",
    { type: "button", class: "study-tool", onclick },
    text,
    " ",
    h("kbd", { "aria-hidden": "true", text: key }),
  );

export class Sitting {
  /**
   * @param {HTMLElement} root
   * @param {import('./store.js').Store} store
   * @param {Map<string, HTMLElement>} nodes
   * @param {(card: Element) => void} [unfold]
   */
  constructor(root, store, nodes, unfold = () => {}) {
    this.root = root;
    this.store = store;
    this.nodes = nodes;
    this.unfold = unfold;
    this.cards = [...nodes].map(([id, node]) => ({ id, chapter: node.dataset.chapter }));
    /** @type {Map<string, DatedState>} */
    this.states = new Map();
    /** @type {Map<number, DayCount>} */
    this.days = new Map();
    /** @type {string | null} */
    this.current = null;
    /**
     * The card of the answer that was undone last.
     *
     * @type {string | null}
     */
    this.undone = null;
    /** @type {Promise<unknown> | null} */
    this.waiting = null;
    this.acting = false;
    this.shownAt = 0;
    // What stands where the card that is asked was taken from.
    this.home = h("span", { hidden: true });
    this.counts = h("p", { class: "study-counts" });
    this.bar = h("progress", { class: "study-bar", "aria-label": "Done today" });
    this.said = h("div", { class: "study-news", role: "status" });
    this.stage = h("div", { class: "study-stage" });
    this.place = h("div", { class: "study-place" });
    this.tools = h(
      "div",
      { class: "study-tools" },
      button("Undo", "U", () => this.undo()),
      button("Not today", "B", () => this.bury()),
      button("Help", "?", () => this.help.showModal()),
    );
    this.help = h(
      "dialog",
      { class: "study-dialog", "aria-labelledby": "study-help" },
      h("p", { class: "study-title", id: "study-help", text: "Keys" }),
      h(
        "dl",
        null,
        ...KEYS.flatMap(([keys, what]) => [h("dt", { text: keys }), h("dd", { text: what })]),
      ),
      h(
        "p",
        null,
        "Say the answer to yourself before you look. Missed cards come again at the end of the " +
          "sitting. The time on each button is when the card would come back.",
      ),
      h(
        "dl",
        null,
        ...GRADES.flatMap(([name, meaning]) => [
          h("dt", { text: name }),
          h("dd", { text: meaning }),
        ]),
      ),
      h("form", { method: "dialog" }, h("button", { class: "study-button", text: "Close" })),
    );
    this.node = h(
      "section",
      { class: "study-sitting", "aria-label": "Today's cards" },
      this.counts,
      this.bar,
      this.said,
      this.stage,
      this.tools,
      this.help,
    );
    this.stage.addEventListener(
      "toggle",
      (event) => {
        if (this.back?.open && event.target === this.back) this.reveal();
      },
      true,
    );
    document.addEventListener("keydown", (event) => this.key(event));
    // Another tab has answered, or something else on this page; or a new day has begun while this
    // page lay behind others.
    store.on((where) => {
      if (where === "elsewhere" || !this.acting) this.reload();
    });
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.revealed) this.reload();
    });
  }

  /** @param {string} id */
  nodeOf(id) {
    const node = this.nodes.get(id);
    if (!node) throw new Error(`There is no card ${id} on this page.`);
    return node;
  }

  get back() {
    return this.current === null ? null : backOf(this.nodeOf(this.current));
  }
  get revealed() {
    return Boolean(this.back?.open);
  }

  get inSight() {
    const { top, bottom } = this.stage.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  // Every command waits for the one before, so that none is lost and none overtakes.
  /**
   * @param {() => unknown} work
   * @returns {Promise<unknown>}
   */
  inTurn(work) {
    this.waiting = Promise.resolve(this.waiting)
      .then(() => {
        this.acting = true;
        return work();
      })
      .catch((error) => {
        console.warn(`Review: ${/** @type {Error} */ (error).message}`);
        this.say("Something went wrong; reload the page. What you answered is kept.");
      })
      .finally(() => {
        this.acting = false;
      });
    return this.waiting;
  }

  start() {
    return this.inTurn(() => this.load());
  }

  async load() {
    const [states, days] = await this.store.overview();
    this.states = states;
    this.days = new Map(days.map((day) => [day.day, day]));
    this.draw();
  }

  reload() {
    return this.inTurn(async () => {
      const before = this.current ?? "",
        open = this.revealed,
        known = this.states.get(before)?.latest;
      this.states = await this.store.states();
      const answered = open && String(this.states.get(before)?.latest) !== String(known);
      if (answered) this.show(null);
      await this.load();
      if (this.revealed) this.offer(); // the settings may have moved the dates
      if (answered) this.say("This card has been answered in another tab.");
    });
  }

  // What is to be asked now, and the counts above it; `keep` is a card that stays, or comes back,
  // whatever the order.
  /** @param {string | null} [keep] */
  draw(keep = this.revealed ? this.current : null) {
    const now = Date.now(),
      zone = zoneAt(now),
      asked = queue(now, zone, this.cards, this.states, this.store.settings),
      { due, fresh, again, order } = asked;
    const done = this.days.get(asked.today)?.answers || 0,
      next = keep && this.nodes.has(keep) && this.isOpen(keep, order) ? keep : order[0] || null;
    this.counts.replaceChildren(
      ...Object.entries({ due, new: fresh, again }).map(([word, { length: n }]) =>
        h("span", { class: `study-count study-count-${word}` }, h("b", { text: n }), ` ${word}`),
      ),
      h("span", {
        class: "study-left",
        text: order.length ? `${plural(order.length, "card")} left` : "nothing left",
      }),
    );
    this.bar.max = done + order.length || 1;
    this.bar.value = done;
    if (next !== this.current) this.show(next);
    this.root.classList.toggle("is-done", !next);
    if (!next) this.stage.replaceChildren(this.summary(asked.today));
  }

  // An undone answer shows its card again, due or not.
  /**
   * @param {string} id
   * @param {string[]} order
   */
  isOpen(id, order) {
    return order.includes(id) || id === this.undone;
  }

  // The card's node comes from its place in the list, and goes back there.
  /** @param {string | null} id */
  show(id) {
    if (this.current) {
      const node = this.nodeOf(this.current);
      backOf(node).open = false;
      node.classList.remove("is-asked");
      this.home.replaceWith(node);
    }
    this.current = id;
    this.place.replaceChildren();
    if (!id) return;
    const node = this.nodeOf(id);
    this.unfold(node);
    for (const old of node.querySelectorAll(":scope > .study-place")) old.remove();
    this.home = h("span", { hidden: true });
    node.replaceWith(this.home);
    node.classList.add("is-asked");
    node.tabIndex = -1;
    node.setAttribute("role", "group");
    const question = node.querySelector(".card-front");
    if (question) {
      question.id ||= `${node.id}-front`;
      node.setAttribute("aria-describedby", question.id);
    }
    node.setAttribute(
      "aria-label",
      `${this.states.get(id)?.reps ? "Card" : "New card"}: ` +
        `${node.querySelector(".card-kind")?.textContent || "question"}`,
    );
    backOf(node).open = false;
    backOf(node).after(this.place);
    this.stage.replaceChildren(node);
    this.shownAt = performance.now();
  }

  reveal() {
    if (!this.current) return;
    const node = this.nodeOf(this.current),
      answer = answerOf(node);
    backOf(node).open = true;
    if (this.place.firstChild) return;
    this.offer();
    answer.focus({ preventScroll: true });
    this.place.scrollIntoView({ block: "nearest" });
  }

  offer() {
    this.place.replaceChildren(
      gradeBar(
        this.states.get(this.current ?? ""),
        this.store.settings.retention,
        (value) => this.grade(value),
        true,
      ),
    );
  }
  /**
   * @param {string} text
   * @param {Node[]} more
   */
  say(text, ...more) {
    this.said.replaceChildren(h("p", { text }), ...more);
  }

  // To the next card's question, where a screen reader goes on reading; the page moves only if it
  // has to.
  focus() {
    const node = this.current ? this.nodeOf(this.current) : this.stage.firstElementChild;
    if (!(node instanceof HTMLElement)) return;
    node.tabIndex = -1;
    node.focus({ preventScroll: true });
    if (node.getBoundingClientRect().top < 0) node.scrollIntoView({ block: "start" });
  }

  // What an answer, or its undoing, changes in what is remembered here.
  /**
   * @param {{ event?: CardEvent, target?: CardEvent, state?: DatedState }} result
   * @param {number} sign
   */
  note({ event, target, state }, sign) {
    const of = event || target;
    if (!of) return;
    if (state) this.states.set(of.card, state);
    else this.states.delete(of.card);
    if (of.kind !== "grade") return;
    const day = dayOf(of.at, of.zone),
      sum = this.days.get(day) ?? { day, answers: 0, missed: 0, fresh: 0, asked: 0, held: 0 };
    this.days.set(day, {
      ...sum,
      answers: sum.answers + sign,
      missed: sum.missed + sign * Number(of.grade === 1),
    });
  }

  // Of the card that is shown now; by its turn another tab may have answered it.
  /** @param {number} value */
  grade(value) {
    const id = this.current;
    return this.inTurn(async () => {
      if (id === null || this.current !== id || !this.revealed) return;
      const node = this.nodeOf(id),
        result = await grade(this.store, node, value, this.shownAt);
      this.note(result, 1);
      this.undone = null;
      const now = Date.now(),
        leech =
          value === 1 && isLeech(result.state.lapses) ? leechNote(node, result.state.lapses) : null;
      this.put(null);
      const { at } = result.state.due,
        back =
          at === undefined
            ? whenDue(result.state, now, zoneAt(now))
            : `at the end, or in ${span({ minutes: Math.round((at - now) / 60_000) })}`;
      this.say(`${GRADES[value - 1][0]}: back ${back}.`, ...(leech ? [leech] : []));
    });
  }

  bury() {
    const id = this.current;
    return this.inTurn(async () => {
      if (!id || this.current !== id) return;
      this.note(await this.store.add(/** @type {const} */ ("bury"), { card: id }), 1);
      this.undone = null;
      this.put(null);
      this.say("Put off until tomorrow.");
    });
  }

  undo() {
    return this.inTurn(async () => {
      const result = await this.store.undo();
      if (!result) {
        this.say("There is nothing to undo.");
        return;
      }
      this.note(result, -1);
      const { target } = result,
        name = target.kind === "grade" ? `“${GRADES[target.grade - 1][0]}”` : "“Not today”";
      if (!this.nodes.has(target.card)) {
        this.draw();
        this.say(`${name} undone, on a card that the book no longer has.`);
        return;
      }
      this.undone = target.card;
      this.put(target.card);
      // The answer was seen a moment ago: the grade that was meant is one key away.
      if (target.kind === "grade") this.reveal();
      this.say(`${name} undone.`);
    });
  }

  // Show the next card, or this one, from the start.
  /** @param {string | null} keep */
  put(keep) {
    this.show(null);
    this.draw(keep);
    this.focus();
  }

  /** @param {number} today */
  summary(today) {
    const { answers = 0, missed = 0 } = this.days.get(today) || {},
      lines = [];
    if (answers)
      lines.push(
        `You gave ${plural(answers, "answer")} today, and knew it ${answers - missed} times: ` +
          `${percent((answers - missed) / answers)}.`,
      );
    else if (!this.cards.length) lines.push("There are no cards on this page.");
    else lines.push("Nothing is due today.");
    lines.push(...this.outlook(today));
    return h(
      "div",
      { class: "study-summary", tabindex: "-1" },
      h("p", { class: "study-title", text: answers ? "Done for today" : "Nothing to review" }),
      ...lines.map((text) => h("p", { text })),
      answers ? h("p", null, h("a", { href: "progress.html", text: "How far you are" })) : null,
    );
  }

  // What comes after today, in sentences.
  /** @param {number} today */
  outlook(today) {
    /** @type {Map<number, number>} */
    const later = new Map();
    let waiting = 0,
      put = 0;
    for (const { id } of this.cards) {
      const state = this.states.get(id);
      if (isBuried(state, today)) put += 1;
      const day = state?.due?.day;
      if (!state?.reps) waiting += 1;
      else if (day !== undefined) later.set(day, (later.get(day) || 0) + 1);
    }
    const next = [...later.keys()].filter((day) => day > today).sort((a, b) => a - b)[0],
      lines = [];
    if (next) lines.push(`Next: ${plural(later.get(next) ?? 0, "card")} ${whenDay(next, today)}.`);
    if (put) lines.push(`Put off until tomorrow: ${plural(put, "card")}.`);
    if (waiting) {
      const verb = waiting === 1 ? "is" : "are",
        unmet = `${plural(waiting, "card")} of the book ${verb} still new to you`;
      lines.push(
        this.store.settings.new_per_day
          ? `${unmet}; up to ${this.store.settings.new_per_day} come each day (see the settings ` +
              "below)."
          : `${unmet}; the settings below ask for none a day.`,
      );
    }
    return lines;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (
      event.defaultPrevented ||
      event.isComposing ||
      !event.key ||
      document.querySelector("dialog[open]")
    )
      return;
    const target = event.target instanceof Element ? event.target : document.body,
      command = event.ctrlKey || event.metaKey,
      undo = command && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "z";
    // In a field, keys are the field's; and who reads on below means another card, or none.
    if (target.closest(`${WRITES}, .study-fold`) || event.repeat) return;
    if (!undo && (command || event.altKey)) return;
    if (this.obey(undo ? "u" : event.key.toLowerCase(), target)) event.preventDefault();
  }

  // Whether the key was a command.
  /**
   * @param {string} key
   * @param {Element} target
   */
  obey(key, target) {
    if (key === "u") this.undo();
    else if (key === "b") this.bury();
    else if (key === "?") this.help.showModal();
    else if (key >= "1" && key <= "4" && this.revealed) this.grade(Number(key));
    else if ((key === " " || key === "enter") && this.canReveal(target)) this.reveal();
    else return false;
    return true;
  }

  /** @param {Element} target */
  canReveal(target) {
    return this.current && !this.revealed && this.inSight && !target.closest(ACTS);
  }
}
