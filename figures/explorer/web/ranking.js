/* The ranking of all theorems at one plan, with the smallest value of each on one logarithmic axis. */
const STATE_TEXT = { informative: "informative", "below premises": "below its premises", vacuous: "vacuous" };
const REASON_TEXT = {
  "conditions not met": "a condition fails",
  missing: "a number is missing",
  order: "known up to a constant only",
  "other quantity": "about another quantity",
};

/* The meaning of a conversion, or the title of a theorem that a value uses. */
const conversionText = (name) => (atlas.conversions[name] ? `${name}: ${atlas.conversions[name]}` : titleOf(name));

/* The numbers that must fit on the axis. */
const axisNumbers = (rows) =>
  rows
    .filter((row) => RANKED.includes(row.state))
    .flatMap((row) => [row.value, row.startValue, row.premiseValue, ...(row.evidence ?? []).map((one) => one.value)])
    .filter((x) => x > 0 && Number.isFinite(x));

/* The best row of every theorem, the valid ones first. */
function byTheorem(rows) {
  const best = new Map();
  for (const row of rows)
    if (RANKED.includes(row.state) && !(best.get(row.bound.name)?.value <= row.value)) best.set(row.bound.name, row);
  return [...best.values()].sort(
    (a, b) => a.printed - b.printed || a.value - b.value || (a.bound.name < b.bound.name ? -1 : 1),
  );
}

const bestRow = (rows) => byTheorem(rows).find((row) => !row.printed);

/* The parts of the ranking: informative, vacuous, and wrong as printed. */
/** @type {[(many: number) => string, (row: Row) => boolean][]} */
const PARTS = [
  [() => "", (row) => !row.printed && row.state !== "vacuous"],
  [(many) => `${many} vacuous: not below the start`, (row) => !row.printed && row.state === "vacuous"],
  [(many) => `${many} wrong as printed`, (row) => row.printed],
];

function showRanking(rows, width) {
  const shown = byTheorem(rows);
  const ends = axisNumbers([...shown, ...storyRows()]);
  if (!shown.length)
    return setContent(
      "ranking",
      element("p", {}, "No theorem has a value at this plan. What each requires stands below."),
    );
  if (!ends.length) ends.push(1); // all of them are 0 or infinite
  const low = 10 ** Math.floor(Math.log10(Math.min(...ends)) - 0.2);
  const high = 10 ** Math.ceil(Math.log10(Math.max(...ends)) + 0.2);
  const X = scale(low, Math.max(high, low * 10), true, 4, width - 8);
  const parts = PARTS.map(([title, keep]) => ({ title, members: shown.filter(keep) }));
  const key = parts
    .map(({ members }) =>
      members
        .map((row) => [row.kind, row.bound.name, row.alias, ...(row.evidence ?? []).map((one) => one.kind)].join())
        .join("\n"),
    )
    .join("\n\n");
  if (key !== rankingKey || !$("ranking").contains(rankingAxis)) {
    [rankingKey, rankingAxis, rankingItems] = [
      key,
      element("div", { className: "rule" }),
      new Map(shown.map((row) => [row.bound.name, makeRow(row)])),
    ];
    const list = (members) =>
      element("ol", { className: "rows" }, ...members.map((row) => rankingItems.get(row.bound.name).item));
    setContent(
      "ranking",
      rankingAxis,
      ...parts.flatMap(({ title, members }, k) =>
        !members.length
          ? []
          : k === 0
            ? [list(members)]
            : [collapsible(title(members.length), list(members), k === 1 && !parts[0].members.length)],
      ),
    );
  }
  setSvg(rankingAxis, rankingAxisSvg(X, width, shown[0]));
  for (const row of shown) updateRow(rankingItems.get(row.bound.name), row, X, width);
}

/* Details that stay open or closed as the reader left them. */
const openSections = new Map();
function collapsible(title, content, open) {
  const part = title.replace(/\d+ /, "");
  const node = element("details", { open: openSections.get(part) ?? open }, element("summary", {}, title), content);
  node.addEventListener("toggle", () => {
    if (node.open !== open || openSections.has(part)) openSections.set(part, node.open);
  });
  return node;
}

/* While the point is dragged, rows are reused and only their content changes. */
let rankingKey = "";
let rankingAxis = null;
let rankingItems = new Map();
const setSvg = (node, svg) => {
  if (node.drawnAs !== svg) {
    node.drawnAs = svg;
    node.innerHTML = svg;
  }
};
const setText = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

