/* Numbers beside the rows that a theorem must stand above if it is true: exact worst cases of the committed tables. */
const largestOf = (value) => (Array.isArray(value) ? top(value.length, (k) => value[k]) : value);
const near = (a, b) => Math.abs(a - b) <= atlas.worst.alike * Math.max(Math.abs(a), Math.abs(b));
const evidenced = (target, world) => withEvidence(compared(target, world), world);

function withEvidence(rows, world) {
  for (const row of rows) if (RANKED.includes(row.state)) row.evidence = [worstOf(row, world), measuredOf(row, world)].filter(Boolean);
  return rows;
}

/* The numbers of a row in units in which L = 1 and the gap at the start is 1, and what its own unit is in them. */
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

/* One word for one state: a worst case that is attained, or one that is proved from above alone. */
const worstWords = (above) => (above ? "worst case, at most" : "exact worst case");

/* The exact worst case at the plan, where the table of the bound has it. */
function worstOf(row, world) {
  const table = atlas.worst.tables[row.bound.name];
  if (!table || row.conversions.some((name) => !atlas.worst.same.includes(name))) return null;
  const at = scaledPlace(row, world), found = at && table.rows.find((one) => fits(at, table.names, one));
  if (!found) return null;
  const [, , , , worst, exact, low, high] = found, unit = at.gap ** table.powers[0] * at.L ** table.powers[1] * row.factor;
  const certified = low !== null && high !== null && exact ? `, certified between ${said(low * unit, 6)} and ${said(high * unit, 6)}` : "";
  return { kind: "worst", value: worst * unit, error: 0, above: !exact, words: `${worstWords(!exact)} ${said(worst * unit)}`,
    what: `over all federations that the theorem speaks of, ${at.head[0] > 1 ? `clients ${at.head[0]} of a kind` : "all clients alike"}, no noise${certified}` };
}

/* The plans of the same rounds and constants at which the theorem's worst case is known, the best one first. */
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
