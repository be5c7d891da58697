// The page Progress: what was remembered, what comes, what is known of each chapter, and the days
// of a year.
import { h, s } from "../../handful_explorers/web/dom.js";
import { axes, panel, roundTicks, wilson } from "./chart.js";
import { dayOf, MATURE, zoneAt } from "./spaced_repetition.js";
import { fullDate, longDate, monthOf, percent, plural, shortDate, weekday } from "./wording.js";

const WEEKS = 26,
  AHEAD = 30,
  YEAR = 53;
/** @typedef {"new" | "learning" | "young" | "mature"} Stage */

/** @type {[Stage, string][]} */
const STAGES = [
  ["new", "not met yet"],
  ["learning", "being learnt, or missed and not yet held again"],
  ["young", `comes back within ${MATURE} days`],
  ["mature", `stays away ${MATURE} days or more`],
];
const LEVELS = [1, 10, 25, 50]; // answers a day from which a square grows

/**
 * @param {CardState | undefined} state
 * @returns {Stage}
 */
export function stageOf(state) {
  if (!state || state.state === "new" || !state.reps) return "new";
  if (state.due.day === undefined) return "learning";
  return state.due.day - state.lastDay >= MATURE ? "mature" : "young";
}

// Days in a row up to today, or yesterday while today is young; and the longest such run.
/**
 * @param {DayCount[]} days
 * @param {number} today
 */
export function runs(days, today) {
  const studied = new Set(days.map(({ day }) => day));
  let longest = 0,
    run = 0;
  for (const { day } of days) {
    run = studied.has(day - 1) ? run + 1 : 1;
    longest = Math.max(longest, run);
  }
  let now = 0;
  for (let day = studied.has(today) ? today : today - 1; studied.has(day); day -= 1) now += 1;
  return { now, longest };
}

/**
 * @param {DayCount[]} days
 * @param {number} today
 */
