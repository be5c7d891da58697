// The numbers of an explorer: values of symbols for a state, and the curves, marks and dots that
// follow from them.
import { bandAt } from "./bands.js";
import {
  beyond,
  capital,
  describe,
  doesNotFit,
  inFull,
  lower,
  named,
  told,
  written,
} from "./describe.js";
import { lacks, store, supplied, whyMissing } from "./scenario.js";
import { compile, compileSweep, MissingValue } from "./tree.js";
import { formatValue, wholeCount } from "./units.js";

/** @type {Kind[]} */
const CHOICES = ["hardware", "model", "precision"];

/** @param {SweptAxis} x */
export function gridOf(x) {
  return Float64Array.from({ length: x.points }, (_, i) => {
    const t = i / (x.points - 1);
    return x.log ? x.min * (x.max / x.min) ** t : x.min + (x.max - x.min) * t;
  });
}

// Geometric between positive numbers, straight otherwise: how a slider glides to a preset.
/**
 * @param {StateValue | undefined} a
 * @param {StateValue} b
 * @param {number} t
 * @returns {StateValue}
 */
export function between(a, b, t) {
  if (a === b || typeof a !== "number" || typeof b !== "number") return b;
  return a > 0 && b > 0 ? a * (b / a) ** t : a + (b - a) * t;
}

/**
 * @param {Control} control
 * @returns {control is ChoiceControl & { rows: SymbolValues[] }}
 */
const isPicker = (control) => control.type === "choice" && Boolean(control.rows);

/**
 * @typedef {Readout & { at: (values: SymbolValues) => number }} Computed
 * @typedef {Curve & {
 *   index: number,
 *   role: Role,
 *   sweep: (values: SymbolValues, xs: Float64Array) => Float64Array,
 *   at: (values: SymbolValues) => number,
 *   across: ((values: SymbolValues, xs: Float64Array) => Float64Array) | null,
 *   xs: Float64Array,
 *   ys: Float64Array,
 *   needed: ((values: SymbolValues) => number) | null,
 * }} ModelCurve
 * @typedef {Mark & { at: (values: SymbolValues) => number,
 *   needed: ((values: SymbolValues) => number) | null }} ModelMark
 * @typedef {object} ShownMark
 * @property {ModelMark} mark
 * @property {number} value
 * @property {number} place where it stands along its axis
 * @property {boolean} down whether what lies beyond is to the left
 * @property {Pair} [lacking] chips that the model alone takes, and the fewer that there are
 * @typedef {object} Dot
 * @property {string} label
 * @property {string} key
 * @property {number} x
 * @property {number} y
 * @property {number} [index]
 * @typedef {object} Shown a curve as it is drawn for a state
 * @property {ModelCurve} curve
 * @property {Float64Array} xs
 * @property {Float64Array} ys
 * @property {number} x
 * @property {number} y
 * @property {Pair} [lacking] as a mark's
 * @property {Pair} [band] at the cursor
 * @property {string} of
 * @property {import("./bands.js").Shade["shade"]} [shade] the band that is drawn
 * @typedef {object} Result
 * @property {Shown[]} curves
 * @property {ShownMark[]} marks
 * @property {{ readout: Computed, value: number }[]} readouts
 * @property {Dot[]} dots
 * @property {string} key
 */

// The groups of points that are shown for a state; as Points.shown.
/**
 * @param {Pick<PlotSpec, "points">} spec
 * @param {State} state
 */
export const shownPoints = ({ points = [] }, state) =>
  points.filter(({ when = {} }) =>
    Object.entries(when).every(([name, value]) => state[name] === value),
  );

// Values of symbols for a state: the scenario's rows, what the explorer holds fixed, and its
// controls.
export class Values {
  /**
   * @param {Spec} spec
   * @param {import("./scenario.js").Source} [source] the scenario that it is for
   */
  constructor(spec, source = store) {
    this.spec = spec;
    this.source = source;
    this.symbols = new Set(Object.keys(spec.values || {}));
    this.fixed = spec.given || {};
    this.sliders = spec.controls.filter((c) => this.symbols.has(c.name) && !isPicker(c));
    this.pickers = spec.controls.filter(isPicker);
    /** @type {Computed[]} */
    this.readouts = (spec.readouts || []).map((r) => ({ ...r, at: compile(r.tree) }));
    /** @type {Map<string, SymbolValues | null>} */
    this.cache = new Map();
    /**
     * The bases that a transition starts from.
     *
     * @type {Map<string, SymbolValues | null> | null}
     */
    this.from = null;
    this.mix = 1;
  }

