/* All theorems at one plan: bars on one logarithmic axis, unlike numbers in groups of their own. */
const SAYS = { informative: "informative", "below premises": "below its premises", vacuous: "vacuous" }, SAY = { ...SAYS, "below premises": "below their premises" };
const QUIET = { "conditions not met": "Conditions not met", missing: "A number is not known", order: "Known up to a constant", "other quantity": "About another quantity" };

/* What the names of conversions say; a theorem that a bar is made of has its own name alone. */
const meant = (name) => (atlas.conversions[name] ? `${name}: ${atlas.conversions[name]}` : name);

/* Under the lists: every conversion that led to a bar, or that a row without one speaks of. */
function via(rows) {
  const used = new Set(rows.flatMap((row) => [...(row.conversions ?? []), ...(row.why?.match(/\bC\d+\b/g) ?? [])]));
  worded($("ladder-via"), Object.keys(atlas.conversions).filter((name) => used.has(name)).map(meant).join("; "));
}

/* What must fit on the axis: a running story's numbers too, so that bars of its steps can be compared by eye. */
const endsOf = (rows) => rows.filter((row) => RANKED.includes(row.state)).flatMap((row) => [row.value, row.here, row.ofClass, ...(row.evidence ?? []).map((one) => one.value)]).filter((x) => x > 0 && Number.isFinite(x));

function ladder_(rows, wide) {
  const shown = rows.filter((row) => RANKED.includes(row.state)), groups = new Map();
  for (const row of shown) groups.set(row.kind, [...(groups.get(row.kind) ?? []), row]);
  const ends = endsOf([...rows, ...storyRows()]);
  if (!shown.length) return put("ladder", made("p", {}, "No bar: no theorem has a number at this plan. What each asks for stands at the end of the page, under “What does not apply, and why”."));
  if (!ends.length) ends.push(1); // all of them are 0 or infinite
  const low = 10 ** Math.floor(Math.log10(Math.min(...ends)) - 0.2), high = 10 ** Math.ceil(Math.log10(Math.max(...ends)) + 0.2);
  const X = scale(low, Math.max(high, low * 10), true, 4, wide - 8), tightest_ = new Set([...groups.values()].map((members) => members.find((row) => !row.printed)));
  const key = shown.map((row) => [row.kind, row.bound.name, row.alias, ...(row.evidence ?? []).map((one) => one.kind)].join()).join("\n");
  if (key !== ladderKey || !$("ladder").contains(ladderRule)) {
    [ladderKey, ladderRule, ladderItems] = [key, made("div", { className: "rule" }), new Map(shown.map((row) => [row, rowOf(row)]))];
    put("ladder", ladderRule, ...[...groups].map(([kind, members]) => made("section", {}, made("h4", {}, atlas.classes[kind].words), made("ol", { className: "rows" }, ...members.map((row) => ladderItems.get(row).item)))));
    ladderItems = [...ladderItems.values()];
  }
  drawn_(ladderRule, ruleSvg(X, wide, shown[0]));
  shown.forEach((row, k) => fillRow(ladderItems[k], row, tightest_.has(row), X, wide));
}

/* While the point is dragged the rows mostly stay the same ones: what is in them changes alone. */
let ladderKey = "", ladderRule = null, ladderItems = [];
const drawn_ = (node, svg) => { if (node.drawnAs !== svg) { node.drawnAs = svg; node.innerHTML = svg; } };
const worded = (node, text) => { if (node.textContent !== text) node.textContent = text; };

function ruleSvg(X, wide, { here }) {
  const marks = ticks(X.low, X.high, true, Math.max(2, Math.floor(wide / 70)));
  return `<svg width="${wide}" height="34" aria-hidden="true">${marks.map((x) => `<path class="axis" d="M${X(x).toFixed(1)} 26v6"/><text class="tick" text-anchor="middle" x="${Math.max(14, Math.min(wide - 20, X(x))).toFixed(1)}" y="22">${said(x, 2)}</text>`).join("")}<path class="axis" d="M4 32H${wide - 4}"/>${here < Infinity && here > X.low ? `<text class="tick strong" text-anchor="middle" x="${Math.max(30, Math.min(wide - 40, X(here))).toFixed(1)}" y="9">start ${said(here, 3)}</text>` : ""}</svg>`;
}

