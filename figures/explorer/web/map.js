/* The map of K and eta as SVG text: the smallest valid bound or one theorem by colour, where none applies, and the plan. */
const LEVELS = [
  "no value: a condition fails",
  "vacuous: more than 10⁴ times the start",
  "vacuous: more than 10 times the start",
  "vacuous: above the start",
  "below what its premises alone give, not known to be below the start",
  "informative: below the start",
  "at most a tenth of the start",
  "a hundredth",
  "a thousandth",
];
/** @type {Grid} */
let mapGrid = null;
let mapFrame = null;
let evidencePlans = [];

/* Values relative to the start at which the colour changes: above it every half decade, below it every quarter decade. */
const VACUOUS = Array.from({ length: 8 }, (_, k) => 10 ** ((8 - k) / 2));
const BELOW = Array.from({ length: 13 }, (_, k) => 10 ** (-k / 4));

/* The theorem that the map shows; empty for the smallest valid bound. */
const mappedTheorem = () => (atlas.bounds[state.theorem] ? state.theorem : "");
const shownField = () =>
  mappedTheorem() ? mapGrid.fields.get(mappedTheorem()) : (mapGrid.overall ??= smallestField(mapGrid.fields));

/* The number of local steps of a column; small numbers have several columns. */
const stepsAt = (column) => Math.max(1, Math.round(gridValue({ low: 1, high: MAX_STEPS }, column)));

/* The layers of the map, from the largest to the smallest threshold, each on top of the previous one. */
function mapLayers(field, spacing, X, Y) {
  const rows = sampledIndices(spacing);
  const columns = rows.filter((k, i) => i === 0 || stepsAt(k) !== stepsAt(rows[i - 1]));
  const within = (k, count) => Math.max(0, Math.min(count - 1, k - 1));
  const xs = [X.edge(0), ...columns.map((k) => X(Math.min(stepsAt(k), X.high))), X.edge(SIDE)];
  const ys = [Y.edge(0), ...rows.map((k) => Y.edge(k + 0.5)), Y.edge(SIDE)];
  const logs = Float64Array.from(field.share, (share) =>
    Number.isNaN(share) ? Infinity : share > 0 ? Math.min(Math.log10(share), 99) : -99,
  );
  const logAt = (i, j) => logs[columns[within(i, columns.length)] * SIDE + rows[within(j, rows.length)]];
  const outline = contours(logAt, xs, ys);
  const layer = (what, threshold) => {
    const d = outline(threshold);
    return d ? `<path class="${what}" d="${d}"/>` : "";
  };
  const known = field.level.some((level) => level >= 5);
  const kind = known ? "" : " unknown";
  return `${layer("vacuous-base", 100)}${VACUOUS.map((share) => layer("lighten", Math.log10(share))).join("")}${layer("neutral", 0)}${BELOW.map((share) => layer(`informative${kind}`, Math.log10(share))).join("")}${known ? layer("start-line", 0) : ""}`;
}

function axisOf({ low, high }, start, end) {
  const forward = (x) => start + (Math.log(x / low) / Math.log(high / low)) * (end - start);
  return Object.assign(forward, {
    low,
    high,
    edge: (k) => start + (k / SIDE) * (end - start),
    back: (p) => low * (high / low) ** Math.max(0, Math.min(1, (p - start) / (end - start))),
  });
}

