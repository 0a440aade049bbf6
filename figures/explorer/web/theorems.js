/* Evaluate every theorem for one federation, as fedbounds compare does. */
const RANKED = ["informative", "below premises", "vacuous"];
const OFFSET = "dissimilarity_offset";
const FACTOR = "dissimilarity_factor";

/* The quantity of the federation that a bound takes for one of its own. */
const inputName = (b, quantity, v) =>
  b.from[quantity] !== undefined && v[b.from[quantity]] !== undefined ? b.from[quantity] : quantity;

/* All admissible pairs (G^2, B^2). */
function admissiblePairs(scenario) {
  const { v } = scenario;
  const result = [];
  if (v[OFFSET] !== undefined && v[FACTOR] !== undefined) result.push([v[OFFSET], v[FACTOR]]);
  if (v.optimum_dissimilarity !== undefined && v.smoothness !== undefined && v.strong_convexity > 0) {
    for (const s of atlas.search.splits) result.push([PAIR[0](v, s), PAIR[1](v, s)]);
  }
  if (v.uniform_dissimilarity !== undefined) result.push([v.uniform_dissimilarity, 1]);
  if (scenario.fedavg && v.grad_cap_sq !== undefined) result.push([v.grad_cap_sq, 1]);
  return result;
}

/* The quantities that a bound needs and the federation lacks. */
function missingInputs(b, scenario) {
  const { v } = scenario;
  const missing = b.needs.filter((quantity) => v[inputName(b, quantity, v)] === undefined);
  if (b.pair.some((quantity) => v[quantity] === undefined) && !pairs(scenario).length) missing.push(...b.pair);
  return missing;
}

const pairs = (scenario) => (scenario.pairs ??= admissiblePairs(scenario));

/* Set the values that the bound takes from other quantities; return what restores the previous ones. */
function setInputs(b, bound, scenario) {
  const { v } = scenario;
  const values = { ...bound.given };
  for (const quantity of Object.keys(b.from)) values[quantity] = v[inputName(b, quantity, v)];
  if (v.runtime !== undefined && bound.relation === "<=") values.runtime = scenario.usedTime;
  return setValues(v, values);
}

function setValues(v, values) {
  const before = {};
  for (const quantity in values) {
    before[quantity] = v[quantity];
    v[quantity] = values[quantity];
  }
  return before;
}

function restoreValues(v, before) {
  for (const quantity in before) v[quantity] = before[quantity]; // nothing is deleted: that would make all reading slow
}

/* The value of a bound, or NaN if a numeric condition fails. */
function quickValue(code, count, axis, v, n, from = 0) {
  for (let k = from; k < count; k++) {
    const [f, each] = code.c[k];
    const many = each ? n[axis] : 1;
    for (let i = 0; i < many; i++) if (!f(v, n, i)) return NaN;
  }
  let total = 0;
  for (const f of code.t) total += f(v, n, 0);
  return total;
}

/* The best admissible constants: all pairs, and the constant that a proof leaves free. */
function bestChoice(b, bound, scenario) {
  const { v, n } = scenario;
  const code = CODE[bound.name];
  const count = b.decided.length;
  const value = () => quickValue(code, count, bound.axis, v, n);
  let best = null;
  for (const pair of b.pair.length ? pairs(scenario) : [null]) {
    if (pair) [v[OFFSET], v[FACTOR]] = pair;
    const [result, free] = b.free ? minimiseOver(b.free, v, value) : [value(), NaN];
    if (!best || result < best.value || (Number.isNaN(best.value) && !Number.isNaN(result)))
      best = { value: result, pair, free };
  }
  return best;
}

/* The smallest value over a free constant and its minimiser, by grids that zoom in on the best point. */
function minimiseOver(quantity, v, value) {
  const { shares, zooms, fine } = atlas.search;
  let grid = shares;
  let smallest = NaN;
  let argmin = shares[0];
  for (let zoom = 0; zoom < zooms; zoom++) {
    let at = 0;
    smallest = NaN;
    for (let k = 0; k < grid.length; k++) {
      v[quantity] = grid[k];
      const x = value();
      if (x < smallest || (Number.isNaN(smallest) && !Number.isNaN(x))) {
        smallest = x;
        at = k;
      }
    }
    argmin = grid[at];
    if (Number.isNaN(smallest)) break;
    const low = grid[Math.max(at - 1, 0)];
    const high = grid[Math.min(at + 1, grid.length - 1)];
    grid = Array.from({ length: 2 * fine + 1 }, (_, k) =>
      k === fine ? argmin : low + (high - low) * (k / (2 * fine)),
    ).sort((x, y) => x - y);
  }
  return [smallest, argmin];
}

/* A bound at this plan: its terms, the numeric conditions that fail, the chosen constants. */
function valueAtBest(b, bound, scenario) {
  const { v, n } = scenario;
  const before = setInputs(b, bound, scenario);
  const chosen = [...b.pair, ...(b.free ? [b.free] : [])];
  const previous = Object.fromEntries(chosen.map((quantity) => [quantity, v[quantity]]));
  const best = chosen.length ? bestChoice(b, bound, scenario) : null;
  if (best?.pair) [v[OFFSET], v[FACTOR]] = best.pair;
  if (b.free) v[b.free] = best.free;
  const { terms, total, failed } = evaluateBound(bound, v, n);
  const decided = failed
    .filter((k) => k < b.decided.length)
    .map((k) => ({ words: b.decided[k], ...bothSides(bound, k, v, n) }));
  restoreValues(v, previous);
  restoreValues(v, before);
  return { terms, value: decided.length ? NaN : total, failed: decided, pair: best?.pair ?? null, free: best?.free };
}

