/* The chart as SVG text. Words say what colours and hatches say too. */
const DECADES = 9, ROW = 20, MOST_ROWS = 4;
const EMPTY = "the formula has no finite value along this axis";
const esc = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/* From values to pixels. In units of the larger end, so that no difference of two values leaves the range of numbers. */
function scale(low, high, log, start, end) {
  const size = log ? 1 : Math.max(Math.abs(low), Math.abs(high)), put = (x) => (log ? Math.log(x) : x / size);
  const a = put(low), b = put(high), back = (p) => { const at_ = a + (p - start) / (end - start) * (b - a); return log ? Math.exp(at_) : at_ * size; };
  return Object.assign((x) => start + (put(x) - a) / (b - a || 1) * (end - start), { low, high, log, back });
}

const finite = (x) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, x));

/* The range of the y-axis: what is inside the conditions decides, as long as there is any. */
function yRange(shown) {
  const lines = shown.curves.flatMap((c) => [c.total, ...termLines(c)].map((values) => ({ values, outside: c.outside })));
  const inside = lines.flatMap(({ values, outside }) => values.filter((y, i) => !outside[i] && Number.isFinite(y)));
  const all = inside.length ? inside : lines.flatMap(({ values }) => values.filter(Number.isFinite));
  const every = [...all, ...shown.rows.map((r) => r[2])];
  if (!every.length) return { low: 0, high: 1, log: false, empty: true };
  const low = Math.min(...every), high = Math.max(...every);
  const positive = every.filter((y) => y > 0);
  const log = state.terms === "stacked" || !positive.length ? false
    : state.y === "log" || (state.y === "auto" && low >= 0 && high > 30 * Math.min(...positive));
  const most = shown.vacuous > 0 && shown.vacuous < 1e3 * high ? Math.max(high, shown.vacuous) : high;
  if (log) return { low: Math.max(Math.min(...positive) / 1.3, most / 10 ** DECADES, Number.MIN_VALUE), high: finite(most * 1.5), log };
  const room = finite(most - Math.min(0, low)) * 0.06 || Math.abs(most) * 0.5 || 1;
  return { low: finite(Math.min(0, low) - (low < 0 ? room : 0)), high: finite(most + room), log };
}

const termLines = (c) => (state.terms === "none" || c.bound !== main() || c.bound.terms.length < 2 ? []
  : c.bound.terms.map((_, k) => c.found.map((f) => f.terms[k])));
const stackable = (c) => c.found.every((f) => f.terms.every((y) => !(y < 0)));

function path(xs, ys, X, Y, keep = () => true) {
  let d = "", on = false;
  xs.forEach((x, i) => {
    const y = ys[i];
    if (Number.isNaN(y) || !keep(i) || (Y.log && !(y > 0))) { on = false; return; }
    d += `${on ? "L" : "M"}${X(x).toFixed(1)} ${clamp(Y(y)).toFixed(1)}`;
    on = true;
  });
  return d;
}

const clamp = (p) => Math.max(-1e4, Math.min(1e4, p));

/* The intervals of x in which something is so, each half a step wider. */
function intervals(xs, is, X) {
  const edge = (i) => (i <= 0 ? X(xs[0]) : i >= xs.length ? X(xs[xs.length - 1]) : (X(xs[i - 1]) + X(xs[i])) / 2);
  const found = [];
  for (let i = 0, from = -1; i <= xs.length; i++) {
    const now = i < xs.length && is(i);
    if (now && from < 0) from = i;
    if (!now && from >= 0) { found.push([edge(from), edge(i)]); from = -1; }
  }
  return found;
}

const rect = ([a, b], y, height, what) => `<rect class="${what}" x="${a.toFixed(1)}" y="${y}" width="${Math.max(1, b - a).toFixed(1)}" height="${height}"/>`;

