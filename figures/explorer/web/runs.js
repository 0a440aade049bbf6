/* The reader's runs: a CSV as fedbounds train and results write it, or with one column per measured quantity. */
const RUN_COLUMNS = ["local_steps", "step_size", "cohort", "rounds"];
const STARTS = {
  optimality_gap: "initial_gap",
  grad_norm_sq: "initial_grad_norm_sq",
  distance_sq: "initial_distance_sq",
};
const START_TOLERANCE = 0.01;

/* The lines of a CSV as lists of fields. */
function fieldsOf(text) {
  const lines = [[]];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;
  const plain = text.replace(/^\uFEFF/, "");
  for (let end = ","; end !== ""; ) {
    const match = field.exec(plain);
    if (!match) throw Error(`line ${lines.length} has a quotation mark within a field`);
    lines.at(-1).push(match[1]?.replaceAll('""', '"') ?? match[2]);
    end = match[3];
    if (end !== "," && end !== "") lines.push([]);
  }
  return lines.filter((line) => line.some((one) => one.trim() !== ""));
}

const numberIn = (text, where) => {
  const x = text.trim() === "" ? NaN : Number(text);
  if (!Number.isFinite(x)) throw Error(`${where} must be a number; it is ${text.trim() || "empty"}`);
  return x;
};

