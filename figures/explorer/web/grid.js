/* Evaluate every theorem on the map of K and eta: 64 x 64 plans, in short slices. */
const SIDE = 64, ROUGH = 4, MOST_STEPS = 1024, SLICE = 8;

/* The ranges of the map: K from 1, eta in whole decades around 1/L. */
function window_(v) {
  const size = v.smoothness > 0 ? v.smoothness : 1;
  const low = 10 ** Math.floor(Math.log10(2e-5 / size)), high = 10 ** Math.ceil(Math.log10(2 / size));
  return { steps: { low: 1, high: MOST_STEPS }, sizes: { low, high } };
}

const along = ({ low, high }, k) => low * (high / low) ** ((k + 0.5) / SIDE);

/* Search the best constants of a bound, starting from those of the neighbouring plan. It tries fewer values than the row of
a plan does, to be fast for all theorems; with `fine`, plans whose level is in doubt are searched as thoroughly as a row. */
class Searcher {
  best = NaN;
  silent = false;
  known = [];

  constructor(b, bound, fine) {
    const chosen = [...b.pair, ...(b.free ? [b.free] : [])], asks = (f) => chosen.some((word) => new RegExp(`\\bv\\.${word}\\b`).test(String(f)));
    const code = CODE[bound.name], decided = code.c.slice(0, b.decided.length);
    this.b = b;
    this.fine = fine;
    this.axis = bound.axis;
    this.grid = b.free ? atlas.search.shares : [NaN];
    this.at = [0, 0];
    this.own = { c: decided.filter(([f]) => !asks(f)), t: [] };
    this.rest = { c: decided.filter(([f]) => asks(f)), t: code.t };
  }

  value(world, p, s) {
    const { v, n } = world;
    if (p < 0 || p >= this.known.length || s < 0 || s >= this.grid.length) return NaN;
    const pair = this.known[p];
    if (pair) { v[OFFSET] = pair[0]; v[FACTOR] = pair[1]; }
    if (this.b.free) v[this.b.free] = this.grid[s];
    return quickValue(this.rest, this.rest.c.length, this.axis, v, n);
  }

  better(world, p, s) {
    const found = this.value(world, p, s);
    if (!(found < this.best) && !(Number.isNaN(this.best) && !Number.isNaN(found))) return false;
    this.best = found;
    this.at[0] = p;
    this.at[1] = s;
    return true;
  }

  /* The smallest value at increasing step sizes: if no choice meets the conditions, none does at larger ones, unless the last does. */
  least(world, start) {
    if (start) this.silent = false;
    this.best = NaN;
    this.known = this.b.pair.length ? pairs(world) : [null];
    if (Number.isNaN(quickValue(this.own, this.own.c.length, this.axis, world.v, world.n))) return NaN;
    const [p, s] = this.at;
    this.better(world, p, s);
    if (Number.isNaN(this.best) && !start && !this.silent) this.yielding(world, p, s);
    if (start || Number.isNaN(this.best)) {
      if (this.silent) return NaN;
      this.scan(world);
      this.silent = Number.isNaN(this.best);
      if (this.silent) return NaN;
    }
    this.descend(world);
    return this.best;
  }

  /* The best choice often just meets a condition; at a larger step size, try choices slightly inside. */
  yielding(world, p, s) {
    for (let away = 1; away < this.known.length && Number.isNaN(this.best); away++) {
      this.better(world, p - away, s) || this.better(world, p, s + away) || this.better(world, p, s - away) || this.better(world, p - away, s + away);
    }
  }

  scan(world) {
    const last = this.known.length - 1;
    for (let p = 0; p <= last; p += p < last - 4 ? 4 : 1) for (let s = 0; s < this.grid.length; s += 3) this.better(world, p, s);
  }

  descend(world) {
    for (let step = 0; step < 80; step++) {
      const [p, s] = this.at;
      let k = 0;
      while (k < MOVES.length && !this.better(world, p + MOVES[k][0], s + MOVES[k][1])) k++;
      if (k === MOVES.length) break;
    }
  }
}

/* Along the boundary of a condition both constants change together. */
const MOVES = [[1, 0], [-1, 0], [0, 1], [0, -1], [1, -1], [-1, 1], [1, 1], [-1, -1], [6, 0], [-6, 0], [0, 5], [0, -5]];

/* Levels: 0 does not apply, 1 to 3 vacuous (1 by far), 4 below its premises, 5 informative, then one more per factor of ten. */
const topOf = ({ here, ofClass }) => (here < Infinity ? here : ofClass);

function levelOf(value, trivial_) {
  if (Number.isNaN(value)) return 0;
  const state = stateOf(value, trivial_);
  if (state === "below premises") return 4;
  const top = topOf(trivial_);
  if (state === "vacuous") return value > 1e4 * top || top === Infinity ? 1 : value > 10 * top ? 2 : 3;
  return 5 + Math.min(3, Math.floor(Math.log10(top / value)));
}

/* An empty field: value, level, and value relative to the trivial value, at every plan. */
const empty = () => ({ value: new Float64Array(SIDE * SIDE).fill(NaN), level: new Uint8Array(SIDE * SIDE), share: new Float64Array(SIDE * SIDE).fill(NaN) });

/* The smallest bound at every plan over all theorems that the audit has not refuted. */
function smallest(found) {
  const all = empty();
  for (const [name, { value, level, share }] of found) {
    if (atlas.bounds[name].audit === "FAILS") continue;
    for (let k = 0; k < value.length; k++) if (!(all.value[k] <= value[k]) && !Number.isNaN(value[k])) { all.value[k] = value[k]; all.level[k] = level[k]; all.share[k] = share[k]; }
  }
  return all;
}