/* The minimisers of a bound over these quantities, derived and printed, at the other values of the setting. */
function minimisersOf(bound, scenario, ...overs) {
  const result = [];
  const b = bound && atlas.bounds[bound.name];
  if (!bound || (b && missingInputs(b, scenario).length)) return result;
  for (const { over, derived, stated } of bound.optima.filter((one) => overs.includes(one.over))) {
    const [v, n] = inputs(bound, scenario);
    const code = CODE[bound.name].o[over];
    if (derived && code)
      result.push({
        over,
        kind: "derived",
        at: code[1].every((needs) => needs(v, n, 0)) ? code[0](v, n, 0) : NaN,
        label: "derived here",
      });
    for (const one of stated) {
      const other = bounds.get(one);
      if (!other || other.quantities.some((q) => scenario.v[q.name] === undefined)) continue;
      result.push({
        over,
        kind: "printed",
        at: evaluateBound(other, ...inputs(other, scenario)).total,
        label: readable(one.split(".").pop()),
      });
    }
  }
  const isDuplicate = (one) =>
    one.kind !== "derived" &&
    result.some(
      (other) => other.kind === "derived" && other.over === one.over && Math.abs(one.at - other.at) <= 1e-9 * other.at,
    );
  return result.filter((one) => one.at > 0 && Number.isFinite(one.at) && !isDuplicate(one));
}

/* The best K and eta of the shown theorem. */
const planMinimisers = (scenario) => minimisersOf(shownBound(), scenario, "local_steps", "step_size");

function minimiserMarks(minimisers, X, Y) {
  return minimisers
    .map(({ over, kind, at, label }) => {
      const axis = over === "local_steps" ? X : Y;
      if (at < axis.low || at > axis.high) return "";
      const x = over === "local_steps" ? X(at) : X(state.plan.local_steps);
      const y = over === "local_steps" ? Y(state.plan.step_size) : Y(at);
      const shape =
        kind === "derived"
          ? `<circle class="star derived" r="5" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"/>`
          : `<circle class="star printed" r="8" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"/>`;
      return `<g><title>${esc(`${over === "local_steps" ? "K" : "η"}* ${label}: ${formatted(at)}`)}</title>${shape}<text class="halo" x="${(x + 9).toFixed(1)}" y="${(y - 8).toFixed(1)}">${over === "local_steps" ? "K" : "η"}*</text></g>`;
    })
    .join("");
}

