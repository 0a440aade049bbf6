/* Save constants and rows; load constants. */
function save(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* The federation as fedbounds constants writes one, without the plan. */
function constantsFile() {
  const { given, upTo } = currentInputs();
  const plan = new Set(PLAN_QUANTITIES);
  const constants = Object.fromEntries(Object.entries(given).filter(([quantity]) => !plan.has(quantity)));
  return `${JSON.stringify({ ...constants, _up_to: Object.fromEntries(Object.entries(upTo).filter(([quantity]) => quantity in constants)) }, null, 2)}\n`;
}

function rowsCsv(rows) {
  const field = (x) => (/[",\n]/.test(String(x)) ? `"${String(x).replaceAll('"', '""')}"` : String(x));
  const lines = rows.map((row) => [
    row.bound.name,
    row.kind === undefined ? "" : atlas.classes[row.kind].words,
    row.state,
    row.value ?? "",
    row.startValue ?? "",
    (row.conversions ?? []).join(" "),
    row.state === "conditions not met" ? row.failed.map(conditionText).join("; ") : (row.why ?? ""),
  ]);
  return (
    [["bound", "class", "state", "value", "start", "conversions", "why"], ...lines]
      .map((line) => line.map(field).join(","))
      .join("\n") + "\n"
  );
}

/* Parse a file of constants. */
function parseJson(text) {
  let parsed = null;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw Error("it is not JSON");
  }
  if (!parsed || typeof parsed !== "object" || Array.isArray(parsed)) throw Error("it holds no words with numbers");
  return parsed;
}

/* Check that a value is a valid number, or list of numbers, of the quantity. */
function numeric(quantity, value) {
  if (![value].flat().every(Number.isFinite)) throw Error(`${readable(quantity)} must be a number or a list of them`);
  const q = quantityOf(quantity);
  if (q.open && !q.axis && Array.isArray(value)) throw Error(`${readable(quantity)} must be one number`);
  const bad = q.open && [value].flat().find((x) => rangeError(q, x));
  if (bad !== undefined) throw Error(`${readable(quantity)} is ${bad}: it ${rangeError(q, bad)}`);
}

/* Texts in a file of constants: sampling and algorithm, with the only values that the page supports. */
const SUPPORTED = { sampling: "without_replacement", algorithm: "fedavg" };

/* Load a file of fedbounds constants; of an interval the safe end is taken, constants without one are left out. */
function federationFromFile(name, text) {
  const parsed = parseJson(text);
  const given = {};
  const lost = {};
  const ends = Object.assign(Object.create(null), parsed._interval);
  for (const [quantity, value] of Object.entries(parsed)) {
    if (quantity.startsWith("_") || value === null) continue;
    const side = atlas.roles.up.includes(quantity) ? 1 : atlas.roles.down.includes(quantity) ? 0 : -1;
    if (ends[quantity] !== undefined && !(Array.isArray(ends[quantity]) && ends[quantity].length === 2))
      throw Error(`_interval of ${readable(quantity)} must be two numbers, or two lists`);
    const safe = side < 0 || !ends[quantity] ? value : ends[quantity][side];
    if ([safe].flat().includes(null) || (side === 0 && !(safe > 0)))
      lost[quantity] = "known from the other side alone, which no theorem holds with";
    else given[quantity] = safe;
  }
  for (const [quantity, usual] of Object.entries(SUPPORTED)) {
    if (given[quantity] !== undefined && given[quantity] !== usual)
      throw Error(`its ${quantity} is ${given[quantity]}; this page supports only ${usual.replace("_", " ")}`);
    delete given[quantity];
  }
  for (const [quantity, value] of Object.entries(given)) numeric(quantity, value);
  for (const quantity of ["clients", "smoothness"])
    if (!(given[quantity] > 0))
      throw Error(
        `it tells no ${readable(quantity)}${lost[quantity] ? ` that is safe (${lost[quantity]})` : ""}; fedbounds constants -o c.json writes such a file`,
      );
  for (const [quantity, limits] of Object.entries(parsed._up_to ?? {})) {
    if (!limits || typeof limits !== "object" || !Object.values(limits).every(Number.isFinite))
      throw Error(`_up_to of ${readable(quantity)} must say up to which numbers it holds, such as {"step_size": 0.1}`);
  }
  if (given.pl_constant > given.smoothness)
    throw Error(
      `${readable("pl_constant")} is ${given.pl_constant}: no loss of smoothness ${given.smoothness} has one above it`,
    );
  const counts = given.clients;
  if (Array.isArray(counts) || counts % 1 || counts < 1 || counts > MAX_MEMBERS)
    throw Error(`${readable("clients")} must be a whole number from 1 to ${MAX_MEMBERS}`);
  for (const [quantity, value] of Object.entries(given))
    if (Array.isArray(value) && value.length !== counts)
      throw Error(
        `${readable(quantity)} must hold a number for each of the ${counts} clients; it holds ${value.length}`,
      );
  if (given.client_weight && Math.abs([given.client_weight].flat().reduce((a, b) => a + b, 0) - 1) > 1e-9)
    throw Error(`${readable("client_weight")} must sum to 1`);
  const plan = {
    local_steps: 8,
    step_size: Number((0.05 / given.smoothness).toPrecision(2)),
    cohort: given.clients,
    rounds: 1000,
  };
  for (const quantity of Object.keys(plan))
    if (given[quantity] !== undefined) {
      plan[quantity] = given[quantity];
      delete given[quantity];
    }
  return {
    name,
    words:
      typeof parsed._about === "string" && parsed._about ? parsed._about : `${given.clients} clients, from ${name}`,
    given,
    up_to: parsed._up_to ?? {},
    plan,
    lost,
  };
}
