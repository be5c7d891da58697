// A scene: numbers from its kind's module, drawn as a list of shapes.  A kind exports run, picture,
// readouts, words and table; scenes/__init__.py says what each gives, and KINDS below names them.
import { Values } from "../compute.js";
import { Pool, put, s, watchWidth } from "../dom.js";
import { compile } from "../tree.js";
import { formatNamed } from "../units.js";
import bars from "./bars.js";
import { make, round, write } from "./draw.js";
import feistel from "./feistel.js";
import growth from "./growth.js";
import laps from "./laps.js";
import scatter from "./scatter.js";
import strip from "./strip.js";

/**
 * A kind of scene: what it makes of its inputs, and how that is drawn and told.  What `run` gives
 * is the kind's own affair, and nothing but its other functions looks into it: hence `any`.
 *
 * @typedef {object} SceneKind
 * @property {(given: any) => any} run
 * @property {(view: any, width: number) => Picture} picture
 * @property {(view: any) => ReadoutText[]} readouts
 * @property {(view: any) => string} words
 * @property {(view: any) => Table} table
 */

/** @type {Record<string, SceneKind>} */
export const KINDS = {
  bars,
  feistel,
  growth,
  laps,
  scatter,
  strip,
};

export class Scene extends Values {
  /** @param {SceneSpec} spec */
  constructor(spec) {
    super(spec);
    this.spec = spec;
    this.kind = KINDS[spec.kind];
    /** @type {(KeyedNumber & { at: (values: SymbolValues) => number })[]} */
    this.numbers = spec.numbers.map((n) => ({ ...n, at: compile(n.tree) }));
    this.destroy = () => {};
    this.width = 0;
    this.tall = 0;
    this.order = "";
    /** @type {State | null} */
    this.state = null;
    /** @type {unknown} */
    this.result = null;
    this.svg = s("svg", { class: "ex-svg sc", role: "img", "aria-label": "Picture" });
    // In the order of the list, whatever the shape: later shapes lie on earlier ones.
    this.layer = s("g");
    this.svg.append(this.layer);
    this.pool = this.newPool();
    this.whole = spec.controls.filter((c) => c.type === "int").map((c) => c.name);
  }

  // Nodes by their place in the list and their shape.
  newPool() {
    return new Pool(this.layer, (/** @type {string} */ key) => {
      const [, kind] = key.split(" ");
      return make(/** @type {Shape["t"]} */ (kind));
    });
  }

  // Why a number that it draws or shows has no value.
  /** @param {State} state */
  problem(state) {
    return this.whyNot([...this.numbers, ...this.readouts], { ...this.spec.inputs, ...state });
  }

  /** @param {State} state */
  run(state) {
    const input = { ...this.spec.inputs, ...state };
    // On the way from one preset to the next a whole number stays whole.
    for (const name of this.whole) input[name] = Math.round(Number(input[name]));
    const numbers = Object.fromEntries(
      this.numbers.map((n) => [n.key, this.scalar(n, n.at, input)]),
    );
    return this.kind.run({ input, numbers, spec: this.spec, scene: this });
  }

  /** @param {HTMLElement} host */
  attach(host) {
    host.append(this.svg);
    this.destroy = watchWidth(host, (width) => {
      this.width = width;
      if (this.state) this.draw(this.state);
    });
  }

  /** @param {State} state */
  draw(state) {
    this.state = { ...state };
    const { width } = this;
    if (!width) return; // its first comes with the first layout
    this.result = this.run(state);
    const [height, shapes] = this.kind.picture(this.result, width);
    put(this.svg, "viewBox", `0 0 ${width} ${round(height)}`);
    put(this.svg, "height", round(height));
    if (this.tall !== height) {
      this.tall = height;
      const host = this.svg.parentElement;
      if (host) host.style.height = `${height}px`;
    }
    // A place in the list that holds another kind of shape than before would end up out of order:
    // begin anew.
    const order = shapes.map((shape) => shape.t[0]).join("");
    if (!order.startsWith(this.order) && !this.order.startsWith(order)) {
      this.layer.replaceChildren();
      this.pool = this.newPool();
    }
    if (!this.order.startsWith(order)) this.order = order;
    shapes.forEach((shape, i) => write(this.pool.get(`${i} ${shape.t}`), shape));
    this.pool.done();
  }

  /** @returns {import('../explorer.js').Value[]} */
  entries() {
    const state = this.state ?? {},
      own = this.kind
        .readouts(this.result || this.run(state))
        .map(([label, text, note]) => ({ key: label, label, text, note }));
    return [
      ...own,
      ...this.readouts.map((r) => ({
        key: `r-${r.label}`,
        label: r.label,
        text: formatNamed(r.label, this.scalar(r, r.at, state), r.unit, r.digits),
      })),
    ];
  }

  /** @param {State} state */
  words(state) {
    return this.kind.words(this.run(state));
  }

  /** @param {State} state */
  table(state) {
    return this.kind.table(this.run(state));
  }
}
