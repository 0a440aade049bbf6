/* Evaluate every theorem on the map of K and eta: 64 x 64 plans, in short slices. */
const SIDE = 64;
const ROUGH = 4;
const MAX_STEPS = 1024;
const SLICE = 8;

/* The ranges of the map: K from 1, eta in whole decades around 1/L. */
function mapRange(v) {
  const size = v.smoothness > 0 ? v.smoothness : 1;
  const low = 10 ** Math.floor(Math.log10(2e-5 / size));
  const high = 10 ** Math.ceil(Math.log10(2 / size));
  return { steps: { low: 1, high: MAX_STEPS }, sizes: { low, high } };
}

const gridValue = ({ low, high }, k) => low * (high / low) ** ((k + 0.5) / SIDE);

/* Search the best constants of a bound, starting from those of the neighbouring plan. It tries fewer values than the row of
a plan does, to be fast for all theorems; with `fine`, plans whose level is in doubt are searched as thoroughly as a row. */
class Searcher {
  best = NaN;
  infeasible = false;
  admissible = [];

  constructor(b, bound, fine) {
    const chosen = [...b.pair, ...(b.free ? [b.free] : [])];
    const checks = (f) => chosen.some((quantity) => new RegExp(`\\bv\\.${quantity}\\b`).test(String(f)));
    const code = CODE[bound.name];
    const decided = code.c.slice(0, b.decided.length);
    this.b = b;
    this.fine = fine;
    this.axis = bound.axis;
    this.grid = b.free ? atlas.search.shares : [NaN];
    this.choice = [0, 0];
    this.fixedPart = { c: decided.filter(([f]) => !checks(f)), t: [] };
    this.choicePart = { c: decided.filter(([f]) => checks(f)), t: code.t };
  }

  value(scenario, p, s) {
    const { v, n } = scenario;
    if (p < 0 || p >= this.admissible.length || s < 0 || s >= this.grid.length) return NaN;
    const pair = this.admissible[p];
    if (pair) {
      v[OFFSET] = pair[0];
      v[FACTOR] = pair[1];
    }
    if (this.b.free) v[this.b.free] = this.grid[s];
    return quickValue(this.choicePart, this.choicePart.c.length, this.axis, v, n);
  }

  tryChoice(scenario, p, s) {
    const result = this.value(scenario, p, s);
    if (!(result < this.best) && !(Number.isNaN(this.best) && !Number.isNaN(result))) return false;
    this.best = result;
    this.choice[0] = p;
    this.choice[1] = s;
    return true;
  }

  /* The smallest value at increasing step sizes: if no choice meets the conditions, none does at larger ones, unless the last does. */
  minimum(scenario, start) {
    if (start) this.infeasible = false;
    this.best = NaN;
    this.admissible = this.b.pair.length ? pairs(scenario) : [null];
    if (Number.isNaN(quickValue(this.fixedPart, this.fixedPart.c.length, this.axis, scenario.v, scenario.n)))
      return NaN;
    const [p, s] = this.choice;
    this.tryChoice(scenario, p, s);
    if (Number.isNaN(this.best) && !start && !this.infeasible) this.searchInside(scenario, p, s);
    if (start || Number.isNaN(this.best)) {
      if (this.infeasible) return NaN;
      this.scan(scenario);
      this.infeasible = Number.isNaN(this.best);
      if (this.infeasible) return NaN;
    }
    this.descend(scenario);
    return this.best;
  }

  /* The best choice often just meets a condition; at a larger step size, try choices slightly inside. */
  searchInside(scenario, p, s) {
    for (let away = 1; away < this.admissible.length && Number.isNaN(this.best); away++) {
      this.tryChoice(scenario, p - away, s) ||
        this.tryChoice(scenario, p, s + away) ||
        this.tryChoice(scenario, p, s - away) ||
        this.tryChoice(scenario, p - away, s + away);
    }
  }

  scan(scenario) {
    const last = this.admissible.length - 1;
    for (let p = 0; p <= last; p += p < last - 4 ? 4 : 1)
      for (let s = 0; s < this.grid.length; s += 3) this.tryChoice(scenario, p, s);
  }

  descend(scenario) {
    for (let step = 0; step < 80; step++) {
      const [p, s] = this.choice;
      let k = 0;
      while (k < MOVES.length && !this.tryChoice(scenario, p + MOVES[k][0], s + MOVES[k][1])) k++;
      if (k === MOVES.length) break;
    }
  }
}