function rankingAxisSvg(X, width, { startValue }) {
  const marks = ticks(X.low, X.high, true, Math.max(2, Math.floor(width / 70)));
  return `<svg width="${width}" height="34" aria-hidden="true">${marks.map((x) => `<path class="axis" d="M${X(x).toFixed(1)} 26v6"/><text class="tick" text-anchor="middle" x="${Math.max(14, Math.min(width - 20, X(x))).toFixed(1)}" y="22">${formatted(x, 2)}</text>`).join("")}<path class="axis" d="M4 32H${width - 4}"/>${startValue < Infinity && startValue > X.low ? `<text class="tick strong" text-anchor="middle" x="${Math.max(44, Math.min(width - 60, X(startValue))).toFixed(1)}" y="9">before training ${formatted(startValue, 3)}</text>` : ""}</svg>`;
}

/* The reason of the audit why a printed theorem is wrong. */
const reasonOf = (bound) =>
  claims.find(([name]) => name === atlas.bounds[bound.name].claim)?.[5] || "refuted by the audit";

function makeRow({ bound, alias, printed, evidence = [] }) {
  const name = printed ? element("s", {}, titleOf(bound.name)) : titleOf(bound.name);
  const button = element("button", { type: "button", className: "plain" }, name);
  const value = element("strong");
  const of = element("small", { className: "of" });
  const bar = element("div", { className: "bars" });
  button.dataset.name = bound.name;
  const evidenceNodes = evidence.map((one) => element("small", { className: `beside ${one.kind}` }));
  const wrong = printed ? [element("small", { className: "wrong" }, reasonOf(bound))] : [];
  button.addEventListener("click", () => pickTheorem(bound.name === state.theorem ? "" : bound.name));
  const item = element(
    "li",
    {},
    element("div", { className: "head" }, button, value),
    bar,
    of,
    ...(alias.length ? [element("small", {}, `same value: ${alias.map(titleOf).join("; ")}`)] : []),
    ...wrong,
    ...evidenceNodes,
  );
  return { item, button, value, of, bar, evidenceNodes };
}

function updateRow({ item, button, value, of, bar, evidenceNodes }, row, X, width) {
  item.className = `row is-${row.state.replaceAll(" ", "-")}${row.printed ? " is-refuted" : ""}`;
  button.setAttribute("aria-pressed", row.bound.name === state.theorem ? "true" : "false");
  setText(value, formatted(row.value));
  setText(of, atlas.classes[row.kind].words);
  item.title = tooltip(row);
  setSvg(bar, barSvg(row, X, width));
  evidenceNodes.forEach((node, k) => {
    const one = row.evidence[k];
    setText(node, `${EVIDENCE_MARKS[one.kind]} ${evidenceText(row, one)}`);
    node.title = one.what;
  });
}

const EVIDENCE_MARKS = { worst: "◆", measured: "●", exact: "■" };
const evidenceText = (row, one) =>
  `${one.words}: the bound is ${one.above ? "at least " : ""}${formatted(row.value / one.value, 3)} times as large`;

const tooltip = (row) =>
  [
    `${titleOf(row.bound.name)} (${row.bound.name}): ${formatted(row.value)}`,
    ...row.bound.terms.map((name, k) => `${name}: ${formatted(row.terms[k])}`),
    row.conversions.length ? `converted by ${row.conversions.map(conversionText).join("; ")}` : "",
    row.assumed.length ? `assumed: ${row.assumed.join("; ")}` : "",
    ...(row.evidence ?? []).map((one) => `${one.words}, ${one.what}`),
  ]
    .filter(Boolean)
    .join("\n");

/* A bar from the left end to the value, with a line at the value before training. */
function barSvg(row, X, width) {
  const end = X(Number.isNaN(row.value) ? X.high : Math.min(Math.max(row.value, X.low), X.high));
  const line = (at, what) =>
    at < Infinity && at >= X.low && at <= X.high ? `<path class="${what}" d="M${X(at).toFixed(1)} 0V11"/>` : "";
  return `<svg width="${width}" height="11" aria-hidden="true"><rect class="length" x="4" y="1" width="${Math.max(1, end - 4).toFixed(1)}" height="8"/>${line(row.startValue, "start")}${(row.evidence ?? []).map((one) => evidenceMark(one, X)).join("")}</svg>`;
}

/* Mark an exact or measured number on the axis of its row, measurements with two standard errors to each side. */
function evidenceMark({ kind, value, error }, X) {
  if (!(value > 0) || value < X.low || value > X.high) return "";
  const at = (x) => X(Math.min(Math.max(x, X.low), X.high));
  const x = at(value);
  const whisker =
    error > 0
      ? `<path class="whisker" d="M${at(value - 2 * error).toFixed(1)} 4.5H${at(value + 2 * error).toFixed(1)}"/>`
      : "";
  if (kind === "exact") return `<rect class="exactly" x="${(x - 3.5).toFixed(1)}" y="1" width="7" height="7"/>`;
  return `${whisker}${kind === "worst" ? `<path class="worst" d="M${x.toFixed(1)} 0l4.5 4.5l-4.5 4.5l-4.5 -4.5Z"/>` : `<circle class="run" r="4" cx="${x.toFixed(1)}" cy="4.5"/>`}`;
}