  // The scenario has changed: glide from what is shown now.
  turn() {
    this.from = new Map(this.cache);
    this.cache.clear();
  }

  // Values of symbols for the rows that the state, and then a curve of its own, picks; null where
  // the chip lacks the precision.  On the way from one scenario to the next, in between.  Looked up
  // by a short key: this runs in frames.
  /**
   * @param {State} state
   * @param {Partial<Choice>} [own]
   * @returns {SymbolValues | null}
   */
  base(state, own) {
    const { hardware, model, precision } = state;
    const key = `${hardware}|${model}|${precision}|${own ? JSON.stringify(own) : ""}`;
    let base = this.cache.get(key);
    if (base === undefined) this.cache.set(key, (base = this.lookUp(state, own)));
    const old = this.mix < 1 ? this.from?.get(key) : null;
    if (!old || !base) return base;
    return Object.fromEntries(
      Object.entries(base).map(([name, value]) => [
        name,
        Number(between(old[name] ?? value, value, this.mix)),
      ]),
    );
  }

  /**
   * @param {State} state
   * @param {Partial<Choice>} [own]
   * @returns {SymbolValues | null}
   */
  lookUp(state, own) {
    /** @type {Partial<Choice>} */
    const picked = {};
    for (const name of CHOICES) if (state[name] !== undefined) picked[name] = String(state[name]);
    Object.assign(picked, own);
    const all = { ...this.source.choice, ...picked };
    if (lacks(all.hardware, all.precision)) return null;
    const base = { ...this.spec.values },
      found = this.source.values(picked);
    for (const [name, value] of Object.entries(found))
      if (this.symbols.has(name)) base[name] = value;
    // What this chip or model has not (a price, experts) must not linger from the build.
    for (const name of supplied) if (!(name in found)) delete base[name];
    return Object.assign(base, this.fixed);
  }

  /**
   * @param {State} state
   * @param {SymbolValues} [given]
   * @param {Partial<Choice>} [own]
   * @returns {SymbolValues | null}
   */
  values(state, given, own) {
    const base = this.base(state, own);
    if (!base) return null;
    const values = { ...base };
    for (const { name } of this.sliders) values[name] = /** @type {number} */ (state[name]);
    for (const picker of this.pickers) {
      const place = picker.options.findIndex((o) => o.value === state[picker.name]);
      Object.assign(values, picker.rows[place]);
    }
    if (own?.context !== undefined) values.context = own.context;
    if (this.spec.x) values[this.spec.x.name] = /** @type {number} */ (state[this.spec.x.name]);
    return given ? Object.assign(values, given) : values;
  }

  // Why one of some formulas has no value, in a sentence; nothing where all have one.
  /**
   * @param {(Entry & { at: (values: SymbolValues) => number })[]} entries
   * @param {State} state
   */
  whyNot(entries, state) {
    for (const { given, scenario, at } of entries) {
      /** @type {Choice & State} */
      const choice = { ...this.source.choice, ...state, ...scenario },
        values = this.values(state, given, scenario);
      if (!values) return lacks(choice.hardware, choice.precision);
      try {
        at(values);
      } catch (error) {
        if (error instanceof MissingValue) return whyMissing(error.symbol, choice);
        throw error;
      }
    }
    return "";
  }

  // One formula's value, with what is its own held; NaN where there is none.
  /**
   * @param {Entry} entry
   * @param {(values: SymbolValues) => number} f
   * @param {State} state
   */
  scalar(entry, f, state) {
    const values = this.values(state, entry.given, entry.scenario);
    try {
      return values ? f(values) : NaN;
    } catch {
      return NaN;
    }
  }
}

