/* Types of the data that the modules exchange, for `tsc --noEmit -p figures/explorer/web`; not part of the page. */

/** Numbers and lists by the name of a quantity; lists run over clients or classes. */
type Values = Record<string, any>;
type Lengths = { clients: number; classes: number };
type Formula = (v: Values, n?: Lengths, i?: number, sides?: number[]) => any;

interface Quantity {
  name: string;
  letter: string;
  meaning: string;
  unit: string;
  axis: string;
  domain: string;
  low?: number;
  high?: number;
  open: [boolean, boolean];
  whole: boolean;
  simplex: boolean;
  choice: number;
  value: number;
  slider: [number, number, number, number];
  count?: boolean;
}
interface Condition {
  words: string;
  kind: string;
  formula: string;
  latex: string;
  math?: string;
}
interface Optimum {
  over: string;
  derived: { math: string; needs: string[] } | null;
  stated: string[];
}

/** A bound of the catalogue, or of a file. */
interface Bound {
  name: string;
  title: string;
  paper: string;
  source: string;
  statistic: string;
  note: string;
  relation: "<=" | ">=" | "=" | "<~";
  target: { name: string; unit: string; axis: string };
  latex: string;
  math: string;
  axis: string;
  members: number;
  lists: Record<string, number[]>;
  dropped: string[];
  terms: string[];
  conditions: Condition[];
  quantities: Quantity[];
  given: Values;
  x: string;
  trivial: string | number | null;
  optima: Optimum[];
  claims: number[];
}

/** What a comparison needs of a bound in addition. */
interface Compared {
  start: number;
  kind: number;
  once: boolean;
  order: boolean;
  audit: string;
  claim: string;
  rest: any[][];
  decided: string[];
  needs: string[];
  from: Record<string, string>;
  pair: string[];
  free: string;
  trivial: Record<string, number[][]>;
  made: Record<string, any[]>;
  lows: Record<string, number>;
  off: number;
}

/** A setting to start from: constants, the plans up to which they hold, a plan, and known measurements and exact values. */
interface Setting {
  name: string;
  words: string;
  given: Values;
  up_to: Record<string, Record<string, number>>;
  plan: Values;
  follows?: string[];
  target?: string;
  of?: string;
  rows?: [string, number, number, number][];
  measured?: any[];
  exact?: Record<string, any[]>;
  runs?: any;
  lost?: Record<string, string>;
}
interface Atlas {
  targets: string[];
  flags: string[];
  situations: string[];
  assumptions: string[];
  classes: any[];
  conversions: Record<string, string>;
  reached: any[];
  ways: Record<string, number[]>;
  bounds: Record<string, Compared>;
  machine: any;
  worst: any;
  search: any;
  start_values: Record<string, string>;
  roles: any;
  lists: string[];
  plan: Values;
  federations: Setting[];
  places: Map<string, number>;
}

/** The choices of the reader. */
interface State {
  place: number;
  target: string;
  theorem: string;
  x: string;
  constants: Values;
  plan: Values;
}

/** Everything that is known at one plan: values, lengths of axes, constants that do not hold (and why), the situation. */
interface Scenario {
  v: Values;
  n: Lengths;
  given: Values;
  invalid: Record<string, string>;
  planDependent: any[];
  upperBounds: Set<string>;
  machine: boolean;
  situation?: number;
  key?: string;
  fedavg?: boolean;
  usedTime?: number;
  pairs?: number[][];
  parts?: Map<string, Row[]>;
  assumed?: string[];
}

/** The result of one theorem at one plan for one bounded quantity, or the reason why it does not apply. */
interface Row {
  bound: Bound;
  b: Compared;
  audit: string;
  printed: boolean;
  state: string;
  failed: any[];
  assumed: string[];
  alias?: string[];
  kind?: number;
  value?: number;
  terms?: number[];
  factor?: number;
  conversions?: string[];
  composed?: boolean;
  startValue?: number;
  premiseValue?: number;
  pair?: number[] | null;
  evidence?: any[];
  why?: string;
  missing?: string[];
}

/** A theorem at every plan of the map: its value, its level, and its value over the one before training. */
interface Field {
  value: Float64Array;
  level: Uint8Array;
  share: Float64Array;
}
interface Grid {
  target: string;
  fields: Map<string, Field>;
  given: Values;
  upTo: Values;
  view: { steps: Ends; sizes: Ends };
  sizes: number[];
  spacing: number;
  stale?: boolean;
  fine?: Set<string>;
  overall?: Field;
}
type Ends = { low: number; high: number };

/** A step of a story. */
interface Step {
  name?: () => string;
  say: (each?: any) => string;
  place?: number;
  target?: string;
  theorem?: string;
  plan?: any;
  constants?: () => Values;
}

interface Story {
  title: string;
  steps: Step[];
  place?: number;
  target?: string;
  theorem?: string;
}

/* Made of the catalogue's expressions when the page is built. */
declare const CODE: Record<string, { t: Formula[]; c: [Formula, number][]; o: Record<string, [Formula, Formula[]]> }>;
declare const IDENTITIES: any[][], FACTORS: Formula[], PAIR: Formula[], MACHINE_NOISE: Formula;
declare const SIDES: Record<string, [string[], Formula, Formula]>;
declare const TRIVIAL: Record<string, [string[], Formula][]>;
declare const DERIVED: Record<string, [Formula, Record<string, Formula>]>;
