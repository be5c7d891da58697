// The page Progress: what was remembered, what comes, and what is known of each chapter.
import { h, s } from "../../handful_explorers/web/dom.js";
import { plural } from "../../handful_explorers/web/units.js";
import { axes, panel, roundTicks } from "./chart.js";
import { dayOf, MATURE, zoneAt } from "./spaced_repetition.js";
import { longDate, percent, shortDate } from "./wording.js";

const BACK = 90,
  AHEAD = 30; // days
/** @typedef {"new" | "learning" | "young" | "mature"} Stage */

/** @type {[Stage, string][]} */
const STAGES = [
  ["new", "not met yet"],
  ["learning", "being learnt, or missed and not yet held again"],
  ["young", `comes back within ${MATURE} days`],
  ["mature", `stays away ${MATURE} days or more`],
];

/**
 * @param {CardState | undefined} state
 * @returns {Stage}
 */
export function stageOf(state) {
  if (!state || state.state === "new" || !state.reps) return "new";
  if (state.due.day === undefined) return "learning";
  return state.due.day - state.lastDay >= MATURE ? "mature" : "young";
}

// Days in a row on which cards were answered, up to today, or yesterday while today is young.
/**
 * @param {DayCount[]} days
 * @param {number} today
 */
export function daysInARow(days, today) {
  const studied = new Set(days.map(({ day }) => day));
  let count = 0;
  for (let day = studied.has(today) ? today : today - 1; studied.has(day); day -= 1) count += 1;
  return count;
}

// Reviews that fall due on each of the coming days, if nothing new is begun and nothing missed.
/**
 * @param {Map<string, CardState>} states
 * @param {Set<string>} known
 * @param {number} today
 */
export function forecast(states, known, today) {
  const counts = Array.from({ length: AHEAD }, () => 0);
  for (const [id, state] of states) {
    if (!known.has(id) || state.state === "new" || !state.reps) continue;
    const days = state.due.day === undefined ? 0 : Math.max(0, state.due.day - today);
    if (days < AHEAD) counts[days] += 1;
  }
  return counts;
}

/**
 * @typedef {object} Mastery of a chapter
 * @property {string} name
 * @property {string} title
 * @property {Record<Stage, number>} counts
 * @property {number} cards
 * @property {number} solved
 * @property {number} problems
 */

// From the right, so that what is known best stands first.
/** @param {Mastery} chapter */
function masteryBar({ counts, cards }) {
  const svg = s("svg", {
    class: "study-mastery-bar",
    viewBox: "0 0 100 10",
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  let at = 100;
  for (const [stage] of STAGES) {
    const width = (100 * counts[stage]) / (cards || 1);
    at -= width;
    if (width)
      svg.append(
        s("rect", {
          class: `study-stage-${stage}`,
          x: at,
          y: 0,
          width: width - (at + width < 99.9 ? Math.min(0.7, width / 2) : 0),
          height: 10,
        }),
      );
  }
  return svg;
}

/** @param {Mastery} chapter */
function masteryRow(chapter) {
  const { name, title, counts, solved, problems } = chapter;
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, h("a", { href: `${name}.html`, text: title }), masteryBar(chapter)),
    ...STAGES.map(([stage]) => h("td", { "data-label": stage, text: counts[stage] })).reverse(),
    h("td", {
      "data-label": "problems solved",
      class: problems ? null : "is-none",
      text: problems ? `${solved} of ${problems}` : "–",
    }),
  );
}

function stageLegend() {
  const entries = STAGES.map(([stage, meaning]) =>
    h(
      "span",
      null,
      s(
        "svg",
        { class: "study-swatch", viewBox: "0 0 10 10", "aria-hidden": "true" },
        s("rect", { class: `study-stage-${stage}`, width: 10, height: 10 }),
      ),
      h("b", { text: stage }),
      ` ${meaning}`,
    ),
  );
  return h("p", { class: "study-legend" }, ...entries.reverse());
}

export class Progress {
  /**
   * @param {Element} root
   * @param {import('./store.js').Store} store
   * @param {Chapter[]} chapters
   */
  constructor(root, store, chapters) {
    this.store = store;
    this.chapters = chapters;
    this.host = h("div", { class: "study-progress" });
    root.append(this.host);
    store.on(() => this.start());
  }

  async start() {
    const { store } = this,
      [states, days] = await store.overview(),
      now = Date.now(),
      today = dayOf(now, zoneAt(now));
    this.host.replaceChildren(
      this.head(states, days, today),
      this.retention(days, today),
      this.ahead(states, today),
      this.mastery(states),
      ...this.leeches(states),
    );
  }

  /**
   * @param {Map<string, CardState>} states
   * @param {DayCount[]} days
   * @param {number} today
   */
  head(states, days, today) {
    const total = this.chapters.flatMap(({ cards }) => cards),
      met = total.filter((id) => states.get(id)?.reps).length,
      answers = days.reduce((sum, day) => sum + day.answers, 0);
    const due = forecast(states, new Set(total), today)[0],
      figure = (/** @type {string} */ n, /** @type {string} */ text) =>
        h("div", null, h("dt", { text }), h("dd", { text: n }));
    return h(
      "div",
      null,
      h(
        "dl",
        { class: "study-figures" },
        figure(`${met} of ${total.length}`, "cards met"),
        figure(due.toLocaleString("en"), "due today"),
        figure(answers.toLocaleString("en"), "answers so far"),
        figure(plural(daysInARow(days, today), "day"), "in a row"),
      ),
      h(
        "p",
        null,
        h("a", {
          class: "study-button",
          href: "review.html",
          text: due ? "Review what is due" : "Go to Review",
        }),
      ),
    );
  }

