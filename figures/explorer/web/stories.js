/* Short guided stories: each step is a state of the page and a few sentences, whose numbers are computed from the rows and
   the best plans of the steps. */
const factor = (quantity, times) => baseValue(quantity) * times;
const rowOfTheorem = (rows, name) => byTheorem(rows).find((row) => row.bound.name === name || row.alias.includes(name));
const valueText = (step, name) => formatted(rowOfTheorem(currentStory.each[step].rows, name)?.value ?? NaN);
const minimiserAt = (step, over, kind) =>
  currentStory.each[step].minimisers.find((one) => one.over === over && one.kind === kind)?.at ?? NaN;
const largestTerm = (row) => row.terms.indexOf(Math.max(...row.terms));

/* Compare the best theorem of one step with its value at another, and name its largest term. */
function largestTermText(now, then) {
  const row = bestRow(currentStory.each[now].rows);
  const before = rowOfTheorem(currentStory.each[then].rows, row.bound.name);
  const k = largestTerm(row);
  return `${titleOf(row.bound.name)} goes from ${formatted(before.value)} to ${formatted(row.value)}; ${formatted(row.terms[k], 3)} of that is its term “${row.bound.terms[k]}”, which more rounds do not make smaller`;
}

function improvementText(now, then) {
  const row = bestRow(currentStory.each[now].rows);
  const before = rowOfTheorem(currentStory.each[then].rows, row.bound.name);
  return `${titleOf(row.bound.name)} falls from ${formatted(before.value)} to ${formatted(row.value)}`;
}

/* ---- K by the bound, by the exact worst case, and by training ---- */

const CHOSEN = "decaying_k.theorem_1_repaired";

/* The bound and its worst case (if tabulated) by K, at the step size of the story. */
const STORY_STEP_SIZE = 0.125;
const MAX_STORY_STEPS = 4;

function valuesByK() {
  const { given, upTo } = currentInputs();
  const bound = bounds.get(CHOSEN);
  const worst = worstCasePlans(CHOSEN, state.target, given, upTo).filter(({ size }) => isClose(size, STORY_STEP_SIZE));
  return Array.from({ length: MAX_STORY_STEPS }, (_, k) => {
    const steps = k + 1;
    const rows = rowsOf(
      bound,
      state.target,
      scenarioOf({ ...given, local_steps: steps, step_size: STORY_STEP_SIZE }, upTo),
      null,
    );
    return {
      steps,
      bound: byTheorem(rows)[0]?.value ?? Infinity,
      worst: worst.find((one) => one.steps === steps)?.value ?? Infinity,
    };
  });
}

/* Committed measurements by K after SWEPT rounds. */
const SWEPT = 8;
const measuredByK = () =>
  federation()
    .measured.filter(
      ({ target, plan }) => target === state.target && plan.rounds === SWEPT && plan.cohort === state.plan.cohort,
    )
    .map(({ plan, value }) => ({ steps: plan.local_steps, value }));

const smallestBy = (each, what) => each.reduce((best, one) => (one[what] < best[what] ? one : best));
const bestPlanBy = (what) => () => ({ step_size: STORY_STEP_SIZE, local_steps: smallestBy(valuesByK(), what).steps });

/* Explain by which factors the printed best plans are off. */
function lostFactorsText() {
  const { v } = currentScenario();
  const [K, size] = ["local_steps", "step_size"].map((over) =>
    ["printed", "derived"].map((kind) => minimiserAt(0, over, kind)),
  );
  return `For K* the ring is at ${formatted(K[0])} and the dot at ${formatted(K[1])}, ${formatted(K[0] / K[1], 3)} times less: the printed formula has lost G² in the denominator of a cube root, and G^(2/3) = ${formatted(Math.cbrt(v.grad_cap_sq), 3)} here. For η* they are at ${formatted(size[0])} and ${formatted(size[1])}, a factor of ${formatted(size[0] / size[1], 3)}: K is lost in the denominator of a square root, and √K = ${formatted(Math.sqrt(v.local_steps), 3)}.`;
}

/* A claim of the audit with its verdict. */
function auditVerdict(name) {
  const [, verdict, text] = claims.find(([one]) => one === name) ?? [];
  return text
    ? ` The audit's verdict on “${text}”: ${verdict}${verdict === "REPAIRED" ? ", which is to say that it fails as printed and a repair of it holds" : ""}.`
    : "";
}

