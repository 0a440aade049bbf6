/* The plane of K and eta as SVG text: where a theorem is silent, says nothing, and speaks; and the plan itself. */
const LEVELS = ["silent: a condition fails", "vacuous: more than 10⁴ times the start", "vacuous: more than 10 times the start", "vacuous: above the start",
  "below its premises alone, not known to be below the start", "speaks: below the start", "at most a tenth of it", "a hundredth", "a thousandth"];
let drawn = null, frameOf = null, knownPlaces = [];

/* Runs of equal level in a column are one rectangle. */
function cells(level, X, Y) {
  let svg = "";
  for (let column = 0; column < SIDE; column++) {
    const x = Math.round(X.edge(column)), width = Math.round(X.edge(column + 1)) - x;
    for (let k = 0, from = 0; k < SIDE; k = from) {
      const now = level[column * SIDE + k];
      for (from = k + 1; from < SIDE && level[column * SIDE + from] === now; from++);
      const top = Math.round(Y.edge(from)), tall = Math.round(Y.edge(k)) - top;
      svg += `<rect class="lv${now}" x="${x}" y="${top}" width="${width}" height="${tall}"/>`;
    }
  }
  return svg;
}

function axisOf({ low, high }, start, end) {
  const put = (x) => start + Math.log(x / low) / Math.log(high / low) * (end - start);
  return Object.assign(put, { low, high, edge: (k) => start + k / SIDE * (end - start), back: (p) => low * (high / low) ** Math.max(0, Math.min(1, (p - start) / (end - start))) });
}

/* Where the theorem, or a formula of the catalogue, is smallest at the plan's other value. */
function starsOf(name, world) {
  const bound = bounds.get(name), found = [];
  for (const { over, derived, stated } of bound?.optima ?? []) {
    if (over !== "local_steps" && over !== "step_size") continue;
    const b = atlas.bounds[name], before = dressed(b, bound, world), code = CODE[name].o[over];
    if (derived && code) {
      const fits = code[1].every((needs) => needs(world.v, world.n, 0));
      found.push({ over, kind: "derived", at: fits ? code[0](world.v, world.n, 0) : NaN, label: "derived here" });
    }
    for (const one of stated) {
      const other = bounds.get(one);
      if (!other || other.quantities.some((q) => world.v[q.name] === undefined)) continue;
      found.push({ over, kind: "printed", at: evaluated(other, { ...world.v, ...other.given }, world.n).total, label: one.split(".").pop().replaceAll("_", " ") });
    }
    restore(world.v, before);
  }
  const same = (one) => one.kind !== "derived" && found.some((other) => other.kind === "derived" && other.over === one.over && Math.abs(one.at - other.at) <= 1e-9 * other.at);
  return found.filter((one) => one.at > 0 && Number.isFinite(one.at) && !same(one));
}

function starMarks(stars, X, Y) {
  return stars.map(({ over, kind, at, label }) => {
    const axis = over === "local_steps" ? X : Y;
    if (at < axis.low || at > axis.high) return "";
    const x = over === "local_steps" ? X(at) : X(fed.plan.local_steps), y = over === "local_steps" ? Y(fed.plan.step_size) : Y(at);
    const shape = kind === "derived" ? `<circle class="star derived" r="5" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"/>` : `<circle class="star printed" r="8" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"/>`;
    return `<g><title>${esc(`${over === "local_steps" ? "K" : "η"}* ${label}: ${said(at)}`)}</title>${shape}<text class="halo" x="${(x + 9).toFixed(1)}" y="${(y - 8).toFixed(1)}">${over === "local_steps" ? "K" : "η"}*</text></g>`;
  }).join("");
}

/* The plane for a width in pixels. */
function planeSvg(grid, name, wide) {
  const left = 58, right = wide - 18, top = 8, tall = Math.round(Math.max(260, Math.min(470, wide * 0.78))), bottom = tall - 42;
  const X = axisOf(grid.view.steps, left, right), Y = axisOf(grid.view.sizes, bottom, top), found = grid.found.get(name);
  frameOf = { X, Y, left, right, top, bottom, wide, tall };
  const across = ticks(1, grid.view.steps.high, true, Math.floor((right - left) / 60)), up = ticks(Y.low, Y.high, true, 8);
  const marks_ = across.map((x) => `<path class="axis" d="M${X(x).toFixed(1)} ${bottom}v5"/><text class="tick" text-anchor="middle" x="${X(x).toFixed(1)}" y="${bottom + 18}">${said(x, 3)}</text>`).join("")
    + up.map((y) => `<path class="axis" d="M${left} ${Y(y).toFixed(1)}h-5"/><text class="tick" text-anchor="end" x="${left - 8}" y="${(Y(y) + 4).toFixed(1)}">${said(y, 3)}</text>`).join("");
  return `<svg width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="stripe" d="M0 0V6"/></pattern></defs>
<g>${cells(found?.level ?? empty().level, X, Y)}</g><path class="axis" d="M${left} ${top}V${bottom}H${right}"/>${marks_}
<text class="title" text-anchor="middle" x="${(left + right) / 2}" y="${tall - 6}">local steps K, logarithmic</text><text class="title" transform="translate(13 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle">step size η, logarithmic</text><g id="plane-marks"></g></svg>`;
}

/* Of a theorem with no place on the plane: one that fixes the step size misses every row of it, and speaks at its own. */
function placeless(name, { v, n }) {
  if (drawn.found.has(name)) return "";
  const own = atlas.bounds[name]?.rest.map(([text]) => SIDES[text]).find((one) => one?.[0].includes("step_size") && one[0].every((word) => v[word] !== undefined));
  const lines = shownRows.some((row) => row.bound.name === name && row.composed) ? ["made of other theorems: shown on the ladder alone"]
    : own ? ["asks for a step size of its own:", `at K = ${v.local_steps}, η = ${exactly(own[2](v, n, 0))}`] : ["silent at every K and η here"];
  const { left, right, top, bottom } = frameOf, y = (top + bottom) / 2;
  return lines.map((line, k) => `<text class="halo" text-anchor="middle" x="${(left + right) / 2}" y="${y + 20 * k}">${line}</text>`).join("");
}