/* One row above the plot for every condition that fails somewhere: where, and its words. */
function conditionRows(c, X, top, left, width) {
  const failing = [...new Set(c.found.flatMap((f) => f.failed))].sort((a, b) => a - b);
  const rows = failing.slice(0, MOST_ROWS).map((k, row) => {
    const y = top + row * ROW, room = Math.floor(width / 6.3);
    const said = `fails: ${c.bound.conditions[k].words}${row === MOST_ROWS - 1 && failing.length > MOST_ROWS ? ` (and ${failing.length - MOST_ROWS} more)` : ""}`;
    const bars = intervals(c.x, (i) => c.found[i].failed.includes(k), X).map((ends) => rect(ends, y + 14, 4, "bar")).join("");
    return `<g><title>${esc(said)}</title>${bars}<text class="halo" x="${left + 3}" y="${y + 11}">${esc(said.length > room ? `${said.slice(0, room - 1)}…` : said)}</text></g>`;
  });
  return { svg: rows.join(""), count: rows.length };
}

function frame(X, Y, left, right, top, bottom, empty) {
  const across = ticks(X.low, X.high, X.log, Math.max(2, Math.floor((right - left) / 70)));
  const up = empty ? [] : ticks(Y.low, Y.high, Y.log, Math.max(2, Math.floor((bottom - top) / 42)));
  const grid = up.map((y) => `<path class="grid" d="M${left} ${Y(y).toFixed(1)}H${right}"/><text class="tick" text-anchor="end" x="${left - 6}" y="${(Y(y) + 4).toFixed(1)}">${said(y, 3)}</text>`);
  const below = across.map((x) => `<path class="axis" d="M${X(x).toFixed(1)} ${bottom}v5"/><text class="tick" text-anchor="middle" x="${X(x).toFixed(1)}" y="${bottom + 18}">${said(x, 3)}</text>`);
  return `${grid.join("")}<path class="axis" d="M${left} ${top}V${bottom}H${right}"/>${below.join("")}`;
}

function areas(c, X, Y) {
  const low = c.x.map(() => 0);
  return c.bound.terms.map((_, k) => {
    const before = [...low];
    c.found.forEach((f, i) => { low[i] += f.terms[k]; });
    const up = path(c.x, low, X, Y), down = path([...c.x].reverse(), before.reverse(), X, Y).replace(/^M/, "L");
    return up && `<path class="area term${k % 8}" d="${up}${down}Z"/>`;
  }).join("");
}

function drawnCurve(c, X, Y, what) {
  const lines = termLines(c).map((ys, k) => `<path class="line term${k % 8} dash${k % 8}" d="${path(c.x, ys, X, Y)}"/>`).join("");
  const inside = path(c.x, c.total, X, Y, (i) => !c.outside[i]);
  const beyond = path(c.x, c.total, X, Y, (i) => c.outside[i] || c.outside[i + 1] || c.outside[i - 1]);
  const dots = c.x.length < 25 ? c.x.map((x, i) => (Number.isFinite(c.total[i]) && !(Y.log && c.total[i] <= 0) ? `<circle class="${what} dot" r="2" cx="${X(x).toFixed(1)}" cy="${clamp(Y(c.total[i])).toFixed(1)}"/>` : "")).join("") : "";
  const stacked = state.terms === "stacked" && c.bound === main() && stackable(c);
  return `${stacked ? areas(c, X, Y) : lines}<path class="${what} outside" d="${beyond}"/><path class="${what}" d="${inside}"/>${dots}`;
}

function marks(shown, X, Y, top, bottom, right) {
  const derived = shown.best?.derived?.at ?? NaN, apart = (s) => !(Math.abs(s.at - derived) <= 1e-9 * derived);
  const found = [[derived, "derived", "smallest (derived)"],
    ...(shown.best?.stated ?? []).filter(apart).map((s) => [s.at, "stated", words(s.name.split(".").pop())])];
  const here = choices.value(state.x);
  const dot = shown.here.total;
  const now = here >= X.low && here <= X.high ? `<path class="here" d="M${X(here).toFixed(1)} ${top}V${bottom}"/>${Number.isFinite(dot) && !(Y.log && dot <= 0) ? `<circle class="now" r="4.5" cx="${X(here).toFixed(1)}" cy="${clamp(Y(dot)).toFixed(1)}"/>` : ""}` : "";
  const drawn = found.filter(([x]) => x >= X.low && x <= X.high).map(([x, what, label]) => ({ p: X(x), what, label }));
  const label = ({ p, label }, i) => {
    const [anchor, shift] = p > right - 130 ? ["end", -4] : ["start", 4];
    return `<text class="halo" text-anchor="${anchor}" x="${(p + shift).toFixed(1)}" y="${bottom - 8 - 15 * i}">${esc(label)}</text>`;
  };
  /* Words last: no line crosses them. */
  return drawn.map(({ p, what }) => `<path class="${what}" d="M${p.toFixed(1)} ${top}V${bottom}"/>`).join("") + now + drawn.map(label).join("");
}

