/* Events of the page, and what is computed again after them. */
/** @type {Row[]} */
let shownRows = [];
let mapJob = null;
let redrawRequest = 0;
let rankingWidth = 0;
let mapWidth = 0;
let linkTimer = 0;
let automatic = true;
let pointerIsDown = false;
const timings = { redraws: [], maps: [], rankings: [], paints: [] };

/* After a change: redraw the ranking, and compute the map again unless only K or eta has changed. */
function settingChanged(quantity = "") {
  leaveStory();
  setContent("map-hover"); // it belongs to the previous setting
  if (quantity !== "local_steps" && quantity !== "step_size" && !singleBounds()) recompute();
  if (!redrawRequest) redrawRequest = requestAnimationFrame(redraw);
  clearTimeout(linkTimer);
  linkTimer = setTimeout(saveLink, 300);
}

/* Make the last change a step of the history; changes by the page itself, on opening, replace the current step. */
function saveLink() {
  clearTimeout(linkTimer);
  linkTimer = 0;
  if (pointerIsDown) {
    linkTimer = setTimeout(saveLink, 300);
    return;
  }
  const link = stateLink();
  if (link !== location.hash)
    try {
      history[automatic ? "replaceState" : "pushState"](storyPosition(), "", link);
    } catch {
      /* inside a frame */
    }
  automatic = false;
}

/* Redraw a part of the page and give the focus back to the same button, or to the one in its place. */
function keepFocus(id, act) {
  const now = document.activeElement;
  if (!$(id).contains(now)) {
    act();
    return;
  }
  const buttons = () => [...$(id).querySelectorAll("button, summary")];
  const place = buttons().indexOf(now);
  const text = now?.textContent;
  act();
  if (place < 0) return;
  const enabled = buttons().filter((node) => !node.disabled);
  const same = enabled.filter((node) => node.textContent === text);
  const next = (same.length ? same : enabled).reduce(
    (best, node) =>
      Math.abs(buttons().indexOf(node) - place) < Math.abs(buttons().indexOf(best) - place) ? node : best,
    (same.length ? same : enabled)[0],
  );
  next?.focus({ preventScroll: true });
}

function redraw() {
  redrawRequest = 0;
  const begin = performance.now();
  const scenario = currentScenario();
  if (rankingWidth > 0) updateRanking(scenario, begin);
  panel(scenario);
  timings.redraws.push(performance.now() - begin);
}

function updateRanking(scenario, begin) {
  shownRows = scenario.v.rounds >= 1 ? withEvidence(compareTheorems(state.target, scenario), scenario) : [];
  timings.rankings.push(performance.now() - begin);
  keepFocus("ranking", () => showRanking(shownRows, rankingWidth));
  keepFocus("inapplicable", () => showInapplicable(shownRows));
  showSummary(scenario);
  if (mapGrid && mapFrame) drawPlan(scenario);
  listTheorems();
}

/* Write the plan and the result of the ranking in one sentence. */
function showSummary({ v }) {
  const who =
    v.clients === 1
      ? "one client"
      : `${v.clients} clients${v.cohort === v.clients ? "" : `, ${v.cohort} in every round`}`;
  const plan = `${who}, ${formatted(v.rounds, 6)} rounds of ${v.local_steps} local ${v.local_steps === 1 ? "step" : "steps"}, η = ${formatted(v.step_size, 3)}: `;
  if (!(v.rounds >= 1))
    return setContent("sentence", plan, element("strong", {}, "no whole round fits into these seconds."));
  const each = byTheorem(shownRows).filter((row) => !row.printed);
  const good = each.filter((row) => row.state === "informative");
  const start = Math.min(...each.map((row) => row.startValue));
  const best = each[0];
  const before = start < Infinity ? ` Before training it is ${formatted(start, 3)}.` : "";
  const result = !each.length
    ? "no theorem has a value."
    : good.length
      ? `at most ${formatted(best.value, 3)} is guaranteed.`
      : "no theorem guarantees an improvement.";
  const count = each.length
    ? ` ${good.length} of ${each.length} valid bounds ${good.length === 1 ? "is" : "are"} informative.`
    : "";
  setContent("sentence", plan, element("strong", {}, result), before, count);
}

/* Compute the map again, in the worker or else in short slices; only the newest change is computed. */
function recompute() {
  const { given, upTo } = currentInputs();
  if (mapGrid) mapGrid.stale = true;
  if (worker) return requestMap({ target: state.target, given, upTo, begin: performance.now() });
  const mine = { steps: computeMap(state.target, given, upTo), begin: performance.now(), busy: 0 };
  mapJob = mine;
  const slice = () => {
    if (mapJob !== mine) return;
    const begin = performance.now();
    let next = /** @type {IteratorResult<number, Grid>} */ ({ done: false });
    while (!next.done && performance.now() - begin < SLICE) next = mine.steps.next();
    mine.busy += performance.now() - begin;
    if (!next.done) return requestAnimationFrame(slice);
    mapJob = null;
    mapGrid = { ...next.value, fine: new Set() };
    timings.maps.push([mine.busy, performance.now() - mine.begin]);
    drawMap();
  };
  requestAnimationFrame(slice);
}

