/* The panel of the shown theorem: its formula, its value at the plan and along one quantity, its conditions, and the claims
of the audit. */
const POINTS = 60;
const SEARCHED = 20;
let describedBound = "";
let controlsKey = "";
let chartWidth = 0;

/* A target that varies over clients or classes is shown for the first one if they differ. */
const ofMember = ({ target: { axis } }) =>
  !axis
    ? ""
    : givenLists().length
      ? ` of the first ${axis === "clients" ? "client" : "class"}`
      : ` of every ${axis === "clients" ? "client" : "class"}`;

/* ---- along one quantity ---- */

/* The quantities along which the bound can be drawn: those with a control. */
const axesOf = (bound) =>
  bound.quantities.filter((q) => !q.axis && (hasControl(q.name) || isMissing(q.name))).map((q) => q.name);

function curveAxis(bound) {
  const axes = axesOf(bound);
  return [state.x, bound.x].find((quantity) => axes.includes(quantity)) ?? axes[0] ?? "";
}

/* The values along the axis: at most `maxCount` of those of the slider. */
function axisValues(quantity, maxCount) {
  const steps = sliderSteps(quantity);
  const log =
    steps.some((x) => x > 0) &&
    (hasControl(quantity) ? quantity !== "relaxation" : Boolean(quantityOf(quantity).slider[2]));
  const all = log ? steps.filter((x) => x > 0) : steps;
  const step = Math.ceil(all.length / maxCount);
  return { log, x: all.filter((_, k) => k % step === 0 || k === all.length - 1) };
}

/* Evaluate the bound at other values of one quantity; at other plans with the constants that are best at this one. */
function curveOf(bound, quantity, xs, chosen) {
  const before = state;
  const keeps = inPlan(quantity) ? chosen : undefined;
  state = { ...state, plan: { ...state.plan }, constants: { ...state.constants } };
  try {
    return xs.map((x) => {
      setQuantity(quantity, x);
      return evaluateIn(bound, currentScenario(), keeps);
    });
  } finally {
    state = before;
  }
}

/* Everything that the chart shows. */
function curveData(bound, scenario) {
  const quantity = curveAxis(bound);
  if (!quantity) return null;
  const best = minimisersOf(bound, scenario, quantity);
  const chosen = bestConstants(bound, scenario);
  const searched = !inPlan(quantity) && Object.keys(chosen).length > 0;
  const { x, log } = axisValues(quantity, searched ? SEARCHED : POINTS);
  const at = valueOf(quantity) ?? quantityOf(quantity).value;
  const rows = quantity === "rounds" ? (federation().rows ?? []) : [];
  return {
    bound,
    quantity,
    x,
    log,
    at,
    rows,
    best,
    points: curveOf(bound, quantity, x, chosen),
    here: evaluateIn(bound, scenario, chosen),
    trivial: vacuousAbove(bound, scenario),
  };
}

/* The value above which the bound is vacuous, if known. */
function vacuousAbove(bound, scenario) {
  const [v] = inputs(bound, scenario);
  const b = atlas.bounds[bound.name];
  if (b && bound.target.name === state.target) return trivialValues(b, state.target, scenario).startValue;
  return typeof bound.trivial === "string" ? v[bound.trivial] : (bound.trivial ?? NaN);
}

/* ---- texts ---- */

/* Write what does not change for a bound. */
function describe(bound) {
  const { source, statistic, target, relation } = bound;
  setContent("name", titleOf(bound.name));
  const facts = [
    source,
    `${targetLabel(target.name)}${statistic && `, ${statistic}`}`,
    relation === "<~" ? "up to a constant: slopes can be compared, levels cannot" : "",
  ].filter(Boolean);
  setContent("facts", `${facts.join(" · ")} · `, element("code", {}, ...withBreaks(bound.name)));
  $("formula").innerHTML = bound.math;
  breakIntoRows($("formula").firstElementChild);
  setContent("note", typeset(bound.note));
  $("note").hidden = !bound.note;
  const place = ([, verdict]) => ["FAILS", "REPAIRED", "OPEN", "HOLDS"].indexOf(verdict); // failing claims first
  const sorted = bound.claims.map((k) => claims[k]).sort((one, two) => place(one) - place(two));
  setContent("claims", ...sorted.map(claimItem));
  setContent(
    "claims-title",
    sorted.length
      ? `Audit: ${sorted.length} ${sorted.length === 1 ? "claim" : "claims"} about this bound`
      : "No claim of the audit is about this bound",
  );
  selectAll("[data-copy=shell]")[0].hidden = !loadable(bound);
}

function claimItem([name, verdict, text, source, kind, because]) {
  const why = typeset(`${kind ? `(${kind}) ` : ""}${text} ${because ? `${because} ` : ""}`);
  return element(
    "li",
    {},
    element("strong", { className: `verdict ${verdict}` }, verdict),
    ` ${why}`,
    element("small", {}, `${source}; fedbounds check `, ...withBreaks(name)),
  );
}

/* Controls for the quantities that the setting lacks, which start at the bound's example. */
function missingControls(bound) {
  const own = bound.quantities.filter((q) => isMissing(q.name)).sort((a, b) => (a.choice || 99) - (b.choice || 99));
  const key = JSON.stringify([state.place, bound.name, own.map((q) => q.name)]);
  if (key === controlsKey) return;
  controlsKey = key;
  setContent(
    "missing-numbers",
    ...own.map((q) => controlOf(q.name, valueOf(q.name) ?? (q.simplex ? undefined : q.value))),
  );
  setContent(
    "missing-title",
    singleBounds() ? "Its quantities" : "Quantities missing from your setting, with the values of the bound's example",
  );
  $("missing-title").hidden = !own.length;
  setContent("x", ...axesOf(bound).map((name) => new Option(readable(name), name)));
}