/* The map for a width in pixels. */
function mapSvg(grid, width) {
  const left = 58;
  const right = width - 18;
  const top = 8;
  const height = Math.round(Math.max(260, Math.min(480, width * 0.8)));
  const bottom = height - 42;
  const X = axisOf(grid.view.steps, left, right);
  const Y = axisOf(grid.view.sizes, bottom, top);
  mapFrame = { X, Y, left, right, top, bottom, width, height };
  const across = ticks(1, grid.view.steps.high, true, Math.floor((right - left) / 60));
  const up = ticks(Y.low, Y.high, true, 8);
  const tickMarks =
    across
      .map(
        (x) =>
          `<path class="axis" d="M${X(x).toFixed(1)} ${bottom}v5"/><text class="tick" text-anchor="middle" x="${X(x).toFixed(1)}" y="${bottom + 18}">${formatted(x, 3)}</text>`,
      )
      .join("") +
    up
      .map(
        (y) =>
          `<path class="axis" d="M${left} ${Y(y).toFixed(1)}h-5"/><text class="tick" text-anchor="end" x="${left - 8}" y="${(Y(y) + 4).toFixed(1)}">${formatted(y, 3)}</text>`,
      )
      .join("");
  return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" aria-hidden="true"><defs>${HATCH}</defs>
<g><rect class="excluded" x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/>${mapLayers(shownField() ?? emptyField(), grid.spacing, X, Y)}</g><path class="axis" d="M${left} ${top}V${bottom}H${right}"/>${tickMarks}
<text class="title" text-anchor="middle" x="${(left + right) / 2}" y="${height - 6}">local steps K</text><text class="title" transform="translate(13 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">step size η</text><g id="map-marks"></g></svg>`;
}

/* The note on a theorem without a value on the map; one that fixes its step size applies only there. */
function noValueNote(name, { v, n }) {
  if (!name || mapGrid.fields.has(name)) return "";
  const own = atlas.bounds[name]?.rest
    .map(([text]) => SIDES[text])
    .find((one) => one?.[0].includes("step_size") && one[0].every((quantity) => v[quantity] !== undefined));
  const row = rowShown();
  const lines = row?.composed
    ? ["combined from other theorems: in the ranking only"]
    : own
      ? ["requires one step size:", `at K = ${v.local_steps}, η = ${exactly(own[2](v, n, 0))}`]
      : [
          row && row.state !== "conditions not met"
            ? `no value here: ${REASON_TEXT[row.state] ?? ""}`
            : "its conditions fail at every K and η here",
        ];
  const { left, right, top } = mapFrame;
  const y = top + 24;
  return lines
    .map(
      (line, k) => `<text class="halo" text-anchor="middle" x="${(left + right) / 2}" y="${y + 20 * k}">${line}</text>`,
    )
    .join("");
}

/* Draw what depends on the plan only, at every frame of a drag. */
function drawPlan(scenario) {
  const { X, Y, left, right, top, bottom } = mapFrame;
  const x = X(Math.min(Math.max(state.plan.local_steps, X.low), X.high));
  const y = Y(Math.min(Math.max(state.plan.step_size, Y.low), Y.high));
  const best = bestOf(mapGrid);
  const diamond = best
    ? `<path class="best" d="M${X(best.steps).toFixed(1)} ${(Y(best.size) - 7).toFixed(1)}l7 7l-7 7l-7 -7Z"><title>${esc(`smallest on this map: ${formatted(best.value)} at K = ${best.steps}, η = ${formatted(best.size, 3)}`)}</title></path>`
    : "";
  const minimisers = planMinimisers(scenario);
  const where = {
    local_steps: `K* at η = ${formatted(state.plan.step_size, 3)}`,
    step_size: `η* at K = ${state.plan.local_steps}`,
  };
  const known = evidencePlans
    .map(({ steps, size, value, error, words: text, what, kind }, k) =>
      planMark(
        X,
        Y,
        steps,
        size,
        kind,
        k === 0 || evidencePlans[k - 1].kind !== kind,
        `${text}${error > 0 ? ` ± ${formatted(error, 2)}` : ""} at K = ${steps}, η = ${formatted(size, 3)}; ${what}`,
      ),
    )
    .join("");
  const outside = state.plan.local_steps > X.high || state.plan.step_size < Y.low || state.plan.step_size > Y.high;
  setContent(
    "map-minimisers",
    outside
      ? `Your plan, K = ${state.plan.local_steps} and η = ${formatted(state.plan.step_size, 3)}, lies beyond this map. `
      : "",
    minimisers.map(({ over, label, at }) => `${where[over]}: ${label} ${formatted(at)}`).join("; "),
  );
  $("map-marks").innerHTML =
    `${equalTravelLine(X, Y)}<path class="cross" d="M${x.toFixed(1)} ${top}V${bottom}M${left} ${y.toFixed(1)}H${right}"/>${diamond}${minimiserMarks(minimisers, X, Y)}${known}${noValueNote(mappedTheorem(), scenario)}<circle class="point${outside ? " outside" : ""}" r="8" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"/>`;
}

/* The line of plans with the same total step length K times eta. */
function equalTravelLine(X, Y) {
  const move = state.plan.local_steps * state.plan.step_size;
  const low = Math.max(X.low, move / Y.high);
  const high = Math.min(X.high, move / Y.low);
  return low < high
    ? `<path class="iso" d="M${X(low).toFixed(1)} ${Y(move / low).toFixed(1)}L${X(high).toFixed(1)} ${Y(move / high).toFixed(1)}"><title>the same K times η as your plan</title></path>`
    : "";
}

/* Mark a plan with an exact or measured number; the best one is filled. */
function planMark(X, Y, steps, size, kind, best, text) {
  if (steps > X.high || size < Y.low || size > Y.high) return "";
  const [x, y] = [X(steps).toFixed(1), Y(size).toFixed(1)];
  const shape =
    kind === "worst"
      ? `<path class="worst${best ? " leading" : ""}" d="M${x} ${y}m0 -6l6 6l-6 6l-6 -6Z"/>`
      : `<circle class="run${best ? " leading" : ""}" r="5" cx="${x}" cy="${y}"/>`;
  return `<g><title>${esc(`${best ? "the smallest of these: " : ""}${text}`)}</title>${shape}</g>`;
}

