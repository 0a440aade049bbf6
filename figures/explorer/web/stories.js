/* Short guided stories: each step is a state of the page and a sentence. Numbers are read off the rows and the best
   plans of the steps, never told here. */
const factor = (word, times) => based(word) * times;
const barOf = (rows, name) => rows.find((row) => RANKED.includes(row.state) && (row.bound.name === name || row.alias.includes(name)));
const leading = (rows) => rows.find((row) => RANKED.includes(row.state) && !row.printed);
const barSays = (step, name) => said(barOf(telling.each[step].rows, name)?.value ?? NaN);
const starSays = (step, over, kind) => telling.each[step].stars.find((one) => one.over === over && one.kind === kind)?.at ?? NaN;
const shares = ({ bound, terms, value }) => bound.terms.map((name, k) => [name, 100 * terms[k] / value]).filter(([, share]) => share >= 1).map(([name, share]) => `${name} ${said(share, 2)}%`).join(", ");

/* The bar that leads at one step, at another one: its term that is largest there. */
function lasting(now, then) {
  const row = leading(telling.each[now].rows), before = barOf(telling.each[then].rows, row.bound.name), k = row.terms.indexOf(Math.max(...row.terms));
  return `${row.bound.name} said ${said(before.value)} and says ${said(row.value)}; ${said(row.terms[k], 3)} of that is its term “${row.bound.terms[k]}”, which was ${said(before.terms[k], 3)} before: more rounds do not make it smaller`;
}

function lessened(now, then) {
  const row = leading(telling.each[now].rows), before = barOf(telling.each[then].rows, row.bound.name);
  return `${row.bound.name} falls from ${said(before.value)} to ${said(row.value)}. Of it are left, in the strip below its bar and in words below the plane: ${shares(row)}`;
}

/* How far the printed best plans are off, and what the formulas lack. */
function lostFactors() {
  const { v } = here(), [K, size] = ["local_steps", "step_size"].map((over) => ["printed", "derived"].map((kind) => starSays(0, over, kind)));
  return `For K* the ring is at ${said(K[0])} and the dot at ${said(K[1])}, ${said(K[0] / K[1], 3)} times less: the printed formula has lost G² in the denominator of a cube root, and G^(2/3) = ${said(Math.cbrt(v.grad_cap_sq), 3)} here. For η* they are at ${said(size[0])} and ${said(size[1])}, a factor of ${said(size[0] / size[1], 3)}: K is lost in the denominator of a square root, and √K = ${said(Math.sqrt(v.local_steps), 3)}.`;
}

/* The claim of the audit, in its words and with its verdict. */
function audited(name) {
  const [, verdict, text] = claims.find(([one]) => one === name) ?? [];
  return text ? ` The audit's verdict on “${text}”: ${verdict}${verdict === "REPAIRED" ? ", which is to say that it fails as printed and a repair of it holds" : ""}.` : "";
}

const STORIES = [
  { title: "Where does any theorem say anything?", steps: [
    { say: () => "Ten rounds of eight steps: no theorem is below the loss gap at the start at this plan. Blue on the plane is where the chosen one would be: at other K and η.", plan: { rounds: 10 } },
    { say: ({ rows }) => `A hundred rounds: at this plan ${rows.filter((row) => row.state === "informative" && !row.printed).length} bars speak now, and the blue has grown to a band along K·η = const. Below the band nothing has moved yet; above it the drift of the clients is charged.`, plan: { rounds: 100 } },
    { say: () => "A thousand rounds: the band is wider. Click theorems in the list on the right: each has a band of its own, and some have none.", plan: { rounds: 1000 } },
    { say: () => `A hundred thousand rounds at the same K and η: ${lasting(3, 2)}. Press η −: smaller steps speak better now.`, plan: { rounds: 100000 } },
    { say: () => `Back to a thousand rounds, as in step 3, with clients that differ a hundred times less and a hundred times less noise: ${lessened(4, 2)}.`, plan: { rounds: 1000 }, words: () => ({ gradient_variance: factor("gradient_variance", 0.01), optimum_dissimilarity: factor("optimum_dissimilarity", 0.01) }) },
  ] },
  { title: "The lost factor of K*", theorem: "decaying_k.per_rounds", steps: [
    { say: () => `The paper minimises this bound over K and η. A ring on the plane is the best K or η by the paper's printed formula, a dot the one derived here. ${lostFactors()}`, plan: { step_size: 0.001 } },
    { say: () => `Now every loss is ten times as large and η a tenth: exactly the same runs. The printed K* moves all the same, from ${said(starSays(0, "local_steps", "printed"))} to ${said(starSays(1, "local_steps", "printed"))}; a right one cannot, and the derived one stays at ${said(starSays(1, "local_steps", "derived"))}.`, plan: { step_size: 0.0001 },
      words: () => ({ smoothness: factor("smoothness", 10), strong_convexity: factor("strong_convexity", 10), gradient_variance: factor("gradient_variance", 100), optimum_dissimilarity: factor("optimum_dissimilarity", 100), optimal_loss: factor("optimal_loss", 10), initial_gap: factor("initial_gap", 10) }) },
    { say: () => `Back to the losses and the η of the first step, and now the zero of the loss alone is moved: F* and the loss at the start are larger by one. No run changes, and this bound does, from ${barSays(0, "decaying_k.per_rounds")} to ${barSays(2, "decaying_k.per_rounds")}: it charges the loss itself, not the gap.`, plan: { step_size: 0.001 }, words: () => ({ optimal_loss: based("optimal_loss") + 1 }) },
  ] },
  { title: "Does relaxation lower divergence?", theorem: "fedinit.theorem_4", target: "divergence", steps: [
    { say: () => `FedInit starts clients away from where they ended; β = 0 is FedAvg. This is what its theorems say of the divergence of all clients: theorem 4 says ${barSays(0, "fedinit.theorem_4")}.`, plan: { step_size: 0.0005 } },
    { say: () => `β = 0.05: every bound on divergence is larger, not smaller; theorem 4 says ${barSays(1, "fedinit.theorem_4")} instead of ${barSays(0, "fedinit.theorem_4")}. A theorem that rises in β cannot explain a lower divergence.`, plan: { step_size: 0.0005, relaxation: 0.05 } },
    { say: () => `β = 0.1: larger still, ${barSays(2, "fedinit.theorem_4")}; beyond that the conditions fail and the theorems fall silent.`, plan: { step_size: 0.0005, relaxation: 0.1 } },
    { say: ({ rows }) => `β is 0 again, as in step 1, and four of ten clients take part in a round: no theorem on the divergence of all clients is left. The ${rows.length} that do not apply stand at the end of the page with what each lacks, under “What does not apply, and why”.`, plan: { step_size: 0.0005, cohort: 4 } },
  ] },
  { title: "1/K or 1/K²?", steps: [
    { say: () => `FedALS bounds the generalization gap after one averaging round, and discusses whether it falls as 1/K or 1/K². K counts clients there, not local steps. For clients alike its first term falls as 1/K² and its second as 1/K, so that their sum falls as 1/K in the end.${audited("fedals.discussion.one_over_k_squared")} The bound speaks of no run of several rounds, so it is not on this plane. Open it: the clients are along its axis, and the audit's claims stand below the chart.`, bound: "fedals.one_round" },
  ] },
];
let telling = null; // the story and its step, what the reader had before, and the rows and best plans of every step

