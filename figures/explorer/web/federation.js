/* The state that is a federation: its constants, the plan, what is asked; and the link that says so. */
const LINK = "2", LIMITS = { relaxation: 0.5 }, MOST_COUNT = 1e15;
const PLAN_WORDS = ["local_steps", "step_size", "cohort", "rounds", "runtime", "relaxation"];
const PROBLEM_WORDS = ["smoothness", "strong_convexity", "gradient_variance", "optimum_dissimilarity", "initial_gap", "optimal_loss", "initial_distance_sq", "grad_cap_sq", "lipschitz", "samples", "samples_per_round"];
const TOGETHER = { gradient_variance: ["client_gradient_variance"], optimum_dissimilarity: ["heterogeneity", "uniform_dissimilarity", "dissimilarity_offset"] };
let fed = null;

const federation = () => atlas.federations[fed.place];
const freshFederation = (place = 0, target = atlas.federations[place].target ?? atlas.targets[0]) => ({ place, target, theorem: "", words: {}, plan: { relaxation: 0, ...atlas.federations[place].plan } });

/* What a federation says of a word, before anything is moved on this page. */
function based(word) {
  const { given, plan } = federation();
  if (word === "initial_gap" && given.initial_gap === undefined && given.initial_loss !== undefined) return given.initial_loss - given.optimal_loss;
  return given[word] ?? plan[word];
}

/* How much more all losses bend: a gap of losses is a squared gradient over a curvature. */
function bent() {
  const [up, low] = ["smoothness", "strong_convexity"].map((word) => (fed.words[word] ?? based(word)) / based(word));
  return Math.abs(up - low) <= 1e-9 * up ? up : 1;
}

/* Everything that is told to the theorems: constants that were moved take along what scales with them. */
function told() {
  const { given, follows = [], up_to } = federation(), all = { ...given }, upTo = { ...up_to };
  for (const [word, value] of Object.entries(fed.words)) {
    const ratio = value / based(word), scaled = (x, by) => (Array.isArray(x) ? x.map((y) => y * by) : x * by);
    for (const other of TOGETHER[word] ?? []) if (all[other] !== undefined) all[other] = scaled(all[other], other === "heterogeneity" ? ratio / bent() : ratio);
    if (word !== "initial_gap" || all.initial_gap !== undefined || all.initial_loss === undefined) all[word] = value;
    if (word === "strong_convexity" && all.pl_constant < value) all.pl_constant = value;
    if (word === "smoothness" && all.pl_constant > value) all.pl_constant = value; // a smaller one holds as well
    if (word === "smoothness") all.sample_smoothness = Math.max(value, (all.sample_smoothness ?? value) * ratio);
    if (word === "smoothness" || word === "strong_convexity") delete all.condition_number;
  }
  if (all.initial_loss !== undefined && all.optimal_loss !== undefined && ("initial_gap" in fed.words || "optimal_loss" in fed.words)) all.initial_loss = all.optimal_loss + valueOf("initial_gap");
  for (const word of follows) if (!(word in fed.words)) {
    const [f, limits] = FOLLOWS[word], n = { clients: all.clients, classes: 1 };
    all[word] = f(all, n, 0);
    upTo[word] = Object.fromEntries(Object.entries(limits).map(([other, g]) => [other, g(all, n, 0)]));
  }
  for (const word in fed.words) delete upTo[word];
  const { relaxation, ...plan } = fed.plan;
  if (plan.runtime !== undefined) delete plan.rounds;
  return { given: { ...all, ...plan, ...(relaxation > 0 ? { relaxation } : {}) }, upTo };
}

const here = () => { const { given, upTo } = told(); return worldOf(given, upTo); };

/* ---- controls ---- */

const TARGETS = { grad_norm_sq: "squared gradient norm", distance_sq: "squared distance to the best model", divergence: "divergence of clients" };
const targeted = (name) => TARGETS[name] ?? words(name);

function quantityOf(name) {
  for (const b of bounds.values()) for (const q of b.quantities) if (q.name === name) return q;
  return { name, letter: "", meaning: words(name), unit: "1", domain: "" };
}

/* The values a control steps through, in equal ratios. */
function stepsOf(word) {
  const base = based(word), { clients, smoothness } = federation().given, least = COUNTED.includes(word) ? 1 : 0;
  const ends = { local_steps: [1, MOST_STEPS], step_size: [1e-5 / smoothness, 10 / smoothness], cohort: [1, clients], rounds: [1, 1e7], runtime: [1, 1e6], relaxation: [0, LIMITS.relaxation] };
  const [low, high] = ends[word] ?? [Math.max(least, base / 1e4), base * 1e4], log = word !== "relaxation" && high > low;
  const round = COUNTED.includes(word) ? Math.round : (x) => Number(x.toPrecision(3));
  return [...new Set([...spaced(low, high, log, 160).map(round), ...(base >= low && base <= high ? [base] : [])])].sort((a, b) => a - b);
}

const NAMES = { local_steps: "local steps K", step_size: "step size η", cohort: "participants N", rounds: "rounds R", runtime: "seconds", relaxation: "relaxation β",
  smoothness: "smoothness L", strong_convexity: "strong convexity μ", gradient_variance: "gradient noise σ²", optimum_dissimilarity: "difference of clients ζ*²",
  initial_gap: "initial gap D", optimal_loss: "least loss F*", initial_distance_sq: "initial distance²", grad_cap_sq: "second moment G²", lipschitz: "largest slope (Lipschitz)", samples: "samples of a client", samples_per_round: "new samples a round" };
const valueOf = (word) => (PLAN_WORDS.includes(word) ? fed.plan[word] : fed.words[word] ?? based(word));