/* Along the boundary of a condition both constants change together. */
const MOVES = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
  [-1, -1],
  [6, 0],
  [-6, 0],
  [0, 5],
  [0, -5],
];

/* Levels: 0 does not apply, 1 to 3 vacuous (1 by far), 4 below its premises, 5 informative, then one more per factor of ten. */
const initialOf = ({ startValue, premiseValue }) => (startValue < Infinity ? startValue : premiseValue);

function levelOf(value, initialValues) {
  if (Number.isNaN(value)) return 0;
  const state = stateOf(value, initialValues);
  if (state === "below premises") return 4;
  const top = initialOf(initialValues);
  if (state === "vacuous") return value > 1e4 * top || top === Infinity ? 1 : value > 10 * top ? 2 : 3;
  return 5 + Math.min(3, Math.floor(Math.log10(top / value)));
}

/* An empty field: value, level, and value relative to the trivial value, at every plan. */
const emptyField = () => ({
  value: new Float64Array(SIDE * SIDE).fill(NaN),
  level: new Uint8Array(SIDE * SIDE),
  share: new Float64Array(SIDE * SIDE).fill(NaN),
});

/* The smallest bound at every plan over all theorems that the audit has not refuted. */
function smallestField(fields) {
  const all = emptyField();
  for (const [name, { value, level, share }] of fields) {
    if (atlas.bounds[name].audit === "FAILS") continue;
    for (let k = 0; k < value.length; k++)
      if (!(all.value[k] <= value[k]) && !Number.isNaN(value[k])) {
        all.value[k] = value[k];
        all.level[k] = level[k];
        all.share[k] = share[k];
      }
  }
  return all;
}

/* The columns or rows that are computed: one in `spacing`. */
const sampledIndices = (spacing) => Array.from({ length: SIDE / spacing }, (_, k) => spacing * k + (spacing >> 1));

/* The map as a generator that can be stopped between columns: the values of every theorem at every plan (or coarsely, one
in `spacing`), or with `only` those of one theorem, finely. */
function* computeMap(target, given, upTo, only = "", spacing = 1) {
  const grid = { target, fields: new Map(), given, upTo, spacing };
  const atStart = scenarioOf(given, upTo);
  const view = mapRange(atStart.v);
  const sizes = Array.from({ length: SIDE }, (_, k) => gridValue(view.sizes, k));
  const scenarios = scenariosBySize(given, upTo, sizes, spacing);
  const candidates = [...bounds.values()]
    .map((bound) => ({ bound, b: atlas.bounds[bound.name] }))
    .filter(({ b, bound }) => b && !b.order && (!only || bound.name === only))
    .map((candidate) => ({
      ...candidate,
      code: CODE[candidate.bound.name],
      plain:
        !Object.keys(candidate.b.from).length &&
        !Object.keys(candidate.bound.given).length &&
        !candidate.b.needs.includes("runtime"),
      search:
        candidate.b.pair.length || candidate.b.free ? new Searcher(candidate.b, candidate.bound, Boolean(only)) : null,
    }));
  let last = 0;
  for (const column of sampledIndices(spacing)) {
    const steps = Math.max(1, Math.round(gridValue(view.steps, column)));
    if (steps === last) {
      // few steps have several columns
      for (const { value, level, share } of grid.fields.values())
        for (const each of [value, level, share])
          each.copyWithin(column * SIDE, (column - spacing) * SIDE, (column - spacing + 1) * SIDE);
      continue;
    }
    last = steps;
    for (const [scenario, rows] of scenarios) {
      moveScenario(scenario, steps, sizes[rows[0]]);
      if (!(scenario.v.rounds >= 1)) continue;
      const machine = equivalentMachine(scenario);
      const theorems = [...applicableTheorems(candidates, target, scenario)];
      const asMachine =
        machine && atlas.machine.targets.includes(target) ? [...applicableTheorems(candidates, target, machine)] : [];
      for (const one of asMachine)
        one.reach = one.reach.filter(([kind]) => atlas.machine.places.includes(atlas.classes[kind].at));
      for (const k of rows) {
        const at = column * SIDE + k;
        const start = k === rows[0];
        setStepSize(scenario, sizes[k]);
        for (const one of theorems) evaluateAt(one, scenario, at, start, grid);
        if (asMachine.length) setStepSize(machine, sizes[k]);
        for (const one of asMachine) evaluateAt(one, machine, at, start, grid);
      }
    }
    yield column;
  }
  return { ...grid, view, sizes };
}