export class Model extends Values {
  /**
   * @param {PlotSpec} spec
   * @param {import("./scenario.js").Source} [source]
   */
  constructor(spec, source) {
    super(spec, source);
    this.spec = spec;
    this.grid = gridOf(spec.x);
    this.checks = new Set(spec.controls.filter((c) => c.type === "check").map((c) => c.name));
    const { name, points } = spec.x;
    /** @type {ModelCurve[]} */
    this.curves = spec.curves.map((curve, index) => ({
      ...curve,
      index,
      role: curve.role || "part",
      sweep: compileSweep(curve.tree, name, points),
      at: compile(curve.tree),
      across: spec.across ? compileSweep(spec.across.tree, name, points) : null,
      xs: this.grid,
      ys: new Float64Array(0),
      needed: curve.needs ? compile(curve.needs) : null,
    }));
    this.across = spec.across ? compile(spec.across.tree) : null;
    /** @type {ModelMark[]} */
    this.marks = (spec.marks || []).map((mark) => ({
      ...mark,
      at: compile(mark.tree),
      needed: mark.needs ? compile(mark.needs) : null,
    }));
    // Fixed points: they keep the colours after the curves', group by group.
    this.groups = spec.points || [];
    /** @type {Dot[][]} */
    this.points = this.groups.map(({ at }, i) =>
      at.map(([x, y, label = ""], k) => ({
        label,
        key: `${i} ${k}`,
        x,
        y,
        index: spec.curves.length + i,
      })),
    );
  }

  // Whether nothing but the cursor has moved since the last call, with the key that tells it.
  /** @param {State} state */
  unmoved(state) {
    const others = { ...state };
    delete others[this.spec.x.name];
    const key = JSON.stringify([others, this.source.version, this.mix]),
      same = key === this.swept;
    this.swept = key;
    return { key, same };
  }

  // Why a curve or a readout has no value.
  /** @param {State} state */
  problem(state) {
    return this.whyNot([...this.curvesOf(state), ...this.readouts], state);
  }

  /** @param {State} state */
  curvesOf(state) {
    return this.curves.filter(({ id }) => !(this.checks.has(id) && state[id] === false));
  }

  // Everything that is drawn for a state; a curve that cannot be computed is left out.
  /**
   * @param {State} state
   * @returns {Result}
   */
  evaluate(state) {
    const cursor = /** @type {number} */ (state[this.spec.x.name]),
      shared = this.values(state);
    // Where nothing but the cursor has moved, the curves stand as they are, in the same arrays.
    const { key, same } = this.unmoved(state);
    /** @type {Result} */
    const out = { curves: [], marks: [], readouts: [], dots: [], key };
    /** @param {Entry} entry */
    const valuesFor = (entry) =>
      entry.given || entry.scenario ? this.values(state, entry.given, entry.scenario) : shared;
    /** @type {Float64Array | null} */
    let common = null;
    for (const curve of this.curvesOf(state)) {
      const values = valuesFor(curve);
      if (!values) continue;
      try {
        if (!same) {
          curve.ys = curve.sweep(values, this.grid);
          curve.xs = (values === shared && common) || this.acrossOf(curve, values);
        }
        const { xs, ys } = curve;
        if (values === shared) common = xs;
        out.curves.push({
          curve,
          xs,
          ys,

          y: curve.at(values),
          x: this.across ? this.across(values) : cursor,
          lacking: curve.needed ? this.lacking(curve, curve.needed, state) : undefined,
          ...bandAt(curve, values),
        });
      } catch (error) {
        if (!(error instanceof MissingValue)) throw error;
      }
    }
    /**
     * @param {Entry} entry
     * @param {(values: SymbolValues) => number} f
     */
    const scalar = (entry, f) => {
      if (entry.given || entry.scenario) return this.scalar(entry, f, state);
      try {
        return shared ? f(shared) : NaN;
      } catch {
        return NaN;
      }
    };
    for (const mark of this.marks) {
      const value = scalar(mark, mark.at);
      out.marks.push({
        mark,
        value,
        ...this.placeOf(mark, value, state),
        lacking: mark.needed ? this.lacking(mark, mark.needed, state) : undefined,
      });
    }
    for (const readout of this.readouts) {
      const value = scalar(readout, readout.at);
      if (!Number.isNaN(value)) out.readouts.push({ readout, value });
    }
    const shown = shownPoints(this.spec, state);
    out.dots.push(...this.points.filter((_, i) => shown.includes(this.groups[i])).flat());
    return out;
  }

  // Where a mark stands along its axis, on which another quantity than the sweep's may run; larger
  // values of the sweep may then lie to the left.
  /**
   * @param {ModelMark} mark
   * @param {number} value
   * @param {State} state
   */
  placeOf(mark, value, state) {
    const { across } = this,
      { name, min, max } = this.spec.x;
    if (mark.axis !== "x" || !across || !Number.isFinite(value))
      return { place: value, down: false };
    const [place, low, high] = [Math.max(wholeCount(value, mark.whole), min), min, max].map(
      (swept) => this.scalar(mark, (values) => across({ ...values, [name]: swept }), state),
    );
    return { place, down: high < low };
  }