/* The federation of a step. */
function stepInto(story, step) {
  const { theorem = "", target = atlas.targets[0], steps } = STORIES[story], { plan, words: moved_ } = steps[step];
  fed = freshFederation(0, target);
  fed.words = moved_?.() ?? {};
  Object.assign(fed.plan, plan);
  fed.theorem = theorem;
}

/* The rows and best plans of every step. */
function eachOf(story) {
  return STORIES[story].steps.map((_, k) => {
    stepInto(story, k);
    const world = here();
    return { rows: withEvidence(compared(fed.target, world), world), stars: starsOf(fed.theorem, world) };
  });
}

function tell(story, step) {
  telling = { story, step, before: telling?.before ?? fed, each: eachOf(story) };
  stepInto(story, step);
  arrangeFederation();
  told_();
}

/* Where in a story the reader is: kept with the page's step, not in its link. */
const storyPlace = () => telling && { story: telling.story, step: telling.step, before: telling.before };

/* A step back leads to another step of a story, into one or out of it. */
function resumeStory(place) {
  const now = fed;
  telling = STORIES[place?.story]?.steps[place.step] ? { ...place, before: atlas.federations[place.before.place] ? place.before : freshFederation(), each: telling?.story === place.story ? telling.each : eachOf(place.story) } : null;
  fed = now;
  told_();
}

/* The rows of all steps of the story, while the page is where it takes place. */
const storyRows = () => (telling && fed.place === 0 && fed.target === (STORIES[telling.story].target ?? atlas.targets[0]) ? telling.each.flatMap(({ rows }) => rows) : []);

/* The reader gets back what was there before. */
function endStory() {
  fed = telling.before;
  telling = null;
  arrangeFederation();
  told_();
  $("stories").focus();
}

function told_() {
  const box = $("story");
  box.hidden = !telling;
  if (!telling) return;
  const { story, step, each } = telling, { title, steps } = STORIES[story], now = steps[step];
  const button = (text, act, off = false) => { const node = made("button", { type: "button", disabled: off }, text); node.addEventListener("click", act); return node; };
  const open = now.bound ? [button("open the bound", () => { keepFederation(); location.hash = `v=1&b=${now.bound}`; })] : [];
  const ways = steps.length > 1 ? [button("back", () => tell(story, step - 1), step === 0), button("next", () => tell(story, step + 1), step === steps.length - 1)] : [];
  keepingFocus("story", () => put("story", made("p", {}, made("strong", {}, `${title}${steps.length > 1 ? ` ${step + 1} of ${steps.length}.` : ""} `), now.say(each[step])), made("p", { className: "copying" }, ...ways, ...open, button("end the story", endStory))));
}

function listenStories() {
  put("stories", new Option("choose one", ""), ...STORIES.map(({ title }, i) => new Option(title, String(i))));
  $("stories").addEventListener("change", () => { if ($("stories").value !== "") tell(Number($("stories").value), 0); $("stories").value = ""; });
}