/* The columns or rows that are computed: one in `apart`. */
const everyOf = (apart) => Array.from({ length: SIDE / apart }, (_, k) => apart * k + (apart >> 1));

/* The map as a generator that can be stopped between columns: the values of every theorem at every plan (or coarsely, one
in `apart`), or with `only` those of one theorem, finely. */
function* plane(target, given, upTo, only = "", apart = 1) {
  const made = { target, found: new Map(), given, upTo, apart }, one = worldOf(given, upTo), view = window_(one.v);
  const sizes = Array.from({ length: SIDE }, (_, k) => along(view.sizes, k)), worlds = worldsOf(given, upTo, sizes, apart);
  const heads = [...bounds.values()].map((bound) => ({ bound, b: atlas.bounds[bound.name] })).filter(({ b, bound }) => b && !b.order && (!only || bound.name === only))
    .map((head) => ({ ...head, code: CODE[head.bound.name], plain: !Object.keys(head.b.from).length && !Object.keys(head.bound.given).length && !head.b.needs.includes("runtime"),
      search: head.b.pair.length || head.b.free ? new Searcher(head.b, head.bound, Boolean(only)) : null }));
  let last = 0;
  for (const column of everyOf(apart)) {
    const steps = Math.max(1, Math.round(along(view.steps, column)));
    if (steps === last) { // few steps have several columns
      for (const { value, level, share } of made.found.values()) for (const each of [value, level, share]) each.copyWithin(column * SIDE, (column - apart) * SIDE, (column - apart + 1) * SIDE);
      continue;
    }
    last = steps;
    for (const [world, rows] of worlds) {
      moveTo(world, steps, sizes[rows[0]]);
      if (!(world.v.rounds >= 1)) continue;
      const machine = machineOf(world), here = [...ranked(heads, target, world)];
      const alone = machine && atlas.machine.targets.includes(target) ? [...ranked(heads, target, machine)] : [];
      for (const one of alone) one.reach = one.reach.filter(([kind]) => atlas.machine.places.includes(atlas.classes[kind].at));
      for (const k of rows) {
        const at = column * SIDE + k, start = k === rows[0];
        resize(world, sizes[k]);
        for (const one of here) evaluateAt(one, world, at, start, made);
        if (alone.length) resize(machine, sizes[k]);
        for (const one of alone) evaluateAt(one, machine, at, start, made);
      }
    }
    yield column;
  }
  return { ...made, view, sizes };
}

/* One world, with its rows, for each range of step sizes at which the same constants hold. */
function worldsOf(given, upTo, sizes, apart) {
  const worlds = new Map();
  for (const k of everyOf(apart)) {
    const size = sizes[k], key = Object.keys(holding({ ...given, step_size: size }, upTo).beyond).join();
    if (!worlds.has(key)) worlds.set(key, [worldOf({ ...given, step_size: size }, upTo), []]);
    worlds.get(key)[1].push(k);
  }
  return [...worlds.values()];
}

const MOVING = new Set(["local_steps", "step_size", "rounds", "iterations", "step_scale", "runtime"]);

function fails([text, kind], { v, n }) {
  const answer = kind === "falling" ? (v.iterations > 1 ? "0" : "?") : sides(text, v, n);
  return answer === "0" || Array.isArray(answer);
}

/* The theorems that can apply in a column by its structure. */
function* ranked(heads, target, world) {
  for (const head of heads) {
    const reach = world.situation >= 0 ? atlas.reached[atlas.ways[head.b.start][world.situation]][target] : undefined;
    if (!Array.isArray(reach) || !reach.length || missingInputs(head.b, world).length) continue;
    if (head.b.rest.some(([, kind, place]) => kind === "assumed" && atlas.assumptions[place][world.situation] === "0")) continue;
    const asks = head.b.rest.filter(([text, kind]) => kind === "falling" || (SIDES[text] && (kind === "said" || kind === "silent")));
    const moves = ([text]) => (SIDES[text]?.[0] ?? ["step_size"]).some((word) => MOVING.has(word));
    if (asks.some((one) => !moves(one) && fails(one, world))) continue;
    const fixed = TRIVIAL[target].every(([needs]) => !needs.some((word) => MOVING.has(word)));
    yield { ...head, reach: reach.map(([kind, , factor]) => [kind, FACTORS[factor]]), asks: asks.filter(moves), level: fixed ? trivial(head.b, target, world) : null, slot: null };
  }
}

/* Factor by which a quick search may miss the minimum. */
const IN_DOUBT = 4;

/* Evaluate one theorem at one plan. */
function evaluateAt(one, world, at, start, { found, target }) {
  const { bound, b, code, reach, search, asks } = one, { v, n } = world, before = one.plain ? null : substituteInputs(b, bound, world);
  let total = asks.length && asks.some((each) => fails(each, world)) ? NaN : search ? search.least(world, start) : quickValue(code, b.decided.length, bound.axis, v, n);
  if (!Number.isNaN(total)) {
    const begin = one.level ?? trivial(b, target, world);
    if (search?.fine && reach.some(([, factor]) => doubtful(total * factor(v, n, 0), begin))) total = bestChoice(b, bound, world).value;
    const least = Math.min(...reach.map(([, factor]) => total * factor(v, n, 0)));
    if (!one.slot && !found.has(bound.name)) found.set(bound.name, empty());
    const { value, level, share } = (one.slot ??= found.get(bound.name));
    if (!(value[at] <= least)) {
      value[at] = least;
      level[at] = levelOf(least, begin);
      share[at] = least / topOf(begin);
    }
  }
  if (search) { for (const word of b.pair) v[word] = world.given[word]; if (b.free) v[b.free] = world.given[b.free]; }
  if (before) restore(v, before);
}

const doubtful = (x, begin) => levelOf(x / IN_DOUBT, begin) !== levelOf(x, begin);