/** @type {Story[]} */
const STORIES = [
  {
    title: "Which K is best?",
    place: 1,
    target: "grad_norm_sq",
    theorem: CHOSEN,
    steps: [
      {
        name: () => `bound: K = ${smallestBy(valuesByK(), "bound").steps}`,
        say: () => {
          const each = valuesByK();
          const best = smallestBy(each, "bound");
          return `Two clients, two rounds, η = ${STORY_STEP_SIZE}: of one to four local steps ${titleOf(CHOSEN)} recommends K = ${best.steps}, where it is smallest. Should you take ${best.steps}?`;
        },
        plan: bestPlanBy("bound"),
      },
      {
        name: () => `worst case: K = ${smallestBy(valuesByK(), "worst").steps}`,
        say: () => {
          const each = valuesByK();
          const chosen = smallestBy(each, "bound");
          const best = smallestBy(each, "worst");
          return `The exact worst case over all such federations is known (green diamonds). It is smallest at K = ${best.steps}: ${formatted(best.worst, 3)}, where K = ${chosen.steps} gives ${formatted(chosen.worst, 3)}. Choosing K by the bound makes the worst case ${formatted(100 * (chosen.worst / best.worst - 1), 2)} % larger.`;
        },
        plan: bestPlanBy("worst"),
      },
      {
        name: () => `training: K = ${smallestBy(measuredByK(), "value").steps}`,
        say: () => {
          const each = measuredByK();
          const best = smallestBy(each, "value");
          const all = bestRow(currentStory.each[2].rows);
          return `Ten clients trained on real data (phishing), ${SWEPT} rounds: the smallest measured gradient is at K = ${best.steps} (red dots). The best valid bound there, ${titleOf(all.bound.name)}, is ${formatted(all.value / best.value, 2)} times as large. Drag the point: where do the theorems help?`;
        },
        place: 5,
        theorem: "",
        plan: () => ({ rounds: SWEPT, local_steps: smallestBy(measuredByK(), "value").steps }),
      },
    ],
  },
  {
    title: "When is a theorem informative?",
    steps: [
      {
        say: () =>
          "Ten rounds of eight steps: no theorem guarantees less than the start at this plan. Blue on the map is where one does, at other K and η.",
        plan: { rounds: 10 },
      },
      {
        say: ({ rows }) =>
          `A hundred rounds: ${byTheorem(rows).filter((row) => row.state === "informative" && !row.printed).length} bounds are informative here, and the blue is a band along K·η = const. Below the band little has moved yet; above it the bounds charge for client drift.`,
        plan: { rounds: 100 },
      },
      {
        say: () =>
          "A thousand rounds: the band is wider. Click a theorem in the ranking: each has a band of its own, and some have none.",
        plan: { rounds: 1000 },
      },
      {
        say: () =>
          `A hundred thousand rounds at the same K and η: ${largestTermText(3, 2)}. Move η down: smaller steps give better bounds now.`,
        plan: { rounds: 100000 },
      },
      {
        say: () =>
          `Back to a thousand rounds, with clients that differ a hundred times less and a hundred times less noise: ${improvementText(4, 2)}.`,
        plan: { rounds: 1000 },
        constants: () => ({
          gradient_variance: factor("gradient_variance", 0.01),
          optimum_dissimilarity: factor("optimum_dissimilarity", 0.01),
        }),
      },
    ],
  },
  {
    title: "A lost factor in K*",
    theorem: "decaying_k.per_rounds",
    steps: [
      {
        say: () =>
          `The paper minimises this bound over K and η. A ring on the map is the best K or η by the printed formula, a dot the one derived here. ${lostFactorsText()}`,
        plan: { step_size: 0.001 },
      },
      {
        say: () =>
          `Now every loss is ten times as large and η a tenth: exactly the same runs. The printed K* moves all the same, from ${formatted(minimiserAt(0, "local_steps", "printed"))} to ${formatted(minimiserAt(1, "local_steps", "printed"))}; a correct one cannot, and the derived one stays at ${formatted(minimiserAt(1, "local_steps", "derived"))}.`,
        plan: { step_size: 0.0001 },
        constants: () => ({
          smoothness: factor("smoothness", 10),
          strong_convexity: factor("strong_convexity", 10),
          gradient_variance: factor("gradient_variance", 100),
          optimum_dissimilarity: factor("optimum_dissimilarity", 100),
          optimal_loss: factor("optimal_loss", 10),
          initial_gap: factor("initial_gap", 10),
        }),
      },
      {
        say: () =>
          `Back to the first step, and now only the zero of the loss is moved: F* and the loss at the start are larger by one. No run changes, and this bound does, from ${valueText(0, "decaying_k.per_rounds")} to ${valueText(2, "decaying_k.per_rounds")}: it depends on the loss itself, not on the gap.`,
        plan: { step_size: 0.001 },
        constants: () => ({ optimal_loss: baseValue("optimal_loss") + 1 }),
      },
    ],
  },
  {
    title: "Does relaxation lower divergence?",
    theorem: "fedinit.theorem_4",
    target: "divergence",
    steps: [
      {
        say: () =>
          `FedInit starts clients away from where they ended; β = 0 is FedAvg. Its Theorem 4 bounds the divergence of all clients by ${valueText(0, "fedinit.theorem_4")}.`,
        plan: { step_size: 0.0005 },
      },
      {
        say: () =>
          `β = 0.05: every bound on divergence is larger, not smaller; Theorem 4 gives ${valueText(1, "fedinit.theorem_4")} instead of ${valueText(0, "fedinit.theorem_4")}. A bound that grows with β cannot explain a lower divergence.`,
        plan: { step_size: 0.0005, relaxation: 0.05 },
      },
      {
        say: () => `β = 0.1: larger still, ${valueText(2, "fedinit.theorem_4")}; beyond that the conditions fail.`,
        plan: { step_size: 0.0005, relaxation: 0.1 },
      },
      {
        say: ({ rows }) =>
          `β is 0 again, and four of ten clients take part in a round: no theorem on the divergence of all clients is left. The ${rows.length} that do not apply are listed below the ranking with the reasons.`,
        plan: { step_size: 0.0005, cohort: 4 },
      },
    ],
  },
  {
    title: "1/K or 1/K²?",
    steps: [
      {
        say: () =>
          `FedALS bounds the generalization gap after one averaging round, and discusses whether it falls as 1/K or 1/K². K counts clients there. For identical clients its first term falls as 1/K² and its second as 1/K, so that their sum falls as 1/K in the end.${auditVerdict("fedals.discussion.one_over_k_squared")}`,
        theorem: "fedals.one_round",
        target: "generalization_gap",
      },
    ],
  },
];
let currentStory = null; // story, step, the state before it, and the rows and best plans of every step

