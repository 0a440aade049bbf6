/* Evidence beside the rows, which a valid bound must not be below: exact worst cases of the committed tables, exact numbers
of quadratics, and committed measurements. */
const largestOf = (value) => (Array.isArray(value) ? largest(value.length, (k) => value[k]) : value);
const near = (a, b) => Math.abs(a - b) <= atlas.worst.alike * Math.max(Math.abs(a), Math.abs(b));
const comparedWithEvidence = (target, world) => withEvidence(compared(target, world), world);

function withEvidence(rows, world) {
  for (const row of rows) if (RANKED.includes(row.state)) row.evidence = [worstOf(row, world), ...exactOf(row, world), measuredOf(row, world), ...committedOf(row, world).map(committedWords)].filter(Boolean);
  return rows;
}

/* The constants of a row in units in which L = 1 and the initial gap is 1, and these units. */
function scaledPlace(row, world) {
  const { v } = world, { b, pair } = row, put = (word) => (b.needs.includes(word) ? largestOf(v[source(b, word, v)]) : undefined);
  const L = put("smoothness"), gap = put("initial_gap") ?? put("initial_loss") - (put("optimal_loss") ?? 0), { place, clients: most } = atlas.worst;
  if (!(L > 0) || !(gap > 0)) return null;
  const [offset, factor] = pair ?? [];
  const kinds = v.cohort < v.clients ? 1 : v.clients <= most ? v.clients : 2 - v.clients % 2;
  const told = { condition_number: L / (put("strong_convexity") ?? put("pl_constant") ?? L / 10), grad_cap_sq: put("grad_cap_sq") / (L * gap), dissimilarity_factor: factor,
    heterogeneity: put("heterogeneity") !== undefined ? put("heterogeneity") / gap : offset / (L * gap), relaxation: v.relaxation };
  for (const word in told) if (!Number.isFinite(told[word])) told[word] = place[word];
  return { L, gap, head: [kinds, v.rounds, v.local_steps, v.step_size * L], told };
}

const fits = (at, names, found) => at.head.every((x, k) => near(x, found[k])) && names.every((word, k) => near(at.told[word], found[8 + k]));

/* A worst case is exact if it is attained, else an upper estimate. */
const worstWords = (above) => (above ? "worst case, at most" : "exact worst case");

/* The worst case at the plan, if the table of the bound has it. */
function worstOf(row, world) {
  const table = atlas.worst.tables[row.bound.name];
  if (!table || row.conversions.some((name) => !atlas.worst.same.includes(name))) return null;
  const at = scaledPlace(row, world), found = at && table.rows.find((one) => fits(at, table.names, one));
  if (!found) return null;
  const [, , , , worst, exact, low, high] = found, unit = at.gap ** table.powers[0] * at.L ** table.powers[1] * row.factor;
  const certified = low !== null && high !== null && exact ? `, certified between ${formatted(low * unit, 6)} and ${formatted(high * unit, 6)}` : "";
  return { kind: "worst", value: worst * unit, error: 0, above: !exact, words: `${worstWords(!exact)} ${formatted(worst * unit)}`,
    what: `over all federations that the theorem covers, ${at.head[0] > 1 ? `clients ${at.head[0]} of a kind` : "all clients identical"}, no noise${certified}` };
}

/* The plans with the same rounds and constants at which the theorem's worst case is known, the best first. */
function worstPlaces(name, target, given, upTo) {
  const table = atlas.worst.tables[name], bound = bounds.get(name);
  if (!table) return [];
  const plans = new Map(), { v } = worldOf(given, upTo);
  for (const [, rounds, steps, size] of table.rows) if (rounds === v.rounds) plans.set(`${steps} ${size}`, [steps, size / v.smoothness]);
  return [...plans.values()].flatMap(([steps, size]) => {
    const world = worldOf({ ...given, local_steps: steps, step_size: size }, upTo);
    return withEvidence(rowsOf(bound, target, world, null), world).flatMap((row) => (row.evidence ?? []).filter((one) => one.kind === "worst").map((one) => ({ ...one, steps, size, row })));
  }).sort((a, b) => a.value - b.value);
}

/* ---- of the federation itself ---- */

const equal = (x, y) => x === y || ([x].flat().length === [y].flat().length && [x].flat().every((one, k) => Math.abs(one - [y].flat()[k]) <= ROUNDING * Math.abs(one)));

/* Whether no constant was changed, since measurements are valid for the original federation only. */
const unmoved = (world) => Object.entries(federation().given).every(([word, x]) => word in world.beyond || equal(world.given[word], x));
const wordsOf = (row) => atlas.classes[row.kind].words, targetOf = (row) => atlas.classes[row.kind].target;

/* The largest exact number of quadratics that the theorem covers, at the federation's initial plan. */
function exactOf(row, world) {
  const { exact = {}, plan } = federation(), found = exact[targetOf(row)]?.find(([name, kind]) => name === row.bound.name && kind === wordsOf(row));
  if (!found || world.v.relaxation !== 0 || !Object.entries(plan).every(([word, x]) => equal(world.v[word], x)) || !unmoved(world)) return [];
  const [, , value, what] = found;
  return [{ kind: "exact", value, error: 0, above: false, words: `exact, quadratics ${formatted(value)}`, what: words(what) }];
}

/* The committed measurements of a row's quantity, at the plan or at any value of the `free` quantities. */
function committedOf(row, world, ...free) {
  const fits = ({ target, kind, plan, of }) => target === targetOf(row) && kind === wordsOf(row) && (!of.length || of.includes(row.bound.name)) && ofPlan(plan, world.v, ...free);
  return (federation().measured ?? []).some(fits) && unmoved(world) ? federation().measured.filter(fits) : [];
}

const committedWords = ({ value, error, exact, what, plan }) => ({ kind: "measured", value, error, above: false, from: what, steps: plan.local_steps, size: plan.step_size, words: `measured ${formatted(value)} ± ${formatted(error, 2)}`,
  what: `${what}, mean and standard error${exact === undefined ? "" : `; its exact expectation is ${formatted(exact, 6)}`}` });

/* A button for every plan of this federation with a committed measurement. */
function measuredPlans() {
  const { measured, plan: start } = federation(), each = new Map();
  for (const { target, plan } of measured ?? []) if (plan.rounds === start.rounds) each.set(JSON.stringify([target, plan]), [target, plan]);
  return [...each.values()].map(([target, plan]) => {
    const go = element("button", { type: "button" }, `${targetLabel(target)}: K = ${plan.local_steps}, η = ${formatted(plan.step_size, 3)}, N = ${plan.cohort}${plan.relaxation ? `, β = ${plan.relaxation}` : ""}`);
    go.addEventListener("click", () => { fed = { ...freshFederation(fed.place, target), plan: { ...plan } }; arrange(); });
    return go;
  });
}
