/* Compare all theorems; rows are ranked by value within one bounded quantity. */

/* The rows of a bound; in a federation equivalent to one machine, the bound may apply or be better for that machine. */
function rowsOf(bound, target, scenario, machine, seen = []) {
  const rows = directRows(bound, target, scenario, seen);
  if (!machine || !atlas.machine.targets.includes(target)) return rows;
  const best = new Map(rows.filter((row) => RANKED.includes(row.state)).map((row) => [row.kind, row]));
  for (const row of directRows(bound, target, machine, seen)) {
    if (!RANKED.includes(row.state) || !atlas.machine.places.includes(atlas.classes[row.kind].at)) continue;
    const completed = best.get(row.kind);
    if (completed && !(row.value < completed.value * (1 - ROUNDING))) continue;
    best.set(row.kind, {
      ...row,
      conversions: ["C15", ...row.conversions],
      assumed: [...new Set([...row.assumed, ...machine.assumed])],
    });
  }
  return best.size ? [...best.values()] : rows;
}

/* ---- rows that combine theorems ---- */

/* The scenario with every missing quantity of a run replaced by the smallest bound on it, and the rows of these bounds. */
function fillMissing(b, bound, scenario, target, seen) {
  const missing = missingInputs(b, scenario);
  if (!missing.length || !missing.every((quantity) => b.made[quantity]?.length)) return null;
  const parts = [];
  const replaced = {};
  for (const quantity of missing) {
    const replacement = b.made[quantity]
      .map(([one, of, kinds]) => ({ one, row: smallestRow(of, kinds, scenario, target, seen) }))
      .find(({ row }) => row);
    if (!replacement) return null;
    replaced[replacement.one] = replacement.row.value;
    parts.push(replacement.row);
  }
  const completed = scenarioOf({ ...scenario.given, ...replaced }, {});
  Object.assign(completed, {
    invalid: scenario.invalid,
    upperBounds: scenario.upperBounds,
    machine: scenario.machine,
    situation: scenario.situation,
  });
  return missingInputs(b, completed).length || !isIncreasing(b, bound, completed, missing)
    ? null
    : { scenario: completed, parts };
}

function smallestRow(target, kinds, scenario, outer, seen) {
  if (seen.includes(target)) return null;
  const cached = (scenario.parts ??= new Map());
  const key = [target, outer, ...seen].join();
  if (!cached.has(key)) {
    const machine = equivalentMachine(scenario);
    const rows = [...bounds.values()].flatMap((bound) => rowsOf(bound, target, scenario, machine, [...seen, outer]));
    cached.set(
      key,
      rows.filter((row) => RANKED.includes(row.state) && !row.printed && !row.b.off),
    );
  }
  return cached
    .get(key)
    .filter((row) => kinds.includes(row.kind))
    .reduce((best, row) => (best && best.value <= row.value ? best : row), null);
}

const MONOTONICITY_POINTS = 9;

/* Whether the bound, at smaller values of the replaced quantities, is nowhere larger than at these values. */
function isIncreasing(b, bound, scenario, missing) {
  const { v, n } = scenario;
  const chosen = valueAtBest(b, bound, scenario);
  const before = setInputs(b, bound, scenario);
  const previous = setValues(v, {
    ...(chosen.pair ? { [OFFSET]: chosen.pair[0], [FACTOR]: chosen.pair[1] } : {}),
    ...(b.free ? { [b.free]: chosen.free } : {}),
  });
  const atHighest = evaluateBound(bound, v, n).total;
  const fine = missing.every((quantity) => {
    const high = v[quantity];
    const low = Math.max(b.lows[quantity], -1e3 * (1 + Math.abs(high)));
    const below = Array.from({ length: MONOTONICITY_POINTS }, (_, k) => {
      v[quantity] = low + ((high - low) * k) / (MONOTONICITY_POINTS - 1);
      return evaluateBound(bound, v, n).total;
    });
    v[quantity] = high;
    return below.every((x) => x <= atHighest + ROUNDING * Math.abs(atHighest));
  });
  restoreValues(v, previous);
  restoreValues(v, before);
  return fine;
}

/* Drop rows for quantities that only conversions yield, unless they let two kinds of statements be compared. */
function comparableRows(rows) {
  const kind = (row) => row.kind ?? row.b.kind;
  const converted = (row) => atlas.classes[kind(row)]?.made;
  const own = (row) => atlas.classes[row.b.kind]?.made;
  const sharing = (once) => new Set(rows.filter((row) => converted(row) && row.b.once === once).map(kind));
  const last = sharing(true);
  const means = sharing(false);
  return rows.filter(
    (row) => !converted(row) || own(row) || !RANKED.includes(row.state) || (last.has(row.kind) && means.has(row.kind)),
  );
}

const almostEqual = (a, b) => Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));

function sameResult(row, other) {
  if (row.kind !== other.kind || row.state !== other.state || row.audit !== other.audit || !RANKED.includes(row.state))
    return false;
  const [a, b] = [row, other].map(({ terms }) => [...terms].sort((x, y) => x - y));
  return a.length === b.length && almostEqual(row.value, other.value) && a.every((x, k) => almostEqual(x, b[k]));
}

const STATES = [...RANKED, "conditions not met", "missing", "order", "other quantity"];

/** All rows by bounded quantity and value, equal values merged into one row; theorems that do not apply come last.
 * @param {string} target @param {Scenario} scenario @returns {Row[]} */
function compareTheorems(target, scenario) {
  const machine = equivalentMachine(scenario);
  const rows = comparableRows([...bounds.values()].flatMap((bound) => rowsOf(bound, target, scenario, machine)));
  const isRanked = (row) => RANKED.includes(row.state);
  const place = (row) => (isRanked(row) ? row.kind : 1e6 + STATES.indexOf(row.state));
  const size = (row) => (isRanked(row) ? Number(row.value.toPrecision(11)) : 0);
  rows.sort(
    (a, b) =>
      place(a) - place(b) || a.printed - b.printed || size(a) - size(b) || (a.bound.name < b.bound.name ? -1 : 1),
  );
  const merged = [];
  for (const row of rows) {
    const equal = merged.find((other) => sameResult(row, other));
    if (equal) equal.alias.push(row.bound.name);
    else merged.push({ ...row, alias: [] });
  }
  return merged;
}
