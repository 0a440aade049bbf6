/* Compare all theorems; rows are ranked by value within one bounded quantity. */

/* The rows of a bound; in a federation equivalent to one machine, the bound may apply or be better for that machine. */
function rowsOf(bound, target, world, machine, seen = []) {
  const rows = rowsAsItIs(bound, target, world, seen);
  if (!machine || !atlas.machine.targets.includes(target)) return rows;
  const best = new Map(rows.filter((row) => RANKED.includes(row.state)).map((row) => [row.kind, row]));
  for (const row of rowsAsItIs(bound, target, machine, seen)) {
    if (!RANKED.includes(row.state) || !atlas.machine.places.includes(atlas.classes[row.kind].at)) continue;
    const known = best.get(row.kind);
    if (known && !(row.value < known.value * (1 - ROUNDING))) continue;
    best.set(row.kind, { ...row, conversions: ["C15", ...row.conversions], trusted: [...new Set([...row.trusted, ...machine.trusted])] });
  }
  return best.size ? [...best.values()] : rows;
}

/* ---- rows that combine theorems ---- */

/* The world with every missing quantity of a run replaced by the smallest bound on it, and the rows of these bounds. */
function fillMissing(b, bound, world, target, seen) {
  const missing = missingInputs(b, world);
  if (!missing.length || !missing.every((word) => b.made[word]?.length)) return null;
  const parts = [], put = {};
  for (const word of missing) {
    const found = b.made[word].map(([one, of, kinds]) => ({ one, row: leastOf(of, kinds, world, target, seen) })).find(({ row }) => row);
    if (!found) return null;
    put[found.one] = found.row.value;
    parts.push(found.row);
  }
  const known = worldOf({ ...world.given, ...put }, {});
  Object.assign(known, { beyond: world.beyond, loose: world.loose, machine: world.machine, situation: world.situation });
  return missingInputs(b, known).length || !increasesIn(b, bound, known, missing) ? null : { world: known, parts };
}

function leastOf(target, kinds, world, outer, seen) {
  if (seen.includes(target)) return null;
  const found = (world.parts ??= new Map()), key = [target, outer, ...seen].join();
  if (!found.has(key)) {
    const machine = machineOf(world), rows = [...bounds.values()].flatMap((bound) => rowsOf(bound, target, world, machine, [...seen, outer]));
    found.set(key, rows.filter((row) => RANKED.includes(row.state) && !row.printed && !row.b.off));
  }
  return found.get(key).filter((row) => kinds.includes(row.kind)).reduce((best, row) => (best && best.value <= row.value ? best : row), null);
}

const LOOKED_AT = 9;

/* Whether the bound, at smaller values of the replaced quantities, is nowhere larger than at these values. */
function increasesIn(b, bound, world, missing) {
  const { v, n } = world, put = substituted(b, bound, world), before = substituteInputs(b, bound, world), kept = changing(v, { ...(put.pair ? { [OFFSET]: put.pair[0], [FACTOR]: put.pair[1] } : {}), ...(b.free ? { [b.free]: put.free } : {}) });
  const top_ = evaluateBound(bound, v, n).total, fine = missing.every((word) => {
    const high = v[word], low = Math.max(b.lows[word], -1e3 * (1 + Math.abs(high)));
    const below = Array.from({ length: LOOKED_AT }, (_, k) => { v[word] = low + (high - low) * k / (LOOKED_AT - 1); return evaluateBound(bound, v, n).total; });
    v[word] = high;
    return below.every((x) => x <= top_ + ROUNDING * Math.abs(top_));
  });
  restore(v, kept);
  restore(v, before);
  return fine;
}

/* Drop rows for quantities that only conversions yield, unless they let two kinds of statements be compared. */
function comparableRows(rows) {
  const kind = (row) => row.kind ?? row.b.kind, converted = (row) => atlas.classes[kind(row)]?.made, own = (row) => atlas.classes[row.b.kind]?.made;
  const sharing = (once) => new Set(rows.filter((row) => converted(row) && row.b.once === once).map(kind));
  const last = sharing(true), means = sharing(false);
  return rows.filter((row) => !converted(row) || own(row) || !RANKED.includes(row.state) || (last.has(row.kind) && means.has(row.kind)));
}

const alike = (a, b) => Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b));

function same(row, other) {
  if (row.kind !== other.kind || row.state !== other.state || row.audit !== other.audit || !RANKED.includes(row.state)) return false;
  const [a, b] = [row, other].map(({ terms }) => [...terms].sort((x, y) => x - y));
  return a.length === b.length && alike(row.value, other.value) && a.every((x, k) => alike(x, b[k]));
}

const STATES = [...RANKED, "conditions not met", "missing", "order", "other quantity"];

/** All rows by bounded quantity and value, equal values merged into one row; theorems that do not apply come last.
 * @param {string} target @param {World} world @returns {Row[]} */
function compared(target, world) {
  const machine = machineOf(world), rows = comparableRows([...bounds.values()].flatMap((bound) => rowsOf(bound, target, world, machine)));
  const ranked = (row) => RANKED.includes(row.state), place = (row) => (ranked(row) ? row.kind : 1e6 + STATES.indexOf(row.state));
  const size = (row) => (ranked(row) ? Number(row.value.toPrecision(11)) : 0);
  rows.sort((a, b) => place(a) - place(b) || a.printed - b.printed || size(a) - size(b) || (a.bound.name < b.bound.name ? -1 : 1));
  const kept = [];
  for (const row of rows) {
    const twin = kept.find((other) => same(row, other));
    if (twin) twin.alias.push(row.bound.name); else kept.push({ ...row, alias: [] });
  }
  return kept;
}
