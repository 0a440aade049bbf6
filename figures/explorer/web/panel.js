/* The panel of the shown theorem: its formula, its value at the plan and along one quantity, its conditions, and the claims
of the audit. */
const POINTS = 60, SEARCHED = 20;
let panelOf = "", controlsOf = "", panelWide = 0;

/* A target that varies over clients or classes is shown for the first one if they differ. */
const ofMember = ({ target: { axis } }) => (!axis ? "" : lists().length ? ` of the first ${axis === "clients" ? "client" : "class"}` : ` of every ${axis === "clients" ? "client" : "class"}`);

/* ---- along one quantity ---- */

/* The quantities along which the bound can be drawn: those with a control. */
const axesOf = (bound) => bound.quantities.filter((q) => !q.axis && (known(q.name) || ungiven(q.name))).map((q) => q.name);

function xOf(bound) {
  const axes = axesOf(bound);
  return [fed.x, bound.x].find((word) => axes.includes(word)) ?? axes[0] ?? "";
}

/* The values along the axis: at most `most` of those of the slider. */
function placesOf(word, most) {
  const steps = stepsOf(word), log = steps.some((x) => x > 0) && (known(word) ? word !== "relaxation" : Boolean(quantityOf(word).slider[2]));
  const all = log ? steps.filter((x) => x > 0) : steps, step = Math.ceil(all.length / most);
  return { log, x: all.filter((_, k) => k % step === 0 || k === all.length - 1) };
}

/* Evaluate the bound at other values of one quantity; at other plans with the constants that are best at this one. */
function curveOf(bound, word, xs, chosen) {
  const before = fed, keeps = inPlan(word) ? chosen : undefined;
  fed = { ...fed, plan: { ...fed.plan }, words: { ...fed.words } };
  try {
    return xs.map((x) => { setWord(word, x); return evaluateIn(bound, here(), keeps); });
  } finally { fed = before; }
}

/* Everything that the chart shows. */
function picture(bound, world) {
  const word = xOf(bound);
  if (!word) return null;
  const best = starsOf(bound, world, word), chosen = bestConstants(bound, world), searched = !inPlan(word) && Object.keys(chosen).length > 0;
  const { x, log } = placesOf(word, searched ? SEARCHED : POINTS), at = valueOf(word) ?? quantityOf(word).value, rows = word === "rounds" ? federation().rows ?? [] : [];
  return { bound, word, x, log, at, rows, best, found: curveOf(bound, word, x, chosen), here: evaluateIn(bound, world, chosen), trivial: vacuity(bound, world) };
}

/* The value above which the bound is vacuous, if known. */
function vacuity(bound, world) {
  const [v] = inputs(bound, world), b = atlas.bounds[bound.name];
  if (b && bound.target.name === fed.target) return trivial(b, fed.target, world).here;
  return typeof bound.trivial === "string" ? v[bound.trivial] : bound.trivial ?? NaN;
}

/* ---- texts ---- */

/* Write what does not change for a bound. */
function describe(bound) {
  const { source, statistic, target, relation } = bound;
  put("name", titleOf(bound.name));
  const facts = [source, `${words(target.name)}${statistic && `, ${statistic}`}`, relation === "<~" ? "up to a constant: slopes can be compared, levels cannot" : ""].filter(Boolean);
  put("facts", `${facts.join(" · ")} · `, element("code", {}, ...withBreaks(bound.name)));
  $("formula").innerHTML = bound.math;
  breakIntoRows($("formula").firstElementChild);
  put("note", typeset(bound.note));
  $("note").hidden = !bound.note;
  const place = ([, verdict]) => ["FAILS", "REPAIRED", "OPEN", "HOLDS"].indexOf(verdict); // failing claims first
  const found = bound.claims.map((k) => claims[k]).sort((one, two) => place(one) - place(two));
  put("claims", ...found.map(claimItem));
  put("claims-title", found.length ? `What the audit says: ${found.length} ${found.length === 1 ? "claim" : "claims"} about this bound` : "The audit has no claim about this bound");
  every("[data-copy=shell]")[0].hidden = !reachable(bound);
}

function claimItem([name, verdict, text, source, kind, because]) {
  const why = typeset(`${kind ? `(${kind}) ` : ""}${text} ${because ? `${because} ` : ""}`);
  return element("li", {}, element("strong", { className: `verdict ${verdict}` }, verdict), ` ${why}`, element("small", {}, `${source}; fedbounds check `, ...withBreaks(name)));
}