function drawMap() {
  if (!mapGrid || !(mapWidth > 0)) return;
  const begin = performance.now();
  const scenario = currentScenario();
  const name = mappedTheorem() || bestRow(shownRows)?.bound.name;
  evidencePlans = [
    ...(mappedTheorem() ? worstCasePlans(mappedTheorem(), mapGrid.target, mapGrid.given, mapGrid.upTo) : []),
    ...(name ? measuredPlansOf(name, mapGrid.target, scenario) : []),
  ];
  $("map").innerHTML = mapSvg(mapGrid, mapWidth);
  drawPlan(scenario);
  showLegend();
  keepFocus("run-table", showBestPlans);
  timings.paints.push(performance.now() - begin);
  if (worker) refine();
}

function pickTheorem(name) {
  const isRanked = shownRows.some(
    (row) => (row.bound.name === name || row.alias?.includes(name)) && row.state !== "other quantity",
  );
  const target = name && !isRanked ? targetFor(name) : state.target;
  Object.assign(state, { theorem: name, x: "" });
  if (target !== state.target) {
    state.target = target;
    return showControls();
  }
  listTheorems();
  drawMap();
  settingChanged("local_steps");
}

let listedTheorems = "";

/* Fill the list of theorems that the map can show. */
function listTheorems() {
  const rows = [
    ...new Map(
      [...byTheorem(shownRows), ...shownRows.filter((row) => row.state === "conditions not met")].flatMap((row) =>
        [row.bound.name, ...(row.alias ?? [])].map((name) => [name, row]),
      ),
    ),
  ];
  const part = (label, keep) =>
    element(
      "optgroup",
      { label },
      ...rows.filter(([, row]) => keep(row)).map(([name]) => new Option(titleOf(name), name)),
    );
  const key = [...rows.map(([name, row]) => `${name} ${RANKED.includes(row.state)}`), state.theorem].join();
  if (key === listedTheorems) return;
  listedTheorems = key;
  const ranked = new Set(rows.map(([name]) => name));
  const rest = [...bounds.keys()].filter((name) => !ranked.has(name)).map((name) => new Option(titleOf(name), name));
  setContent(
    "theorem",
    new Option("the smallest valid bound", ""),
    part("with a value at your plan", (row) => RANKED.includes(row.state)),
    part("whose conditions fail at your plan", (row) => row.state === "conditions not met"),
    element("optgroup", { label: "about other numbers" }, ...rest.sort((a, b) => (a.text < b.text ? -1 : 1))),
  );
  $("theorem").value = state.theorem;
  $("open-bound").hidden = !state.theorem;
}

/* Make all controls again. */
function showControls() {
  setContent("federations", ...atlas.federations.map((one, i) => new Option(one.name, String(i))));
  $("federations").value = String(state.place);
  setContent("federation-words", federation().words);
  if (singleBounds()) return settingChanged();
  setContent("target", ...atlas.targets.map((name) => new Option(targetLabel(name), name)));
  $("target").value = state.target;
  const timed = state.plan.runtime !== undefined;
  $("budget").value = timed ? "runtime" : "rounds";
  $("budget").disabled = federation().given.communication_time === undefined;
  setContent("plan-sliders", ...["local_steps", "step_size"].map((quantity) => controlOf(quantity)));
  setContent(
    "plan-controls",
    ...[timed ? "runtime" : "rounds", "cohort", "relaxation"].map((quantity) => controlOf(quantity)),
  );
  showMeasurements();
  setContent(
    "problem-controls",
    ...PROBLEM_CONSTANTS.filter((quantity) => typeof baseValue(quantity) === "number" && baseValue(quantity) > 0).map(
      (quantity) => controlOf(quantity),
    ),
  );
  settingChanged();
}

function setBudget(kind) {
  const { v } = currentScenario();
  const time = v.communication_time + v.minibatch_time * v.local_steps;
  if (kind === "runtime") state.plan.runtime = Number((v.rounds * time).toPrecision(3));
  else {
    state.plan.rounds = Math.max(1, v.rounds);
    delete state.plan.runtime;
  }
  showControls();
}

/* ---- the point ---- */

function planAt(event) {
  const box = $("map").getBoundingClientRect();
  const { X, Y } = mapFrame;
  return {
    local_steps: Math.max(1, Math.round(X.back(event.clientX - box.left))),
    step_size: Number(Y.back(event.clientY - box.top).toPrecision(3)),
  };
}

function movePlan(plan) {
  Object.assign(state.plan, plan);
  updateControls("local_steps", "step_size");
  settingChanged("local_steps");
}

