/* The chart of one bound along one quantity, as SVG text. Colours and hatches are explained in words too. */
const DECADES = 9;
const ROW = 18;
const MAX_ROWS = 3;
const EMPTY = "the formula has no finite value along this axis";
const esc = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const HATCH =
  '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V6"/></pattern>';

/* A scale from values to pixels, in units of the larger end so that differences do not overflow. */
function scale(low, high, log, start, end) {
  const size = log ? 1 : Math.max(Math.abs(low), Math.abs(high));
  const forward = (x) => (log ? Math.log(x) : x / size);
  const a = forward(low);
  const b = forward(high);
  const back = (p) => {
    const at = a + ((p - start) / (end - start)) * (b - a);
    return log ? Math.exp(at) : at * size;
  };
  return Object.assign((x) => start + ((forward(x) - a) / (b - a || 1)) * (end - start), { low, high, log, back });
}

const finite = (x) => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, x));
const clamp = (p) => Math.max(-1e4, Math.min(1e4, p));
const termsOf = ({ bound, points }) =>
  bound.terms.length < 2 ? [] : bound.terms.map((_, k) => points.map((f) => f.terms[k]));

/* The range of the y-axis, by the values inside the conditions if there are any. */
function yRange(shown) {
  const { points, rows, trivial } = shown;
  const lines = [points.map((f) => f.total), ...termsOf(shown)];
  const inside = lines.flatMap((values) => values.filter((y, i) => !points[i].failed.length && Number.isFinite(y)));
  const finite_ = [...(inside.length ? inside : lines.flat().filter(Number.isFinite)), ...rows.map((row) => row[2])];
  if (!finite_.length) return { low: 0, high: 1, log: false, empty: true };
  const low = finite_.reduce((a, b) => Math.min(a, b));
  const high = finite_.reduce((a, b) => Math.max(a, b));
  const minimum = finite_.filter((y) => y > 0).reduce((a, b) => Math.min(a, b), Infinity);
  const highest = trivial > 0 && trivial < 1e3 * high ? Math.max(high, trivial) : high;
  if (low >= 0 && high > 30 * minimum)
    return {
      low: Math.max(minimum / 1.3, highest / 10 ** DECADES, Number.MIN_VALUE),
      high: finite(highest * 1.5),
      log: true,
    };
  const room = finite(highest - Math.min(0, low)) * 0.06 || Math.abs(highest) * 0.5 || 1;
  return { low: finite(Math.min(0, low) - (low < 0 ? room : 0)), high: finite(highest + room), log: false };
}

function path(xs, ys, X, Y, keep = (i) => true) {
  let d = "";
  let on = false;
  xs.forEach((x, i) => {
    const y = ys[i];
    if (Number.isNaN(y) || !keep(i) || (Y.log && !(y > 0))) {
      on = false;
      return;
    }
    d += `${on ? "L" : "M"}${X(x).toFixed(1)} ${clamp(Y(y)).toFixed(1)}`;
    on = true;
  });
  return d;
}

/* The intervals of x in which `is` holds, extended by half a step. */
function intervals(xs, is, X) {
  const edge = (i) => (i <= 0 ? X(xs[0]) : i >= xs.length ? X(xs[xs.length - 1]) : (X(xs[i - 1]) + X(xs[i])) / 2);
  const ranges = [];
  for (let i = 0, from = -1; i <= xs.length; i++) {
    const now = i < xs.length && is(i);
    if (now && from < 0) from = i;
    if (!now && from >= 0) {
      ranges.push([edge(from), edge(i)]);
      from = -1;
    }
  }
  return ranges;
}

const rect = ([a, b], y, height, what) =>
  `<rect class="${what}" x="${a.toFixed(1)}" y="${y}" width="${Math.max(1, b - a).toFixed(1)}" height="${height}"/>`;

/* One row above the plot for every condition that fails somewhere, with the range and the text. */
function conditionRows({ bound, x, points }, X, top, left, width) {
  const failing = [...new Set(points.flatMap((f) => f.failed))].sort((a, b) => a - b);
  const room = Math.floor(width / 6.3);
  return failing.slice(0, MAX_ROWS).map((k, row) => {
    const y = top + row * ROW;
    const more = row === MAX_ROWS - 1 && failing.length > MAX_ROWS ? ` (and ${failing.length - MAX_ROWS} more)` : "";
    const text = `fails: ${typeset(bound.conditions[k].words)}${more}`;
    const short = text.length > room ? `${text.slice(0, room - 1)}…` : text;
    const bars = intervals(x, (i) => points[i].failed.includes(k), X)
      .map((ends) => rect(ends, y + 13, 3, "bar"))
      .join("");
    return `<g><title>${esc(text)}</title>${bars}<text class="halo" x="${left + 3}" y="${y + 10}">${esc(short)}</text></g>`;
  });
}