  // Chips that the model alone takes, and those that there are, where these are fewer.
  /**
   * @param {Entry} entry
   * @param {(values: SymbolValues) => number} f
   * @param {State} state
   * @returns {Pair | undefined}
   */
  lacking(entry, f, state) {
    const needed = this.scalar(entry, f, state),
      devices = this.scalar(entry, (values) => values.devices, state);
    return needed > devices ? [needed, devices] : undefined;
  }

  // Where a curve's points lie along x: on the grid, or where another formula puts them.
  /**
   * @param {ModelCurve} curve
   * @param {SymbolValues} values
   */
  acrossOf(curve, values) {
    return curve.across ? curve.across(values, this.grid) : this.grid;
  }

  // What the plot shows, in words: the same sentence as Explorer.alt_text.
  /**
   * @param {State} state
   * @param {Result} [result]
   */
  words(state, result = this.evaluate(state)) {
    const { spec } = this,
      shown = result.curves;
    if (!shown.length) return "No curve is shown.";
    const lead = shown.find((c) => c.curve.role === "total") || shown[0],
      name = lower(spec.x.title),
      { unit } = spec.x,
      until = this.room(result);
    /**
     * @param {Numbers} ys
     * @param {Axis} axis
     */
    const course = (ys, axis) => describe(this.grid, ys, name, unit, axis.unit, axis.log, until);
    const { none } = lead.curve;
    let text = `${capital(lead.curve.label)} ${course(lead.ys, spec.y)}.`;
    if (none && !lead.ys.some((y) => told(lead.curve, y)))
      text = `${capital(lead.curve.label)}: ${none}.`;
    else if (spec.across)
      text =
        `${spec.across.title} ${course(lead.xs, spec.across)}. ${spec.y.title} ` +
        `${course(lead.ys, spec.y)}.`;
    const values = shown
      .map(({ curve, y }) => `${curve.label} ${named(curve, curve.label, y, spec.y.unit)}`)
      .join("; ");
    const groups = shownPoints(spec, state).map(({ label, at }) => {
      const [least, most] = [Math.min, Math.max].map((end) =>
        formatValue(end(...at.map((p) => p[1])), spec.y.unit),
      );
      const many = `${at.length} points from ${least} to ${most}`;
      return ` ${capital(label)}: ${at.length === 1 ? least : many}.`;
    });
    /** @param {Shown} shown */
    const bandText = ({ curve, y, band, of }) => {
      if (!band) return of;
      const reach = band.map((end) => formatValue(y * end, spec.y.unit, 2));
      return `${curve.band_label} ${reach.join(" to ")}: ${of}`;
    };
    const bands = shown.filter((c) => c.of).map((c) => ` ${capital(bandText(c))}.`);
    const over = this.beyond(state, result);
    return (
      `${text} At ${name} ${inFull(Number(state[spec.x.name]), unit)}: ` +
      `${values}.${over ? ` ${over}` : ""}${bands.join("")}${groups.join("")}`
    );
  }

  // How far along the sweep everything fits.
  /** @param {Result} result */
  room({ marks }) {
    const limits = marks.filter(({ mark }) => mark.limit && mark.axis === "x");
    return Math.min(...limits.map(({ mark, value }) => wholeCount(value, mark.whole)), Infinity);
  }

  // Where the cursor, a control, or a curve lies beyond what fits, and what has no value, in words.
  /**
   * @param {State} state
   * @param {Result} result
   */
  beyond(state, result) {
    const { x } = this.spec,
      at = `${lower(x.title)} ${inFull(Number(state[x.name]), x.unit)}`;
    const said = [
      ...result.marks.map((shown) => this.beyondMark(shown, state, at, result)),
      ...result.curves.map(({ lacking }) => (lacking ? doesNotFit(...lacking) : "")),
    ];
    return [...new Set(said.filter(Boolean))].map((text) => `${text}.`).join(" ");
  }

  /**
   * @param {ShownMark} shown
   * @param {State} state
   * @param {string} at
   * @param {Result} result
   */
  beyondMark({ mark, value, lacking }, state, at, result) {
    if (lacking) return doesNotFit(...lacking);
    if (!told(mark, value)) return `${capital(mark.label)} ${mark.none}`;
    if (!mark.limit) return "";
    const { x, y } = this.spec;
    if (mark.axis === "x")
      return Number(state[x.name]) > value ? beyond(at, mark.label, written(mark, value)) : "";
    const [name, high] = this.height(result);
    if (!(high > value && high < Infinity)) return "";
    return beyond(
      `${name} ${formatValue(high, y.unit)} at ${at}`,
      mark.label,
      written(mark, value),
    );
  }

