/* What the chart and the table show: both bounds along the x-axis. */
const POINTS = 200;

function span() {
  const q = owned(state.x);
  if (!q) return null;
  const { from, to } = ends(q, state);
  return { q, from, to, log: Boolean(q.slider[2]) && from > 0 };
}

/* Where the x-axis starts and ends: as typed, else as the slider. */
function ends({ name, slider: [low, high] }, { from, to }) {
  const most = capped(name) ? Math.min(high, MOST_MEMBERS) : high;
  return { from: from === "" ? low : typed(from), to: to === "" ? most : typed(to) };
}

function places({ q, from, to, log }) {
  const raw = spaced(from, to, log, POINTS).map((x) => (q.whole ? Math.round(x) : x)).filter((x) => !refusal(q, x));
  return [...new Set(raw)];
}

const depends = (bound, name) => bound.axis === name || bound.quantities.some((q) => q.name === name);

function curve(bound, x, name) {
  const found = x.map((place) => at(bound, choices, name, place));
  return { bound, x, found, total: found.map((f) => f.total), outside: found.map((f) => f.failed.length > 0) };
}

/* Everything a redraw needs, computed once. */
function picture() {
  const along = span();
  if (!along) return { along, here: at(main(), choices), there: other() && at(other(), choices) };
  const x = places(along);
  return {
    along, x,
    curves: shown().map((b) => curve(b, x, state.x)),
    here: at(main(), choices, state.x, choices.value(state.x)),
    there: other() && at(other(), choices, state.x, choices.value(state.x)),
    vacuous: vacuity(),
    best: best(x),
    rows: state.x === "rounds" && state.run !== "" ? main().points[Number(state.run)]?.rows ?? [] : [],
  };
}

/* The value above which the bound says nothing: typed, or known of the target. */
function vacuity() {
  if (state.vacuous !== "") return typed(state.vacuous);
  const known = main().trivial;
  return typeof known === "string" ? choices.value(known) : known ?? NaN;
}

/* Where the bound is smallest along the axis: by its closed form and by the catalogue's formulas. */
function best(x) {
  const found = main().optima.find((o) => o.over === state.x);
  if (!found) return null;
  const stated = found.stated.map((name) => statedAt(name));
  return { derived: found.derived && { at: closedForm(main(), choices, state.x), ...found.derived }, stated, x };
}

function statedAt(name) {
  const bound = bounds.get(name);
  if (!bound) return { name, at: NaN, why: "not on this page" };
  const strange = bound.quantities.filter((q) => !owned(q.name)).map((q) => words(q.name));
  if (strange.length) return { name, at: NaN, why: `needs ${strange.join(", ")}` };
  const { total, failed } = at(bound, choices);
  return { name, at: total, why: failed.map((i) => bound.conditions[i].words).join("; "), source: bound.source };
}

const words = (name) => name.replaceAll("_", " ");
const united = (name, unit) => (unit === "1" ? words(name) : `${words(name)} [${unit}]`);
