/* All quantities of a federation and its plan: the given ones, and those that follow by identities. */
const ROUNDING = 1e-9;
const whole = (x) => Math.floor(x * (1 + ROUNDING));
const identityOrders = new Map();
/** @type {Atlas} */
let atlas = null;

/* The identities that yield further quantities, in order of evaluation; `planDependent` are those that depend on K or eta. */
function identityOrder(words) {
  const key = [...words].sort().join();
  if (!identityOrders.has(key)) {
    const available = new Set(words);
    const all = [];
    const ready = ([left, , asked]) => !available.has(left) && asked.every((w) => available.has(w));
    for (let identity = IDENTITIES.find(ready); identity; identity = IDENTITIES.find(ready)) {
      available.add(identity[0]);
      all.push(identity);
    }
    const moving = new Set(["local_steps", "step_size"]);
    const planDependent = [];
    for (const identity of all)
      if (identity[2].some((w) => moving.has(w))) {
        moving.add(identity[0]);
        planDependent.push(identity);
      }
    identityOrders.set(key, { all, planDependent });
  }
  return identityOrders.get(key);
}

function applyIdentities(identities, v, n) {
  for (const [left, relation, , kind, f] of identities) {
    if (kind === "list") v[left] = Array.from({ length: n.clients }, (_, i) => f(v, n, i));
    else {
      const x = f(v, n, 0);
      const near = Math.round(x);
      v[left] = kind === "whole" && Math.abs(x - near) <= ROUNDING * Math.abs(near) ? near : x;
    }
    if ((relation === "<=" || relation === ">=") && kind !== "list" && !Number.isFinite(v[left])) v[left] = undefined;
  }
}

/* Split the given constants into those that hold at this plan and those that do not, with the reason. */
function validAtPlan(given, upTo) {
  const invalid = {};
  for (const [quantity, limits] of Object.entries(upTo)) {
    if (!(quantity in given)) continue;
    for (const [other, limit] of Object.entries(limits)) {
      const value = given[other] ?? 0;
      if (value > limit * (1 + ROUNDING))
        invalid[quantity] = `it holds for ${readable(other)} up to ${formatted(limit)} alone`;
    }
  }
  const valid = Object.fromEntries(Object.entries(given).filter(([quantity]) => !(quantity in invalid)));
  return { valid, invalid };
}

/** Everything that is known: values v, lengths n, constants that do not hold, and the situation. @returns {Scenario} */
function scenarioOf(given, upTo) {
  const { valid, invalid } = validAtPlan(given, upTo);
  const v = { ...valid };
  const n = { clients: valid.clients ?? 1, classes: 1 };
  for (const quantity of atlas.lists)
    if (quantity in v && !Array.isArray(v[quantity])) v[quantity] = Array(n.clients).fill(v[quantity]);
  const { all, planDependent } = identityOrder(Object.keys(valid));
  const upperBounds = new Set(
    all.filter((identity) => identity[1] === "<=" && identity[5]).map((identity) => identity[0]),
  );
  /** @type {Scenario} */
  const scenario = { v, n, given: valid, invalid, planDependent, upperBounds, machine: false };
  applyIdentities(all, v, n);
  return withSituation(scenario);
}

/* Move a scenario to another K and eta; only what depends on them is computed again. */
function moveScenario(scenario, steps, size) {
  scenario.v.local_steps = steps;
  setStepSize(scenario, size);
  return withSituation(scenario);
}

/* Change the step size only; the situation stays the same. */
function setStepSize(scenario, size) {
  scenario.v.step_size = size;
  applyIdentities(scenario.planDependent, scenario.v, scenario.n);
}

const METHOD_OPTIONS = [
  ["fedinit", "relaxation", 0],
  ["fedcog", "distillation_weight", 0],
  ["fedals", "adaptation", 1],
];
/* Flags are 0 if false, 1 if true, 2 if unknown. */
const UNKNOWN = 2;
const HETEROGENEITY = ["uniform_dissimilarity", "optimum_dissimilarity", "heterogeneity"];
const FLAGS = {
  full: ({ v }) => v.cohort === v.clients,
  single: ({ v }) => v.local_steps === 1,
  relaxed: ({ v }) => v.relaxation !== 0,
  convex: ({ v }) => v.strong_convexity !== undefined,
  exact: ({ v }) => (v.gradient_variance === undefined ? UNKNOWN : v.gradient_variance === 0),
  identical: ({ v, upperBounds }) =>
    v.uniform_dissimilarity === 0
      ? true
      : HETEROGENEITY.some((quantity) => v[quantity] > 0 && !upperBounds.has(quantity))
        ? false
        : UNKNOWN,
};

/* Set the situation, by which structural results are looked up; a plan without a complete round has none. */
function withSituation(scenario) {
  const { v } = scenario;
  const key = atlas.flags.map((flag) => Number(FLAGS[flag](scenario))).join("");
  scenario.key = key;
  scenario.situation = atlas.places.get(scenario.machine ? `m${key}` : v.clients === 1 ? `o${key}` : key) ?? -1;
  scenario.fedavg = METHOD_OPTIONS.every(([, knob, off]) => v[knob] === off);
  /* A last round that does not fit into the time budget is not run. */
  scenario.usedTime =
    v.rounds !== undefined && v.communication_time !== undefined
      ? v.rounds * (v.communication_time + v.minibatch_time * v.local_steps)
      : v.runtime;
  return scenario;
}

/* The equivalent single machine, if all clients take one local step per round; else null. */
function equivalentMachine(scenario) {
  const { v, n } = scenario;
  if (!(v.clients === v.cohort && v.clients > 1 && v.local_steps === 1 && scenario.fedavg)) return null;
  const given = {};
  for (const quantity of atlas.machine.kept) if (v[quantity] !== undefined) given[quantity] = v[quantity];
  Object.assign(given, atlas.machine.alone);
  if (v.client_gradient_variance && v.client_weight) given.gradient_variance = MACHINE_NOISE(v, n, 0);
  const machine = scenarioOf(given, {});
  for (const quantity of scenario.upperBounds) machine.upperBounds.add(quantity);
  machine.machine = true;
  machine.situation = atlas.places.get(`m${scenario.key}`) ?? -1;
  machine.assumed = given.gradient_variance > 0 ? [atlas.machine.assumed] : [];
  return machine;
}
