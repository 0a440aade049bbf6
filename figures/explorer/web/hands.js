/* Events of the page, and what is computed again after them. */
/** @type {Row[]} */
let shownRows = [];
let job = null, waiting = 0, ladderWide = 0, planeWide = 0, keptLink = 0, byItself = true, pressed = false;
const taken = { drags: [], planes: [], ladders: [], paints: [] };

/* After a change: redraw the ranking, and compute the map again unless only K or eta has changed. */
function settingChanged(word = "") {
  leaveStory();
  put("plane-hover"); // it belongs to the previous setting
  if (word !== "local_steps" && word !== "step_size" && !single()) recompute();
  if (!waiting) waiting = requestAnimationFrame(redraw);
  clearTimeout(keptLink);
  keptLink = setTimeout(keep, 300);
}

/* Make the last change a step of the history; changes by the page itself, on opening, replace the current step. */
function keep() {
  clearTimeout(keptLink);
  keptLink = 0;
  if (pressed) { keptLink = setTimeout(keep, 300); return; }
  const link = federationLink();
  if (link !== location.hash) try { history[byItself ? "replaceState" : "pushState"](storyPlace(), "", link); } catch { /* inside a frame */ }
  byItself = false;
}

/* Redraw a part of the page and give the focus back to the same button, or to the one in its place. */
function keepingFocus(id, act) {
  const now = document.activeElement;
  if (!$(id).contains(now)) { act(); return; }
  const buttons = () => [...$(id).querySelectorAll("button, summary")], place = buttons().indexOf(now), text = now?.textContent;
  act();
  if (place < 0) return;
  const found = buttons().filter((node) => !node.disabled), same = found.filter((node) => node.textContent === text);
  const next = (same.length ? same : found).reduce((best, node) => (Math.abs(buttons().indexOf(node) - place) < Math.abs(buttons().indexOf(best) - place) ? node : best), (same.length ? same : found)[0]);
  next?.focus({ preventScroll: true });
}

function redraw() {
  waiting = 0;
  const begin = performance.now(), world = here();
  if (ladderWide > 0) rerank(world, begin);
  panel(world);
  taken.drags.push(performance.now() - begin);
}

function rerank(world, begin) {
  shownRows = world.v.rounds >= 1 ? withEvidence(compared(fed.target, world), world) : [];
  taken.ladders.push(performance.now() - begin);
  keepingFocus("ladder", () => showRanking(shownRows, ladderWide));
  keepingFocus("quiet", () => showInapplicable(shownRows));
  sentence(world);
  if (drawn && frameOf) pointMarks(world);
  theorems();
}

/* Write the plan and the result of the ranking in one sentence. */
function sentence({ v }) {
  const who = v.clients === 1 ? "one client" : `${v.clients} clients${v.cohort === v.clients ? "" : `, ${v.cohort} in every round`}`, plan = `${who}, ${formatted(v.rounds, 6)} rounds of ${v.local_steps} local ${v.local_steps === 1 ? "step" : "steps"}, η = ${formatted(v.step_size, 3)}: `;
  if (!(v.rounds >= 1)) return put("sentence", plan, element("strong", {}, "no whole round fits into these seconds."));
  const each = byTheorem(shownRows).filter((row) => !row.printed), good = each.filter((row) => row.state === "informative"), start = Math.min(...each.map((row) => row.here)), best = each[0];
  const before = start < Infinity ? ` Before training it is ${formatted(start, 3)}.` : "";
  const result = !each.length ? "no theorem has a value." : good.length ? `at most ${formatted(best.value, 3)} is guaranteed.` : "no theorem guarantees an improvement.";
  const count = each.length ? ` ${good.length} of ${each.length} valid bounds ${good.length === 1 ? "is" : "are"} informative.` : "";
  put("sentence", plan, element("strong", {}, result), before, count);
}

/* Compute the map again, in the worker or else in short slices; only the newest change is computed. */
function recompute() {
  const { given, upTo } = currentInputs();
  if (drawn) drawn.stale = true;
  if (thread) return ask({ target: fed.target, given, upTo, begin: performance.now() });
  const mine = { steps: plane(fed.target, given, upTo), begin: performance.now(), busy: 0 };
  job = mine;
  const slice = () => {
    if (job !== mine) return;
    const begin = performance.now();
    let next = /** @type {IteratorResult<number, Grid>} */ ({ done: false });
    while (!next.done && performance.now() - begin < SLICE) next = mine.steps.next();
    mine.busy += performance.now() - begin;
    if (!next.done) return requestAnimationFrame(slice);
    job = null;
    drawn = { ...next.value, fine: new Set() };
    taken.planes.push([mine.busy, performance.now() - mine.begin]);
    paintPlane();
  };
  requestAnimationFrame(slice);
}