/** The row of the shown theorem. @returns {Row | undefined} */
const rowShown = () =>
  byTheorem(shownRows).find((one) => one.bound.name === state.theorem || one.alias.includes(state.theorem)) ??
  shownRows.find((one) => one.bound.name === state.theorem);

/* Describe the row at the plan: its terms, or the reason why it has no value. */
function describeRow(row) {
  if (!row) return [];
  if (!RANKED.includes(row.state))
    return [
      element(
        "p",
        {},
        `At your plan ${REASON_TEXT[row.state]}: ${row.state === "conditions not met" ? row.failed.map(conditionText).join("; ") : (row.why ?? "")}.`,
      ),
    ];
  const total = row.terms.reduce((a, t) => a + Math.max(0, t), 0);
  const items = row.bound.terms.map((name, k) => {
    const li = element("li");
    li.innerHTML = `<svg width="14" height="10" aria-hidden="true"><rect class="share term${k % 8}" width="14" height="10"/></svg>`;
    li.append(
      ` ${name} ${formatted(row.terms[k], 3)}${total > 0 && total < Infinity ? ` (${formatted((100 * Math.max(0, row.terms[k])) / total, 2)}%)` : ""}`,
    );
    return li;
  });
  const by = row.conversions.length
    ? [element("p", { className: "hint" }, `Converted by ${row.conversions.map(conversionText).join("; ")}.`)]
    : [];
  const trust = row.assumed.length ? [element("p", { className: "hint" }, `Assumed: ${row.assumed.join("; ")}.`)] : [];
  const beside = (row.evidence ?? []).map((one) =>
    element("p", { className: "hint" }, `${EVIDENCE_MARKS[one.kind]} ${evidenceText(row, one)}; ${one.what}.`),
  );
  const more = [...beside, ...by, ...trust];
  return [
    element(
      "p",
      {},
      "At your plan ",
      element("strong", {}, formatted(row.value)),
      `, ${STATE_TEXT[row.state]}; its terms:`,
    ),
    element("ul", {}, ...items),
    ...(more.length ? [collapsible("Assumptions, conversions and evidence", element("div", {}, ...more), false)] : []),
  ];
}

/* ---- what does not apply ---- */

/* A failing condition with both sides; those of an equality have all digits, to be typed. */
function conditionText({ words: text, left, right, equal }) {
  if (!Number.isFinite(left) || !Number.isFinite(right)) return typeset(text);
  if (equal) return `${typeset(text)}: ${exactly(left)} is not ${exactly(right)}`;
  return `${typeset(text)}: ${distinguishable(left, right).join(left === right ? " = " : left > right ? " > " : " < ")}`;
}

let shownInapplicable = "";

/* List the theorems that do not apply, with their failing conditions as formulas and both sides as numbers. */
function showInapplicable(rows) {
  const inapplicable = rows.filter((row) => !RANKED.includes(row.state));
  const now = inapplicable
    .map((row) => `${row.bound.name} ${row.state} ${row.why ?? ""} ${row.failed.map(conditionText)}`)
    .join("\n");
  if (now === shownInapplicable) return;
  shownInapplicable = now;
  if (!inapplicable.length) return setContent("inapplicable");
  const because = (row) =>
    row.state === "conditions not met"
      ? row.failed.flatMap((one, k) => [...(k ? ["; "] : []), ...typesetCondition(row.bound, one)])
      : [`${REASON_TEXT[row.state]}${row.why && row.state !== "order" ? `: ${row.why}` : ""}`];
  const list = element(
    "ul",
    {},
    ...inapplicable.map((row) => element("li", {}, theoremButton(row.bound.name), ": ", ...because(row))),
  );
  setContent(
    "inapplicable",
    collapsible(
      `${inapplicable.length} ${inapplicable.length === 1 ? "theorem does" : "theorems do"} not apply here, and why`,
      list,
      rows.length === inapplicable.length,
    ),
  );
}

/* A failing condition as a formula, with the numbers of its two sides. */
function typesetCondition(bound, one) {
  const { words: text, left, right, equal } = one;
  const formula = bound.conditions.find((c) => c.words === text)?.math;
  const comparison =
    !Number.isFinite(left) || !Number.isFinite(right)
      ? ""
      : equal
        ? `${exactly(left)} ≠ ${exactly(right)}`
        : distinguishable(left, right).join(left === right ? " = " : left > right ? " > " : " < ");
  if (!formula) return [conditionText(one)];
  const node = element("span", { title: text });
  node.innerHTML = formula;
  return [node, comparison ? ` fails: ${comparison}` : ` fails (${typeset(text)})`];
}

function theoremButton(name) {
  const button = element("button", { type: "button", className: "plain" }, titleOf(name));
  button.dataset.name = name;
  button.addEventListener("click", () => pickTheorem(name));
  return button;
}
