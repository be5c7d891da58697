// Guess, then reveal: the reader draws a curve, sets a level or places a mark before the plot shows
// its own, and sees both together afterwards.  Asked and compared for the book's machine and model
// and for controls as they are declared, whatever is chosen meanwhile.
//
// Bundled apart from the page's script and fetched by whoever is asked: what they share comes as
// `tools`, so that there is one of each.

/**
 * @typedef {import("./explorer.js").Explorer} Explorer
 * @typedef {import("./explorer.js").Tools} Tools
 * @typedef {import("./plot.js").Plot} Plot
 * @typedef {import("./plot.js").Frame} Frame
 * @typedef {{ intent: import("./dom.js").Intent, begin: number, x: number, y: number, active: number,
 *   before: (number | null)[] }} Press
 */

const PLACES = 6; // where a drawn curve is asked for, unless it says; the first of them is given
const REACH = 14; // pixels within which a stroke takes a ring along
const STEPS = 40; // of an axis, by arrow keys
const COLOUR = 8; // palette.css has it after those of curves
const NAME = "your guess";
/** @type {Kind[]} */
const CHOICES = ["hardware", "model", "precision"];
const HOW = {
  draw:
    "Draw across the plot, or move each ring up and down. The dot at the left end is given: go on " +
    "from there.",
  level: "Move the ring up or down.",
  mark: "Move the marker to the left or right.",
};

export class Guess {
  /**
   * @param {Explorer} explorer
   * @param {Tools} tools
   */
  constructor(explorer, tools) {
    const { Model, defaults, h, valuesOf } = tools,
      spec = /** @type {PlotSpec} */ (explorer.spec);
    this.explorer = explorer;
    this.tools = tools;
    this.spec = spec;
    this.about = /** @type {NonNullable<Spec["guess"]>} */ (spec.guess);
    this.choice = defaults();
    const model = new Model(spec, {
      choice: this.choice,
      version: 0,
      values: (more) => valuesOf({ ...this.choice, ...more }),
    });
    this.state = explorer.unset({ ...valuesOf(this.choice), ...this.choice });
    /** @type {[typeof model, State]} */
    this.asked = [model, this.state];
    const room = model.room(model.evaluate(this.state)),
      last = model.grid.filter((x) => x <= room).length - 1, // asked where all fit
      at = Array.from({ length: PLACES }, (_, i) => Math.round((i * last) / (PLACES - 1)));
    this.drawn = this.about.kind === "draw";
    const places = this.about.at ? [spec.x.min, ...this.about.at] : at.map((i) => model.grid[i]);
    this.xs = this.drawn ? places : [/** @type {number} */ (this.state[spec.x.name])];
    this.called = ""; // the curve that is asked for
    /** @type {number[]} */
    this.truth = this.findTruth(model);
    this.unit = this.about.kind === "mark" ? spec.x.unit : spec.y.unit;
    this.axis = this.about.kind === "mark" ? spec.x : spec.y;
    /**
     * The ends of the answer's axis: those of y are known from the first frame on.
     *
     * @type {Pair}
     */
    this.domain = this.about.kind === "mark" ? [spec.x.min, spec.x.max] : [NaN, NaN];
    /**
     * What the reader has set so far, place by place.
     *
     * @type {(number | null)[]}
     */
    this.values = this.unset();
    /** @type {Press | null} */
    this.press = null;
    /** @type {Plot} */
    this.plot = /** @type {import("./explorer.js").Chart} */ (explorer.chart).plot;
    this.handles = this.about.kind === "mark" ? [] : this.xs.map((x, i) => this.makeHandle(x, i));
    this.layer = tools.s("g", { class: "ex-handles" }, ...this.handles);
    this.plot.svg.append(this.layer);

    const id = `${explorer.id}-question`;
    this.question = h(
      "div",
      { class: "ex-ask" },
      h("p", { class: "ex-question", id, text: this.about.question }),
      h("p", { class: "ex-how", text: `${HOW[this.about.kind]} ${this.machine("For ")}` }),
    );
    /** @type {HTMLButtonElement} */
    this.show = this.button("Show me", () => this.reveal(), "ex-show");
    this.never = this.button("", () => this.neverAsk(), "ex-tool");
    this.buttons = h(
      "div",
      { class: "ex-guess", role: "group", "aria-labelledby": id },
      this.show,
      this.button("Skip", () => this.leave({}), "ex-skip"),
      this.never,
    );
    this.verdict = h("p", { class: "ex-verdict" });
    this.again = this.button("Guess again", () => this.begin(), "ex-tool");
    this.result = h("div", { class: "ex-guess" }, this.verdict, this.again);
    explorer.stage.before(this.question);
    explorer.stage.after(this.buttons, this.result);
    this.listen();
  }