function paintPlane() {
  if (!drawn || !(planeWide > 0)) return;
  const begin = performance.now(), world = here(), name = mapped() || leader(shownRows)?.bound.name;
  knownPlaces = [...(mapped() ? worstPlaces(mapped(), drawn.target, drawn.given, drawn.upTo) : []), ...(name ? measuredPlaces(name, drawn.target, world) : [])];
  $("plane").innerHTML = planeSvg(drawn, planeWide);
  pointMarks(world);
  planeLegend();
  keepingFocus("run-table", showBestPlans);
  taken.paints.push(performance.now() - begin);
  if (thread) refine();
}

function pickTheorem(name) {
  const speaks = shownRows.some((row) => (row.bound.name === name || row.alias?.includes(name)) && row.state !== "other quantity"), target = name && !speaks ? targetFor(name) : fed.target;
  Object.assign(fed, { theorem: name, x: "" });
  if (target !== fed.target) { fed.target = target; return arrange(); }
  theorems();
  paintPlane();
  settingChanged("local_steps");
}

let theoremsOf = "";

/* Fill the list of theorems that the map can show. */
function theorems() {
  const rows = [...new Map([...byTheorem(shownRows), ...shownRows.filter((row) => row.state === "conditions not met")].flatMap((row) => [row.bound.name, ...(row.alias ?? [])].map((name) => [name, row])))];
  const part = (label, keep) => element("optgroup", { label }, ...rows.filter(([, row]) => keep(row)).map(([name]) => new Option(titleOf(name), name)));
  const key = [...rows.map(([name, row]) => `${name} ${RANKED.includes(row.state)}`), fed.theorem].join();
  if (key === theoremsOf) return;
  theoremsOf = key;
  const here_ = new Set(rows.map(([name]) => name)), rest = [...bounds.keys()].filter((name) => !here_.has(name)).map((name) => new Option(titleOf(name), name));
  put("theorem", new Option("the smallest valid bound", ""), part("with a value at your plan", (row) => RANKED.includes(row.state)), part("whose conditions fail at your plan", (row) => row.state === "conditions not met"),
    element("optgroup", { label: "about other numbers" }, ...rest.sort((a, b) => (a.text < b.text ? -1 : 1))));
  $("theorem").value = fed.theorem;
  $("open-bound").hidden = !fed.theorem;
}

/* Make all controls again. */
function arrange() {
  put("federations", ...atlas.federations.map((one, i) => new Option(one.name, String(i))));
  $("federations").value = String(fed.place);
  put("federation-words", federation().words);
  if (single()) return settingChanged();
  put("number", ...atlas.targets.map((name) => new Option(targetLabel(name), name)));
  $("number").value = fed.target;
  const timed = fed.plan.runtime !== undefined;
  $("budget").value = timed ? "runtime" : "rounds";
  $("budget").disabled = federation().given.communication_time === undefined;
  put("plan-sliders", ...["local_steps", "step_size"].map((word) => controlOf(word)));
  put("plan-controls", ...[timed ? "runtime" : "rounds", "cohort", "relaxation"].map((word) => controlOf(word)));
  showRuns();
  put("problem-controls", ...PROBLEM_WORDS.filter((word) => typeof baseValue(word) === "number" && baseValue(word) > 0).map((word) => controlOf(word)));
  settingChanged();
}

function setBudget(kind) {
  const { v } = here(), time = v.communication_time + v.minibatch_time * v.local_steps;
  if (kind === "runtime") fed.plan.runtime = Number((v.rounds * time).toPrecision(3));
  else { fed.plan.rounds = Math.max(1, v.rounds); delete fed.plan.runtime; }
  arrange();
}

/* ---- the point ---- */

function planAt(event) {
  const box = $("plane").getBoundingClientRect(), { X, Y } = frameOf;
  return { local_steps: Math.max(1, Math.round(X.back(event.clientX - box.left))), step_size: Number(Y.back(event.clientY - box.top).toPrecision(3)) };
}

function movePlan(plan) {
  Object.assign(fed.plan, plan);
  showWords("local_steps", "step_size");
  settingChanged("local_steps");
}

