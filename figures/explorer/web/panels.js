/* What stands around the chart: formula, legend, readout, minimiser, conditions, claims, table. */
const $ = (id) => document.getElementById(id);

function made(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

const put = (id, ...children) => $(id).replaceChildren(...children);

/* A name or an inequality that may go on in the next line after a joint, not within a word. */
const jointed = (text) => text.split(/(?<=[_/*(])|(?<=\.)(?=[a-z])/).flatMap((part, i) => (i ? [made("wbr"), part] : [part]));

/* A long formula goes on in the next line before a term or a definition, not inside of one. */
function rowed(math) {
  let row = null, defining = false;
  for (const node of [...math.children]) {
    const sign = node.localName === "mo" ? node.textContent : "";
    if (!row || (!defining && (node.localName === "mspace" || sign === "+" || sign === "−"))) math.append(row = document.createElementNS(math.namespaceURI, "mrow"));
    row.append(node);
    if (defining && (node.localName === "mspace" || sign === ",")) row = null;
    defining ||= node.localName === "mtext";
  }
}

/* Written once per bound. */
function describe() {
  const b = main();
  put("name", ...jointed(b.name));
  const facts = [b.paper ? papers[b.paper][0] : "", b.source, b.about && `about ${b.about}`, b.statistic && `statistic: ${b.statistic}`,
    `unit: ${b.target.unit}`, b.relation === "<~" ? "up to a constant: slopes can be compared, levels cannot" : ""];
  put("facts", facts.filter((f, i) => f && !(i === 0 && b.source.startsWith(f))).join(" · "));
  $("formula").innerHTML = b.math;
  rowed($("formula").firstElementChild);
  put("note", b.note);
  $("note").hidden = !b.note;
  const place = ([, verdict]) => ["FAILS", "REPAIRED", "OPEN", "HOLDS"].indexOf(verdict); // what fails first
  put("claims", ...b.claims.map((i) => claims[i]).sort((one, two) => place(one) - place(two)).map(claim));
  if (!b.claims.length) put("claims", made("li", {}, b.paper ? "No claim of the audit speaks of it." : "The audit speaks of the catalogue's bounds only."));
  document.querySelector("[data-copy=shell]").hidden = !reachable(b);
  $("runs-choice").hidden = !b.points.length;
  put("runs", new Option("none", ""), ...b.points.map((run, i) => new Option(run.words, String(i))));
}

function claim([name, verdict, text, source, kind, because]) {
  return made("li", {}, made("strong", { className: `verdict ${verdict}` }, verdict), ` ${kind ? `(${kind}) ` : ""}${text} ${because ? `${because} ` : ""}`,
    made("small", {}, `${source}; fedbounds check `, ...jointed(name)));
}

function legend(shown) {
  const item = (kind, text, mark = "line") => {
    const li = made("li");
    const shape = mark === "area" ? `<rect class="area ${kind}" width="22" height="12"/>` : mark === "dot" ? `<path class="exact" d="M11 2l4 4l-4 4l-4 -4Z"/>`
      : mark === "circle" ? `<circle class="measured" r="3" cx="11" cy="6"/>` : mark === "hatch" ? `<rect class="silent" width="22" height="12"/>` : `<path class="${kind}" d="M0 6H22"/>`;
    li.innerHTML = `<svg width="22" height="12" aria-hidden="true">${shape}</svg>`;
    li.append(` ${text}`);
    return li;
  };
  const [c, second] = shown.curves, areas = state.terms === "stacked" && stackable(c);
  const items = [item("first", c.bound.terms.length > 1 ? "the bound: sum of its terms" : "the bound")];
  if (termLines(c).length) items.push(...c.bound.terms.map((name, k) => item(`${areas ? "" : "line "}term${k % 8} dash${k % 8}`, `term: ${name}`, areas ? "area" : "line")));
  if (second) items.push(item("second", `${second.bound.name}${ofMember(second.bound)}`));
  if (c.outside.some(Boolean)) items.push(item("", "hatched: a condition fails, the theorem is silent; the formula is dashed there", "hatch"));
  if (shown.rows.some((r) => r[0] === "exact")) items.push(item("", "exact value", "dot"));
  if (shown.rows.some((r) => r[0] === "measured")) items.push(item("", "measured, with its standard error", "circle"));
  put("legend", ...items);
  if (state.terms === "stacked" && !stackable(c)) $("legend").append(made("li", {}, "a term is negative: lines instead of a stack"));
}

function readout(shown) {
  const b = main(), { here, there } = shown, relation = { "<=": "≤", ">=": "≥", "=": "=", "<~": "≲" }[b.relation];
  const place = state.x ? `At ${words(state.x)} = ${said(choices.value(state.x))}: ` : "";
  const parts = b.terms.length > 1 ? ` (${b.terms.map((name, k) => `${name} ${said(here.terms[k])}`).join(", ")})` : "";
  const silent = here.failed.length ? `; outside: ${here.failed.map((i) => b.conditions[i].words).join("; ")}` : "";
  const empty = shown.vacuous > 0 && here.total > shown.vacuous && !silent ? "; vacuous: above the trivial value" : "";
  const second = there ? `. ${other().name}${ofMember(other())}: ${said(there.total)}${there.failed.length ? `; outside: ${there.failed.map((i) => other().conditions[i].words).join("; ")}` : ""}` : "";
  put("readout", made("strong", {}, `${place}${words(b.target.name)}${ofMember(b)} ${relation} ${said(here.total)}`), `${parts}${silent}${empty}${second}`);
  put("conditions", ...b.conditions.map((c, i) => condition(c, i, here.failed)));
  if (!b.conditions.length) put("conditions", made("li", {}, "Nothing is asked for."));
}

/* What the quantities have to do with the chosen run. */
function runWords() {
  const found = main().points[Number(state.run)];
  if (state.run === "" || !found) return "";
  const held = (name) => (owned(name)?.axis ? choices.list(name) : choices.value(name));
  const same = Object.entries(found.values).every(([name, value]) => String(held(name)) === String(value));
  const missing = found.missing.length ? ` The run does not tell ${found.missing.map(words).join(", ")}.` : "";
  return `${same ? "The quantities have the values of this run." : "Some quantities no longer have the values of this run."}${missing}`;
}

function condition({ words: text, kind, formula }, i, failed) {
  const word = kind === "numeric" || kind === "domain" ? (failed.includes(i) ? "fails" : "holds") : "assumed";
  const line = made("li", { className: word }, made("strong", {}, word), ` ${text} `);
  if (formula) line.append(made("code", {}, ...jointed(formula)));
  return line;
}

function minimum(shown) {
  const found = shown.best, [c] = shown.curves;
  const least = c.total.reduce((best, y, i) => (!c.outside[i] && y < (c.total[best] ?? Infinity) ? i : best), -1);
  const rows = [];
  if (found?.derived) {
    const formula = made("span");
    formula.innerHTML = found.derived.math;
    const needs = found.derived.needs.length ? `if ${found.derived.needs.join(", ")}` : "";
    rows.push(["derived here", formula, Number.isNaN(found.derived.at) ? "no minimum at these values" : needs, found.derived.at]);
  }
  for (const s of found?.stated ?? []) rows.push([s.name, s.source ?? "", s.why && (Number.isNaN(s.at) ? s.why : `outside: ${s.why}`), s.at]);
  put("minimum");
  if (!["<=", "<~"].includes(main().relation)) return;
  const place = least < 0 ? "nowhere inside the conditions" : `at ${words(state.x)} = ${said(c.x[least])}, where it is ${said(c.total[least])}`;
  put("minimum", made("p", {}, `Smallest on this chart: ${place}.`));
  const cells = ([name, formula, remark, x]) => [made("span", {}, ...jointed(name)), made("div", {}, formula, made("p", { className: "hint" }, ...jointed(remark))), Number.isNaN(x) ? "–" : said(x)];
  if (rows.length) $("minimum").append(scrolled(tabled("Where the bound is smallest", ["minimiser", "formula or place", words(state.x)], rows.map(cells))));
}

const scrolled = (node) => made("div", { className: "scroll", tabIndex: 0 }, node);

function tabled(title, head, rows) {
  const line = (cells, tag) => made("tr", {}, ...cells.map((cell) => made(tag, tag === "th" ? { scope: "col" } : {}, cell)));
  return made("table", {}, made("caption", {}, title), made("thead", {}, line(head, "th")), made("tbody", {}, ...rows.map((r) => line(r, "td"))));
}

const ROWS = 20;

function values(shown) {
  const [c, second] = shown.curves, step = Math.max(1, Math.floor((c.x.length - 1) / ROWS));
  const chosen = c.x.map((_, i) => i).filter((i) => i % step === 0 || i === c.x.length - 1);
  const head = [united(state.x, owned(state.x).unit), ...c.bound.terms, "bound", ...(second ? [second.bound.name] : []), "conditions"];
  const rows = chosen.map((i) => [said(c.x[i], 6), ...c.found[i].terms.map((y) => said(y, 6)), said(c.total[i], 6), ...(second ? [said(second.total[i], 6)] : []),
    c.outside[i] ? `fail: ${c.found[i].failed.map((k) => c.bound.conditions[k].words).join("; ")}` : "hold"]);
  put("values", tabled(`${c.bound.name}${ofMember(c.bound)} along ${words(state.x)}`, head, rows));
}