  // What reaches how high at the cursor: the leading curve, or stacked ones together.
  /**
   * @param {Result} result
   * @returns {[string, number]}
   */
  height({ curves }) {
    if (this.spec.stack) {
      const parts = curves.filter((c) => c.curve.role === "part");
      return [this.spec.y.title, parts.reduce((sum, { y }) => sum + y, 0)];
    }
    const lead = curves.find((c) => c.curve.role === "total") || curves[0];
    return lead ? [lead.curve.label, lead.y] : ["", NaN];
  }

  // Head and rows of the data table.
  /**
   * @param {State} state
   * @returns {Table}
   */
  table(state) {
    const { spec } = this,
      result = this.evaluate(state),
      { curves } = result,
      until = this.room(result);
    const head = [
      spec.x.title,
      ...(spec.across ? [spec.across.title] : []),
      ...curves.map((c) => c.curve.label),
    ];
    const body = spec.x.stops.map((stop) => {
      /**
       * @param {Shown} c
       * @param {(values: SymbolValues) => number} f
       */
      const at = (c, f) =>
        f({ ...this.values(state, c.curve.given, c.curve.scenario), [spec.x.name]: stop });
      return [
        formatValue(stop, spec.x.unit) + (stop > until ? " (more than fits)" : ""),
        ...(spec.across && this.across && curves.length
          ? [formatValue(at(curves[0], this.across), spec.across.unit)]
          : []),
        ...curves.map((c) => {
          const value = at(c, c.curve.at);
          return told(c.curve, value)
            ? formatValue(wholeCount(value, c.curve.whole), spec.y.unit)
            : String(c.curve.none);
        }),
      ];
    });
    const groups = shownPoints(spec, state);
    for (const row of body) row.push(...groups.map(() => ""));
    groups.forEach(({ at }, i) => {
      for (const [x, y, ...label] of at) {
        body.push([
          [formatValue(x, spec.x.unit), ...label].join(", "),
          ...Array(head.length - 1 + i).fill(""),
          formatValue(y, spec.y.unit),
          ...Array(groups.length - 1 - i).fill(""),
        ]);
      }
    });
    head.push(...groups.map((group) => group.label));
    return { head, body };
  }
}

// The least and the most of the finite numbers above a bound; [Infinity, -Infinity] of none.
/**
 * @param {Numbers[]} arrays
 * @param {number} above
 * @returns {Pair}
 */
function ends(arrays, above) {
  let least = Infinity,
    most = -Infinity;
  for (const array of arrays)
    for (let i = 0; i < array.length; i++) {
      const value = array[i];
      if (!(value > above && value < Infinity)) continue;
      if (value < least) least = value;
      if (value > most) most = value;
    }
  return [least, most];
}

// The level limits that an axis shows beside what reaches these heights: one far above would press
// the curves flat; as figure.limits_near.
/**
 * @param {{ axis: string, limit?: boolean, value: number }[]} marks
 * @param {Numbers[]} heights
 */
export function limitsNear(marks, heights) {
  const [, most] = ends(heights, -Infinity);
  return marks.filter((m) => m.limit && m.axis === "y" && m.value <= 3 * most).map((m) => m.value);
}

// The ends of an axis that show these arrays.  A log axis leaves out what lies far below the
// leading curves.
/**
 * @param {Numbers[]} arrays
 * @param {Numbers[]} leading
 * @param {boolean} log
 * @param {number | null} low
 * @param {number | null} high
 * @returns {Pair}
 */
export function extent(arrays, leading, log, low, high) {
  const above = log ? 0 : -Infinity,
    [lead] = ends(leading, above);
  let [a, b] = ends(arrays, above);
  if (a === Infinity) return [low ?? 1, high ?? 10];
  if (log) {
    if (lead < Infinity) a = Math.max(a, lead / 30);
    a /= 1.25;
    b *= 1.25;
    if (b / a < 10) [a, b] = [Math.sqrt((a * b) / 10), Math.sqrt(a * b * 10)];
  } else {
    b += (b - Math.min(a, 0)) * 0.06 || 1;
    a = Math.min(a, 0);
  }
  return [low ?? a, high ?? b];
}