/* Controls for the quantities that the setting lacks, which start at the bound's example. */
function ownControls(bound) {
  const own = bound.quantities.filter((q) => ungiven(q.name)).sort((a, b) => (a.choice || 99) - (b.choice || 99));
  const key = JSON.stringify([fed.place, bound.name, own.map((q) => q.name)]);
  if (key === controlsOf) return;
  controlsOf = key;
  put("own-numbers", ...own.map((q) => controlOf(q.name, valueOf(q.name) ?? (q.simplex ? undefined : q.value))));
  put("own-title", single() ? "Its numbers" : "Numbers that your setting does not tell, from the bound's example");
  $("own-title").hidden = !own.length;
  put("x", ...axesOf(bound).map((name) => new Option(words(name), name)));
}

/* The value of the formula, for a bound that is not in the ranking. */
function readout(bound, { terms, total, failed }) {
  const relation = { "<=": "at most", ">=": "at least", "=": "", "<~": "of the order of" }[bound.relation];
  const parts = bound.terms.length > 1 ? ` (${bound.terms.map((name, k) => `${name} ${formatted(terms[k])}`).join(", ")})` : "";
  const silent = failed.length ? `; a condition fails: ${typeset(failed.map((k) => bound.conditions[k].words).join("; "))}` : "";
  return element("p", {}, "The formula gives ", element("strong", {}, `${words(bound.target.name)}${ofMember(bound)} ${relation} ${formatted(total)}`), `${parts}${silent}.`);
}

/* Every condition, and whether it holds here by numbers or by the structure of the setting. */
function conditionItems(bound, here_, row) {
  const structure = new Set((row?.failed ?? []).map((one) => one.words));
  return bound.conditions.map(({ words: text, kind, math }, k) => {
    const decided = kind === "numeric" || kind === "domain", fails_ = decided ? here_.failed.includes(k) : structure.has(text);
    const word = fails_ ? "fails" : decided ? "holds" : "assumed", line = element("li", { className: word }, element("strong", {}, word), ` ${typeset(text)} `);
    if (math) line.insertAdjacentHTML("beforeend", math);
    return line;
  });
}

function minimumText({ found, x, word, best }) {
  const least = found.reduce((at, one, k) => (!one.failed.length && one.total < (found[at]?.total ?? Infinity) ? k : at), -1);
  const known_ = best.map(({ label, at }) => `${label} ${formatted(at)}`).join("; ");
  return `Smallest on this chart ${least < 0 ? "nowhere: a condition fails everywhere" : `at ${words(word)} = ${formatted(x[least])}: ${formatted(found[least].total)}`}.${known_ ? ` By formula: ${known_}.` : ""}`;
}

/* Redraw the panel after a change. */
function panel(world) {
  const bound = opened();
  $("one").hidden = !bound;
  $("no-one").hidden = Boolean(bound) || single();
  if (!bound) return;
  if (panelOf !== bound.name) describe(bound);
  panelOf = bound.name;
  ownControls(bound);
  $("x").value = xOf(bound);
  const shown = picture(bound, world), now = shown?.here ?? evaluateIn(bound, world), row = rowShown();
  put("says", ...inWords(row), ...(row && RANKED.includes(row.state) && !row.conversions.length ? [] : [readout(bound, now)]));
  if (panelWide > 0) $("chart").innerHTML = shown ? chart(shown, panelWide) : "";
  put("minimum", shown && ["<=", "<~"].includes(bound.relation) ? minimumText(shown) : "");
  $("chart").setAttribute("aria-label", `Curve of the bound. ${$("minimum").textContent}`);
  const lines = conditionItems(bound, now, row), many = (what) => lines.filter((line) => line.className === what).length;
  put("if-title", !lines.length ? "It holds always" : `Its conditions: ${["fails", "holds", "assumed"].filter(many).map((what) => `${many(what)} ${many(what) === 1 || what === "assumed" ? what : what.replace(/s$/, "")}`).join(", ")}`);
  put("conditions", ...lines);
}

/* A pointer on the chart sets the quantity of its axis. */
function listenPanel() {
  const box = $("chart");
  let held = false;
  const take = (event) => {
    const { X, x, word, left, right } = chartFrame, p = event.clientX - box.getBoundingClientRect().left;
    const value = x[nearest(x, X.back(Math.max(left, Math.min(right, p))))];
    if (refusedWord(word, value)) return;
    setWord(word, value);
    showWords(word);
    settingChanged(word);
  };
  box.addEventListener("pointerdown", (event) => { if (!chartFrame) return; held = true; box.setPointerCapture(event.pointerId); take(event); });
  box.addEventListener("pointermove", (event) => { if (held) take(event); });
  for (const kind of ["pointerup", "pointercancel"]) box.addEventListener(kind, () => { held = false; });
  $("x").addEventListener("change", () => { fed.x = $("x").value; settingChanged("local_steps"); });
  for (const button of every("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy, COPIES[button.dataset.copy]()));
  new ResizeObserver(([entry]) => { panelWide = Math.floor(entry.contentRect.width); settingChanged("local_steps"); }).observe(box);
}
