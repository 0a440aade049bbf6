/* Show the plans with the smallest bound and the best known evidence within this budget, with a button for each. */
function showBestPlans() {
  if (!drawn || drawn.stale) return;
  const best = bestOf(drawn), parts = [];
  if (best) {
    const { given, upTo } = currentInputs(), world = worldOf({ ...given, local_steps: best.steps, step_size: best.size }, upTo), bound = bounds.get(mapped());
    const row = byTheorem(bound ? rowsOf(bound, drawn.target, world, machineOf(world)) : compared(drawn.target, world)).find((one) => mapped() || !one.printed);
    const edge = best.steps === 1 || best.steps >= MOST_STEPS * 0.95 || drawn.sizes.indexOf(best.size) % (SIDE - 1) === 0;
    if (row) parts.push(element("p", {}, element("strong", {}, "Smallest bound: "), `${formatted(row.value, 3)} at K = ${best.steps}, η = ${formatted(best.size, 3)}${mapped() ? "" : ` (${titleOf(row.bound.name)})`}${edge ? ", at the edge of what is possible here" : ""}. `, goThere(best.steps, best.size, fed.theorem)));
  }
  parts.push(...knownBest());
  put("run-table", ...(parts.length ? parts : [element("p", {}, "No plan on this map has a value.")]));
}

function goThere(steps, size, name) {
  const go = element("button", { type: "button" }, "Go there");
  go.setAttribute("aria-label", `go to K = ${steps}, step size ${formatted(size, 3)}`);
  go.addEventListener("click", () => { Object.assign(fed.plan, { local_steps: steps, step_size: size }); showWords("local_steps", "step_size"); pickTheorem(name); });
  return go;
}

/* The best plan by exact worst case, and the best by measurement. */
function knownBest() {
  return knownPlaces.filter((one, k) => k === 0 || knownPlaces[k - 1].kind !== one.kind).map(({ kind, steps, size, value, above, from }) => element("p", {}, element("strong", {}, kind === "worst" ? `Smallest ${worstWords(above)}: ` : "Best measured: "),
    `${formatted(value, 3)} at K = ${steps}, η = ${formatted(size, 3)}${kind === "worst" ? "" : ` (${from})`}. `, goThere(steps, size, fed.theorem)));
}

/* ---- saving and loading ---- */

function save(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* The federation as fedbounds constants writes one, without the plan. */
function constantsFile() {
  const { given, upTo } = currentInputs(), plan = new Set(PLAN_WORDS);
  const kept = Object.fromEntries(Object.entries(given).filter(([word]) => !plan.has(word)));
  return `${JSON.stringify({ ...kept, _up_to: Object.fromEntries(Object.entries(upTo).filter(([word]) => word in kept)) }, null, 2)}\n`;
}

function rowsCsv(rows) {
  const cell = (x) => (/[",\n]/.test(String(x)) ? `"${String(x).replaceAll('"', '""')}"` : String(x));
  const lines = rows.map((row) => [row.bound.name, row.kind === undefined ? "" : atlas.classes[row.kind].words, row.state, row.value ?? "", row.here ?? "", (row.conversions ?? []).join(" "),
    row.state === "conditions not met" ? row.failed.map(conditionText).join("; ") : row.why ?? ""]);
  return [["bound", "class", "state", "value", "start", "conversions", "why"], ...lines].map((line) => line.map(cell).join(",")).join("\n") + "\n";
}

/* Parse a file of constants. */
function parseConstants(text) {
  let found = null;
  try { found = JSON.parse(text); } catch { throw Error("it is not JSON"); }
  if (!found || typeof found !== "object" || Array.isArray(found)) throw Error("it holds no words with numbers");
  return found;
}

/* Check that a value is a valid number, or list of numbers, of the quantity. */
function numeric(word, value) {
  if (![value].flat().every(Number.isFinite)) throw Error(`${words(word)} must be a number or a list of them`);
  const q = quantityOf(word);
  if (q.open && !q.axis && Array.isArray(value)) throw Error(`${words(word)} must be one number`);
  const bad = q.open && [value].flat().find((x) => refusal(q, x));
  if (bad !== undefined) throw Error(`${words(word)} is ${bad}: it ${refusal(q, bad)}`);
}

/* Texts in a file of constants: sampling and algorithm, with the only values that the page supports. */
const USUAL = { sampling: "without_replacement", algorithm: "fedavg" };

/* Load a file of fedbounds constants; of an interval the safe end is taken, constants without one are left out. */
function loadConstants(name, text) {
  const found = parseConstants(text), given = {}, lost = {}, ends = Object.assign(Object.create(null), found._interval);
  for (const [word, value] of Object.entries(found)) {
    if (word.startsWith("_") || value === null) continue;
    const side = atlas.roles.up.includes(word) ? 1 : atlas.roles.down.includes(word) ? 0 : -1;
    if (ends[word] !== undefined && !(Array.isArray(ends[word]) && ends[word].length === 2)) throw Error(`_interval of ${words(word)} must be two numbers, or two lists`);
    const safe = side < 0 || !ends[word] ? value : ends[word][side];
    if ([safe].flat().includes(null) || (side === 0 && !(safe > 0))) lost[word] = "known from the other side alone, which no theorem holds with";
    else given[word] = safe;
  }
  for (const [word, usual] of Object.entries(USUAL)) {
    if (given[word] !== undefined && given[word] !== usual) throw Error(`its ${word} is ${given[word]}; this page supports only ${usual.replace("_", " ")}`);
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
