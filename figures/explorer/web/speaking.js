/* Evaluate every theorem for one federation, as fedbounds compare does. */
const RANKED = ["informative", "below premises", "vacuous"];
const OFFSET = "dissimilarity_offset", FACTOR = "dissimilarity_factor";

/* The quantity of the federation that a bound takes for one of its own. */
const source = (b, word, v) => (b.from[word] !== undefined && v[b.from[word]] !== undefined ? b.from[word] : word);

/* All admissible pairs (G^2, B^2). */
function pairsOf(world) {
  const { v } = world, found = [];
  if (v[OFFSET] !== undefined && v[FACTOR] !== undefined) found.push([v[OFFSET], v[FACTOR]]);
  if (v.optimum_dissimilarity !== undefined && v.smoothness !== undefined && v.strong_convexity > 0) {
    for (const s of atlas.search.splits) found.push([PAIR[0](v, s), PAIR[1](v, s)]);
  }
  if (v.uniform_dissimilarity !== undefined) found.push([v.uniform_dissimilarity, 1]);
  if (world.fedavg && v.grad_cap_sq !== undefined) found.push([v.grad_cap_sq, 1]);
  return found;
}

/* The quantities that a bound needs and the federation lacks. */
function missingInputs(b, world) {
  const { v } = world, missing = b.needs.filter((word) => v[source(b, word, v)] === undefined);
  if (b.pair.some((word) => v[word] === undefined) && !pairs(world).length) missing.push(...b.pair);
  return missing;
}

const pairs = (world) => (world.pairs ??= pairsOf(world));

/* Set the values that the bound takes from other quantities; return what restores the previous ones. */
function substituteInputs(b, bound, world) {
  const { v } = world, put = { ...bound.given };
  for (const word of Object.keys(b.from)) put[word] = v[source(b, word, v)];
  if (v.runtime !== undefined && bound.relation === "<=") put.runtime = world.spent;
  return changing(v, put);
}

function changing(v, put) {
  const before = {};
  for (const word in put) { before[word] = v[word]; v[word] = put[word]; }
  return before;
}

function restore(v, before) {
  for (const word in before) v[word] = before[word]; // nothing is deleted: that would make all reading slow
}

/* The value of a bound, or NaN if a numeric condition fails. */
function quickValue(code, count, axis, v, n, from = 0) {
  for (let k = from; k < count; k++) {
    const [f, each] = code.c[k], many = each ? n[axis] : 1;
    for (let i = 0; i < many; i++) if (!f(v, n, i)) return NaN;
  }
  let total = 0;
  for (const f of code.t) total += f(v, n, 0);
  return total;
}

/* The best admissible constants: all pairs, and the constant that a proof leaves free. */
function bestChoice(b, bound, world) {
  const { v, n } = world, code = CODE[bound.name], count = b.decided.length;
  const value = () => quickValue(code, count, bound.axis, v, n);
  let best = null;
  for (const pair of b.pair.length ? pairs(world) : [null]) {
    if (pair) [v[OFFSET], v[FACTOR]] = pair;
    const [found, free] = b.free ? overFree(b.free, v, value) : [value(), NaN];
    if (!best || found < best.value || (Number.isNaN(best.value) && !Number.isNaN(found))) best = { value: found, pair, free };
  }
  return best;
}

/* The smallest value over a free constant and its minimiser, by grids that zoom in on the best point. */
function overFree(word, v, value) {
  const { shares, zooms, fine } = atlas.search;
  let grid = shares, least = NaN, where = shares[0];
  for (let zoom = 0; zoom < zooms; zoom++) {
    let at = 0;
    least = NaN;
    for (let k = 0; k < grid.length; k++) {
      v[word] = grid[k];
      const found = value();
      if (found < least || (Number.isNaN(least) && !Number.isNaN(found))) { least = found; at = k; }
    }
    where = grid[at];
    if (Number.isNaN(least)) break;
    const low = grid[Math.max(at - 1, 0)], high = grid[Math.min(at + 1, grid.length - 1)];
    grid = Array.from({ length: 2 * fine + 1 }, (_, k) => (k === fine ? where : low + (high - low) * (k / (2 * fine)))).sort((x, y) => x - y);
  }
  return [least, where];
}