/* Set the state of a step. */
function applyStep(story, step) {
  const { steps, ...usual } = STORIES[story];
  const {
    plan = {},
    constants: changed,
    place = 0,
    theorem = "",
    target = atlas.targets[0],
  } = { ...usual, ...steps[step] };
  state = initialState(place, target);
  state.constants = changed?.() ?? {};
  state.theorem = theorem;
  Object.assign(state.plan, typeof plan === "function" ? plan() : plan);
}

/* The rows and best plans of every step. */
function evaluateSteps(story) {
  return STORIES[story].steps.map((_, k) => {
    applyStep(story, k);
    const scenario = currentScenario();
    return {
      rows: withEvidence(compareTheorems(state.target, scenario), scenario),
      minimisers: planMinimisers(scenario),
      name: STORIES[story].steps[k].name?.() ?? `${k + 1}`,
    };
  });
}

function showStep(story, step) {
  currentStory = { story, step, before: currentStory?.before ?? state, each: evaluateSteps(story) };
  applyStep(story, step);
  currentStory.of = storySetting();
  showControls();
  showStory();
}

/* The part of the state that a step fixes: everything but K, eta and the shown theorem. */
const storySetting = () => {
  const {
    place,
    target,
    constants: changed,
    plan: { local_steps, step_size, ...plan },
  } = state;
  return JSON.stringify([place, target, changed, plan]);
};

/* End the story when the reader chooses another setting. */
function leaveStory() {
  if (!currentStory || currentStory.of === storySetting()) return;
  currentStory = null;
  showStory();
}

/* The position in a story, stored in the history, not in the link. */
const storyPosition = () =>
  currentStory && { story: currentStory.story, step: currentStory.step, before: currentStory.before };

/* Restore the position in a story from the history. */
function resumeStory(place) {
  const now = state;
  currentStory = STORIES[place?.story]?.steps[place.step]
    ? {
        ...place,
        before: atlas.federations[place.before.place] ? place.before : initialState(),
        each: currentStory?.story === place.story ? currentStory.each : evaluateSteps(place.story),
      }
    : null;
  state = now;
  if (currentStory) currentStory.of = storySetting();
  showStory();
}

/* The rows of all steps of the story, while the page shows its federation. */
const storyRows = () =>
  currentStory && state.place === (STORIES[currentStory.story].place ?? 0)
    ? currentStory.each.flatMap(({ rows }) => rows)
    : [];

/* End the story and restore the state before it. */
function endStory() {
  state = currentStory.before;
  currentStory = null;
  showControls();
  showStory();
}

const actionButton = (text, act, off = false) => {
  const node = element("button", { type: "button", disabled: off }, text);
  node.addEventListener("click", act);
  return node;
};

/* Show the current step, or the list of stories. */
function showStory() {
  if (!currentStory)
    return setContent(
      "story",
      element(
        "p",
        { className: "copying" },
        element("strong", {}, "See for yourself: "),
        ...STORIES.map(({ title }, k) => actionButton(title, () => showStep(k, 0))),
      ),
    );
  const { story, step, each } = currentStory;
  const { title, steps } = STORIES[story];
  const last = steps.length - 1;
  const chips = last
    ? each.map(({ name }, k) =>
        Object.assign(
          actionButton(name, () => showStep(story, k)),
          { ariaCurrent: k === step ? "step" : null },
        ),
      )
    : [];
  const next =
    step < last
      ? [
          Object.assign(
            actionButton("next", () => showStep(story, step + 1)),
            { className: "main" },
          ),
        ]
      : [];
  keepFocus("story", () =>
    setContent(
      "story",
      element(
        "p",
        { className: "copying" },
        element("strong", {}, title),
        ...chips,
        ...next,
        Object.assign(actionButton("end the story", endStory), { className: "plain" }),
      ),
      element("p", {}, steps[step].say(each[step])),
    ),
  );
}