function frame(X, Y, left, right, top, bottom, empty) {
  const across = ticks(X.low, X.high, X.log, Math.max(2, Math.floor((right - left) / 70)));
  const up = empty ? [] : ticks(Y.low, Y.high, Y.log, Math.max(2, Math.floor((bottom - top) / 42)));
  const grid = up.map(
    (y) =>
      `<path class="grid" d="M${left} ${Y(y).toFixed(1)}H${right}"/><text class="tick" text-anchor="end" x="${left - 6}" y="${(Y(y) + 4).toFixed(1)}">${formatted(y, 3)}</text>`,
  );
  const below = across.map(
    (x) =>
      `<path class="axis" d="M${X(x).toFixed(1)} ${bottom}v5"/><text class="tick" text-anchor="middle" x="${X(x).toFixed(1)}" y="${bottom + 18}">${formatted(x, 3)}</text>`,
  );
  return `${grid.join("")}<path class="axis" d="M${left} ${top}V${bottom}H${right}"/>${below.join("")}`;
}

function curves(shown, X, Y) {
  const { x, points } = shown;
  const total = points.map((f) => f.total);
  const outside = (i) => points[i]?.failed.length > 0;
  const lines = termsOf(shown).map(
    (ys, k) => `<path class="line term${k % 8} dash${k % 8}" d="${path(x, ys, X, Y)}"/>`,
  );
  const invalid = path(x, total, X, Y, (i) => outside(i) || outside(i + 1) || outside(i - 1));
  return `${lines.join("")}<path class="first outside" d="${invalid}"/><path class="first" d="${path(x, total, X, Y, (i) => !outside(i))}"/>`;
}

/* Mark the chosen value and the minimisers; labels come last, above all lines. */
function marks({ at, here, best }, X, Y, top, bottom, right) {
  const dot =
    Number.isFinite(here.total) && !(Y.log && here.total <= 0)
      ? `<circle class="now" r="5" cx="${X(at).toFixed(1)}" cy="${clamp(Y(here.total)).toFixed(1)}"/>`
      : "";
  const now = at >= X.low && at <= X.high ? `<path class="here" d="M${X(at).toFixed(1)} ${top}V${bottom}"/>${dot}` : "";
  const mapGrid = best.filter((one) => one.at >= X.low && one.at <= X.high).map((one) => ({ ...one, p: X(one.at) }));
  const label = ({ p, label: text }, i) => {
    const [anchor, shift] = p > right - 130 ? ["end", -4] : ["start", 4];
    return `<text class="halo" text-anchor="${anchor}" x="${(p + shift).toFixed(1)}" y="${bottom - 8 - 15 * i}">smallest, ${esc(text)}</text>`;
  };
  return (
    mapGrid.map(({ p, kind }) => `<path class="${kind}" d="M${p.toFixed(1)} ${top}V${bottom}"/>`).join("") +
    now +
    mapGrid.map(label).join("")
  );
}

/* Measured and exact values by rounds. */
function runPoints(rows, X, Y) {
  return rows
    .filter((row) => row[1] >= X.low && row[1] <= X.high && (row[2] > 0 || !Y.log))
    .map(([kind, x, y, error]) => {
      const p = X(x).toFixed(1);
      const q = (value) => clamp(Y(Y.log ? Math.max(value, Y.low) : value)).toFixed(1);
      return kind === "exact"
        ? `<path class="exact" d="M${p} ${q(y)}m0 -4l4 4l-4 4l-4 -4Z"/>`
        : `<path class="error" d="M${p} ${q(y - error)}V${q(y + error)}"/><circle class="measured" r="3" cx="${p}" cy="${q(y)}"/>`;
    })
    .join("");
}

let chartFrame = null;

/* The whole chart for a width in pixels. */
function chartSvg(shown, width) {
  const { bound, quantity, x, log, trivial, rows } = shown;
  const left = 58;
  const right = width - 12;
  const q = quantityOf(quantity);
  const X = scale(x[0], x.at(-1), log, left, right);
  const failing = conditionRows(shown, X, 22, left, right - left);
  const top = 26 + failing.length * ROW;
  const bottom = top + Math.round(Math.max(150, Math.min(230, width * 0.4)));
  const height = bottom + 40;
  chartFrame = { X, x, quantity, left, right };
  const range = yRange(shown);
  const Y = scale(range.low, range.high, range.log, bottom, top);
  const hatched = intervals(x, (i) => shown.points[i].failed.length > 0, X)
    .map((ends) => rect(ends, top, bottom - top, "excluded"))
    .join("");
  const level = Y(trivial).toFixed(1);
  const vacuous =
    trivial >= Y.low && trivial <= Y.high
      ? `<path class="vacuous" d="M${left} ${level}H${right}"/><text class="halo" x="${left + 4}" y="${(Y(trivial) - 5).toFixed(1)}">vacuous above ${formatted(trivial)}</text>`
      : "";
  const empty = range.empty
    ? `<text class="empty" text-anchor="middle" x="${(left + right) / 2}" y="${(top + bottom) / 2}">${EMPTY}</text>`
    : "";
  return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true">
<defs>${HATCH}<clipPath id="plot"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath></defs>
<text class="title" x="4" y="13">${esc(withUnit(bound.target.name, bound.target.unit))}${ofMember(bound)}</text>
${hatched}${failing.join("")}${frame(X, Y, left, right, top, bottom, range.empty)}
<g clip-path="url(#plot)">${curves(shown, X, Y)}${runPoints(rows, X, Y)}</g>
${vacuous}${empty}${marks(shown, X, Y, top, bottom, right)}
<text class="title" text-anchor="middle" x="${(left + right) / 2}" y="${height - 6}">${esc(withUnit(quantity, q.unit))}</text></svg>`;
}