  /**
   * @param {string} text
   * @param {() => void} onclick
   * @param {string} name
   * @returns {HTMLButtonElement}
   */
  button(text, onclick, name) {
    return this.tools.h("button", { type: "button", class: name, text, onclick });
  }

  /** @param {import("./compute.js").Model} model */
  findTruth(model) {
    const { kind, of } = this.about,
      { curves, marks } = model.evaluate(this.state);
    if (kind === "mark") return [marks.find(({ mark }) => mark.label === of)?.value ?? NaN];
    const group = kind === "level" && this.spec.points?.find(({ label }) => label === of);
    if (group) {
      this.called = group.label;
      return [group.at.find(([x]) => x === this.xs[0])?.[1] ?? NaN];
    }
    const curve = curves.find((one) => one.curve.id === of);
    if (!curve) throw new Error(`there is no curve ${of}`);
    this.called = curve.curve.label;
    if (!this.drawn) return [curve.y];
    const { name } = this.spec.x;
    return this.xs.map((x) => {
      const there = model.evaluate({ ...this.state, [name]: x }).curves;
      return there.find((one) => one.curve.id === of)?.y ?? NaN;
    });
  }

  // The state --------------------------------------------------------------------------------------

  unset() {
    return this.xs.map((_, i) => (this.drawn && i === 0 ? this.truth[0] : null));
  }

  get middle() {
    const [low, high] = this.domain;
    return this.axis.log ? Math.sqrt(low * high) : (low + high) / 2;
  }

  get guessed() {
    return this.values.some((value, i) => value !== null && !(this.drawn && i === 0));
  }

  // What was kept, if it is a guess at these places.
  /** @returns {number[] | null} */
  kept() {
    const at = this.tools.guessOf(this.spec.name)?.at;
    const good = (/** @type {unknown} */ v) =>
      typeof v === "number" && v >= 0 && v < Infinity && (v > 0 || !this.axis.log);
    return Array.isArray(at) && at.length === this.xs.length && at.every(good) ? at : null;
  }

  begin() {
    const { offer } = this.explorer,
      byHand = [offer, this.again].some((button) => button === document.activeElement);
    this.values = this.unset();
    this.explorer.ask(true);
    if (byHand) (this.handles[this.drawn ? 1 : 0] ?? this.plot.cursor.node).focus();
  }

  /**
   * @param {number} place
   * @param {number} value
   */
  set(place, value) {
    const [low, high] = this.domain;
    this.values[place] = Math.min(Math.max(value, low), high);
    this.show.disabled = false;
    this.explorer.request();
  }

  // The whole course: straight between what was set, level after the last of it.
  /** @returns {number[]} */
  course() {
    const f = this.axis.log ? Math.log : (/** @type {number} */ v) => v,
      g = this.axis.log ? Math.exp : f,
      set = this.values.flatMap((value, i) => (value === null ? [] : [i])),
      at = (/** @type {number} */ i) => /** @type {number} */ (this.values[i]);
    return this.values.map((value, i) => {
      if (value !== null) return value;
      const after = set.find((k) => k > i),
        before = /** @type {number} */ (set.filter((k) => k < i).pop());
      if (after === undefined) return at(before);
      const share = (i - before) / (after - before);
      return g(f(at(before)) + (f(at(after)) - f(at(before))) * share);
    });
  }

