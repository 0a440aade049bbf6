/* What should I run? The plan that makes the tightest theorem of every class smallest, within this budget. */
function running() {
  if (!drawn || drawn.stale) return;
  const rows = [...drawn.best].sort((a, b) => a[0] - b[0]).map(([kind, best]) => advised(kind, best)).filter(Boolean);
  const speaking = rows.filter((row) => row.speaks), edge = rows.filter((row) => row.edge).length;
  const lower = rows.filter((row) => row.lower).length;
  const last = !rows.length ? "No theorem speaks of this number on the plane."
    : !speaking.length ? `${lower ? `${lower} of ${rows.length} ${lower === 1 ? "is below its" : "are below their"} premises alone at the best plan, none is known to be below the start` : "All are vacuous at their best plan"}: no bound chooses well here. Train a few plans and compare.`
      : `${speaking.length} of ${rows.length} are below the start at their best plan${edge ? `; ${edge} at the edge of the plane, where the best may lie beyond it or mean: do little` : ""}. A bound's best plan is safe, not fast: it makes a worst case small.`;
  const head = ["number", "tightest theorem", "K", "η", "it says", "of the start", ""];
  rows.push(...knownBest());
  const table = tabled("By class of number; each button moves your plan there", head, rows.map(({ cells: found }) => found));
  for (const line of table.tBodies[0].rows) for (const [k, cell] of [...line.cells].entries()) cell.dataset.head = head[k];
  put("run-table", rows.length ? scrolled(table) : "", made("p", {}, last));
}

function advised(kind, { steps, size, name }) {
  const { given, upTo } = told(), world = worldOf({ ...given, local_steps: steps, step_size: size }, upTo);
  const row = rowsOf(bounds.get(name), drawn.target, world, machineOf(world)).find((one) => one.kind === kind);
  if (!row) return null;
  const { value } = row, speaks = row.state === "informative", lower = row.state === "below premises", level = row;
  const atEnd = steps === 1 || steps >= MOST_STEPS * 0.95 || drawn.sizes.indexOf(size) % (SIDE - 1) === 0;
  const go = goThere(steps, size, name);
  const share = level.here < Infinity && level.here > 0 ? said(value / level.here, 3) : "–";
  return { speaks, lower, edge: atEnd, cells: [made("span", {}, ...jointed(atlas.classes[kind].words)), made("span", {}, ...jointed(name)), `${steps}${steps === 1 ? " (least)" : ""}`, said(size, 3), said(value), share, go] };
}

function goThere(steps, size, name) {
  const go = made("button", { type: "button" }, "go there");
  go.setAttribute("aria-label", `go to K = ${steps}, step size ${said(size, 3)}`);
  go.addEventListener("click", () => { Object.assign(fed.plan, { local_steps: steps, step_size: size }); showPlan(); pickTheorem(name); });
  return go;
}

/* The best of the plans whose exact worst case, or measurement, is known: one per kind. */
function knownBest() {
  return knownPlaces.filter((one, k) => k === 0 || knownPlaces[k - 1].kind !== one.kind).map(({ kind, steps, size, value, row, statistic, above, from }) => {
    const level = row?.here < Infinity ? row.here : NaN;
    return { cells: [row ? atlas.classes[row.kind].words : `${statistic} over rounds, server model`, kind === "worst" ? `${worstWords(above)}: best of the plans in the table of ${fed.theorem}` : `measured: best of the plans in ${from}`, String(steps), said(size, 3), said(value), level > 0 ? said(value / level, 3) : "–", goThere(steps, size, fed.theorem)] };
  });
}

/* ---- what goes out and comes in ---- */