/* Show the value of the shown (or best) theorem at the plan under the pointer. */
function showValueAtPointer(event) {
  if (!mapFrame) return;
  const { local_steps, step_size } = planAt(event);
  const { given, upTo } = currentInputs();
  const scenario = scenarioOf({ ...given, local_steps, step_size }, upTo);
  const bound = bounds.get(mappedTheorem());
  const rows = !(scenario.v.rounds >= 1)
    ? []
    : bound
      ? byTheorem(rowsOf(bound, state.target, scenario, equivalentMachine(scenario)))
      : byTheorem(compareTheorems(state.target, scenario)).filter((one) => !one.printed);
  const row = rows[0];
  setContent(
    "map-hover",
    `K = ${local_steps}, η = ${formatted(step_size, 3)}: ${row ? `${formatted(row.value, 3)}, ${LEVELS[levelOf(row.value, row)]}` : "no value"}`,
  );
}

/* Move the plan one step: K by one, or with `far` by half; eta by a quarter of an octave, or an octave. */
function stepPlan(right, up, far = false) {
  const { local_steps: K, step_size } = state.plan;
  const many = far ? Math.max(1, Math.round(K / 2)) : 1;
  const { low, high } = mapRange(currentScenario().v).sizes;
  const size = step_size * 2 ** (up / (far ? 1 : 4));
  movePlan({
    local_steps: Math.max(1, Math.min(MAX_STEPS, K + right * many)),
    step_size: up ? Number(Math.max(low, Math.min(high, size)).toPrecision(3)) : step_size,
  });
}

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function listen() {
  $("theme").addEventListener("click", toggleTheme);
  $("federations").addEventListener("change", () => {
    state = initialState(Number($("federations").value));
    showControls();
  });
  $("federation-reset").addEventListener("click", () => {
    state = initialState(state.place, state.target);
    showControls();
  });
  for (const kind of ["pointerdown", "pointerup", "pointercancel"])
    addEventListener(
      kind,
      () => {
        pointerIsDown = kind === "pointerdown";
      },
      true,
    );
  addEventListener("hashchange", () => {
    if (location.hash !== stateLink()) openAt(location.hash);
  });
  listenPanel();
  if (!singleBounds()) listenMap();
}

function listenMap() {
  const box = $("map");
  let held = false;
  box.addEventListener("pointerdown", (event) => {
    if (!mapFrame) return;
    held = true;
    box.setPointerCapture(event.pointerId);
    movePlan(planAt(event));
  });
  box.addEventListener("pointermove", (event) => {
    if (held) movePlan(planAt(event));
    showValueAtPointer(event);
  });
  for (const kind of ["pointerup", "pointercancel"])
    box.addEventListener(kind, () => {
      held = false;
    });
  box.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!way) return;
    event.preventDefault();
    stepPlan(...way, event.shiftKey);
  });
  $("theorem").addEventListener("change", () => pickTheorem($("theorem").value));
  $("target").addEventListener("change", () => {
    state.target = $("target").value;
    state.theorem = "";
    settingChanged();
  });
  $("budget").addEventListener("change", () => setBudget($("budget").value));
  box.addEventListener("pointerleave", () => setContent("map-hover"));
  $("open-bound").addEventListener("click", () => {
    $("theorem-panel").open = true;
    $("theorem-panel").scrollIntoView({ block: "start" });
    $("theorem-panel").firstElementChild.focus({ preventScroll: true });
  });
  for (const button of selectAll("[data-save]"))
    button.addEventListener("click", () => {
      const { save: name } = button.dataset;
      save(name, EXPORTS[name](), TYPES[name.split(".")[1]]);
    });
  for (const button of selectAll("[data-comparison]"))
    button.addEventListener("click", () =>
      copy(button.dataset.comparison, COMPARISONS[button.dataset.comparison](), "fed-"),
    );
  $("load-json").addEventListener("change", async () => {
    const [file] = $("load-json").files;
    if (file) openConstants(file.name, await file.text());
    $("load-json").value = "";
  });
  $("load-runs").addEventListener("change", async () => {
    const [file] = $("load-runs").files;
    if (file) openRuns(file.name, await file.text());
    $("load-runs").value = "";
  });
  new ResizeObserver(([entry]) => {
    mapWidth = Math.floor(entry.contentRect.width);
    drawMap();
  }).observe(box);
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width) - 4;
    if (now !== rankingWidth) {
      rankingWidth = now;
      settingChanged("local_steps");
    }
  }).observe($("ranking"));
}

/* A unique name, by which links and the history find a federation. */
function uniqueName(name, others_) {
  for (let k = 1; ; k++) {
    const own = k === 1 ? name : `${name} (${k})`;
    if (!others_.includes(own)) return own;
  }
}

function openConstants(name, text) {
  const before = state;
  const many = atlas.federations.length;
  try {
    atlas.federations.push({
      ...federationFromFile(name, text),
      name: uniqueName(
        name,
        atlas.federations.map((one) => one.name),
      ),
    });
    state = initialState(atlas.federations.length - 1, state.target);
    for (const quantity of Object.keys(LABELS)) {
      const value = valueOf(quantity);
      const why = value === undefined ? "" : refusalFor(quantity, value);
      if (why) throw Error(`${readable(quantity)} is ${value}: it ${why}`);
    }
    showControls();
    notice("");
  } catch (error) {
    atlas.federations.length = many;
    state = before;
    notice(`${name} is no federation: ${error.message}.`);
  }
}