function runPoints(rows, X, Y) {
  return rows.filter((r) => r[1] >= X.low && r[1] <= X.high && (r[2] > 0 || !Y.log)).map(([kind, x, y, error]) => {
    const p = X(x).toFixed(1), q = (value) => clamp(Y(Y.log ? Math.max(value, Y.low) : value)).toFixed(1);
    return kind === "exact" ? `<path class="exact" d="M${p} ${(q(y) - 4).toFixed(1)}l4 4l-4 4l-4 -4Z"/>`
      : `<path class="error" d="M${p} ${q(y - error)}V${q(y + error)}"/><circle class="measured" r="3" cx="${p}" cy="${q(y)}"/>`;
  }).join("");
}

let chartFrame = null;

/* What the bound says where the pointer is, over the chart. */
function pointerMark(p) {
  const { X, top, bottom, left, right } = chartFrame, x = placeOf(p), { total, failed } = at(main(), choices, state.x, x), place = X(x);
  const [anchor, shift] = place > (left + right) / 2 ? ["end", -6] : ["start", 6];
  return `<path class="here" d="M${place.toFixed(1)} ${top}V${bottom}"/><text class="halo" text-anchor="${anchor}" x="${(place + shift).toFixed(1)}" y="${top + 12}">${said(x)}: ${said(total)}${failed.length ? ", a condition fails" : ""}</text>`;
}

/* The value of the axis nearest to a pixel, among those that the chart has. */
function placeOf(p) {
  const { X, x, left, right } = chartFrame;
  return x[nearest(x, X.back(Math.max(left, Math.min(right, p))))];
}

/* The whole chart for a width in pixels. */
function chart(shown, wide) {
  const { along, curves } = shown, left = 62, right = wide - 14, first = 24;
  const X = scale(along.from, along.to, along.log, left, right);
  const rows = conditionRows(curves[0], X, first, left, right - left);
  const top = first + rows.count * ROW + 6, bottom = top + Math.round(Math.max(190, Math.min(330, wide * 0.5))), tall = bottom + 42;
  chartFrame = { X, x: shown.x, top, bottom, left, right };
  const range = yRange(shown), Y = scale(range.low, range.high, range.log, bottom, top);
  const hatched = intervals(curves[0].x, (i) => curves[0].outside[i], X).map((ends) => rect(ends, top, bottom - top, "silent")).join("");
  const vacuous = shown.vacuous >= Y.low && shown.vacuous <= Y.high ? `<path class="vacuous" d="M${left} ${Y(shown.vacuous).toFixed(1)}H${right}"/><text class="halo" x="${left + 4}" y="${(Y(shown.vacuous) - 5).toFixed(1)}">vacuous above ${said(shown.vacuous)}</text>` : "";
  const target = main().target;
  const empty = range.empty ? `<text class="empty" text-anchor="middle" x="${(left + right) / 2}" y="${(top + bottom) / 2}">${EMPTY}</text>` : "";
  return `<svg width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" aria-hidden="true">
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V6"/></pattern>
<clipPath id="plot"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath></defs>
<text class="title" x="4" y="14">${esc(united(target.name, target.unit))}${ofMember(main())}</text>
${hatched}${rows.svg}${frame(X, Y, left, right, top, bottom, range.empty)}
<g clip-path="url(#plot)">${curves.map((c, i) => drawnCurve(c, X, Y, i ? "second" : "first")).reverse().join("")}${runPoints(shown.rows, X, Y)}</g>
${vacuous}${empty}${marks(shown, X, Y, top, bottom, right)}
<text class="title" text-anchor="middle" x="${(left + right) / 2}" y="${tall - 6}">${esc(united(along.q.name, along.q.unit))}${X.log ? ", logarithmic" : ""}</text><g id="chart-pointer"></g></svg>`;
}