function rowOf({ bound, alias, evidence = [] }) {
  const button = made("button", { type: "button", className: "plain" }, ...jointed(bound.name)), value = made("strong"), state_ = made("small"), bar = made("div", { className: "bars" });
  const besides = evidence.map((one) => made("small", { className: `beside ${one.kind}` }));
  button.addEventListener("click", () => pickTheorem(bound.name));
  const item = made("li", {}, made("div", { className: "head" }, button, value, state_), bar, ...(alias.length ? [made("small", {}, `= ${alias.join(", ")}`)] : []), ...besides);
  return { item, button, value, state_, bar, besides };
}

function fillRow({ item, button, value, state_, bar, besides }, row, best, X, wide) {
  const mark = row.printed ? ", refuted by the audit" : best ? ", tightest" : "";
  item.className = `row is-${row.state.replaceAll(" ", "-")}${row.printed ? " is-refuted" : ""}`;
  button.setAttribute("aria-pressed", row.bound.name === fed.theorem ? "true" : "false");
  worded(value, said(row.value));
  worded(state_, `${SAYS[row.state]}${mark}`);
  bar.title = tip(row);
  drawn_(bar, barSvg(row, X, wide));
  besides.forEach((node, k) => { const one = row.evidence[k]; worded(node, `${SIGNS[one.kind]} ${besideWords(row, one)}`); node.title = one.what; });
}

const SIGNS = { worst: "◆", measured: "●", exact: "■" };
const besideWords = (row, one) => `${one.words}: the bound is ${said(row.value / one.value, 3)} times it${one.above ? " at least" : ""}`;

const tip = (row) => [`${row.bound.name}: ${said(row.value)}`, ...row.bound.terms.map((name, k) => `${name}: ${said(row.terms[k])}`),
  row.conversions.length ? `by ${row.conversions.map(meant).join("; ")}` : "", row.trusted.length ? `taken on trust: ${row.trusted.join("; ")}` : "", ...(row.evidence ?? []).map((one) => `${one.words}, ${one.what}`)].filter(Boolean).join("\n");

/* A bar from the left end to the value; below it the shares of the terms, which a logarithmic axis cannot stack. */
function barSvg(row, X, wide) {
  const end = X(Number.isNaN(row.value) ? X.high : Math.min(Math.max(row.value, X.low), X.high)), positive = row.terms.map((t) => Math.max(0, t)), total = positive.reduce((a, b) => a + b, 0);
  let x = 4;
  const strip = total > 0 && total < Infinity ? positive.map((t, k) => {
    const width = t / total * Math.max(0, end - 4), part = `<rect class="share term${k % 8}" x="${x.toFixed(1)}" y="9" width="${width.toFixed(1)}" height="5"/>`;
    x += width;
    return part;
  }).join("") : "";
  const line = (at, what) => (at < Infinity && at >= X.low && at <= X.high ? `<path class="${what}" d="M${X(at).toFixed(1)} 0V15"/>` : "");
  return `<svg width="${wide}" height="15" aria-hidden="true"><rect class="length" x="4" y="1" width="${Math.max(1, end - 4).toFixed(1)}" height="7"/>${strip}${line(row.here, "start")}${row.ofClass !== row.here ? line(row.ofClass, "premises") : ""}${(row.evidence ?? []).map((one) => evidenceMark(one, X)).join("")}</svg>`;
}

