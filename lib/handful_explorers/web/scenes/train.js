// Batches that leave on a schedule: who waits, who rides, and how long both take (train.py is its
// twin).
import { Pool, put, s, textWidth, watchWidth } from "../dom.js";
import { tickValues } from "../plot.js";
import { formatTicks, formatValue, plural } from "../units.js";
import { mulberry32 } from "../random.js";

const REQUESTS = 30000,
  SHOWN = 9, // departures at least
  FEWEST = 40, // requests that are drawn, which may take more departures
  LINES = 64,
  BINS = 40;

// Number of the train that each request takes: the first to leave, or the one before which the next
// seat falls free. `free` holds that train for each seat, as a heap with the earliest on top; for
// seats that are free from the start 0.
/**
 * @param {Float64Array} arrivals
 * @param {number} interval
 * @param {Int32Array} lengths
 * @param {Int32Array} free
 * @param {Int32Array} [out]
 */
export function depart(arrivals, interval, lengths, free, out = new Int32Array(arrivals.length)) {
  const seats = free.length;
  for (let i = 0; i < arrivals.length; i++) {
    const train = (out[i] = Math.max(Math.ceil(arrivals[i] / interval), free[0])),
      until = train + lengths[i];
    let at = 0;
    for (let child = 1; child < seats; child = 2 * at + 1) {
      if (child + 1 < seats && free[child + 1] < free[child]) child++;
      if (free[child] >= until) break;
      free[at] = free[child];
      at = child;
    }
    free[at] = until;
  }
  return out;
}

/** @param {number} seed */
const exponentials = (seed) => {
  const draw = mulberry32(seed),
    out = new Float64Array(REQUESTS);
  for (let i = 0; i < REQUESTS; i++) out[i] = -Math.log(1 - draw());
  return out;
};

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Box */

export class Train {
  /** @param {SceneSpec} spec */
  constructor(spec) {
    this.spec = spec;
    // Nothing of it is the scenario's, so that it need not glide from one to the next.
    /** @type {Set<string>} */
    this.symbols = new Set();
    this.fixed = {};
    /** @type {{ rows: SymbolValues[] }[]} */
    this.pickers = [];
    this.mix = 1;
    this.width = 0;
    this.tall = 0;
    this.font = "";
    /** @type {State | null} */
    this.state = null;
    /** @type {({ key: string } & ReturnType<Train["run"]>) | null} */
    this.result = null;
    this.destroy = () => {};
    // Unit gaps and unit lengths, drawn once: load and tokens only stretch them, so the picture
    // moves smoothly.
    const seed = Number(spec.inputs.seed);
    this.clock = exponentials(seed);
    for (let i = 1; i < REQUESTS; i++) this.clock[i] += this.clock[i - 1];
    this.answers = exponentials(seed + 1);
    this.rests = exponentials(seed + 2);
    this.buffers = {
      arrivals: new Float64Array(REQUESTS),
      trains: new Int32Array(REQUESTS),
      lengths: new Int32Array(REQUESTS),
      delays: new Float64Array(REQUESTS),
    };
    this.rules = s("g", { class: "ex-train-rules" });
    this.wait = s("path", { class: "ex-wait" });
    this.ride = s("path", { class: "ex-ride" });
    this.bars = s("path", { class: "ex-bars" });
    this.late = s("path", { class: "ex-bars ex-bars-late" });
    this.base = s("path", { class: "ex-frame" });
    this.seats = s("g", { class: "ex-seats" });
    this.grid = s("g", { class: "ex-grid" });
    this.lines = s("g", { class: "ex-train-lines" });
    this.texts = s("g", { class: "ex-train-texts" });
    this.svg = s(
      "svg",
      { class: "ex-svg", role: "img", "aria-label": "Picture" },
      this.rules,
      this.seats,
      this.wait,
      this.ride,
      this.grid,
      this.bars,
      this.late,
      this.base,
      this.lines,
      this.texts,
    );
    const text = () => s("text");
    this.pools = {
      /** @type {Pool<SVGLineElement, number>} */
      rule: new Pool(this.rules, () => s("line")),
      seat: new Pool(this.seats, () => s("rect", { rx: 1.5 })),
      fill: new Pool(this.seats, () => s("rect", { rx: 1.5 })),
      text: new Pool(this.texts, text),
      tick: new Pool(this.grid, text),
      line: new Pool(this.lines, () => s("line")),
    };
  }