/* What moves with the point alone: cheap enough for every frame of a drag. */
function pointMarks(world) {
  const { X, Y, left, right, top, bottom } = frameOf, x = X(Math.min(Math.max(fed.plan.local_steps, X.low), X.high)), y = Y(Math.min(Math.max(fed.plan.step_size, Y.low), Y.high));
  const best = bestOf(drawn, fed.theorem), diamond = best ? `<path class="best" d="M${X(best.steps).toFixed(1)} ${(Y(best.size) - 7).toFixed(1)}l7 7l-7 7l-7 -7Z"><title>${esc(`smallest on this plane: ${said(best.value)} at K = ${best.steps}, η = ${said(best.size, 3)}`)}</title></path>` : "";
  const stars = starsOf(fed.theorem, world), where = { local_steps: `K* at η = ${said(fed.plan.step_size, 3)}`, step_size: `η* at K = ${fed.plan.local_steps}` };
  const known = knownPlaces.map(({ steps, size, value, error, words: text, what, kind }, k) => placeMark(X, Y, steps, size, kind, k === 0 || knownPlaces[k - 1].kind !== kind, `${text}${error > 0 ? ` ± ${said(error, 2)}` : ""} at K = ${steps}, η = ${said(size, 3)}; ${what}`)).join("");
  const outside = fed.plan.local_steps > X.high || fed.plan.step_size < Y.low || fed.plan.step_size > Y.high;
  put("plane-stars", outside ? `Your plan, K = ${fed.plan.local_steps} and η = ${said(fed.plan.step_size, 3)}, lies beyond this plane: its point stands at the edge. ` : "", stars.map(({ over, label, at }) => `${where[over]}: ${label} ${said(at)}`).join("; "));
  $("plane-marks").innerHTML = `<path class="cross" d="M${x.toFixed(1)} ${top}V${bottom}M${left} ${y.toFixed(1)}H${right}"/>${diamond}${starMarks(stars, X, Y)}${known}${placeless(fed.theorem, world)}<circle class="point${outside ? " outside" : ""}" r="8" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}"/>`;
}

/* A plan of which an exact or measured number is known; the best of its kind is filled. */
function placeMark(X, Y, steps, size, kind, best, text) {
  if (steps > X.high || size < Y.low || size > Y.high) return "";
  const [x, y] = [X(steps).toFixed(1), Y(size).toFixed(1)], shape = kind === "worst" ? `<path class="worst${best ? " leading" : ""}" d="M${x} ${y}m0 -6l6 6l-6 6l-6 -6Z"/>` : `<circle class="run${best ? " leading" : ""}" r="5" cx="${x}" cy="${y}"/>`;
  return `<g><title>${esc(`${best ? "the least of these: " : ""}${text}`)}</title>${shape}</g>`;
}

/* The smallest value of one theorem on the plane. */
function bestOf(grid, name) {
  const found = grid?.found.get(name);
  if (!found) return null;
  let at = -1;
  found.value.forEach((x, k) => { if (!Number.isNaN(x) && !(x >= (found.value[at] ?? Infinity))) at = k; });
  return at < 0 ? null : { value: found.value[at], steps: Math.max(1, Math.round(along(grid.view.steps, Math.floor(at / SIDE)))), size: grid.sizes[at % SIDE] };
}

function planeLegend(name) {
  const seen = new Set(drawn.found.get(name)?.level ?? [0]);
  put("plane-legend", ...LEVELS.map((text, k) => [text, k]).filter(([, k]) => seen.has(k)).map(([text, k]) => {
    const li = made("li");
    li.innerHTML = `<svg width="22" height="12" aria-hidden="true"><rect class="lv${k}" width="22" height="12"/></svg>`;
    li.append(` ${text}`);
    return li;
  }));
  const item = (shape, text) => { const li = made("li"); li.innerHTML = `<svg width="22" height="16" aria-hidden="true">${shape}</svg>`; li.append(` ${text}`); return li; };
  $("plane-legend").append(item(`<circle class="point" r="6" cx="11" cy="8"/>`, "your plan: drag it"));
  if (bestOf(drawn, name)) $("plane-legend").append(item(`<path class="best" d="M11 2l6 6l-6 6l-6 -6Z"/>`, "smallest here"));
  const worst = new Set(knownPlaces.filter((one) => one.kind === "worst").map((one) => worstWords(one.above)));
  if (worst.size) $("plane-legend").append(item(`<path class="worst leading" d="M11 2l6 6l-6 6l-6 -6Z"/>`, `${[...worst].sort().join(" or ")}; filled: the least`));
  if (knownPlaces.some((one) => one.kind === "measured")) $("plane-legend").append(item(`<circle class="run leading" r="5" cx="11" cy="8"/>`, "measured; filled: the best"));
  const kinds = new Set((bounds.get(name)?.optima ?? []).flatMap((o) => [...(o.derived ? ["derived"] : []), ...(o.stated.length ? ["printed"] : [])]));
  if (kinds.has("derived")) $("plane-legend").append(item(`<circle class="star derived" r="5" cx="11" cy="8"/>`, "best K or η, derived here"));
  if (kinds.has("printed")) $("plane-legend").append(item(`<circle class="star printed" r="7" cx="11" cy="8"/>`, "by a formula of the catalogue, printed where it says so"));
}