/* Where an exact number lies on the axis of its row, with two standard errors to each side where it was measured. */
function evidenceMark({ kind, value, error }, X) {
  if (!(value > 0) || value < X.low || value > X.high) return "";
  const at = (x) => X(Math.min(Math.max(x, X.low), X.high)), x = at(value);
  const whisker = error > 0 ? `<path class="whisker" d="M${at(value - 2 * error).toFixed(1)} 4.5H${at(value + 2 * error).toFixed(1)}"/>` : "";
  if (kind === "exact") return `<rect class="exactly" x="${(x - 3.5).toFixed(1)}" y="1" width="7" height="7"/>`;
  return `${whisker}${kind === "worst" ? `<path class="worst" d="M${x.toFixed(1)} 0l4.5 4.5l-4.5 4.5l-4.5 -4.5Z"/>` : `<circle class="run" r="4" cx="${x.toFixed(1)}" cy="4.5"/>`}`;
}

/* The chosen theorem at the plan in words: its terms in the colours of the strips, or why it is silent. */
function inWords(rows) {
  const row = rows.find((one) => one.bound.name === fed.theorem || one.alias?.includes(fed.theorem));
  if (!row) return put("plane-terms");
  if (!RANKED.includes(row.state)) return put("plane-terms", made("p", {}, `At your plan: ${QUIET[row.state].toLowerCase()}. ${row.state === "conditions not met" ? row.failed.map(asked).join("; ") : row.why ?? ""}.`));
  const total = row.terms.reduce((a, t) => a + Math.max(0, t), 0);
  const items = row.bound.terms.map((name, k) => {
    const li = made("li");
    li.innerHTML = `<svg width="14" height="10" aria-hidden="true"><rect class="share term${k % 8}" width="14" height="10"/></svg>`;
    li.append(` ${name} ${said(row.terms[k], 3)}${total > 0 && total < Infinity ? ` (${said(100 * Math.max(0, row.terms[k]) / total, 2)}%)` : ""}`);
    return li;
  });
  const by = made("span", { title: row.conversions.map(meant).join("\n") }, row.conversions.length ? `, by ${row.conversions.join(", ")}` : "");
  const trust = row.trusted.length ? [made("p", { className: "hint" }, `Taken on trust: ${row.trusted.join("; ")}.`)] : [];
  const beside = (row.evidence ?? []).map((one) => made("p", { className: "hint" }, `${SIGNS[one.kind]} ${besideWords(row, one)}; ${one.what}.`));
  put("plane-terms", made("p", {}, `At your plan ${said(row.value)}, ${SAYS[row.state]}`, by, ":"), made("ul", {}, ...items), ...beside, ...trust);
}

/* ---- what does not apply ---- */

/* A condition that fails, with both sides: of an equality the right one as it must be typed. */
function asked({ words: text, left, right, equal }) {
  if (!Number.isFinite(left) || !Number.isFinite(right)) return text;
  if (equal) return `${text}: ${exactly(left)} is not ${exactly(right)}`;
  return `${text}: ${apart(left, right).join(left === right ? " = " : left > right ? " > " : " < ")}`;
}

let quietOf = "";

function quiet(rows) {
  const now = rows.filter((row) => !RANKED.includes(row.state)).map((row) => `${row.bound.name} ${row.state} ${row.why ?? ""} ${row.failed.map(asked)}`).join("\n");
  if (now === quietOf) return;
  quietOf = now;
  const groups = { "conditions not met": (row) => row.failed.map(asked).join("; "), missing: (row) => `needs ${row.why}`, order: () => "", "other quantity": (row) => row.why }, alone = rows.every((row) => !RANKED.includes(row.state));
  put("quiet", ...Object.entries(groups).flatMap(([state, why]) => {
    const members = rows.filter((row) => row.state === state), by = new Map();
    for (const row of members) by.set(why(row), [...(by.get(why(row)) ?? []), row]);
    if (!members.length) return [];
    const list = [...by].map(([text, found]) => made("li", {}, ...found.flatMap((row, i) => [...(i ? [", "] : []), named(row.bound.name)]), text ? `: ${text}` : ""));
    return [made("details", { open: alone || state === "conditions not met" }, made("summary", {}, `${QUIET[state]} (${members.length})`), made("ul", {}, ...list))];
  }));
}

function named(name) {
  const button = made("button", { type: "button", className: "plain" }, ...jointed(name));
  button.addEventListener("click", () => pickTheorem(name));
  return button;
}
