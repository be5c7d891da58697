// Types that several modules of the page share; what one module alone uses is declared beside it.
// They are ambient, so that no module has to import them.

/** A formula as handful/tree.py writes it: a number, a symbol, or an operator and its arguments. */
type Tree = number | string | [string, ...Tree[]];
/** SymbolValues of symbols by name. */
type SymbolValues = Record<string, number>;
type Numbers = readonly number[] | Float64Array;
type Pair = [number, number];

// --- the scenario (scenario.js, rows.json) ---

type Kind = "hardware" | "model" | "precision";
/** The kinds of which a reader may describe one of their own. */
type OwnKind = "hardware" | "model";
interface Choice {
  hardware: string;
  model: string;
  precision: string;
  context: number;
  /** Dollars an hour for each chip, where they are the reader's own and not the chip's row's. */
  rent?: number;
}
interface Row {
  name: string;
  label: string;
  own?: boolean;
  verified?: boolean;
  source?: string;
}
interface Chip extends Row {
  values: Record<string, number | null>;
  peak_flops: Record<string, number>;
}
interface ModelRow extends Row {
  values: Record<string, number | null>;
  kv_elements_per_token: number;
  kv_window_elements: number;
  max_context: number | null;
  /** Why its published counts are others, where they are far off. */
  counts?: string;
}
interface Precision extends Row {
  arithmetic: string;
  bytes_per_parameter: number;
  kv_bytes_per_element: number;
}
/** What a reader of a scenario should see, and when. */
type Rule = { name: string; text: string } & (
  | { missing: string }
  | { verified: boolean }
  | { left: Tree; right: Tree; unit: string; unless?: string }
);
interface Rows {
  hardware: Chip[];
  model: ModelRow[];
  precision: Precision[];
  constants: SymbolValues;
  rules: Rule[];
  /** What to say of a chip or model that has no value for one of these symbols. */
  lacking: { symbols: string[]; text: string }[];
  default: Choice;
}
declare module "handful-rows" {
  const rows: Rows;
  export default rows;
}

/** A reader's own model or chip: values by the names of custom_scenario.js's fields, and perhaps a name. */
type Definition = { name?: string } & Record<string, FieldValue>;
type FieldValue = number | string | boolean | null | undefined;
/** A definition as it was typed, pasted or read from an address; nothing in it is checked. */
type Given = Record<string, unknown>;
interface Fault {
  field: string;
  text: string;
}

// --- explorers (plotting/spec.py) ---