/* Show the value of the shown (or best) theorem at the plan under the pointer. */
function hover(event) {
  if (!frameOf) return;
  const { local_steps, step_size } = planAt(event), { given, upTo } = currentInputs(), world = worldOf({ ...given, local_steps, step_size }, upTo), bound = bounds.get(mapped());
  const rows = !(world.v.rounds >= 1) ? [] : bound ? byTheorem(rowsOf(bound, fed.target, world, machineOf(world))) : byTheorem(compared(fed.target, world)).filter((one) => !one.printed), row = rows[0];
  put("plane-hover", `K = ${local_steps}, η = ${formatted(step_size, 3)}: ${row ? `${formatted(row.value, 3)}, ${LEVELS[levelOf(row.value, row)]}` : "no value"}`);
}

/* Move the plan one step: K by one, or with `far` by half; eta by a quarter of an octave, or an octave. */
function stepPlan(right, up, far = false) {
  const { local_steps: K, step_size } = fed.plan, many = far ? Math.max(1, Math.round(K / 2)) : 1;
  const { low, high } = window_(here().v).sizes, size = step_size * 2 ** (up / (far ? 1 : 4));
  movePlan({ local_steps: Math.max(1, Math.min(MOST_STEPS, K + right * many)), step_size: up ? Number(Math.max(low, Math.min(high, size)).toPrecision(3)) : step_size });
}

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function listen() {
  $("theme").addEventListener("click", otherTheme);
  $("federations").addEventListener("change", () => { fed = freshFederation(Number($("federations").value)); arrange(); });
  $("federation-reset").addEventListener("click", () => { fed = freshFederation(fed.place, fed.target); arrange(); });
  for (const kind of ["pointerdown", "pointerup", "pointercancel"]) addEventListener(kind, () => { pressed = kind === "pointerdown"; }, true);
  addEventListener("hashchange", () => { if (location.hash !== federationLink()) openAt(location.hash); });
  listenPanel();
  if (!single()) listenPlane();
}

function listenPlane() {
  const box = $("plane");
  let held = false;
  box.addEventListener("pointerdown", (event) => { if (!frameOf) return; held = true; box.setPointerCapture(event.pointerId); movePlan(planAt(event)); });
  box.addEventListener("pointermove", (event) => { if (held) movePlan(planAt(event)); hover(event); });
  for (const kind of ["pointerup", "pointercancel"]) box.addEventListener(kind, () => { held = false; });
  box.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!way) return;
    event.preventDefault();
    stepPlan(...way, event.shiftKey);
  });
  $("theorem").addEventListener("change", () => pickTheorem($("theorem").value));
  $("number").addEventListener("change", () => { fed.target = $("number").value; fed.theorem = ""; settingChanged(); });
  $("budget").addEventListener("change", () => setBudget($("budget").value));
  box.addEventListener("pointerleave", () => put("plane-hover"));
  $("open-bound").addEventListener("click", () => { $("one").open = true; $("one").scrollIntoView({ block: "start" }); $("one").firstElementChild.focus({ preventScroll: true }); });
  for (const button of every("[data-save]")) button.addEventListener("click", () => { const { save: name } = button.dataset; save(name, EXPORTS[name](), TYPES[name.split(".")[1]]); });
  for (const button of every("[data-told]")) button.addEventListener("click", () => copy(button.dataset.told, COMPARISONS[button.dataset.told](), "fed-"));
  $("load-json").addEventListener("change", async () => { const [file] = $("load-json").files; if (file) take(file.name, await file.text()); $("load-json").value = ""; });
  $("load-runs").addEventListener("change", async () => { const [file] = $("load-runs").files; if (file) takeRuns(file.name, await file.text()); $("load-runs").value = ""; });
  new ResizeObserver(([entry]) => { planeWide = Math.floor(entry.contentRect.width); paintPlane(); }).observe(box);
  new ResizeObserver(([entry]) => { const now = Math.floor(entry.contentRect.width) - 4; if (now !== ladderWide) { ladderWide = now; settingChanged("local_steps"); } }).observe($("ladder"));
}

/* A unique name, by which links and the history find a federation. */
function unlike(name, others_) {
  for (let k = 1; ; k++) {
    const own = k === 1 ? name : `${name} (${k})`;
    if (!others_.includes(own)) return own;
  }
}

function take(name, text) {
  const before = fed, many = atlas.federations.length;
  try {
    atlas.federations.push({ ...loadConstants(name, text), name: unlike(name, atlas.federations.map((one) => one.name)) });
    fed = freshFederation(atlas.federations.length - 1, fed.target);
    for (const word of Object.keys(NAMES)) {
      const value = valueOf(word), why = value === undefined ? "" : refusedWord(word, value);
      if (why) throw Error(`${words(word)} is ${value}: it ${why}`);
    }
    arrange();
    notice("");
  } catch (error) {
    atlas.federations.length = many;
    fed = before;
    notice(`${name} is no federation: ${error.message}.`);
  }
}