  reveal() {
    const { announce, keep } = this.tools,
      { explorer, spec } = this,
      at = this.course();
    keep({ of: { [spec.name]: { at, text: this.brief(at) } } });
    if (this.moved()) explorer.restore();
    explorer.root.classList.add("ex-revealing");
    explorer.ask(false);
    announce(this.compare(at));
    this.again.focus({ preventScroll: true });
  }

  /** @param {import("./guesses.js").Kept} kept */
  leave(kept) {
    this.tools.keep({ of: { [this.spec.name]: kept } });
    this.explorer.ask(false);
    this.explorer.offer.focus({ preventScroll: true });
  }

  neverAsk() {
    const { announce, guesses, keep } = this.tools,
      never = !guesses().never;
    keep({ never });
    announce(never ? "No plot will ask you again." : "Plots will ask you again.");
    if (never) {
      this.explorer.ask(false);
      this.explorer.offer.focus({ preventScroll: true });
    } else this.tell();
  }

  // Words -----------------------------------------------------------------------------------------

  // Which machine and model it is about, where it is about any.
  /** @param {string} before */
  machine(before) {
    if (!this.explorer.sceneText()) return "";
    /** @type {State} */
    const asked = { ...this.choice, ...this.state };
    return `${before}${CHOICES.map((kind) => this.tools.label(kind, String(asked[kind]))).join(", ")}.`;
  }

  // Whether the plot shows something else than what was asked.
  moved() {
    const { explorer, state, tools } = this,
      /** @type {Record<string, unknown>} */
      then = { ...this.choice, ...state },
      /** @type {Record<string, unknown>} */
      now = { ...tools.store.choice, ...explorer.state },
      names = Object.keys(state).filter((name) => name !== this.spec.x.name);
    if (explorer.sceneText()) names.push(...CHOICES);
    if (explorer.symbols().has("context")) names.push("context");
    return names.some((name) => now[name] !== then[name]);
  }

  /** @param {number} value */
  tellValue(value) {
    return this.tools.formatValue(value, this.unit, 2);
  }

  /** @param {number} place */
  tellPlace(place) {
    const { formatValue, lower, plain } = this.tools,
      { title, unit, whole } = this.spec.x,
      x = whole ? Math.round(this.xs[place]) : this.xs[place],
      digits = this.about.at ? 3 : 2;
    return unit === "1"
      ? `${plain(x, unit, digits)} ${lower(title)}`
      : formatValue(x, unit, digits);
  }

  // Where a guess is furthest off: by its factor on a log axis, by its distance on another.
  /** @param {number[]} at */
  worst(at) {
    const { log } = this.axis,
      [low, high] = this.domain,
      off = at.map((mine, i) =>
        log
          ? Math.max(mine / this.truth[i], this.truth[i] / mine) - 1
          : Math.abs(mine - this.truth[i]) / (high - low),
      ),
      place = off.indexOf(Math.max(...off));
    return { place, off: off[place], mine: at[place], truth: this.truth[place] };
  }

  /** @param {number[]} at */
  brief(at) {
    const { place, mine } = this.worst(at);
    return this.tellValue(mine) + (this.drawn ? ` at ${this.tellPlace(place)}` : "");
  }

  // The place of the highest hump, or -1: higher than both its neighbours.
  /** @param {number[]} at */
  hump(at) {
    const humps = at.flatMap((y, i) => (i && y > at[i - 1] && y > at[i + 1] ? [i] : []));
    return humps.length ? humps.reduce((a, b) => (at[b] > at[a] ? b : a)) : -1;
  }