/* The plan with the smallest value on the map. */
function bestOf(grid) {
  const field = grid && shownField();
  if (!field) return null;
  let at = -1;
  field.value.forEach((x, k) => {
    if (!Number.isNaN(x) && !(x >= (field.value[at] ?? Infinity))) at = k;
  });
  return at < 0
    ? null
    : {
        value: field.value[at],
        steps: Math.max(1, Math.round(gridValue(grid.view.steps, Math.floor(at / SIDE)))),
        size: grid.sizes[at % SIDE],
      };
}

/* Write the legend of colours and marks. */
function showLegend() {
  const colourBox = (kinds) =>
    `<svg width="22" height="12" aria-hidden="true">${kinds.map((kind) => `<rect class="${kind}" width="22" height="12"/>`).join("")}</svg>`;
  const vacuousBoxes = () =>
    `<svg width="80" height="12" aria-hidden="true">${[8, 6, 4, 2, 0].map((paler, k) => `<svg x="${16 * k}" width="16" height="12"><rect class="vacuous-base" width="16" height="12"/>${'<rect class="lighten" width="16" height="12"/>'.repeat(paler)}</svg>`).join("")}</svg>`;
  const informativeBox = (many) => ["neutral", ...Array.from({ length: many }, () => "informative")];
  const item = (shape, text) => {
    const li = element("li");
    li.innerHTML = shape.startsWith("<svg") ? shape : `<svg width="22" height="16" aria-hidden="true">${shape}</svg>`;
    li.append(` ${text}`);
    return li;
  };
  const field = shownField();
  const has = (keep) => Boolean(field?.level.some(keep));
  const whose = mappedTheorem() ? "the theorem" : "a theorem";
  const items = [
    has((level) => level >= 5) &&
      item(
        colourBox(informativeBox(1)) + colourBox(informativeBox(5)) + colourBox(informativeBox(9)),
        `${whose} guarantees less than before training: a little, a tenth, a hundredth`,
      ),
    has((level) => level === 4) && item(colourBox(["neutral", "informative unknown"]), LEVELS[4]),
    has((level) => level > 0 && level < 4) &&
      item(
        vacuousBoxes(),
        `vacuous${has((level) => level >= 4) ? "" : " on the whole map"}: 1 to 10⁴ times the value before training`,
      ),
    has((level) => level === 0) &&
      item(colourBox(["excluded"]), mappedTheorem() ? "its conditions fail" : "no theorem applies"),
    item(`<circle class="point" r="6" cx="11" cy="8"/>`, "your plan: drag it"),
    bestOf(mapGrid) && item(`<path class="best" d="M11 2l6 6l-6 6l-6 -6Z"/>`, "smallest bound"),
  ];
  const worst = new Set(evidencePlans.filter((one) => one.kind === "worst").map((one) => worstLabel(one.above)));
  if (worst.size)
    items.push(
      item(
        `<path class="worst leading" d="M11 2l6 6l-6 6l-6 -6Z"/>`,
        `${[...worst].sort().join(" or ")}; filled: the smallest`,
      ),
    );
  if (evidencePlans.some((one) => one.kind === "measured"))
    items.push(item(`<circle class="run leading" r="5" cx="11" cy="8"/>`, "measured; filled: the best"));
  const kinds = new Set(
    (bounds.get(state.theorem)?.optima ?? []).flatMap((o) => [
      ...(o.derived ? ["derived"] : []),
      ...(o.stated.length ? ["printed"] : []),
    ]),
  );
  if (kinds.has("derived"))
    items.push(item(`<circle class="star derived" r="5" cx="11" cy="8"/>`, "best K or η, derived here"));
  if (kinds.has("printed"))
    items.push(item(`<circle class="star printed" r="7" cx="11" cy="8"/>`, "best K or η, as printed"));
  setContent("map-legend", ...items.filter(Boolean));
}