/* The other conditions: those that fail, and those that are assumed. */
function otherConditions(b, scenario) {
  const failed = [];
  const assumed = [];
  const { v, n } = scenario;
  for (const [text, kind, place, stating] of b.rest) {
    const answer =
      kind === "assumed"
        ? v[stating] === undefined
          ? atlas.assumptions[place][scenario.situation]
          : "1"
        : kind === "falling"
          ? v.iterations > 1
            ? "0"
            : "?"
          : kind === "undecided"
            ? "?"
            : compareSides(text, v, n);
    if (answer === "0") failed.push({ words: text });
    else if (Array.isArray(answer)) failed.push({ words: text, left: answer[0], right: answer[1], equal: true });
    else if (answer === "?" && kind !== "equal weights") assumed.push(text);
  }
  return { failed, assumed };
}

/* Compare two sides that must be equal: "1" if they are, "?" if unknown, else both sides. */
function compareSides(text, v, n) {
  const [needs, left, right] = SIDES[text];
  if (needs.some((quantity) => v[quantity] === undefined)) return "?";
  const a = left(v, n, 0);
  const b = right(v, n, 0);
  return a === b || Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b)) ? "1" : [a, b];
}

/* The values of the target that need no theorem: the largest by the theorem's premises, and the one before training. */
function trivialValues(b, target, scenario, parts = []) {
  const { v, n } = scenario;
  const away = (needs) =>
    needs.some((quantity) => v[quantity] === undefined) || (needs.includes("grad_cap_sq") && !scenario.fedavg);
  const smallest = (keep) =>
    TRIVIAL[target].reduce(
      (low, [needs, f], k) => (!keep(k) || away(needs) ? low : Math.min(low, f(v, n, 0))),
      Infinity,
    );
  const premiseValue = smallest((k) =>
    b.trivial[target][k].every((met, group) => met || parts.some((one) => one.trivial[target][k][group])),
  );
  const quantity = atlas.start_values[target];
  const startValue =
    quantity === undefined
      ? smallest(() => true)
      : v[quantity] === undefined
        ? Infinity
        : scenario.upperBounds.has(quantity)
          ? 0
          : v[quantity];
  return { premiseValue, startValue };
}

const stateOf = (value, { premiseValue, startValue }) =>
  value < startValue && startValue < Infinity
    ? "informative"
    : value < (premiseValue < Infinity || startValue === Infinity ? premiseValue : startValue)
      ? "below premises"
      : "vacuous";

const whyInvalid = (quantity, scenario) =>
  (scenario.invalid[quantity] ?? federation().lost?.[quantity])
    ? `: ${scenario.invalid[quantity] ?? federation().lost[quantity]}`
    : "";

/* The rows of one bound: one for every bounded quantity that it implies, or one with the reason why there is none. */
function directRows(bound, target, start, seen = []) {
  let scenario = start;
  const b = atlas.bounds[bound.name];
  const reach =
    b && scenario.situation >= 0 ? atlas.reached[atlas.ways[b.start][scenario.situation]][target] : undefined;
  if (reach === undefined) return [];
  const row = { bound, b, audit: b.audit, printed: b.audit === "FAILS", failed: [], assumed: [] };
  if (typeof reach === "string") return [{ ...row, state: "other quantity", why: reach }];
  if (b.order) return [{ ...row, state: "order", why: "known up to a constant" }];
  const filled = fillMissing(b, bound, start, target, seen);
  const parts = filled?.parts ?? [];
  scenario = filled?.scenario ?? start;
  const missing = missingInputs(b, scenario);
  if (missing.length)
    return [
      {
        ...row,
        state: "missing",
        missing,
        why: missing.map((quantity) => `${readable(quantity)}${whyInvalid(quantity, scenario)}`).join(", "),
      },
    ];
  const { failed, assumed } = otherConditions(b, scenario);
  const result = valueAtBest(b, bound, scenario);
  if (failed.length || result.failed.length || Number.isNaN(result.value))
    return [{ ...row, state: "conditions not met", assumed, failed: [...result.failed, ...failed] }];
  const level = trivialValues(
    b,
    target,
    scenario,
    parts.map((part) => part.b),
  );
  return reach.map(([kind, names, factor, also]) => {
    const times = FACTORS[factor](scenario.v, scenario.n, 0);
    const value = result.value * times;
    return {
      ...row,
      kind,
      state: stateOf(value, level),
      conversions: [...names, ...new Set(parts.map((part) => part.bound.name))],
      value,
      factor: times,
      composed: parts.length > 0,
      terms: result.terms.map((t) => t * times),
      assumed: [...new Set([...assumed, ...also, ...parts.flatMap((part) => part.assumed)])],
      premiseValue: level.premiseValue,
      startValue: level.startValue,
      pair: result.pair,
    };
  });
}