/* One scenario, with its rows, for each range of step sizes at which the same constants hold. */
function scenariosBySize(given, upTo, sizes, spacing) {
  const scenarios = new Map();
  for (const k of sampledIndices(spacing)) {
    const size = sizes[k];
    const key = Object.keys(validAtPlan({ ...given, step_size: size }, upTo).invalid).join();
    if (!scenarios.has(key)) scenarios.set(key, [scenarioOf({ ...given, step_size: size }, upTo), []]);
    scenarios.get(key)[1].push(k);
  }
  return [...scenarios.values()];
}

const PLAN_DEPENDENT = new Set(["local_steps", "step_size", "rounds", "iterations", "step_scale", "runtime"]);

function conditionFails([text, kind], { v, n }) {
  const answer = kind === "falling" ? (v.iterations > 1 ? "0" : "?") : compareSides(text, v, n);
  return answer === "0" || Array.isArray(answer);
}

/* The theorems that can apply in a column by its structure. */
function* applicableTheorems(candidates, target, scenario) {
  for (const candidate of candidates) {
    const reach =
      scenario.situation >= 0 ? atlas.reached[atlas.ways[candidate.b.start][scenario.situation]][target] : undefined;
    if (!Array.isArray(reach) || !reach.length || missingInputs(candidate.b, scenario).length) continue;
    if (
      candidate.b.rest.some(
        ([, kind, place]) => kind === "assumed" && atlas.assumptions[place][scenario.situation] === "0",
      )
    )
      continue;
    const checks = candidate.b.rest.filter(
      ([text, kind]) => kind === "falling" || (SIDES[text] && (kind === "equation" || kind === "equal weights")),
    );
    const moves = ([text]) => (SIDES[text]?.[0] ?? ["step_size"]).some((quantity) => PLAN_DEPENDENT.has(quantity));
    if (checks.some((one) => !moves(one) && conditionFails(one, scenario))) continue;
    const fixed = TRIVIAL[target].every(([needs]) => !needs.some((quantity) => PLAN_DEPENDENT.has(quantity)));
    yield {
      ...candidate,
      reach: reach.map(([kind, , factor]) => [kind, FACTORS[factor]]),
      checks: checks.filter(moves),
      level: fixed ? trivialValues(candidate.b, target, scenario) : null,
      field: null,
    };
  }
}

/* Factor by which a quick search may miss the minimum. */
const SEARCH_FACTOR = 4;

/* Evaluate one theorem at one plan. */
function evaluateAt(one, scenario, at, start, { fields, target }) {
  const { bound, b, code, reach, search, checks } = one;
  const { v, n } = scenario;
  const before = one.plain ? null : setInputs(b, bound, scenario);
  let total =
    checks.length && checks.some((each) => conditionFails(each, scenario))
      ? NaN
      : search
        ? search.minimum(scenario, start)
        : quickValue(code, b.decided.length, bound.axis, v, n);
  if (!Number.isNaN(total)) {
    const initialValues = one.level ?? trivialValues(b, target, scenario);
    if (search?.fine && reach.some(([, factor]) => levelUncertain(total * factor(v, n, 0), initialValues)))
      total = bestChoice(b, bound, scenario).value;
    const minimum = Math.min(...reach.map(([, factor]) => total * factor(v, n, 0)));
    if (!one.field && !fields.has(bound.name)) fields.set(bound.name, emptyField());
    const { value, level, share } = (one.field ??= fields.get(bound.name));
    if (!(value[at] <= minimum)) {
      value[at] = minimum;
      level[at] = levelOf(minimum, initialValues);
      share[at] = minimum / initialOf(initialValues);
    }
  }
  if (search) {
    for (const quantity of b.pair) v[quantity] = scenario.given[quantity];
    if (b.free) v[b.free] = scenario.given[b.free];
  }
  if (before) restoreValues(v, before);
}

const levelUncertain = (x, initialValues) => levelOf(x / SEARCH_FACTOR, initialValues) !== levelOf(x, initialValues);
