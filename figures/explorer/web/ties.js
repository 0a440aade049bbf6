/* All quantities of a federation and its plan: the given ones, and those that follow by identities. */
const ROUNDING = 1e-9;
const whole = (x) => Math.floor(x * (1 + ROUNDING));
const orders = new Map();
/** @type {Atlas} */
let atlas = null;

/* The identities that yield further quantities, in order of evaluation; `moved` are those that depend on K or eta. */
function order(words) {
  const key = [...words].sort().join();
  if (!orders.has(key)) {
    const found = new Set(words), all = [], ready = ([left, , asked]) => !found.has(left) && asked.every((w) => found.has(w));
    for (let tie = TIES.find(ready); tie; tie = TIES.find(ready)) { found.add(tie[0]); all.push(tie); }
    const moving = new Set(["local_steps", "step_size"]), moved = [];
    for (const tie of all) if (tie[2].some((w) => moving.has(w))) { moving.add(tie[0]); moved.push(tie); }
    orders.set(key, { all, moved });
  }
  return orders.get(key);
}

function follow(ties, v, n) {
  for (const [left, relation, , kind, f] of ties) {
    if (kind === "list") v[left] = Array.from({ length: n.clients }, (_, i) => f(v, n, i));
    else {
      const x = f(v, n, 0), near = Math.round(x);
      v[left] = kind === "whole" && Math.abs(x - near) <= ROUNDING * Math.abs(near) ? near : x;
    }
    if ((relation === "<=" || relation === ">=") && kind !== "list" && !Number.isFinite(v[left])) v[left] = undefined;
  }
}

/* Split the given constants into those that hold at this plan and those that do not, with the reason. */
function holding(given, upTo) {
  const beyond = {};
  for (const [word, limits] of Object.entries(upTo)) {
    if (!(word in given)) continue;
    for (const [other, most] of Object.entries(limits)) {
      const value = given[other] ?? 0;
      if (value > most * (1 + ROUNDING)) beyond[word] = `it holds for ${words(other)} up to ${formatted(most)} alone`;
    }
  }
  const kept = Object.fromEntries(Object.entries(given).filter(([word]) => !(word in beyond)));
  return { kept, beyond };
}

/** Everything that is known: values v, lengths n, constants that do not hold, and the situation. @returns {World} */
function worldOf(given, upTo) {
  const { kept, beyond } = holding(given, upTo), v = { ...kept }, n = { clients: kept.clients ?? 1, classes: 1 };
  for (const word of atlas.lists) if (word in v && !Array.isArray(v[word])) v[word] = Array(n.clients).fill(v[word]);
  const { all, moved } = order(Object.keys(kept)), loose = new Set(all.filter((tie) => tie[1] === "<=" && tie[5]).map((tie) => tie[0]));
  /** @type {World} */
  const world = { v, n, given: kept, beyond, moved, loose, machine: false };
  follow(all, v, n);
  return settled(world);
}

/* Move a world to another K and eta; only what depends on them is computed again. */
function moveTo(world, steps, size) {
  world.v.local_steps = steps;
  resize(world, size);
  return settled(world);
}

/* Change the step size only; the situation stays the same. */
function resize(world, size) {
  world.v.step_size = size;
  follow(world.moved, world.v, world.n);
}

const KNOBS = [["fedinit", "relaxation", 0], ["fedcog", "distillation_weight", 0], ["fedals", "adaptation", 1]];
/* Flags are 0 if false, 1 if true, 2 if unknown. */
const UNKNOWN = 2, APART = ["uniform_dissimilarity", "optimum_dissimilarity", "heterogeneity"];
const FLAGS = {
  full: ({ v }) => v.cohort === v.clients,
  single: ({ v }) => v.local_steps === 1,
  relaxed: ({ v }) => v.relaxation !== 0,
  convex: ({ v }) => v.strong_convexity !== undefined,
  exact: ({ v }) => (v.gradient_variance === undefined ? UNKNOWN : v.gradient_variance === 0),
  alike: ({ v, loose }) => (v.uniform_dissimilarity === 0 ? true : APART.some((word) => v[word] > 0 && !loose.has(word)) ? false : UNKNOWN),
};

/* Set the situation, by which structural results are looked up; a plan without a whole round has none. */
function settled(world) {
  const { v } = world, key = atlas.flags.map((flag) => Number(FLAGS[flag](world))).join("");
  world.key = key;
  world.situation = atlas.places.get(world.machine ? `m${key}` : v.clients === 1 ? `o${key}` : key) ?? -1;
  world.fedavg = KNOBS.every(([, knob, off]) => v[knob] === off);
  /* A last round that does not fit into the time budget is not run. */
  world.spent = v.rounds !== undefined && v.communication_time !== undefined ? v.rounds * (v.communication_time + v.minibatch_time * v.local_steps) : v.runtime;
  return world;
}

/* The equivalent single machine, if all clients take one local step per round; else null. */
function machineOf(world) {
  const { v, n } = world;
  if (!(v.clients === v.cohort && v.clients > 1 && v.local_steps === 1 && world.fedavg)) return null;
  const given = {};
  for (const word of atlas.machine.kept) if (v[word] !== undefined) given[word] = v[word];
  Object.assign(given, atlas.machine.alone);
  if (v.client_gradient_variance && v.client_weight) given.gradient_variance = MACHINE_NOISE(v, n, 0);
  const found = worldOf(given, {});
  for (const word of world.loose) found.loose.add(word);
  found.machine = true;
  found.situation = atlas.places.get(`m${world.key}`) ?? -1;
  found.trusted = given.gradient_variance > 0 ? [atlas.machine.trusted] : [];
  return found;
}