  // It needs nothing of a chip or a model that these might lack.
  problem() {
    return "";
  }

  turn() {}

  /** @param {State} state */
  settings(state) {
    return /** @type {SymbolValues} */ ({ ...this.spec.inputs, ...state });
  }

  // Picture, values, words and table ask for the same trains, which run once.
  /** @param {State} state */
  simulate(state) {
    const set = this.settings(state),
      { batch_interval: interval, load } = set,
      seats = Math.round(set.seats),
      tokens = Math.round(set.answer_tokens),
      key = [interval, load, seats, tokens].join();
    if (this.result?.key !== key) this.result = { key, ...this.run(interval, load, seats, tokens) };
    return this.result;
  }

  /**
   * @param {number} interval
   * @param {number} load
   * @param {number} seats
   * @param {number} tokens
   */
  run(interval, load, seats, tokens) {
    const n = REQUESTS,
      rate = (load * seats) / (tokens * interval),
      { arrivals, trains, lengths, delays } = this.buffers;
    const hazard = -Math.log1p(-1 / tokens),
      // the end comes at each token with the same chance
      /** @type {(unit: number) => number} */
      length = (unit) => Math.max(1, Math.ceil(unit / hazard));
    for (let i = 0; i < n; i++) {
      arrivals[i] = this.clock[i] / rate;
      lengths[i] = length(this.answers[i]);
    }
    const free = new Int32Array(seats),
      taken = Math.floor(load * seats + 0.5);
    for (let i = 0; i < taken; i++) free[seats - 1 - i] = length(this.rests[i]);
    const aboard = free.slice(seats - taken);
    free.sort(); // sorted is a heap
    depart(arrivals, interval, lengths, free, trains);
    let sum = 0,
      missed = 0;
    for (let i = 0; i < n; i++) {
      const wait = trains[i] * interval - arrivals[i];
      sum += delays[i] = wait + interval;
      if (wait > interval * (1 + 1e-9)) missed++;
    }
    const ordered = delays.slice().sort();
    return {
      arrivals,
      trains,
      lengths,
      delays,
      aboard,
      n,
      interval,
      seats,
      tokens,
      load,
      missed: missed / n,
      worst: ordered[n - 1],
      p95: ordered[Math.ceil(0.95 * n) - 1],
      mean: sum / n,
    };
  }

  /** @param {HTMLElement} host */
  attach(host) {
    host.append(this.svg);
    this.destroy = watchWidth(host, (width) => {
      this.width = width;
      this.font = `14px ${getComputedStyle(host).fontFamily}`;
      if (this.state) this.draw(this.state);
    });
  }

  /**
   * @param {string} key
   * @param {number} x
   * @param {number} y
   * @param {string} content
   * @param {Anchor} [anchor]
   * @param {string} [kind]
   */
  text(key, x, y, content, anchor = "start", kind = "") {
    const node = this.pools.text.get(key);
    put(node, "x", x.toFixed(1));
    put(node, "y", y.toFixed(1));
    put(node, "text", content);
    put(node, "text-anchor", anchor);
    put(node, "class", kind);
  }