type StateValue = number | string | boolean;
/** What an explorer is set to: its controls, the cursor, and choices that a preset made. */
type State = Record<string, StateValue>;
interface Option {
  label: string;
  value: number | string;
}
interface ControlBase {
  name: string;
  label: string;
  /** Whether it takes the value of the page's scenario. */
  follows?: boolean;
}
interface CheckControl extends ControlBase {
  type: "check";
  value: boolean;
}
interface ChoiceControl extends ControlBase {
  type: "choice";
  value: number | string;
  options: Option[];
  /** SymbolValues of symbols that each option stands for, in the order of the options. */
  rows?: SymbolValues[];
}
interface NumberControl extends ControlBase {
  type: "int" | "linear" | "log";
  value: number;
  unit: string;
  min: number;
  max: number;
  step?: number;
}
type Control = CheckControl | ChoiceControl | NumberControl;
/** An axis of a plot; ends that are not given follow from what is drawn. */
interface Axis {
  title: string;
  unit: string;
  log: boolean;
  min: number | null;
  max: number | null;
}
/** The axis of the swept symbol, along which the cursor moves. */
interface SweptAxis extends Axis {
  name: string;
  min: number;
  max: number;
  points: number;
  at: number;
  stops: number[];
  whole: boolean;
  follows?: boolean;
}
/** A formula with what is its own: values that it holds, and rows that it picks. */
interface Entry {
  given?: SymbolValues;
  scenario?: Partial<Choice>;
}
/** Which whole number stands for a count where it is read out. */
type Whole = import("./units.js").Whole;
type Role = "part" | "total" | "reference" | string;
interface Curve extends Entry {
  id: string;
  label: string;
  role?: Role;
  tree: Tree;
  /** Factors between which measurements lie. */
  band?: Pair;
  band_label?: string;
  whole?: Whole;
  /** Words for a value that is 0 or endless. */
  none?: string;
  /** Chips that hold the model alone. */
  needs?: Tree;
  /** A band for each class of scenarios, over the batches that most of its runs have. */
  bands?: {
    when: { experts: boolean; most?: number };
    band?: Pair;
    text: string;
    batches?: Pair;
    beyond?: string;
  }[];
}
interface Mark extends Entry {
  axis: "x" | "y";
  label: string;
  tree: Tree;
  unit: string;
  band?: Pair;
  /** Whether all beyond it is more than fits. */
  limit?: boolean;
  /** Chips that hold the model alone. */
  needs?: Tree;
  whole?: Whole;
  /** Words that follow the label where the value is 0 or endless. */
  none?: string;
}
interface Readout extends Entry {
  label: string;
  tree: Tree;
  unit: string;
  digits: number;
  whole?: Whole;
  none?: string;
}
interface KeyedNumber extends Readout {
  key: string;
}
interface Preset {
  label: string;
  set: State;
  /** Whole numbers among them that are worked out for the page's scenario. */
  follow?: Record<string, Readout>;
}
interface PointGroup {
  label: string;
  at: [number, number, string?][];
  /** Values of controls at which they are shown. */
  when?: State;
}
interface SpecBase {
  kind: string;
  name: string;
  title: string;
  caption: string;
  controls: Control[];
  presets: Preset[];
  values: SymbolValues;
  given?: SymbolValues;
  readouts?: Readout[];
  stack?: boolean;
  /** What a reader guesses first: the course or the level of a curve, or the place of a mark. */
  guess?: {
    question: string;
    kind: "draw" | "level" | "mark";
    of: string;
    /** Where a course is asked for, besides the first point, which is given. */
    at?: number[];
    /** Whether a hump of the course is the answer. */
    hump?: boolean;
  };
}
interface PlotSpec extends SpecBase {
  x: SweptAxis;
  y: Axis;
  across?: Axis & { tree: Tree };
  curves: Curve[];
  marks?: Mark[];
  points?: PointGroup[];
}
interface SceneSpec extends SpecBase {
  inputs: State;
  numbers: KeyedNumber[];
  /** What the kind's Python twin writes for it; each kind says what it expects. */
  data: unknown;
  x?: undefined;
  curves?: undefined;
  marks?: undefined;
  points?: undefined;
  across?: undefined;
}
type Spec = PlotSpec | SceneSpec;

/** A table of text: its head, and its rows. */
interface Table {
  head: string[];
  body: string[][];
}

// --- scenes (scenes/shapes.js, scenes/scene.js) ---

/** Shapes of a drawing; `c` are class names, which draw.js writes with the prefix "sc-". */
type RectShape = { t: "rect"; x: number; y: number; w: number; h: number; c: string };
type LineShape = { t: "line"; x1: number; y1: number; x2: number; y2: number; c: string };
type PathShape = { t: "path"; p: Pair[]; w: number; c: string };
type CircleShape = { t: "circle"; x: number; y: number; r: number; c: string };
type Anchor = "start" | "middle" | "end";
type TextShape = { t: "text"; x: number; y: number; s: string; c: string; a: Anchor };
type Shape = RectShape | LineShape | PathShape | CircleShape | TextShape;
/** Height of a drawing, and what is in it. */
type Picture = [number, Shape[]];
/** Label, value as text, and a note. */
type ReadoutText = [string, string, string];
/** What a scene's `run` gets: its inputs, the values of its formulas by key, and its data. */
interface SceneGiven<Input, Data = unknown> {
  input: Input;
  numbers: SymbolValues;
  spec: Omit<SceneSpec, "data"> & { data: Data };
}

// --- the learner's log (study/log.js) and what follows from it (study/spaced_repetition.js) ---