function save(name, text, type) {
  const link = made("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* The federation as fedbounds constants writes one, without the plan. */
function constantsFile() {
  const { given, upTo } = told(), plan = new Set(PLAN_WORDS);
  const kept = Object.fromEntries(Object.entries(given).filter(([word]) => !plan.has(word)));
  return `${JSON.stringify({ ...kept, _up_to: Object.fromEntries(Object.entries(upTo).filter(([word]) => word in kept)) }, null, 2)}\n`;
}

function rowsCsv(rows) {
  const cell = (x) => (/[",\n]/.test(String(x)) ? `"${String(x).replaceAll('"', '""')}"` : String(x));
  const lines = rows.map((row) => [row.bound.name, row.kind === undefined ? "" : atlas.classes[row.kind].words, row.state, row.value ?? "", row.here ?? "", (row.conversions ?? []).join(" "),
    row.state === "conditions not met" ? row.failed.map(asked).join("; ") : row.why ?? ""]);
  return [["bound", "class", "state", "value", "start", "conversions", "why"], ...lines].map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

/* The words of a file. */
function parsed(text) {
  let found = null;
  try { found = JSON.parse(text); } catch { throw Error("it is no JSON"); }
  if (!found || typeof found !== "object" || Array.isArray(found)) throw Error("it holds no words with numbers");
  return found;
}

/* Numbers alone, each one that the word can have. */
function numeric(word, value) {
  if (![value].flat().every(Number.isFinite)) throw Error(`${words(word)} must be a number or a list of them`);
  const q = quantityOf(word);
  if (q.open && !q.axis && Array.isArray(value)) throw Error(`${words(word)} must be one number`);
  const bad = q.open && [value].flat().find((x) => refusal(q, x));
  if (bad !== undefined) throw Error(`${words(word)} is ${bad}: it ${refusal(q, bad)}`);
}

/* What a file says in words: how clients are drawn, and what they run. */
const USUAL = { sampling: "without_replacement", algorithm: "fedavg" };

/* A file as fedbounds constants writes it; numbers of assumptions at the end that is safe, and none that has no such end. */
function loaded(name, text) {
  const found = parsed(text), given = {}, lost = {}, ends = Object.assign(Object.create(null), found._interval);
  for (const [word, value] of Object.entries(found)) {
    if (word.startsWith("_") || value === null) continue;
    const side = atlas.roles.up.includes(word) ? 1 : atlas.roles.down.includes(word) ? 0 : -1;
    if (ends[word] !== undefined && !(Array.isArray(ends[word]) && ends[word].length === 2)) throw Error(`_interval of ${words(word)} must be two numbers, or two lists`);
    const safe = side < 0 || !ends[word] ? value : ends[word][side];
    if ([safe].flat().includes(null) || (side === 0 && !(safe > 0))) lost[word] = "known from the other side alone, which no theorem holds with";
    else given[word] = safe;
  }
  for (const [word, usual] of Object.entries(USUAL)) {
    if (given[word] !== undefined && given[word] !== usual) throw Error(`its ${word} is ${given[word]}; this page speaks of ${usual.replace("_", " ")} alone`);
    delete given[word];
  }
  for (const [word, value] of Object.entries(given)) numeric(word, value);
  for (const word of ["clients", "smoothness"]) if (!(given[word] > 0)) throw Error(`it tells no ${words(word)}${lost[word] ? ` that is safe (${lost[word]})` : ""}; fedbounds constants -o c.json writes such a file`);
  for (const [word, limits] of Object.entries(found._up_to ?? {})) {
    if (!limits || typeof limits !== "object" || !Object.values(limits).every(Number.isFinite)) throw Error(`_up_to of ${words(word)} must say up to which numbers it holds, such as {"step_size": 0.1}`);
  }
  if (given.pl_constant > given.smoothness) throw Error(`${words("pl_constant")} is ${given.pl_constant}: no loss of smoothness ${given.smoothness} has one above it`);
  const counts = given.clients;
  if (Array.isArray(counts) || counts % 1 || counts < 1 || counts > MOST_MEMBERS) throw Error(`${words("clients")} must be a whole number from 1 to ${MOST_MEMBERS}`);
  for (const [word, value] of Object.entries(given)) if (Array.isArray(value) && value.length !== counts) throw Error(`${words(word)} must hold a number for each of the ${counts} clients; it holds ${value.length}`);
  if (given.client_weight && Math.abs([given.client_weight].flat().reduce((a, b) => a + b, 0) - 1) > 1e-9) throw Error(`${words("client_weight")} must sum to 1`);
  const plan = { local_steps: 8, step_size: Number((0.05 / given.smoothness).toPrecision(2)), cohort: given.clients, rounds: 1000 };
  for (const word of Object.keys(plan)) if (given[word] !== undefined) { plan[word] = given[word]; delete given[word]; }
  return { name, words: typeof found._about === "string" && found._about ? found._about : `${given.clients} clients, from ${name}`, given, up_to: found._up_to ?? {}, plan, lost };
}
