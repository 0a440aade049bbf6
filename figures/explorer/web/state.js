/* The state of the page (setting and changed constants, plan, compared quantity, shown theorem) and the constants that it gives. */
const PLAN_QUANTITIES = ["local_steps", "step_size", "cohort", "rounds", "runtime", "relaxation"];
const PROBLEM_CONSTANTS = [
  "smoothness",
  "strong_convexity",
  "gradient_variance",
  "optimum_dissimilarity",
  "initial_gap",
  "optimal_loss",
  "initial_distance_sq",
  "grad_cap_sq",
  "lipschitz",
  "samples",
  "samples_per_round",
];
const SCALED_TOGETHER = {
  gradient_variance: ["client_gradient_variance"],
  optimum_dissimilarity: ["heterogeneity", "uniform_dissimilarity", "dissimilarity_offset"],
};
/** @type {Map<string, Bound>} */
let bounds = new Map();
/** @type {string[][]} */
let claims = [];
/** @type {State} */
let state = null;

const federation = () => atlas.federations[state.place];
/** @returns {State} */
const initialState = (place = 0, target = atlas.federations[place].target ?? atlas.targets[0] ?? "") => {
  const { of = "", plan } = atlas.federations[place];
  return { place, target, theorem: of, x: "", constants: {}, plan: { ...atlas.plan, ...plan } };
};

/* Whether the page shows single bounds, without map and ranking; its settings are their examples. */
const singleBounds = () => !atlas.targets.length;
const shownBound = () => bounds.get(state.theorem);
const titleOf = (name) => typeset(bounds.get(name)?.title ?? name);
const readable = (name) => name.replaceAll("_", " ");
const withUnit = (name, unit) => (unit === "1" ? targetLabel(name) : `${targetLabel(name)} [${typeset(unit)}]`);

/* The original value of a constant or plan, before any change on the page. */
function baseValue(quantity) {
  const { given, plan } = federation();
  if (quantity === "initial_gap" && given.initial_gap === undefined && given.initial_loss !== undefined)
    return given.initial_loss - given.optimal_loss;
  return given[quantity] ?? plan[quantity];
}

/* The factor by which all curvatures were scaled, or 1: heterogeneity as a gap of losses scales inversely with it. */
function curvatureFactor() {
  const [up, low] = ["smoothness", "strong_convexity"].map(
    (quantity) => (state.constants[quantity] ?? baseValue(quantity)) / baseValue(quantity),
  );
  return Math.abs(up - low) <= 1e-9 * up ? up : 1;
}

/* The constants and plan given to the theorems; changed constants scale those that depend on them. */
function currentInputs() {
  const { given, follows = [], up_to } = federation();
  const all = { ...given };
  const upTo = { ...up_to };
  if (singleBounds()) return { given: { ...all, ...state.constants }, upTo };
  for (const [quantity, value] of Object.entries(state.constants)) {
    const ratio = baseValue(quantity) === undefined ? 1 : value / baseValue(quantity);
    const scaled = (x, by) => (Array.isArray(x) ? x.map((y) => y * by) : x * by);
    for (const other of SCALED_TOGETHER[quantity] ?? [])
      if (all[other] !== undefined)
        all[other] = scaled(all[other], other === "heterogeneity" ? ratio / curvatureFactor() : ratio);
    if (quantity !== "initial_gap" || all.initial_gap !== undefined || all.initial_loss === undefined)
      all[quantity] = value;
    if (quantity === "strong_convexity" && all.pl_constant < value) all.pl_constant = value;
    if (quantity === "smoothness" && all.pl_constant > value) all.pl_constant = value; // a smaller one holds as well
    if (quantity === "smoothness") all.sample_smoothness = Math.max(value, (all.sample_smoothness ?? value) * ratio);
    if (quantity === "smoothness" || quantity === "strong_convexity") delete all.condition_number;
  }
  if (
    all.initial_loss !== undefined &&
    all.optimal_loss !== undefined &&
    ("initial_gap" in state.constants || "optimal_loss" in state.constants)
  )
    all.initial_loss = all.optimal_loss + valueOf("initial_gap");
  for (const quantity of follows)
    if (!(quantity in state.constants)) {
      const [f, limits] = DERIVED[quantity];
      const n = { clients: all.clients, classes: 1 };
      all[quantity] = f(all, n, 0);
      upTo[quantity] = Object.fromEntries(Object.entries(limits).map(([other, g]) => [other, g(all, n, 0)]));
    }
  for (const quantity in state.constants) delete upTo[quantity];
  const { relaxation, ...plan } = state.plan;
  if (plan.runtime !== undefined) delete plan.rounds;
  return { given: { ...all, ...plan, ...(relaxation > 0 ? { relaxation } : {}) }, upTo };
}

const currentScenario = () => {
  const { given, upTo } = currentInputs();
  return scenarioOf(given, upTo);
};

/** A quantity as in the shown bound, else as in any bound. @param {string} name @returns {Quantity} */
function quantityOf(name) {
  for (const b of [shownBound(), ...bounds.values()])
    for (const q of b?.quantities ?? []) if (q.name === name) return q;
  return /** @type {any} */ ({ name, letter: "", meaning: readable(name), unit: "1", domain: "" });
}

/* Which quantities have a control in the setting, and which in the panel of a bound, since nothing gives them. */
const inPlan = (quantity) => !singleBounds() && PLAN_QUANTITIES.includes(quantity);
const hasControl = (quantity) =>
  !singleBounds() &&
  (inPlan(quantity)
    ? state.plan[quantity] !== undefined
    : PROBLEM_CONSTANTS.includes(quantity) && baseValue(quantity) > 0);
const isMissing = (quantity) =>
  singleBounds()
    ? quantity in federation().given && !(quantity === shownBound().axis && givenLists().length)
    : !hasControl(quantity) &&
      !inPlan(quantity) &&
      (quantity in state.constants || currentScenario().v[quantity] === undefined);
const valueOf = (quantity) =>
  inPlan(quantity) ? state.plan[quantity] : (state.constants[quantity] ?? baseValue(quantity));

function setQuantity(quantity, value) {
  if (inPlan(quantity)) state.plan[quantity] = value;
  else if (value === undefined || value === baseValue(quantity)) delete state.constants[quantity];
  else state.constants[quantity] = value;
}

/* The lists over clients or classes that setting, reader or bound give. */
const givenLists = () =>
  Object.values({ ...federation().given, ...state.constants, ...shownBound()?.given }).filter(Array.isArray);
