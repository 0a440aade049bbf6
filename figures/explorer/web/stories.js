/* Short guided stories: each step is a state of the page and a sentence. Numbers are read off the page, never told here. */
const factor = (word, times) => based(word) * times;
const STORIES = [
  { title: "Where does any theorem say anything?", steps: [
    { say: "Ten rounds of eight steps: no theorem is below the loss gap at the start. Blue on the plane is where this one would be.", plan: { rounds: 10 } },
    { say: "A hundred rounds: the first theorems speak, in a band along K·η = const. Below the band nothing has moved yet; above it the drift of the clients is charged.", plan: { rounds: 100 } },
    { say: "A thousand rounds: the band is wider. Click theorems in the list on the right: each has a band of its own, and some have none.", plan: { rounds: 1000 } },
    { say: "A hundred thousand rounds at the same K and η: bars that are mostly noise and drift hardly move any more. Press η −: smaller steps speak better now.", plan: { rounds: 100000 } },
    { say: "Clients that differ a hundred times less, and a hundred times less noise: now see which terms are left in the strips below the bars.", plan: { rounds: 1000 }, words: () => ({ gradient_variance: factor("gradient_variance", 0.01), optimum_dissimilarity: factor("optimum_dissimilarity", 0.01) }) },
  ] },
  { title: "The lost factor of K*", theorem: "decaying_k.per_rounds", steps: [
    { say: "The paper minimises this bound over K and η. Rings are formulas of the catalogue, those named printed as the paper has them; dots are derived here. They differ by a lost factor.", plan: { step_size: 0.001 } },
    { say: "Now every loss is ten times as large and η a tenth: exactly the same runs. The printed K* moves all the same; a right one cannot, and the derived one does not.", plan: { step_size: 0.0001 },
      words: () => ({ smoothness: factor("smoothness", 10), strong_convexity: factor("strong_convexity", 10), gradient_variance: factor("gradient_variance", 100), optimum_dissimilarity: factor("optimum_dissimilarity", 100), optimal_loss: factor("optimal_loss", 10), initial_gap: factor("initial_gap", 10) }) },
    { say: "Only the zero of the loss is moved: F* and the loss at the start are larger by one. No run changes, and this bound does: it charges the loss itself, not the gap.", plan: { step_size: 0.001 }, words: () => ({ optimal_loss: based("optimal_loss") + 1 }) },
  ] },
  { title: "Does relaxation lower divergence?", theorem: "fedinit.theorem_4", target: "divergence", steps: [
    { say: "FedInit starts clients away from where they ended; β = 0 is FedAvg. This is what its theorems say of the divergence of all clients.", plan: { step_size: 0.0005 } },
    { say: "β = 0.05: every bound on divergence is larger, not smaller. A theorem that rises in β cannot explain a lower divergence.", plan: { step_size: 0.0005, relaxation: 0.05 } },
    { say: "β = 0.1: larger still; beyond that the conditions fail and the theorems fall silent.", plan: { step_size: 0.0005, relaxation: 0.1 } },
    { say: "Four of ten clients a round: no theorem on the divergence of all clients is left. What does not apply, and why, stands below.", plan: { step_size: 0.0005, cohort: 4 } },
  ] },
  { title: "1/K or 1/K²?", steps: [
    { say: "FedALS bounds the generalization gap after one averaging round, and discusses whether it falls as 1/K or 1/K² in the number of clients. It speaks of no run of several rounds, so it is not on this plane: open the bound, put the clients along its axis, and read what the audit found below it.", bound: "fedals.one_round" },
  ] },
];
let telling = null;

function tell(story, step) {
  const { theorem = "", target = atlas.targets[0], steps } = STORIES[story], now = steps[step];
  telling = { story, step };
  fed = freshFederation(0, target);
  fed.words = now.words?.() ?? {};
  Object.assign(fed.plan, now.plan);
  fed.theorem = theorem;
  arrangeFederation();
  told_();
}

function told_() {
  const box = $("story");
  box.hidden = !telling;
  if (!telling) return;
  const { story, step } = telling, { title, steps } = STORIES[story], now = steps[step];
  const button = (text, act, off = false) => { const node = made("button", { type: "button", disabled: off }, text); node.addEventListener("click", act); return node; };
  const open = now.bound ? [button("open the bound", () => { keepFederation(); location.hash = `v=1&b=${now.bound}`; })] : [];
  keepingFocus("story", () => put("story", made("p", {}, made("strong", {}, `${title} ${step + 1} of ${steps.length}. `), now.say), made("p", { className: "copying" }, button("back", () => tell(story, step - 1), step === 0), button("next", () => tell(story, step + 1), step === steps.length - 1), ...open,
    button("end the story", () => { telling = null; told_(); $("stories").focus(); }))));
}

function listenStories() {
  put("stories", new Option("choose one", ""), ...STORIES.map(({ title }, i) => new Option(title, String(i))));
  $("stories").addEventListener("change", () => { if ($("stories").value !== "") tell(Number($("stories").value), 0); $("stories").value = ""; });
}