function setWord(word, value) {
  if (PLAN_WORDS.includes(word)) fed.plan[word] = value;
  else if (value === based(word)) delete fed.words[word];
  else fed.words[word] = value;
}

const COUNTED = ["local_steps", "cohort", "rounds", "samples", "samples_per_round"], counted = (x) => x >= 1 && x <= MOST_COUNT && x === Math.round(x);
const IMPOSSIBLE = { samples: counted, samples_per_round: counted, optimal_loss: () => true, local_steps: counted, cohort: (x) => x >= 1 && x === Math.round(x) && x <= federation().given.clients, rounds: counted,
  relaxation: (x) => x >= 0, gradient_variance: (x) => x >= 0, optimum_dissimilarity: (x) => x >= 0, strong_convexity: (x) => x > 0 && x <= valueOf("smoothness"), smoothness: (x) => x > 0 && x >= (valueOf("strong_convexity") ?? 0) };
const WHOLE = "must be a whole number from 1 to 1e15";
const REASONS = { samples: WHOLE, samples_per_round: WHOLE, local_steps: WHOLE, cohort: "must be a whole number from 1 to the number of clients", rounds: WHOLE,
  relaxation: "must be at least 0", gradient_variance: "must be at least 0", optimum_dissimilarity: "must be at least 0", strong_convexity: "must be above 0 and at most L", smoothness: "must be at least μ" };
const SIZE = 1e100;
const refusedWord = (word, x) => (!Number.isFinite(x) ? "write a number, such as 0.5, 1e-3 or 1/3" : Math.abs(x) > SIZE || (x !== 0 && Math.abs(x) < 1 / SIZE) ? "must be of a size from 1e-100 to 1e100" : (IMPOSSIBLE[word] ?? ((y) => y > 0))(x) ? "" : REASONS[word] ?? "must be above 0");

function controlOf(word) {
  const box = made("div", { className: "control", id: `fc-${word}` }), steps = stepsOf(word), value = valueOf(word);
  const field = made("input", { id: `f-${word}`, inputMode: "decimal", autocomplete: "off", value: String(Number(value.toPrecision(6))) });
  const range = made("input", { id: `fs-${word}`, type: "range", min: 0, max: steps.length - 1, step: 1, value: nearest(steps, value) });
  const error = made("p", { className: "error", id: `fe-${word}`, role: "alert" });
  range.setAttribute("aria-label", `${NAMES[word]}, slider`);
  field.setAttribute("aria-describedby", `fe-${word}`);
  range.setAttribute("aria-valuetext", said(value));
  const take = (x) => {
    const why = refusedWord(word, x);
    error.textContent = why;
    field.setAttribute("aria-invalid", why ? "true" : "false");
    if (why) return false;
    setWord(word, x);
    range.setAttribute("aria-valuetext", said(x));
    moved(word);
    return true;
  };
  range.addEventListener("input", () => { if (take(steps[range.value])) field.value = String(steps[range.value]); });
  field.addEventListener("input", () => { const x = typed(field.value); if (take(x)) range.value = nearest(steps, x); });
  box.append(made("label", { htmlFor: field.id, title: quantityOf(word).meaning }, NAMES[word]), field, range, error);
  return box;
}

/* After a plan was chosen elsewhere than in its control. */
function showPlan() {
  for (const word of ["local_steps", "step_size"]) {
    $(`f-${word}`).value = String(Number(fed.plan[word].toPrecision(6)));
    $(`fs-${word}`).value = nearest(stepsOf(word), fed.plan[word]);
    $(`fs-${word}`).setAttribute("aria-valuetext", said(fed.plan[word]));
    $(`fe-${word}`).textContent = "";
  }
}

/* ---- the link ---- */

function federationLink() {
  const said = new URLSearchParams({ v: LINK }), start = freshFederation(fed.place);
  if (fed.place) said.set("f", federation().name);
  for (const key of ["target", "theorem"]) if (fed[key] !== start[key]) said.set(key, fed[key]);
  for (const word of PLAN_WORDS) if (fed.plan[word] !== start.plan[word] && fed.plan[word] !== undefined) said.set(`p.${word}`, fed.plan[word]);
  for (const [word, value] of Object.entries(fed.words)) said.set(`w.${word}`, value);
  said.set("c", mark(said.toString()));
  return `#${said}`;
}

/* The state of a link; a damaged one is an error that says why. */
function federationOf(text) {
  const said = new URLSearchParams(text.replace(/^#/, "")), check = said.get("c");
  said.delete("c");
  if (!text.replace(/^#/, "") || said.toString() === `v=${LINK}`) return freshFederation();
  if (check !== mark(said.toString())) throw Error("something in it is missing or changed");
  const place = said.has("f") ? atlas.federations.findIndex((one) => one.name === said.get("f")) : 0;
  if (place < 0) throw Error(`it is of a federation that was loaded: ${said.get("f")}`);
  const found = freshFederation(place), before = fed;
  fed = found;
  try {
    for (const [key, value] of said) {
      const [kind, word] = key.split("."), known = kind === "p" ? PLAN_WORDS : kind === "w" ? PROBLEM_WORDS : null;
      if (key === "target" && atlas.targets.includes(value)) found.target = value;
      else if (key === "theorem" && Object.hasOwn(atlas.bounds, value)) found.theorem = value;
      else if (known?.includes(word)) {
        const x = typed(value), why = refusedWord(word, x);
        if (why) throw Error(`${words(word)} cannot be ${value} (${why})`);
        (kind === "p" ? found.plan : found.words)[word] = x;
      } else if (key !== "v" && key !== "f") throw Error(`it speaks of ${key}`);
    }
  } finally { fed = before; }
  return found;
}