  // Where the answer is the place of a hump, that comes first.
  /** @param {number[]} at */
  compareHumps(at) {
    const there = this.about.hump ? this.hump(this.truth) : -1;
    if (there < 0) return "";
    const mine = this.hump(at),
      is = `“${this.called}” has one at ${this.tellPlace(there)}`;
    if (mine < 0) return `You drew no hump; ${is}. `;
    if (mine === there) return `You put the hump where it is, at ${this.tellPlace(there)}. `;
    return `You put the hump at ${this.tellPlace(mine)}; ${is}. `;
  }

  /** @param {number[]} at */
  compare(at) {
    return this.compareHumps(at) + this.compareValues(at);
  }

  // One sentence.
  /** @param {number[]} at */
  compareValues(at) {
    const { place, off, mine, truth } = this.worst(at),
      factor = Math.max(mine / truth, truth / mine),
      close = off < (this.axis.log ? 0.15 : 0.05),
      far = !close && factor < Infinity && factor > 1.3,
      times = far ? `, off by a factor of ${this.tools.formatValue(factor, "1", 2)}` : "",
      guess = this.tellValue(mine),
      is = this.tellValue(truth),
      where = this.drawn ? ` at ${this.tellPlace(place)}` : "",
      name = this.called ? `“${this.called}” is at` : "here it is";
    if (close) return `Well guessed: you said ${guess}${where}, and ${name} ${is}.`;
    return this.drawn
      ? `You are furthest off${where}: you drew ${guess}, and ${name} ${is}${times}.`
      : `You guessed ${guess}; ${name} ${is}${times}.`;
  }

  // What stands around the plot.
  tell() {
    const { explorer, tools } = this,
      { asking } = explorer,
      at = this.kept();
    this.question.hidden = this.buttons.hidden = !asking;
    this.result.hidden = asking || !at;
    explorer.offer.hidden = Boolean(at) || !tools.store.isDefault;
    this.again.hidden = !tools.store.isDefault;
    this.show.disabled = !this.guessed;
    tools.put(this.never, "text", tools.guesses().never ? "Ask me at every plot" : "Never ask me");
    const { node } = this.plot.cursor;
    node.setAttribute("aria-label", asking ? "Your guess" : this.spec.x.title);
  }

  // Drawing ---------------------------------------------------------------------------------------

  // A frame with the guess in it; while it is asked, with nothing else.
  /**
   * @param {Frame} frame
   * @returns {Frame}
   */
  onto(frame) {
    const { asking } = this.explorer,
      kept = this.kept(),
      at = asking ? this.guessed && this.course() : kept;
    if (this.about.kind !== "mark" && (asking || Number.isNaN(this.domain[0])))
      this.domain = frame.y.domain;
    if (kept && !asking) {
      const of = this.moved()
        ? ` That was asked ${this.machine("for ") || "of the plot as it first stood."}`
        : "";
      this.tools.put(this.verdict, "text", this.compare(kept) + of);
    }
    const own = {
      ...frame,
      key: `${frame.key} ${asking} ${at}`,
      series: at && this.drawn ? [this.series(at)] : [],
      marks: at && !this.drawn ? [this.mark(at[0])] : [],
      after: () => this.place(),
    };
    if (!asking)
      return {
        ...own,
        series: [...frame.series, ...own.series],
        marks: [...frame.marks, ...own.marks],
      };
    const mark = this.about.kind === "mark";
    return {
      ...own,
      dots: [],
      marks: mark ? [] : own.marks,
      cursor: mark && frame.cursor ? this.marker(frame.cursor) : undefined,
    };
  }

  /**
   * @param {number[]} at
   * @returns {import("./plot.js").Series}
   */
  series(at) {
    const none = new Float64Array(0);
    return {
      id: "your-guess",
      label: this.explorer.asking ? "" : NAME, // in whose place rings say their values
      index: COLOUR,
      role: "own",
      xs: Float64Array.from(this.xs),
      ys: Float64Array.from(at),
      cursor: [0, 0],
      X: none,
      Y: none,
    };
  }

