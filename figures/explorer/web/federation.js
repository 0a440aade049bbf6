/* The state of the page (setting and constants, plan, compared quantity, shown theorem), its controls, and its link. */
const VERSION = "2", LIMITS = { relaxation: 0.5 }, MOST_COUNT = 1e15;
const PLAN_WORDS = ["local_steps", "step_size", "cohort", "rounds", "runtime", "relaxation"];
const PROBLEM_WORDS = ["smoothness", "strong_convexity", "gradient_variance", "optimum_dissimilarity", "initial_gap", "optimal_loss", "initial_distance_sq", "grad_cap_sq", "lipschitz", "samples", "samples_per_round"];
const TOGETHER = { gradient_variance: ["client_gradient_variance"], optimum_dissimilarity: ["heterogeneity", "uniform_dissimilarity", "dissimilarity_offset"] };
/** @type {Map<string, Bound>} */
let bounds = new Map();
/** @type {string[][]} */
let claims = [];
/** @type {State} */
let fed = null;

const federation = () => atlas.federations[fed.place];
/** @returns {State} */
const freshFederation = (place = 0, target = atlas.federations[place].target ?? atlas.targets[0] ?? "") => {
  const { of = "", plan } = atlas.federations[place];
  return { place, target, theorem: of, x: "", words: {}, plan: { ...atlas.plan, ...plan } };
};

/* Whether the page shows single bounds, without map and ranking; its settings are their examples. */
const single = () => !atlas.targets.length;
const opened = () => bounds.get(fed.theorem);
const titleOf = (name) => typeset(bounds.get(name)?.title ?? name);
const words = (name) => name.replaceAll("_", " ");
const withUnit = (name, unit) => (unit === "1" ? words(name) : `${words(name)} [${typeset(unit)}]`);

/* The original value of a constant or plan, before any change on the page. */
function baseValue(word) {
  const { given, plan } = federation();
  if (word === "initial_gap" && given.initial_gap === undefined && given.initial_loss !== undefined) return given.initial_loss - given.optimal_loss;
  return given[word] ?? plan[word];
}

/* The factor by which all curvatures were scaled, or 1: heterogeneity as a gap of losses scales inversely with it. */
function curvatureFactor() {
  const [up, low] = ["smoothness", "strong_convexity"].map((word) => (fed.words[word] ?? baseValue(word)) / baseValue(word));
  return Math.abs(up - low) <= 1e-9 * up ? up : 1;
}