/* The value of the formula, for a bound that is not in the ranking. */
function formulaValue(bound, { terms, total, failed }) {
  const relation = { "<=": "at most", ">=": "at least", "=": "", "<~": "of the order of" }[bound.relation];
  const parts =
    bound.terms.length > 1 ? ` (${bound.terms.map((name, k) => `${name} ${formatted(terms[k])}`).join(", ")})` : "";
  const reason = failed.length
    ? `; a condition fails: ${typeset(failed.map((k) => bound.conditions[k].words).join("; "))}`
    : "";
  return element(
    "p",
    {},
    "The formula gives ",
    element("strong", {}, `${targetLabel(bound.target.name)}${ofMember(bound)} ${relation} ${formatted(total)}`),
    `${parts}${reason}.`,
  );
}

/* The conditions by verdict: whether each holds at the plan by numbers or by the structure of the setting, or is assumed. */
function judgedConditions(bound, evaluated, row) {
  const structure = new Set((row?.failed ?? []).map((one) => one.words));
  const judged = { fails: [], holds: [], assumed: [] };
  bound.conditions.forEach((condition, k) => {
    const decided = condition.kind === "numeric" || condition.kind === "domain";
    const fails = decided ? evaluated.failed.includes(k) : structure.has(condition.words);
    judged[fails ? "fails" : decided ? "holds" : "assumed"].push(condition);
  });
  return judged;
}

/* One line for every condition that holds or fails, and one for all that are assumed. */
function conditionItems(judged) {
  const item = (verdict, text, math = "") => {
    const line = element("li", { className: verdict }, element("strong", {}, verdict), ` ${typeset(text)} `);
    line.insertAdjacentHTML("beforeend", math);
    return line;
  };
  const each = ["fails", "holds"].flatMap((verdict) =>
    judged[verdict].map(({ words: text, math }) => item(verdict, text, math)),
  );
  return judged.assumed.length ? [...each, item("assumed", judged.assumed.map((one) => one.words).join("; "))] : each;
}

function minimumText({ points, x, quantity, best }) {
  const smallest = points.reduce(
    (at, one, k) => (!one.failed.length && one.total < (points[at]?.total ?? Infinity) ? k : at),
    -1,
  );
  const minimisersText = best.map(({ label, at }) => `${label} ${formatted(at)}`).join("; ");
  return `Smallest on this chart ${smallest < 0 ? "nowhere: a condition fails everywhere" : `at ${readable(quantity)} = ${formatted(x[smallest])}: ${formatted(points[smallest].total)}`}.${minimisersText ? ` By formula: ${minimisersText}.` : ""}`;
}

/* Redraw the panel after a change. */
function panel(scenario) {
  const bound = shownBound();
  $("theorem-panel").hidden = !bound;
  $("no-theorem").hidden = Boolean(bound) || singleBounds();
  if (!bound) return;
  if (describedBound !== bound.name) describe(bound);
  describedBound = bound.name;
  missingControls(bound);
  $("x").value = curveAxis(bound);
  const shown = curveData(bound, scenario);
  const now = shown?.here ?? evaluateIn(bound, scenario);
  const row = rowShown();
  setContent(
    "plan-value",
    ...describeRow(row),
    ...(row && RANKED.includes(row.state) && !row.conversions.length ? [] : [formulaValue(bound, now)]),
  );
  if (chartWidth > 0) $("chart").innerHTML = shown ? chartSvg(shown, chartWidth) : "";
  setContent("minimum", shown && ["<=", "<~"].includes(bound.relation) ? minimumText(shown) : "");
  $("chart").setAttribute("aria-label", `Curve of the bound. ${$("minimum").textContent}`);
  const judged = judgedConditions(bound, now, row);
  const counts = Object.entries(judged)
    .filter(([, those]) => those.length)
    .map(
      ([verdict, those]) =>
        `${those.length} ${verdict === "assumed" || those.length === 1 ? verdict : verdict.replace(/s$/, "")}`,
    );
  setContent("conditions-title", counts.length ? `Conditions: ${counts.join(", ")}` : "No conditions");
  setContent("conditions", ...conditionItems(judged));
}

/* A pointer on the chart sets the quantity of its axis. */
function listenPanel() {
  const box = $("chart");
  let held = false;
  const moveToPointer = (event) => {
    const { X, x, quantity, left, right } = chartFrame;
    const p = event.clientX - box.getBoundingClientRect().left;
    const value = x[nearestIndex(x, X.back(Math.max(left, Math.min(right, p))))];
    if (refusalFor(quantity, value)) return;
    setQuantity(quantity, value);
    updateControls(quantity);
    settingChanged(quantity);
  };
  box.addEventListener("pointerdown", (event) => {
    if (!chartFrame) return;
    held = true;
    box.setPointerCapture(event.pointerId);
    moveToPointer(event);
  });
  box.addEventListener("pointermove", (event) => {
    if (held) moveToPointer(event);
  });
  for (const kind of ["pointerup", "pointercancel"])
    box.addEventListener(kind, () => {
      held = false;
    });
  $("x").addEventListener("change", () => {
    state.x = $("x").value;
    settingChanged("local_steps");
  });
  for (const button of selectAll("[data-copy]"))
    button.addEventListener("click", () => copy(button.dataset.copy, COPIES[button.dataset.copy]()));
  new ResizeObserver(([entry]) => {
    chartWidth = Math.floor(entry.contentRect.width);
    settingChanged("local_steps");
  }).observe(box);
}