export function retentionByWeek(days, today) {
  const monday = today - weekday(today),
    weeks = [];
  for (let start = monday - 7 * (WEEKS - 1); start <= monday; start += 7)
    weeks.push({ start, asked: 0, held: 0 });
  for (const { day, asked, held } of days) {
    const week = weeks[WEEKS - 1 - (monday - (day - weekday(day))) / 7];
    if (week) {
      week.asked += asked;
      week.held += held;
    }
  }
  const first = weeks.findIndex((week) => week.asked);
  return first < 0 ? [] : weeks.slice(Math.min(first, WEEKS - 8));
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
      this.calendar(days, today),
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
      { now } = runs(days, today),
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
        figure(plural(now, "day"), "in a row"),
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
    const weeks = retentionByWeek(days, today),
      asked = weeks.reduce((sum, week) => sum + week.asked, 0),
      held = weeks.reduce((sum, week) => sum + week.held, 0),
      wanted = this.store.settings.retention;
    if (!asked)
      return panel("What you remember", {
        text:
          "This begins when a card comes back for the first time, some days after you first " +
          "answered it on Review or in a chapter.",
      });
    const [least, most] = wilson(held, asked),
      shown = weeks.filter((week) => week.asked),
      low = Math.max(
        0,
        Math.floor(
          Math.min(wanted - 0.1, ...shown.map((week) => wilson(week.held, week.asked)[0])) * 10,
        ) / 10,
      );
    return panel("What you remember", {
      text:
        `Of ${plural(asked, "review")} since ` +
        `${longDate(shown[0].start)} you held ` +
        `${held.toLocaleString("en")}: ${percent(held / asked)}, and you want ` +
        `${percent(wanted)}. With so many reviews the true share may lie anywhere from ` +
        `${percent(least)} to ${percent(most)}.`,
      legend: h(
        "p",
        { class: "study-legend" },
        h("span", {
          class: "study-key-point",
          text: "a week's share, with the range in which it lies (95 %)",
        }),
        h("span", { class: "study-key-line", text: `wanted: ${percent(wanted)}` }),
      ),
      table: {
        head: ["Week from", "Reviews", "Held", "Share"],
        rows: shown.map((week) => [
          fullDate(week.start),
          week.asked,
          week.held,
          percent(week.held / week.asked),
        ]),
      },
      draw: (width) => {
        const step = low < 0.5 ? 0.2 : 0.1,
          ticks = Array.from(
            { length: Math.floor((1 - low) / step + 1.0001) },
            (_, i) => 1 - step * i,
          );
        const every = Math.ceil(weeks.length / Math.max(2, Math.floor(width / 90))),
          { svg, x, y } = axes(width, 190, {
            n: weeks.length,
            low,
            high: 1,
            ticks,
            format: (v) => percent(v).replace(" ", "\u202f"),
            labels: weeks.flatMap((week, i) =>
              i % every ? [] : [/** @type {[number, string]} */ ([i, shortDate(week.start)])],
            ),
          });
        svg.append(
          s("line", {
            class: "study-wanted",
            x1: x(-0.5),
            x2: x(weeks.length - 0.5),
            y1: y(wanted),
            y2: y(wanted),
          }),
        );
        for (const [i, week] of weeks.entries()) {
          if (!week.asked) continue;
          const [from, to] = wilson(week.held, week.asked);
          svg.append(
            s("line", {
              class: "study-whisker",
              x1: x(i),
              x2: x(i),
              y1: y(to),
              y2: y(Math.max(low, from)),
            }),
            s("circle", { class: "study-point", cx: x(i), cy: y(week.held / week.asked), r: 4 }),
          );
        }
        return svg;
      },
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
    const bar = (/** @type {(typeof rows)[number]} */ { counts, cards }) => {
      const svg = s("svg", {
        class: "study-mastery-bar",
        viewBox: "0 0 100 10",
        preserveAspectRatio: "none",
        "aria-hidden": "true",
      });
      let at = 100;
      // From the right, so that what is known best stands first.
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
    };
    const cell = (/** @type {string} */ label, /** @type {number} */ text) =>
      h("td", { "data-label": label, text });
    const all = rows.reduce((sum, row) => sum + row.cards, 0);
    const node = panel("Chapter by chapter", {
      text:
        `Of ${plural(all, "card")}, ${total("mature")} are mature, ${total("young")} young, ` +
        `${total("learning")} being learnt and ${total("new")} new.`,
    });
    node.append(
      h(
        "p",
        { class: "study-legend" },
        ...[...STAGES]
          .reverse()
          .map(([stage, meaning]) =>
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
          ),
      ),
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
        h(
          "tbody",
          null,
          ...rows.map((row) =>
            h(
              "tr",
              null,
              h(
                "th",
                { scope: "row" },
                h("a", { href: `${row.name}.html`, text: row.title }),
                bar(row),
              ),
              ...[...STAGES].reverse().map(([stage]) => cell(stage, row.counts[stage])),
              h("td", {
                "data-label": "problems solved",
                class: row.problems ? null : "is-none",
                text: row.problems ? `${row.solved} of ${row.problems}` : "–",
              }),
            ),
          ),
        ),
      ),
    );
    return node;
  }

  /**
   * @param {DayCount[]} days
   * @param {number} today
   */
  calendar(days, today) {
    const first = today - weekday(today) - 7 * (YEAR - 1),
      year = days.filter(({ day }) => day >= first && day <= today),
      { now, longest } = runs(days, today),
      answers = year.reduce((sum, day) => sum + day.answers, 0);
    if (!year.length)
      return panel("The days of a year", {
        text: "Each day on which you answer a card becomes a square here.",
      });
    const byDay = new Map(year.map((day) => [day.day, day.answers])),
      /** @type {Map<string, Pair>} */
      months = new Map();
    for (const { day, answers: n } of year) {
      const found = months.get(monthOf(day)) || [0, 0];
      months.set(monthOf(day), [found[0] + 1, found[1] + n]);
    }
    const size = 13,
      left = 30,
      top = 18;
    const draw = () => {
      const svg = s("svg", {
        class: "study-svg study-calendar",
        viewBox: `0 0 ${left + YEAR * size} ${top + 7 * size + 2}`,
        width: left + YEAR * size,
        height: top + 7 * size + 2,
      });
      for (const [row, name] of /** @type {[number, string][]} */ ([
        [0, "Mon"],
        [2, "Wed"],
        [4, "Fri"],
      ]))
        svg.append(s("text", { class: "study-tick", x: 0, y: top + row * size + 10, text: name }));
      let month = "";
      for (let day = first; day <= today; day += 1) {
        const column = Math.floor((day - first) / 7),
          row = weekday(day),
          n = byDay.get(day) || 0,
          level = LEVELS.filter((from) => n >= from).length,
          side = [2, 5, 7.5, 9.5, 11.5][level];
        svg.append(
          s(
            "rect",
            {
              class: `study-day study-day-${level}`,
              x: left + column * size + (size - side) / 2,
              y: top + row * size + (size - side) / 2,
              width: side,
              height: side,
              rx: 1.5,
            },
            s("title", { text: `${fullDate(day)}: ${plural(n, "answer")}` }),
          ),
        );
        const name = shortDate(day).split(" ")[1];
        if (row === 0 && name !== month && column < YEAR - 2) {
          if (month || column)
            svg.append(
              s("text", { class: "study-tick", x: left + column * size, y: 11, text: name }),
            );
          month = name;
        }
      }
      return svg;
    };
    const node = panel("The days of a year", {
      draw,
      text:
        `In the last year you gave ${plural(answers, "answer")} on ` +
        `${plural(year.length, "day")}. The longest run was ${plural(longest, "day")} in a ` +
        `row; the present one is ${plural(now, "day")}. Days begin at 4 in the morning.`,
      legend: h("p", {
        class: "study-legend",
        text: `A larger square means more answers: from ${LEVELS.join(", ")}.`,
      }),
      table: {
        head: ["Month", "Days", "Answers"],
        rows: [...months].map(([name, [count, n]]) => [name, count, n]),
      },
    });
    const plot = node.querySelector(".study-plot");
    // On a phone the year is wider than the page: it scrolls, and begins at today.
    for (const [name, value] of Object.entries({
      tabindex: "0",
      role: "region",
      "aria-label": "The days of a year, a week a column",
    }))
      plot?.setAttribute(name, value);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (plot) plot.scrollLeft = plot.scrollWidth;
      }),
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