  /** @param {State} state */
  draw(state) {
    this.state = { ...state };
    const { width } = this;
    if (!width) return; // its first comes with the first layout
    const wide = width >= 640,
      result = this.simulate(state);
    const lineBox = {
      left: 4,
      right: wide ? Math.round(width * 0.63) : width - 4,
      top: 72,
      bottom: 342,
    };
    const barBox = wide
      ? { left: Math.round(width * 0.69), right: width - 8, top: 72, bottom: 342 }
      : { left: 4, right: width - 8, top: 452, bottom: 604 };
    const height = barBox.bottom + 46;
    put(this.svg, "viewBox", `0 0 ${width} ${height}`);
    put(this.svg, "height", height);
    if (this.tall !== height) {
      this.tall = height;
      const host = this.svg.parentElement;
      if (host) host.style.height = `${height}px`;
    }
    this.drawLines(result, lineBox);
    this.drawBars(result, barBox);
    for (const pool of Object.values(this.pools)) pool.done();
  }

  // Which departures are drawn, and which requests: enough of both, from shortly before somebody is
  // left behind for the first time, or from the start.
  /** @param {ReturnType<Train['simulate']>} result */
  window({ arrivals, trains, n, interval, seats, tokens, load }) {
    const shown = Math.max(SHOWN, Math.ceil((FEWEST * tokens) / (load * seats)));
    let late = 0;
    while (late < n && trains[late] <= Math.ceil(arrivals[late] / interval)) late++;
    const start = late < n ? Math.max(0, Math.floor(arrivals[late] / interval - shown / 3)) : 0;
    let first = 0;
    while (first < n && arrivals[first] < start * interval) first++;
    let count = 0;
    while (first + count < n && arrivals[first + count] < (start + shown) * interval) count++;
    return { shown, start, first, count };
  }

  // How many seats are taken as each of the departures leaves.
  /**
   * @param {ReturnType<Train['simulate']>} result
   * @param {number} start
   * @param {number} shown
   */
  taken({ trains, lengths, aboard, n }, start, shown) {
    const last = start + shown,
      taken = new Array(shown + 1).fill(0);
    for (const until of aboard)
      for (let k = start + 1; k <= last && k < until; k++) taken[k - start]++;
    for (let i = 0; i < n && trains[i] <= last; i++)
      for (let k = Math.max(trains[i], start + 1); k <= last && k < trains[i] + lengths[i]; k++)
        taken[k - start]++;
    return taken;
  }