/* The constants and plan given to the theorems; changed constants scale those that depend on them. */
function currentInputs() {
  const { given, follows = [], up_to } = federation(), all = { ...given }, upTo = { ...up_to };
  if (single()) return { given: { ...all, ...fed.words }, upTo };
  for (const [word, value] of Object.entries(fed.words)) {
    const ratio = baseValue(word) === undefined ? 1 : value / baseValue(word), scaled = (x, by) => (Array.isArray(x) ? x.map((y) => y * by) : x * by);
    for (const other of TOGETHER[word] ?? []) if (all[other] !== undefined) all[other] = scaled(all[other], other === "heterogeneity" ? ratio / curvatureFactor() : ratio);
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

const here = () => { const { given, upTo } = currentInputs(); return worldOf(given, upTo); };

/* ---- controls ---- */

const TARGETS = { grad_norm_sq: "squared gradient norm", distance_sq: "squared distance to the best model", divergence: "divergence of clients" };
const targetLabel = (name) => TARGETS[name] ?? words(name);

/** A quantity as in the shown bound, else as in any bound. @param {string} name @returns {Quantity} */
function quantityOf(name) {
  for (const b of [opened(), ...bounds.values()]) for (const q of b?.quantities ?? []) if (q.name === name) return q;
  return /** @type {any} */ ({ name, letter: "", meaning: words(name), unit: "1", domain: "" });
}

/* Which quantities have a control in the setting, and which in the panel of a bound, since nothing gives them. */
const inPlan = (word) => !single() && PLAN_WORDS.includes(word);
const known = (word) => !single() && (inPlan(word) ? fed.plan[word] !== undefined : PROBLEM_WORDS.includes(word) && baseValue(word) > 0);
const ungiven = (word) => (single() ? word in federation().given && !(word === opened().axis && lists().length) : !known(word) && !inPlan(word) && (word in fed.words || here().v[word] === undefined));
const valueOf = (word) => (inPlan(word) ? fed.plan[word] : fed.words[word] ?? baseValue(word));

/* The values of a control, in equal ratios. */
function stepsOf(word) {
  if (!known(word)) return ladder(quantityOf(word));
  const base = baseValue(word), { clients, smoothness } = federation().given, least = COUNTED.includes(word) ? 1 : 0;
  const ends = { local_steps: [1, MOST_STEPS], step_size: [1e-5 / smoothness, 10 / smoothness], cohort: [1, clients], rounds: [1, 1e7], runtime: [1, 1e6], relaxation: [0, LIMITS.relaxation] };
  const [low, high] = ends[word] ?? [Math.max(least, base / 1e4), base * 1e4], log = word !== "relaxation" && high > low;
  const round = COUNTED.includes(word) ? Math.round : (x) => Number(x.toPrecision(3));
  return [...new Set([...spaced(low, high, log, 160).map(round), ...(base >= low && base <= high ? [base] : [])])].sort((a, b) => a - b);
}

const NAMES = { local_steps: "local steps K", step_size: "step size η", cohort: "participants N", rounds: "rounds R", runtime: "seconds", relaxation: "relaxation β",
  smoothness: "smoothness L", strong_convexity: "strong convexity μ", gradient_variance: "gradient noise σ²", optimum_dissimilarity: "difference of clients ζ*²",
  initial_gap: "initial gap D", optimal_loss: "least loss F*", initial_distance_sq: "initial distance²", grad_cap_sq: "second moment G²", lipschitz: "largest slope (Lipschitz)", samples: "samples of a client", samples_per_round: "new samples a round" };

function setWord(word, value) {
  if (inPlan(word)) fed.plan[word] = value;
  else if (value === undefined || value === baseValue(word)) delete fed.words[word];
  else fed.words[word] = value;
}

const COUNTED = ["local_steps", "cohort", "rounds", "samples", "samples_per_round"], counted = (x) => x >= 1 && x <= MOST_COUNT && x === Math.round(x);
const IMPOSSIBLE = { samples: counted, samples_per_round: counted, optimal_loss: () => true, local_steps: counted, cohort: (x) => x >= 1 && x === Math.round(x) && x <= federation().given.clients, rounds: counted,
  relaxation: (x) => x >= 0, gradient_variance: (x) => x >= 0, optimum_dissimilarity: (x) => x >= 0, strong_convexity: (x) => x > 0 && x <= valueOf("smoothness"), smoothness: (x) => x > 0 && x >= (valueOf("strong_convexity") ?? 0) };
const WHOLE = "must be a whole number from 1 to 1e15";
const REASONS = { samples: WHOLE, samples_per_round: WHOLE, local_steps: WHOLE, cohort: "must be a whole number from 1 to the number of clients", rounds: WHOLE,
  relaxation: "must be at least 0", gradient_variance: "must be at least 0", optimum_dissimilarity: "must be at least 0", strong_convexity: "must be above 0 and at most L", smoothness: "must be at least μ" };
const SIZE = 1e100;
function refusedWord(word, x) {
  if (x === undefined) return ""; // as it was
  if (Array.isArray(x)) return refusedList(quantityOf(word), x);
  return known(word) || inPlan(word) ? refusedNumber(word, x) : refusal(quantityOf(word), x) || (word === "clients" && lists().some((list) => list.length !== x) ? "a list says how many there are" : "");
}
const refusedNumber = (word, x) => (!Number.isFinite(x) ? "write a number, such as 0.5, 1e-3 or 1/3" : Math.abs(x) > SIZE || (x !== 0 && Math.abs(x) < 1 / SIZE) ? "must be of a size from 1e-100 to 1e100" : (IMPOSSIBLE[word] ?? ((y) => y > 0))(x) ? "" : REASONS[word] ?? "must be above 0");

/* The lists over clients or classes that setting, reader or bound give. */
const lists = () => Object.values({ ...federation().given, ...fed.words, ...opened()?.given }).filter(Array.isArray);

/* The reason why a list is not a valid value of the quantity; empty if it is. */
function refusedList(q, list) {
  const bad = list.map((x) => refusal(q, x)).find(Boolean), total = list.reduce((a, b) => a + b, 0), length = valueOf(q.axis) ?? list.length;
  if (!q.axis) return "must be one number";
  if (bad) return `every number ${bad}`;
  if (list.length !== length) return `must hold ${length} numbers, one for each of the ${q.axis}; it holds ${list.length}`;
  return q.simplex && Math.abs(total - 1) > 1e-9 ? `must sum to 1; the sum is ${formatted(total)}` : "";
}

/* Parse a number or a list; undefined stands for equal weights. */
const readValue = (q, text) => (text.includes(",") ? text.split(",").map(parseNumber) : q.simplex && text.trim() === "" ? undefined : parseNumber(text));
const writtenValue = (value) => (value === undefined ? "" : [value].flat().map((x) => Number(x.toPrecision(6))).join(", "));

/** A control for a number (with slider) or a list. @param {string} word */
function controlOf(word, value = valueOf(word)) {
  const box = element("div", { className: "control", id: `fc-${word}` }), q = quantityOf(word), listed = Array.isArray(value) || q.simplex, steps = listed ? [] : stepsOf(word);
  const field = element("input", { id: `f-${word}`, inputMode: q.axis ? "text" : "decimal", autocomplete: "off", value: writtenValue(value), placeholder: q.simplex ? "equal" : "" });
  const range = element("input", { id: `fs-${word}`, type: "range", min: 0, max: steps.length - 1, step: 1, value: nearest(steps, value) });
  const error = element("p", { className: "error", id: `fe-${word}`, role: "alert" });
  range.setAttribute("aria-label", `${NAMES[word] ?? words(word)}, slider`);
  range.hidden = !steps.length;
  field.setAttribute("aria-describedby", `fe-${word}`);
  if (steps.length) range.setAttribute("aria-valuetext", formatted(value));
  const take = (x) => {
    const why = refusedWord(word, x);
    error.textContent = why;
    field.setAttribute("aria-invalid", why ? "true" : "false");
    if (why) return false;
    setWord(word, x);
    if (typeof x === "number") range.setAttribute("aria-valuetext", formatted(x));
    settingChanged(word);
    return true;
  };
  range.addEventListener("input", () => { if (take(steps[range.value])) field.value = String(steps[range.value]); });
  field.addEventListener("input", () => { const x = readValue(q, field.value); if (take(x) && typeof x === "number") range.value = nearest(steps, x); });
  const label = element("label", { htmlFor: field.id, title: q.meaning }, NAMES[word] ?? ` ${words(word)}`);
  if (!NAMES[word]) label.insertAdjacentHTML("afterbegin", q.letter);
  box.append(label, field, range, error);
  return box;
}

/* Update controls after their numbers were changed elsewhere. */
function showWords(...names) {
  for (const word of names) {
    $(`f-${word}`).value = writtenValue(valueOf(word));
    $(`fs-${word}`).value = nearest(stepsOf(word), valueOf(word));
    $(`fs-${word}`).setAttribute("aria-valuetext", formatted(valueOf(word)));
    $(`fe-${word}`).textContent = "";
  }
}

/* ---- the link ---- */

/* The checksum of a link. */
function mark(text) {
  let hash = 2166136261;
  for (const c of text) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hash.toString(36);
}

/* Repairs of links that were altered in transit: escaped ampersands, double encoding, appended text, line breaks. */
const MENDS = [(x) => x.replaceAll("&amp;", "&"), decoded, (x) => x.replace(/(&c=[0-9a-z]+).*$/is, "$1"), (x) => x.replace(/\s|%20|%0[ad]/gi, "")];

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function checksumHolds(text) {
  const said = new URLSearchParams(text), check = said.get("c");
  said.delete("c");
  return check === mark(said.toString());
}

/* The repaired link if its checksum is then correct, else the link as it came. */
function repairedLink(text) {
  const tries = [text.replace(/^#/, "")];
  for (const mend of MENDS) tries.push(...tries.map(mend));
  return `#${tries.find(checksumHolds) ?? tries[0]}`;
}

const KEYS_OF = { target: "target", b: "theorem", x: "x" };

/* The quantity to compare for a theorem: its own target if the page has it, else the current one. */
const targetFor = (name, target = fed.target) => (atlas.targets.includes(bounds.get(name)?.target.name) ? bounds.get(name).target.name : target);

function federationLink() {
  const said = new URLSearchParams({ v: VERSION }), start = freshFederation(fed.place);
  if (fed.place) said.set("f", federation().name);
  for (const [key, name] of Object.entries(KEYS_OF)) if (fed[name] !== start[name]) said.set(key, fed[name]);
  for (const word of PLAN_WORDS) if (fed.plan[word] !== start.plan[word] && fed.plan[word] !== undefined) said.set(`p.${word}`, fed.plan[word]);
  for (const [word, value] of Object.entries(fed.words)) said.set(`w.${word}`, [value].flat().join(","));
  said.set("c", mark(said.toString()));
  return `#${said}`;
}

/* The state of a link; raises the reason if it is damaged. */
function federationOf(text) {
  const said = new URLSearchParams(text.replace(/^#/, "")), check = said.get("c");
  said.delete("c");
  if (!text.replace(/^#/, "")) return freshFederation();
  if (said.get("v") !== VERSION) throw Error("it is none of this page, or of another version of it");
  const bare = check === null && [...said.keys()].every((key) => key === "v" || key === "b");
  if (!bare && check !== mark(said.toString())) throw Error("something in it is missing or changed");
  if (said.get("b") && !bounds.has(said.get("b"))) throw Error(`this page holds no bound ${said.get("b")}`);
  const own = (one, k) => (single() && said.has("b") ? one.of === said.get("b") : k === 0);
  const place = atlas.federations.findIndex(said.has("f") ? (one) => one.name === said.get("f") : own);
  if (place < 0) throw Error(`it is of a federation that was loaded: ${said.get("f")}`);
  const found = freshFederation(place), before = fed;
  fed = found;
  try {
    for (const [key, value] of said) {
      const [kind, word] = key.split("."), free = kind === "p" ? inPlan(word) : kind === "w" && !inPlan(word) && quantityOf(word).open && (single() || known(word) || baseValue(word) === undefined);
      if (key === "target" && atlas.targets.includes(value)) found.target = value;
      else if (key === "b") { found.theorem = value; if (bare) found.target = targetFor(value, found.target); }
      else if (key === "x" && opened()?.quantities.some((q) => q.name === value)) found.x = value;
      else if (free) (kind === "p" ? found.plan : found.words)[word] = readValue(quantityOf(word), value) ?? NaN;
      else if (key !== "v" && key !== "f") throw Error(`it has ${key}, which this page does not know`);
    }
    for (const [word, x] of [...Object.entries(found.words), ...Object.entries(found.plan)]) {
      const why = x === freshFederation(place).plan[word] ? "" : refusedWord(word, x);
      if (why) throw Error(`${words(word)} cannot be ${x} (${why})`);
    }
  } finally { fed = before; }
  return found;
}