/* The relaxation of a run by its method; raises for methods other than FedAvg and FedInit. */
function relaxationOf(text) {
  const beta =
    text === undefined || /^fedavg(\(\))?$/.test(text) ? 0 : Number(/^fedinit\(beta=([\d.e-]+)/.exec(text)?.[1] ?? NaN);
  if (Number.isNaN(beta)) throw Error(`it has runs of ${text}; this page supports only fedavg and fedinit`);
  return beta;
}

/* Values by plan, quantity, seed and round; raises at the first line that cannot be read. */
function runsOf(text, plan) {
  const [names = [], ...lines] = fieldsOf(text);
  const column = (name) => names.indexOf(name);
  const tidy = column("quantity") >= 0 && column("value") >= 0;
  const measured = atlas.targets.filter((name) => column(name) >= 0);
  if (new Set(names).size < names.length) throw Error("two of its columns have one name");
  if (!tidy && !measured.length)
    throw Error(`it has no columns quantity and value, and none of ${atlas.targets.join(", ")}`);
  if (column("seed") < 0) throw Error("it has no column seed, which tells runs apart");
  if (column("round") < 0) throw Error("it has no column round, which counts the server's models from 0");
  const plans = new Map();
  lines.forEach((line, k) => {
    const where = `line ${k + 2}`;
    const at = (name) => (column(name) < 0 ? undefined : line[column(name)]);
    if (line.length !== names.length) throw Error(`${where} has ${line.length} fields, the first line ${names.length}`);
    if (at("status") === "diverged") throw Error(`${where} is of a run that diverged`);
    if (at("client")?.trim() || at("layer")?.trim()) return;
    const mine = Object.fromEntries(
      RUN_COLUMNS.map((quantity) => [
        quantity,
        at(quantity)?.trim()
          ? numberIn(at(quantity), `${where}: ${quantity}`)
          : quantity === "rounds"
            ? undefined
            : plan[quantity],
      ]),
    );
    mine.relaxation =
      at("relaxation") === undefined
        ? relaxationOf(at("algorithm"))
        : numberIn(at("relaxation"), `${where}: relaxation`);
    for (const [name, value] of tidy ? [[at("quantity"), at("value")]] : measured.map((name) => [name, at(name)])) {
      if (!atlas.targets.includes(name)) continue;
      const key = JSON.stringify(mine);
      const round = numberIn(at("round"), `${where}: round`);
      const seed = at("seed").trim();
      if (!plans.has(key)) plans.set(key, { plan: mine, measured: {} });
      const seeds = (plans.get(key).measured[name] ??= new Map());
      if (!seeds.has(seed)) seeds.set(seed, new Map());
      if (seeds.get(seed).has(round)) throw Error(`${where}: seed ${seed} has round ${round} of ${name} twice`);
      seeds.get(seed).set(round, numberIn(value, `${where}: ${name}`));
    }
  });
  if (!plans.size) throw Error(`it measures none of ${atlas.targets.join(", ")}`);
  return {
    plans: [...plans.values()],
    assumed: RUN_COLUMNS.filter((quantity) => quantity !== "rounds" && column(quantity) < 0),
  };
}

/* Check that the runs belong to this federation and budget, and that all seeds of a plan have the same rounds. */
function checkedRuns(runs, { v }) {
  for (const { plan, measured } of runs.plans)
    for (const [name, seeds] of Object.entries(measured)) {
      const each = [...seeds.values()].map((one) => [...one.keys()].sort((a, b) => a - b));
      const last = each[0].at(-1);
      plan.rounds ??= last;
      if (seeds.size < 2)
        throw Error(
          `a standard error needs at least 2 seeds; of ${name} at K = ${plan.local_steps}, step size ${plan.step_size} it has one`,
        );
      if (each.some((rounds) => String(rounds) !== String(each[0])))
        throw Error(`seeds of one plan have ${name} at different rounds`);
      if (last !== plan.rounds) throw Error(`${name} was last measured in round ${last} of ${plan.rounds}`);
      if (plan.rounds !== v.rounds)
        throw Error(`its runs have ${plan.rounds} rounds, your plan has ${formatted(v.rounds, 6)}: choose as many`);
      if (plan.cohort !== v.cohort)
        throw Error(`its runs have ${plan.cohort} clients a round, your plan has ${v.cohort}: choose as many`);
      if (!(plan.local_steps >= 1) || plan.local_steps % 1)
        throw Error(`local_steps must be a whole number from 1; it is ${plan.local_steps}`);
      if (!(plan.step_size > 0)) throw Error(`step_size must be above 0; it is ${plan.step_size}`);
      const start = v[STARTS[name]];
      for (const one of seeds.values())
        if (one.has(0) && start !== undefined && Math.abs(one.get(0) - start) > START_TOLERANCE * start)
          throw Error(
            `its runs start at ${readable(name)} ${formatted(one.get(0))}, this federation at ${formatted(start)}: they are of another one`,
          );
    }
  return runs;
}

/* Mean and standard error over seeds of a statistic of the server's models; null if a required round was not measured. */
function estimatedOf(seeds, statistic, rounds) {
  const counts = statistic === "last" ? [rounds] : Array.from({ length: rounds }, (_, r) => r);
  const each = [...seeds.values()];
  if (counts.some((r) => !each[0].has(r))) return null;
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const at = (r) => each.map((one) => one.get(r));
  const minimum = () =>
    counts.reduce(
      (best, r) => {
        const value = mean(at(r));
        return value < best[0] ? [value, r] : best;
      },
      [Infinity, 0],
    )[1];
  const values =
    statistic === "mean" || statistic === "expectation"
      ? each.map((one) => mean(counts.map((r) => one.get(r))))
      : at(statistic === "min" ? minimum() : rounds);
  const value = mean(values);
  const n = values.length;
  return { value, error: Math.sqrt(values.reduce((a, x) => a + (x - value) ** 2, 0) / (n - 1) / n), seeds: n };
}

const ofPlan = (plan, v, ...free) =>
  [...RUN_COLUMNS, "relaxation"].every(
    (quantity) => free.includes(quantity) || Math.abs(plan[quantity] - v[quantity]) <= ROUNDING * Math.abs(v[quantity]),
  );

function runEvidence({ plan, measured }, target, [statistic, via]) {
  const estimate = measured[target] && estimatedOf(measured[target], statistic, plan.rounds);
  return (
    estimate && {
      kind: "measured",
      ...estimate,
      from: federation().runs.name,
      above: Boolean(via),
      words: `measured ${formatted(estimate.value)} ± ${formatted(estimate.error, 2)}`,
      what: `${federation().runs.name}, ${estimate.seeds} seeds, mean and standard error${via ? `; of the server's models, which is at least this by ${via}` : ""}`,
    }
  );
}

/* The measurement of a row's quantity at the plan. */
function measuredOf(row, scenario) {
  const read = atlas.classes[row.kind].runs;
  const mine = read && federation().runs?.plans.find(({ plan }) => ofPlan(plan, scenario.v));
  return mine ? runEvidence(mine, atlas.classes[row.kind].target, read) : null;
}

/* All measured plans with this budget, by the theorem's quantity if it was measured, else by the last model; the best first. */
function measuredPlansOf(name, target, scenario) {
  const about = shownRows.find(
    (one) => one.bound.name === name && one.kind !== undefined && atlas.classes[one.kind].runs,
  );
  const mine = (federation().runs?.plans ?? []).filter(({ plan }) =>
    ofPlan(plan, scenario.v, "local_steps", "step_size"),
  );
  const read = (row, how) =>
    mine
      .map((one) => ({
        ...runEvidence(one, target, how),
        steps: one.plan.local_steps,
        size: one.plan.step_size,
        row,
        statistic: how[0],
      }))
      .filter((one) => one.value !== undefined);
  const row = about ?? shownRows.find((one) => one.bound.name === name && one.kind !== undefined);
  const evidence = [
    ...(about ? read(about, atlas.classes[about.kind].runs) : []),
    ...(row
      ? committedOf(row, scenario, "local_steps", "step_size").map((one) => ({ ...committedEvidence(one), row }))
      : []),
  ];
  return (evidence.length ? evidence : read(undefined, ["last", ""])).sort((a, b) => a.value - b.value);
}

function openRuns(name, text) {
  try {
    const scenario = currentScenario();
    const runs = checkedRuns(runsOf(text, { ...state.plan, cohort: scenario.v.cohort }), scenario);
    federation().runs = { name, ...runs };
    notice("");
    showMeasurements();
    drawMap();
    settingChanged("local_steps");
  } catch (error) {
    notice(`${name} was not taken: ${error.message}.`);
  }
}

/* Describe the measurements of this federation. */
function showMeasurements() {
  const { runs, measured } = federation();
  setContent("measured-plans", ...measuredPlanButtons());
  setContent(
    "runs-summary",
    !runs
      ? measured
        ? `Measured (${measured[0].what}) at these plans:`
        : ""
      : `${runs.name}: ${runs.plans.length} ${runs.plans.length === 1 ? "plan" : "plans"} of ${runs.plans[0].plan.rounds} rounds, ${[...new Set(runs.plans.flatMap((one) => Object.keys(one.measured).map(readable)))].join(", ")}.${runs.assumed.length ? ` Assumed as in your plan: ${runs.assumed.map(readable).join(", ")}.` : ""}`,
  );
}
