/* Evaluate bounds: from values of quantities to terms and failing conditions. */
const { abs, ceil, exp, floor, log, max, min, pow, sign, sqrt, trunc } = Math;

function sum(length, f) {
  let total = 0;
  for (let k = 0; k < length; k++) total += f(k);
  return total;
}

function largest(length, f) {
  let maximum = -Infinity;
  for (let k = 0; k < length; k++) {
    const x = f(k);
    if (!(x <= maximum)) maximum = x;
  }
  return maximum;
}

/* log(1+x)/x, with its limit 1 at 0. */
const logRatio = (x) => (x === 0 ? 1 : Math.log1p(x) / x);

/* (1+x)^y for integer y, also of a negative base, without loss of digits for tiny x. */
const growth = (x, y) => {
  if (x > -1) return Math.exp(y * Math.log1p(x));
  if (x === -1) return y > 0 ? 0 : y === 0 ? 1 : Infinity;
  return (Math.abs(y) % 2 ? -1 : 1) * Math.exp(y * Math.log1p(-2 - x));
};

/** The terms of a bound, their sum and the indices of failing conditions, at values by name and lengths of the axes.
 * @param {Bound} bound @param {Values} v @param {Lengths} n */
function evaluateBound(bound, v, n, entry = 0) {
  const code = CODE[bound.name];
  const terms = code.t.map((f) => f(v, n, entry));
  const holds = ([f, each]) => {
    for (let i = 0; i < (each ? n[bound.axis] : 1); i++) if (!f(v, n, i)) return false;
    return true;
  };
  const failed = [];
  code.c.forEach((condition, i) => {
    if (!holds(condition)) failed.push(i);
  });
  return { terms, total: terms.reduce((a, b) => a + b, 0), failed };
}

/* The inequalities of conditions; they append both sides to the list `sides`, if given. */
const le = (a, b, sides) => {
  sides?.push(a, b);
  return a <= b;
};
const lt = (a, b, sides) => {
  sides?.push(a, b);
  return a < b;
};
const ge = (a, b, sides) => {
  sides?.push(a, b);
  return a >= b;
};
const gt = (a, b, sides) => {
  sides?.push(a, b);
  return a > b;
};

/* Both sides of a failing condition, for the first client or class for which it fails. */
function bothSides(bound, k, v, n) {
  const [f, each] = CODE[bound.name].c[k];
  for (let i = 0; i < (each ? n[bound.axis] : 1); i++) {
    const sides = [];
    if (!f(v, n, i, sides) && sides.length === 2) return { left: sides[0], right: sides[1] };
  }
  return {};
}

/** The values of a bound's quantities and the length of its axis: from the setting and what follows from it, else from the
 * bound's example. Constants that do not hold at this plan are NaN.
 * @param {Bound} bound @param {Scenario} scenario @returns {[Values, Lengths]} */
function inputs(bound, scenario) {
  const v = { ...scenario.v, ...bound.given };
  const n = { ...scenario.n };
  const b = atlas.bounds[bound.name];
  for (const quantity of Object.keys(b?.from ?? {})) v[quantity] = v[inputName(b, quantity, v)];
  if (v.runtime !== undefined && bound.relation === "<=") v.runtime = scenario.usedTime;
  if (bound.axis) {
    const lists = [...Object.values(bound.given), ...bound.quantities.filter((q) => q.axis).map((q) => v[q.name])];
    n[bound.axis] = v[bound.axis] = lists.find(Array.isArray)?.length ?? v[bound.axis] ?? bound.members;
  }
  for (const q of bound.quantities) {
    if (q.axis) v[q.name] = memberValues(q, n[q.axis], v[q.name] ?? bound.lists[q.name]);
    else if (v[q.name] === undefined) v[q.name] = q.name in scenario.invalid ? NaN : q.value;
  }
  return [v, n];
}

/* A list of this length: the given one, else equal entries. */
function memberValues(quantity, length, value) {
  if (Array.isArray(value) && value.length === length) return value;
  return Array(length).fill(quantity.simplex ? 1 / length : typeof value === "number" ? value : quantity.value);
}

/** The best admissible constants in a scenario, if the bound leaves some to choose.
 * @param {Bound} bound @param {Scenario} scenario @returns {Values} */
function bestConstants(bound, scenario) {
  const b = atlas.bounds[bound.name];
  const constants = {};
  if (!b || !(b.pair.length || b.free) || missingInputs(b, scenario).length) return constants;
  const { pair, free } = valueAtBest(b, bound, scenario);
  if (pair) [constants[OFFSET], constants[FACTOR]] = pair;
  if (b.free) constants[b.free] = free;
  return constants;
}

/* Evaluate a bound in a scenario: its terms, their sum, and which conditions fail. */
function evaluateIn(bound, scenario, chosen = bestConstants(bound, scenario)) {
  const [v, n] = inputs(bound, scenario);
  return evaluateBound(bound, Object.assign(v, chosen), n);
}