  /**
   * @param {number} value
   * @returns {import("./plot.js").FrameMark}
   */
  mark(value) {
    const axis = this.about.kind === "mark" ? "x" : "y",
      { asking } = this.explorer;
    return {
      key: NAME,
      axis,
      value,
      text: asking ? "" : `${NAME} ${this.tellValue(value)}`,
      guess: true,
    };
  }

  // The plot's cursor as a marker: in the middle until it is placed.
  /**
   * @param {import("./plot.js").FrameCursor} cursor
   * @returns {import("./plot.js").FrameCursor}
   */
  marker(cursor) {
    const { unit } = this.spec.x,
      [value] = this.values,
      now = value ?? this.middle,
      text = value === null ? "?" : this.tools.plain(value, unit, 2);
    return {
      ...cursor,
      x: now,
      now,
      text,
      label: "Your guess",
      points: [],
      step: (count) => this.explorer.stepped(now, count),
      valueText: value === null ? "not placed yet" : this.tellValue(value),
    };
  }

  /**
   * @param {number} x
   * @param {number} place
   */
  makeHandle(x, place) {
    const { s } = this.tools;
    if (this.drawn && place === 0) return s("circle", { class: "ex-given", r: 6 });
    return s(
      "g",
      {
        class: "ex-handle",
        role: "slider",
        tabindex: 0,
        "aria-orientation": "vertical",
        // what `place` says once the plot has a width
        "aria-valuenow": 50,
        "aria-valuetext": "not set yet",
        "aria-label": this.drawn ? `Your guess at ${this.tellPlace(place)}` : "Your guess",
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event, place),
      },
      s("circle", { class: "ex-handle-reach", r: 22 }),
      s("circle", { class: "ex-handle-ring", r: 9 }),
      s("path", { class: "ex-handle-arrows", d: "M-4,-14l4,-4l4,4M-4,14l4,4l4,-4" }),
      s("text", { "text-anchor": "middle", y: -25, "aria-hidden": "true" }),
    );
  }

  // Rings where the guess runs; in the middle until there is one.
  place() {
    const { explorer, plot, tools, values } = this,
      { put, show } = tools;
    show(this.layer, explorer.asking);
    if (!explorer.asking) return;
    // a number of the axis that had given way to the cursor
    if (this.handles.length)
      for (const { text } of plot.pools.x.items.values()) put(text, "visibility", "visible");
    const [low, high] = this.domain,
      { top, bottom } = plot.box,
      at = this.guessed ? this.course() : this.values;
    this.handles.forEach((node, i) => {
      const value = at[i] ?? this.middle,
        shown = Math.min(Math.max(value, low), high);
      put(
        node,
        "transform",
        `translate(${plot.sx(this.xs[i]).toFixed(1)},${plot.sy(shown).toFixed(1)})`,
      );
      if (!(node instanceof SVGGElement)) return;
      node.classList.toggle("is-set", values[i] !== null);
      const words = values[i] === null ? "" : this.tellValue(value);
      put(/** @type {Element} */ (node.lastChild), "text", words);
      // in hundredths of the axis, as numbers of ARIA have no exponent; the words say the value
      put(node, "aria-valuenow", (100 * (plot.sy(shown) - bottom)) / (top - bottom));
      put(node, "aria-valuetext", words || "not set yet");
    });
  }

  // Hands -----------------------------------------------------------------------------------------

  /**
   * @param {KeyboardEvent} event
   * @param {number} place
   */
  onKey(event, place) {
    const { beginsNumber, openField } = this.tools,
      [low, high] = this.domain,
      { log } = this.axis,
      now = (this.guessed ? this.course() : this.values)[place] ?? this.middle;
    const count = {
      ArrowUp: 1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowLeft: -1,
      PageUp: 5,
      PageDown: -5,
      Home: -STEPS,
      End: STEPS,
    }[event.key];
    if (beginsNumber(event)) {
      const label = this.handles[place].getAttribute("aria-label") ?? "";
      openField(
        this.plot.typing,
        event.key,
        { label, unit: this.unit, min: low, max: high },
        (value) => this.set(place, value),
        this.handles[place],
      );
    } else if (count === undefined) return;
    else
      this.set(
        place,
        log ? now * (high / low) ** (count / STEPS) : now + ((high - low) * count) / STEPS,
      );
    event.preventDefault();
  }

  listen() {
    const { svg } = this.plot,
      { Intent } = this.tools;
    const at = (/** @type {PointerEvent} */ event) => {
      const box = svg.getBoundingClientRect(),
        ratio = this.plot.width / box.width;
      return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
    };
    // A finger may be about to scroll: as with the plot's cursor, it counts once it has gone
    // sideways, or where it is lifted; on a ring it counts at once.
    svg.addEventListener("pointerdown", (event) => {
      if (!this.explorer.asking || !this.handles.length || event.button || this.press) return;
      const [x, y] = at(event),
        ring = event.target instanceof Element ? event.target.closest(".ex-handle") : null,
        gaps = this.xs.map((v, i) => (this.drawn && !i ? Infinity : Math.abs(this.plot.sx(v) - x))),
        active = ring
          ? this.handles.indexOf(/** @type {SVGGElement} */ (ring))
          : gaps.indexOf(Math.min(...gaps)),
        intent = new Intent(event);
      if (ring) intent.sideways = true;
      this.press = { intent, begin: x, x, y, active, before: [...this.values] };
      if (!intent.sideways) return;
      svg.setPointerCapture(event.pointerId);
      this.handles[active].focus({ preventScroll: true, focusVisible: false });
      this.stroke(x, y);
      event.preventDefault();
    });
    // The style's touch-action does not reach into a drawing.
    this.layer.addEventListener(
      "touchstart",
      (event) => event.cancelable && event.preventDefault(),
      {
        passive: false,
      },
    );
    svg.addEventListener("pointermove", (event) => {
      if (!this.press?.intent.follow(event)) return;
      const [x, y] = at(event);
      this.stroke(x, y);
    });
    svg.addEventListener("pointerup", (event) => {
      const [x, y] = at(event);
      if (this.press?.intent.id === event.pointerId) this.stroke(x, y);
      this.press = null;
    });
    svg.addEventListener("pointercancel", () => {
      if (this.press?.intent.sideways) {
        this.values = this.press.before;
        this.tell();
        this.explorer.request();
      }
      this.press = null;
    });
    const { root } = this.explorer;
    root.addEventListener("animationend", () => root.classList.remove("ex-revealing"));
  }

  // From where the hand was to where it is: rings on the way are set to its height there, and the
  // one that it began with follows it up and down.
  /**
   * @param {number} x
   * @param {number} y
   */
  stroke(x, y) {
    const { plot, press } = this;
    if (!press) return;
    const low = Math.min(press.x, x) - REACH,
      high = Math.max(press.x, x) + REACH,
      { top, bottom } = plot.box;
    this.xs.forEach((v, i) => {
      const px = plot.sx(v),
        own = !this.drawn || (i === press.active && Math.abs(x - press.begin) < REACH);
      if ((this.drawn && i === 0) || (!own && (px < low || px > high))) return;
      const share = own || x === press.x ? 1 : (px - press.x) / (x - press.x),
        height = press.y + (y - press.y) * Math.min(Math.max(share, 0), 1),
        value = plot.sy.invert(Math.min(Math.max(height, top), bottom));
      this.set(i, Number(value.toPrecision(2)));
    });
    press.x = x;
    press.y = y;
  }
}