  /**
   * @param {ReturnType<Train['simulate']>} result
   * @param {Box} box
   */
  drawLines(result, { left, right, top, bottom }) {
    const { arrivals, trains, lengths, interval, seats } = result,
      { shown, start, first, count } = this.window(result),
      // a gauge at every so many departures, a round number of them
      stride = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((by) => by * SHOWN >= shown) || shown,
      from = start * interval,
      end = from + (shown + 1) * interval,
      x = (/** @type {number} */ time) => left + ((right - left) * (time - from)) / (end - from);
    const step = Math.max(1, Math.ceil(count / LINES)),
      rows = Math.ceil(count / step),
      pitch = Math.min(9, (bottom - top) / Math.max(rows, 1));
    let wait = "",
      ride = "";
    for (let i = first, k = 0; i < first + count; i += step, k++) {
      const y = (top + (k + 0.5) * pitch).toFixed(1),
        leave = trains[i] * interval;
      wait += `M${x(arrivals[i]).toFixed(1)},${y}H${Math.min(x(leave), right).toFixed(1)}`;
      if (leave >= end) continue;
      const arrive = Math.min(x(leave + lengths[i] * interval), right);
      ride += `M${x(leave).toFixed(1)},${y}H${arrive.toFixed(1)}`;
    }
    put(this.wait, "d", wait || "M0,0");
    put(this.ride, "d", ride || "M0,0");
    const thick = Math.max(1.5, Math.min(4, pitch * 0.6)).toFixed(1);
    put(this.wait, "stroke-width", thick);
    put(this.ride, "stroke-width", thick);
    const taken = this.taken(result, start, shown);
    for (let k = stride; k <= shown; k += stride) {
      const rule = this.pools.rule.get(k),
        at = x(from + k * interval).toFixed(1);
      put(rule, "x1", at);
      put(rule, "x2", at);
      put(rule, "y1", top - 8);
      put(rule, "y2", bottom);
      // How full it left: a small gauge at the head of each departure.
      const gauge = this.pools.seat.get(`s${k}`),
        fill = this.pools.fill.get(`f${k}`),
        share = Math.min(1, taken[k] / seats);
      for (const [node, w] of /** @type {[SVGRectElement, number][]} */ ([
        [gauge, 22],
        [fill, 22 * share],
      ])) {
        put(node, "x", (Number(at) - 11).toFixed(1));
        put(node, "y", top - 18);
        put(node, "height", 7);
        put(node, "width", w.toFixed(1));
      }
      put(gauge, "class", "ex-gauge");
      put(fill, "class", share >= 1 ? "ex-gauge-full" : "ex-gauge-fill");
      put(this.pools.fill.get(`f${k}`), "data-share", share.toFixed(2));
    }
    const gaps = Math.floor(shown / stride),
      every = Math.max(1, Math.ceil(64 / ((right - left) / (gaps + 1))));
    const times = Array.from({ length: gaps + 1 }, (_, k) => k * stride * interval),
      words = formatTicks(times, "s", false);
    for (let k = 0; k <= gaps; k += every) {
      const tick = this.pools.tick.get(`t${k}`);
      put(tick, "x", Math.max(x(from + times[k]), 10).toFixed(1));
      put(tick, "y", bottom + 19);
      put(tick, "text", words[k]);
      put(tick, "text-anchor", "middle");
    }
    this.text(
      "who",
      left,
      14,
      step > 1 ? `Requests in order of arrival (one in ${step})` : "Requests in order of arrival",
      "start",
      "ex-axis-title",
    );
    this.text("wait", left, 32, "waiting", "start", "ex-label ex-c1");
    this.text(
      "ride",
      left + textWidth("waiting", this.font) + 18,
      32,
      "riding",
      "start",
      "ex-label ex-c0",
    );
    this.text("seats", right, top - 24, "seats taken", "end");
    this.text("time", right, bottom + 37, "Time", "end", "ex-axis-title");
  }

  /**
   * @param {ReturnType<Train['simulate']>} result
   * @param {Box} box
   */
  drawBars({ delays, n, interval, mean, p95, worst }, { left, right, top, bottom }) {
    // The axis ends on whole intervals, so that it does not jitter with every worst case, and takes
    // in the percentile.
    const farthest = Math.min(worst, Math.max(12 * interval, 1.25 * p95)),
      end = interval * Math.max(3, Math.ceil(farthest / interval)),
      bins = new Float64Array(BINS + 1);
    for (let i = 0; i < n; i++) bins[Math.min(BINS, Math.floor((delays[i] / end) * BINS))]++;
    const most = Math.max(...bins),
      x = (/** @type {number} */ time) => left + ((right - left) * Math.min(time, end)) / end,
      wide = (right - left) / BINS;
    let early = "",
      late = "";
    for (let k = 0; k < BINS; k++) {
      if (!bins[k]) continue;
      const from = (left + k * wide + 0.5).toFixed(1),
        rise = (-(bins[k] / most) * (bottom - top - 34)).toFixed(1);
      const bar = `M${from},${bottom}v${rise}h${(wide - 1).toFixed(1)}V${bottom}z`;
      if (((k + 0.5) / BINS) * end > 2 * interval) late += bar;
      else early += bar;
    }
    put(this.bars, "d", early || "M0,0");
    put(this.late, "d", late || "M0,0");
    put(this.base, "d", `M${left},${bottom}H${right}`);
    const values = tickValues(0, end, false, Math.floor((right - left) / 62)),
      named = formatTicks(values, "s", false);
    for (const [i, value] of values.entries()) {
      const tick = this.pools.tick.get(`b${named[i]}`);
      put(tick, "x", Math.min(Math.max(x(value), left + 8), right - 12).toFixed(1));
      put(tick, "y", bottom + 19);
      put(tick, "text", named[i]);
      put(tick, "text-anchor", "middle");
    }
    const bound = this.pools.line.get("bound"),
      at = x(2 * interval).toFixed(1);
    put(bound, "x1", at);
    put(bound, "x2", at);
    put(bound, "y1", top - 8);
    put(bound, "y2", bottom);
    const words = `2T = ${formatValue(2 * interval, "s")}`,
      room = x(2 * interval) + textWidth(words, this.font) + 8 < right;
    this.text(
      "bound",
      x(2 * interval) + (room ? 5 : -5),
      top + 2,
      words,
      room ? "start" : "end",
      "ex-bound",
    );
    for (const [key, value] of Object.entries({ mean, p95 })) {
      const line = this.pools.line.get(key),
        px = x(value).toFixed(1);
      put(line, "x1", px);
      put(line, "x2", px);
      put(line, "y1", bottom - 1);
      put(line, "y2", bottom + 7);
      put(line, "class", "ex-tickmark");
    }
    this.text("delay", left, top - 58, "Time to the first token", "start", "ex-axis-title");
    this.text("delay-x", right, bottom + 37, "Wait plus first ride", "end", "ex-axis-title");
  }

