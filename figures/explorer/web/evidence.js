/* Evidence beside the rows, which a valid bound must not be below: exact worst cases of the committed tables, exact numbers
of quadratics, and committed measurements. */
const largestEntry = (value) => (Array.isArray(value) ? largest(value.length, (k) => value[k]) : value);
const isClose = (a, b) => Math.abs(a - b) <= atlas.worst.tolerance * Math.max(Math.abs(a), Math.abs(b));
const compareWithEvidence = (target, scenario) => withEvidence(compareTheorems(target, scenario), scenario);

function withEvidence(rows, scenario) {
  for (const row of rows)
    if (RANKED.includes(row.state))
      row.evidence = [
        worstCaseOf(row, scenario),
        ...exactOf(row, scenario),
        measuredOf(row, scenario),
        ...committedOf(row, scenario).map(committedEvidence),
      ].filter(Boolean);
  return rows;
}

/* The constants of a row in units in which L = 1 and the initial gap is 1, and these units. */
function normalised(row, scenario) {
  const { v } = scenario;
  const { b, pair } = row;
  const input = (quantity) => (b.needs.includes(quantity) ? largestEntry(v[inputName(b, quantity, v)]) : undefined);
  const L = input("smoothness");
  const gap = input("initial_gap") ?? input("initial_loss") - (input("optimal_loss") ?? 0);
  const { place, clients: limit } = atlas.worst;
  if (!(L > 0) || !(gap > 0)) return null;
  const [offset, factor] = pair ?? [];
  const groups = v.cohort < v.clients ? 1 : v.clients <= limit ? v.clients : 2 - (v.clients % 2);
  const constants = {
    condition_number: L / (input("strong_convexity") ?? input("pl_constant") ?? L / 10),
    grad_cap_sq: input("grad_cap_sq") / (L * gap),
    dissimilarity_factor: factor,
    heterogeneity: input("heterogeneity") !== undefined ? input("heterogeneity") / gap : offset / (L * gap),
    relaxation: v.relaxation,
  };
  for (const quantity in constants) if (!Number.isFinite(constants[quantity])) constants[quantity] = place[quantity];
  return { L, gap, head: [groups, v.rounds, v.local_steps, v.step_size * L], constants };
}

const matchesTable = (plan, names, row) =>
  plan.head.every((x, k) => isClose(x, row[k])) &&
  names.every((quantity, k) => isClose(plan.constants[quantity], row[8 + k]));

/* A worst case is exact if it is attained, else an upper estimate. */
const worstLabel = (above) => (above ? "worst case, at most" : "exact worst case");

/* The worst case at the plan, if the table of the bound has it. */
function worstCaseOf(row, scenario) {
  const table = atlas.worst.tables[row.bound.name];
  if (!table || row.conversions.some((name) => !atlas.worst.same.includes(name))) return null;
  const at = normalised(row, scenario);
  const entry = at && table.rows.find((one) => matchesTable(at, table.names, one));
  if (!entry) return null;
  const [, , , , worst, exact, low, high] = entry;
  const unit = at.gap ** table.powers[0] * at.L ** table.powers[1] * row.factor;
  const certified =
    low !== null && high !== null && exact
      ? `, certified between ${formatted(low * unit, 6)} and ${formatted(high * unit, 6)}`
      : "";
  return {
    kind: "worst",
    value: worst * unit,
    error: 0,
    above: !exact,
    words: `${worstLabel(!exact)} ${formatted(worst * unit)}`,
    what: `over all federations that the theorem covers, ${at.head[0] > 1 ? `clients ${at.head[0]} of a kind` : "all clients identical"}, no noise${certified}`,
  };
}

/* The plans with the same rounds and constants at which the theorem's worst case is known, the best first. */
function worstCasePlans(name, target, given, upTo) {
  const table = atlas.worst.tables[name];
  const bound = bounds.get(name);
  if (!table) return [];
  const plans = new Map();
  const { v } = scenarioOf(given, upTo);
  for (const [, rounds, steps, size] of table.rows)
    if (rounds === v.rounds) plans.set(`${steps} ${size}`, [steps, size / v.smoothness]);
  return [...plans.values()]
    .flatMap(([steps, size]) => {
      const scenario = scenarioOf({ ...given, local_steps: steps, step_size: size }, upTo);
      return withEvidence(rowsOf(bound, target, scenario, null), scenario).flatMap((row) =>
        (row.evidence ?? []).filter((one) => one.kind === "worst").map((one) => ({ ...one, steps, size, row })),
      );
    })
    .sort((a, b) => a.value - b.value);
}

/* ---- of the federation itself ---- */

const equal = (x, y) =>
  x === y ||
  ([x].flat().length === [y].flat().length &&
    [x].flat().every((one, k) => Math.abs(one - [y].flat()[k]) <= ROUNDING * Math.abs(one)));

/* Whether no constant was changed, since measurements are valid for the original federation only. */
const constantsUnchanged = (scenario) =>
  Object.entries(federation().given).every(
    ([quantity, x]) => quantity in scenario.invalid || equal(scenario.given[quantity], x),
  );
const kindText = (row) => atlas.classes[row.kind].words;
const targetOf = (row) => atlas.classes[row.kind].target;

/* The largest exact number of quadratics that the theorem covers, at the federation's initial plan. */
function exactOf(row, scenario) {
  const { exact = {}, plan } = federation();
  const record = exact[targetOf(row)]?.find(([name, kind]) => name === row.bound.name && kind === kindText(row));
  if (
    !record ||
    scenario.v.relaxation !== 0 ||
    !Object.entries(plan).every(([quantity, x]) => equal(scenario.v[quantity], x)) ||
    !constantsUnchanged(scenario)
  )
    return [];
  const [, , value, what] = record;
  return [
    {
      kind: "exact",
      value,
      error: 0,
      above: false,
      words: `exact, quadratics ${formatted(value)}`,
      what: readable(what),
    },
  ];
}

/* The committed measurements of a row's quantity, at the plan or at any value of the `free` quantities. */
function committedOf(row, scenario, ...free) {
  const applies = ({ target, kind, plan, of }) =>
    target === targetOf(row) &&
    kind === kindText(row) &&
    (!of.length || of.includes(row.bound.name)) &&
    ofPlan(plan, scenario.v, ...free);
  return (federation().measured ?? []).some(applies) && constantsUnchanged(scenario)
    ? federation().measured.filter(applies)
    : [];
}

const committedEvidence = ({ value, error, exact, what, plan }) => ({
  kind: "measured",
  value,
  error,
  above: false,
  from: what,
  steps: plan.local_steps,
  size: plan.step_size,
  words: `measured ${formatted(value)} ± ${formatted(error, 2)}`,
  what: `${what}, mean and standard error${exact === undefined ? "" : `; its exact expectation is ${formatted(exact, 6)}`}`,
});

/* A button for every plan of this federation with a committed measurement. */
function measuredPlanButtons() {
  const { measured, plan: start } = federation();
  const each = new Map();
  for (const { target, plan } of measured ?? [])
    if (plan.rounds === start.rounds) each.set(JSON.stringify([target, plan]), [target, plan]);
  return [...each.values()].map(([target, plan]) => {
    const go = element(
      "button",
      { type: "button" },
      `${targetLabel(target)}: K = ${plan.local_steps}, η = ${formatted(plan.step_size, 3)}, N = ${plan.cohort}${plan.relaxation ? `, β = ${plan.relaxation}` : ""}`,
    );
    go.addEventListener("click", () => {
      state = { ...initialState(state.place, target), plan: { ...plan } };
      showControls();
    });
    return go;
  });
}