/* A bound at this plan: its terms, the numeric conditions that fail, the chosen constants. */
function substituted(b, bound, world) {
  const { v, n } = world, before = substituteInputs(b, bound, world), chosen = [...b.pair, ...(b.free ? [b.free] : [])];
  const kept = Object.fromEntries(chosen.map((word) => [word, v[word]]));
  const best = chosen.length ? bestChoice(b, bound, world) : null;
  if (best?.pair) [v[OFFSET], v[FACTOR]] = best.pair;
  if (b.free) v[b.free] = best.free;
  const { terms, total, failed } = evaluateBound(bound, v, n);
  const decided = failed.filter((k) => k < b.decided.length).map((k) => ({ words: b.decided[k], ...bothSides(bound, k, v, n) }));
  restore(v, kept);
  restore(v, before);
  return { terms, value: decided.length ? NaN : total, failed: decided, pair: best?.pair ?? null, free: best?.free };
}

/* The other conditions: those that fail, and those that are assumed. */
function others(b, world) {
  const failed = [], trusted = [], { v, n } = world;
  for (const [text, kind, place, stating] of b.rest) {
    const answer = kind === "assumed" ? (v[stating] === undefined ? atlas.assumptions[place][world.situation] : "1")
      : kind === "falling" ? (v.iterations > 1 ? "0" : "?") : kind === "trusted" ? "?" : sides(text, v, n);
    if (answer === "0") failed.push({ words: text });
    else if (Array.isArray(answer)) failed.push({ words: text, left: answer[0], right: answer[1], equal: true });
    else if (answer === "?" && kind !== "silent") trusted.push(text);
  }
  return { failed, trusted };
}

/* Compare two sides that must be equal: "1" if they are, "?" if unknown, else both sides. */
function sides(text, v, n) {
  const [needs, left, right] = SIDES[text];
  if (needs.some((word) => v[word] === undefined)) return "?";
  const a = left(v, n, 0), b = right(v, n, 0);
  return a === b || Math.abs(a - b) <= ROUNDING * Math.max(Math.abs(a), Math.abs(b)) ? "1" : [a, b];
}

/* The trivial values of the target: by the theorem's premises (ofClass), and before training (here). */
function trivial(b, target, world, parts = []) {
  const { v, n } = world, away = (needs) => needs.some((word) => v[word] === undefined) || (needs.includes("grad_cap_sq") && !world.fedavg);
  const least = (keep) => TRIVIAL[target].reduce((low, [needs, f], k) => (!keep(k) || away(needs) ? low : Math.min(low, f(v, n, 0))), Infinity);
  const ofClass = least((k) => b.trivial[target][k].every((met, group) => met || parts.some((one) => one.trivial[target][k][group]))), word = atlas.here[target];
  const here = word === undefined ? least(() => true) : v[word] === undefined ? Infinity : world.loose.has(word) ? 0 : v[word];
  return { ofClass, here };
}

const stateOf = (value, { ofClass, here }) => (value < here && here < Infinity ? "informative"
  : value < (ofClass < Infinity || here === Infinity ? ofClass : here) ? "below premises" : "vacuous");

const why = (word, world) => (world.beyond[word] ?? federation().lost?.[word] ? `: ${world.beyond[word] ?? federation().lost[word]}` : "");

/* The rows of one bound: one for every bounded quantity that it implies, or one with the reason why there is none. */
function rowsAsItIs(bound, target, start, seen = []) {
  let world = start;
  const b = atlas.bounds[bound.name], reach = b && world.situation >= 0 ? atlas.reached[atlas.ways[b.start][world.situation]][target] : undefined;
  if (reach === undefined) return [];
  const row = { bound, b, audit: b.audit, printed: b.audit === "FAILS", failed: [], trusted: [] };
  if (typeof reach === "string") return [{ ...row, state: "other quantity", why: reach }];
  if (b.order) return [{ ...row, state: "order", why: "known up to a constant" }];
  const whole = fillMissing(b, bound, start, target, seen), parts = whole?.parts ?? [];
  world = whole?.world ?? start;
  const missing = missingInputs(b, world);
  if (missing.length) return [{ ...row, state: "missing", missing, why: missing.map((word) => `${words(word)}${why(word, world)}`).join(", ") }];
  const { failed, trusted } = others(b, world), put = substituted(b, bound, world);
  if (failed.length || put.failed.length || Number.isNaN(put.value)) return [{ ...row, state: "conditions not met", trusted, failed: [...put.failed, ...failed] }];
  const level = trivial(b, target, world, parts.map((part) => part.b));
  return reach.map(([kind, names, factor, also]) => {
    const times = FACTORS[factor](world.v, world.n, 0), value = put.value * times;
    return { ...row, kind, state: stateOf(value, level), conversions: [...names, ...new Set(parts.map((part) => part.bound.name))], value, factor: times, composed: parts.length > 0, terms: put.terms.map((t) => t * times),
      trusted: [...new Set([...trusted, ...also, ...parts.flatMap((part) => part.trusted)])], ofClass: level.ofClass, here: level.here, pair: put.pair };
  });
}