  /** @returns {import('../explorer.js').Value[]} */
  entries() {
    const { worst, p95, mean, missed, interval } = this.simulate(this.state || {});
    return [
      {
        key: "missed",
        label: "left behind by a train",
        text: formatValue(missed, "%", 2),
        note: "of the requests that are watched",
      },
      {
        key: "worst",
        label: "worst",
        text: formatValue(worst, "s"),
        note: `bound with free seats: ${formatValue(2 * interval, "s")}`,
      },
      {
        key: "p95",
        label: "95th percentile",
        text: formatValue(p95, "s"),
        note: `with free seats: ${formatValue(1.95 * interval, "s")}`,
      },
      {
        key: "mean",
        label: "mean",
        text: formatValue(mean, "s"),
        note: `with free seats: ${formatValue(1.5 * interval, "s")}`,
      },
    ];
  }

  /** @param {State} state */
  words(state) {
    const v = this.simulate(state);
    const left =
      v.missed === 0
        ? "none of them is left behind"
        : `${formatValue(v.missed, "%", 2)} of them are left behind`;
    return (
      `At ${formatValue(v.load, "%")} load with ${plural(v.seats, "seat")} and ` +
      `${plural(v.tokens, "token")} in an answer on average, ${formatValue(v.n, "1", 6)} ` +
      `requests are watched, ${formatValue(v.arrivals[v.n - 1], "s")} of service: ${left} by ` +
      "the first train after they come, and the worst wait plus ride is " +
      `${formatValue(v.worst, "s")} against a bound of ${formatValue(2 * v.interval, "s")} ` +
      `with a seat for everyone; 95 of 100 take at most ${formatValue(v.p95, "s")}, and the ` +
      `mean is ${formatValue(v.mean, "s")}.`
    );
  }

  /**
   * @param {State} state
   * @returns {Table}
   */
  table(state) {
    const v = this.simulate(state),
      t = (/** @type {number} */ x) => formatValue(x, "s"),
      share = (/** @type {number} */ x) => formatValue(x, "%", 2);
    return {
      head: ["Wait plus first ride", "Watched", "With a seat for everyone"],
      body: [
        ["mean", t(v.mean), t(1.5 * v.interval)],
        ["95th percentile", t(v.p95), t(1.95 * v.interval)],
        ["worst", t(v.worst), t(2 * v.interval)],
        ["left behind by a train", share(v.missed), share(0)],
      ],
    };
  }
}