interface EventBase {
  id: string;
  /** Milliseconds UTC. */
  at: number;
  /** Minutes east of UTC. */
  zone: number;
}
interface GradeEvent extends EventBase {
  kind: "grade";
  card: string;
  grade: number;
  took?: number;
}
interface BuryEvent extends EventBase {
  kind: "bury";
  card: string;
}
interface UndoEvent extends EventBase {
  kind: "undo";
  undoes: string;
}
interface SettingEvent extends EventBase {
  kind: "setting";
  name: keyof Settings;
  value: unknown;
}
interface AttemptEvent extends EventBase {
  kind: "attempt";
  problem: string;
  seed: number;
  given: string;
  verdict: "right" | "wrong";
  turn?: number;
  hints?: number;
}
type CardEvent = GradeEvent | BuryEvent;
type LogEvent = CardEvent | UndoEvent | SettingEvent | AttemptEvent;
interface Settings {
  retention: number;
  new_per_day: number;
  chapters: readonly string[];
}
/** When a card comes back: at a moment while it is being learnt, on a day later. */
type Due = { at: number; day?: undefined } | { day: number; at?: undefined };
/** A card that has been graded. */
interface MetState {
  state: "learning" | "review" | "relearning";
  stability: number;
  difficulty: number;
  reps: number;
  lapses: number;
  last: number;
  lastDay: number;
  first: number;
  due: Due;
  buried?: number;
}
/** A card that has only been put off. */
interface NewState {
  state: "new";
  reps: 0;
  lapses: 0;
  buried?: number;
  due?: undefined;
  first?: undefined;
  lastDay?: undefined;
}
type CardState = MetState | NewState;
/** A state with its latest event, by which an undo finds what was done last: [at, id]. */
type DatedState = CardState & { latest: [number, string] };
/** Counts of a learner's day. */
interface DayCount {
  day: number;
  answers: number;
  missed: number;
  fresh: number;
  asked: number;
  held: number;
}
interface ProblemCount {
  problem: string;
  right: number;
  wrong: number;
}
interface Chapter {
  name: string;
  title: string;
  cards: string[];
  problems: string[];
}

// --- problems (handful_study/problem_spec.py) ---

/** From base to power, {byte: 1, time: -1}; powers of nothing are left out. */
type Dimension = Record<string, number>;
type ScheduleGoal = Record<
  "stages" | "micro_batches" | "backward" | "bubble_at_most" | "in_flight_at_most" | "weights",
  number
>;
interface ProblemBase {
  /** Rows of the scenario and numbers that are drawn: their names, and from what. */
  draw: [string, (string | number)[]][];
  cases: ({ name: string } & Record<string, string | number>)[];
  values: SymbolValues;
  /** Symbols whose value follows from drawn rows: the rows' names, and a value for each of them. */
  by: Record<string, [string[], number[]]>;
  drawn: { row?: string; tree: Tree; unit: string; digits: number }[];
}
interface NumberProblem extends ProblemBase {
  kind: "number";
  asked: string;
  answer: Tree;
  wrong: Tree[];
  tolerance: number;
  /** The size of the unit in which the question asks: a bare number is in it. */
  bare?: number;
  /** The name of what is counted, which may be written after the number. */
  counted?: string;
  /** Names and words of the inputs that count something. */
  factors: [string, string][];
  unit: string;
  dimension: Dimension;
  /** The answer's dimension in words. */
  called: string;
}
interface ExpressionProblem extends ProblemBase {
  kind: "expression";
  asked: string;
  answer: Tree;
  wrong: Tree[];
  /** As written, and the symbol that is meant. */
  letters: [string, string][];
}
interface ChoiceProblem extends ProblemBase {
  kind: "choice";
  when: Tree[];
}
interface ScheduleProblem extends ProblemBase {
  kind: "schedule";
  schedule: Record<string, Tree>;
  wrong: string[];
}
type ProblemSpec = NumberProblem | ExpressionProblem | ChoiceProblem | ScheduleProblem;
interface Verdict {
  kind: "right" | "wrong" | "unread";
  says?: string;
  /** The number of a known misconception, of which the page itself says what it is. */
  turn?: number;
  /** What the chart draws, where a schedule was played. */
  played?: PlayedSchedule;
}

// --- pipelines (scenes/pipeline.js) ---

/** Kind, stream, stage and micro-batch. */
type Piece = [string, number, number, number];
/** Device, start, end, and the one or two pieces that are worked on. */
type Bar = [number, number, number, Piece[]];
interface Plan {
  devices: number;
  stages: number;
  orders: Piece[][][];
  chunks: number;
}
interface Played {
  bars: Bar[];
  makespan: number;
  idle: number[];
  held: number[];
}
interface PlayedSchedule extends Played {
  stages: number;
  share: number;
  most: number;
  goal: ScheduleGoal;
}

// --- what browsers and the build add ---

declare const MEASURE_MARK: string;
declare const RUNS_MARK: string;
declare const MEASURE_WORKER_MARK: string;
declare const FORM_MARK: string;
declare const GUESS_MARK: string;
declare const PYTHON_MARK: string;
declare const SCHEMATIC_MARK: string;
declare const BOXES_MARK: string;
declare const SEARCH_MARK: string;
declare const STUDY_MARK: string;
interface Window {
  /** ahead.js, in the head of the pages about the learner's store, has begun to open it. */
  studyOpening?: Promise<IDBDatabase>;
}
interface Navigator {
  connection?: { saveData?: boolean; effectiveType?: string };
}
declare module "*.css";