  /**
   * @param {DayCount[]} days
   * @param {number} today
   */
  retention(days, today) {
    const recent = days.filter(({ day }) => day > today - BACK),
      asked = recent.reduce((sum, day) => sum + day.asked, 0),
      held = recent.reduce((sum, day) => sum + day.held, 0);
    if (!asked)
      return panel("What you remember", {
        text:
          "This begins when a card comes back for the first time, some days after you first " +
          "answered it on Review or in a chapter.",
      });
    return panel("What you remember", {
      text:
        `Of ${plural(asked, "review")} in the last ${BACK} days you held ` +
        `${held.toLocaleString("en")}: ${percent(held / asked)}, and you want ` +
        `${percent(this.store.settings.retention)}.`,
    });
  }

  /**
   * @param {Map<string, CardState>} states
   * @param {number} today
   */
  ahead(states, today) {
    const counts = forecast(states, new Set(this.chapters.flatMap(({ cards }) => cards)), today),
      total = counts.reduce((a, b) => a + b, 0),
      most = Math.max(...counts),
      peak = counts.indexOf(most);
    if (!total)
      return panel("What comes", {
        text:
          `Nothing falls due in the next ${AHEAD} days. New cards come on Review, and at the ` +
          "end of each section of the book.",
      });
    return panel("What comes", {
      text:
        `${plural(total, "review")} fall${total === 1 ? "s" : ""} due in the next ${AHEAD} ` +
        `days, ${counts[0]} of them today and ` +
        `most${peak ? ` on ${longDate(today + peak)} (${most})` : " today"}; new and missed ` +
        "cards come on top.",
      table: { head: ["Day", "Reviews"], rows: counts.map((n, i) => [longDate(today + i), n]) },
      draw: (width) => {
        const { svg, x, y, slot } = axes(width, 160, {
          n: AHEAD,
          low: 0,
          high: Math.max(4, most),
          ticks: roundTicks(Math.max(4, most)),
          format: String,
          labels: [0, 7, 14, 21, 28].map((i) => [i, i ? shortDate(today + i) : "today"]),
        });
        for (const [i, n] of counts.entries())
          if (n)
            svg.append(
              s("rect", {
                class: i ? "study-bar-due" : "study-bar-due is-today",
                x: x(i) - slot * 0.38,
                width: slot * 0.76,
                y: y(n),
                height: y(0) - y(n),
              }),
            );
        return svg;
      },
    });
  }

  /** @param {Map<string, CardState>} states */
  mastery(states) {
    const rows = this.chapters
      .filter(({ cards, problems }) => cards.length || problems.length)
      .map(({ name, title, cards, problems }) => {
        const counts = { new: 0, learning: 0, young: 0, mature: 0 };
        for (const id of cards) counts[stageOf(states.get(id))] += 1;
        return {
          name,
          title,
          counts,
          cards: cards.length,
          solved: problems.filter((id) => this.store.problems.get(id)?.right).length,
          problems: problems.length,
        };
      });
    if (!rows.length) return panel("Chapter by chapter", { text: "There are no cards here yet." });
    const total = (/** @type {Stage} */ stage) =>
      rows.reduce((sum, row) => sum + row.counts[stage], 0);
    const all = rows.reduce((sum, row) => sum + row.cards, 0);
    const node = panel("Chapter by chapter", {
      text:
        `Of ${plural(all, "card")}, ${total("mature")} are mature, ${total("young")} young, ` +
        `${total("learning")} being learnt and ${total("new")} new.`,
    });
    node.append(
      stageLegend(),
      h(
        "table",
        { class: "study-mastery" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ...["Chapter", "Mature", "Young", "Learning", "New", "Problems solved"].map((text) =>
              h("th", { scope: "col", text }),
            ),
          ),
        ),
        h("tbody", null, ...rows.map(masteryRow)),
      ),
    );
    return node;
  }

  /** @param {Map<string, CardState>} states */
  leeches(states) {
    const lapses = (/** @type {string} */ id) => states.get(id)?.lapses ?? 0;
    const found = this.chapters
      .flatMap(({ cards }) => cards.filter((id) => lapses(id) >= 8))
      .sort((a, b) => lapses(b) - lapses(a));
    if (!found.length) return [];
    const node = panel("Cards that keep slipping", {
      text: "Their sections may do more for them than one more repetition.",
    });
    node.append(
      h(
        "ul",
        null,
        ...found
          .slice(0, 20)
          .map((id) =>
            h(
              "li",
              null,
              h("a", { href: `review.html#card-${id}`, text: id.replaceAll("-", " ") }),
              `, missed ${lapses(id)} times`,
            ),
          ),
      ),
    );
    return [node];
  }
}
