/* Controls for the numbers and lists of a setting and plan, and which values they accept. */
const TARGETS = {
  grad_norm_sq: "squared gradient norm",
  distance_sq: "squared distance to the best model",
  divergence: "divergence of clients",
};
const targetLabel = (name) => TARGETS[name] ?? readable(name);

/* The values of a control, in equal ratios. */
function sliderSteps(quantity) {
  if (!hasControl(quantity)) return sliderValues(quantityOf(quantity));
  const base = baseValue(quantity);
  const { clients, smoothness } = federation().given;
  const minimum = COUNTS.includes(quantity) ? 1 : 0;
  const ends = {
    local_steps: [1, MAX_STEPS],
    step_size: [1e-5 / smoothness, 10 / smoothness],
    cohort: [1, clients],
    rounds: [1, 1e7],
    runtime: [1, 1e6],
    relaxation: [0, 0.5],
  };
  const [low, high] = ends[quantity] ?? [Math.max(minimum, base / 1e4), base * 1e4];
  const log = quantity !== "relaxation" && high > low;
  const round = COUNTS.includes(quantity) ? Math.round : (x) => Number(x.toPrecision(3));
  return [...new Set([...spaced(low, high, log, 160).map(round), ...(base >= low && base <= high ? [base] : [])])].sort(
    (a, b) => a - b,
  );
}

const LABELS = {
  local_steps: "local steps K",
  step_size: "step size η",
  cohort: "participants N",
  rounds: "rounds R",
  runtime: "seconds",
  relaxation: "relaxation β",
  smoothness: "smoothness L",
  strong_convexity: "strong convexity μ",
  gradient_variance: "gradient noise σ²",
  optimum_dissimilarity: "difference of clients ζ*²",
  initial_gap: "initial gap D",
  optimal_loss: "minimum loss F*",
  initial_distance_sq: "initial distance²",
  grad_cap_sq: "second moment G²",
  lipschitz: "largest slope (Lipschitz)",
  samples: "samples of a client",
  samples_per_round: "new samples a round",
};

const COUNTS = ["local_steps", "cohort", "rounds", "samples", "samples_per_round"];

/* The numbers that a control accepts, and the reason that it gives for refusing another one. */
const MAX_COUNT = 1e15;
const POSITIVE = [(x) => x > 0, "must be above 0"];
const NOT_NEGATIVE = [(x) => x >= 0, "must be at least 0"];
const INTEGER = [(x) => x >= 1 && x <= MAX_COUNT && x === Math.round(x), "must be an integer from 1 to 1e15"];
const ACCEPTED = {
  ...Object.fromEntries(COUNTS.map((quantity) => [quantity, INTEGER])),
  cohort: [
    (x) => x >= 1 && x === Math.round(x) && x <= federation().given.clients,
    "must be an integer from 1 to the number of clients",
  ],
  relaxation: NOT_NEGATIVE,
  gradient_variance: NOT_NEGATIVE,
  optimum_dissimilarity: NOT_NEGATIVE,
  optimal_loss: [() => true, ""],
  strong_convexity: [(x) => x > 0 && x <= valueOf("smoothness"), "must be above 0 and at most L"],
  smoothness: [(x) => x > 0 && x >= (valueOf("strong_convexity") ?? 0), "must be at least μ"],
};
const MAX_SIZE = 1e100;

/* The reason why a value of a quantity is refused; empty if it is accepted. */
function refusalFor(quantity, x) {
  if (x === undefined) return ""; // as it was
  if (Array.isArray(x)) return listRefusal(quantityOf(quantity), x);
  return hasControl(quantity) || inPlan(quantity)
    ? numberRefusal(quantity, x)
    : rangeError(quantityOf(quantity), x) ||
        (quantity === "clients" && givenLists().some((list) => list.length !== x)
          ? "a list says how many there are"
          : "");
}

function numberRefusal(quantity, x) {
  const [accepts, reason] = ACCEPTED[quantity] ?? POSITIVE;
  if (!Number.isFinite(x)) return "write a number, such as 0.5, 1e-3 or 1/3";
  if (Math.abs(x) > MAX_SIZE || (x !== 0 && Math.abs(x) < 1 / MAX_SIZE))
    return "must be of a size from 1e-100 to 1e100";
  return accepts(x) ? "" : reason;
}

/* The reason why a list is not a valid value of the quantity; empty if it is. */
function listRefusal(q, list) {
  const bad = list.map((x) => rangeError(q, x)).find(Boolean);
  const total = list.reduce((a, b) => a + b, 0);
  const length = valueOf(q.axis) ?? list.length;
  if (!q.axis) return "must be one number";
  if (bad) return `every number ${bad}`;
  if (list.length !== length)
    return `must hold ${length} numbers, one for each of the ${q.axis}; it holds ${list.length}`;
  return q.simplex && Math.abs(total - 1) > 1e-9 ? `must sum to 1; the sum is ${formatted(total)}` : "";
}

/* Parse a number or a list; undefined stands for equal weights. */
const parseValue = (q, text) =>
  text.includes(",")
    ? text.split(",").map(parseNumber)
    : q.simplex && text.trim() === ""
      ? undefined
      : parseNumber(text);
const writeValue = (value) =>
  value === undefined
    ? ""
    : [value]
        .flat()
        .map((x) => Number(x.toPrecision(6)))
        .join(", ");

/** A control for a number (with slider) or a list. @param {string} quantity */
function controlOf(quantity, value = valueOf(quantity)) {
  const box = element("div", { className: "control", id: `fc-${quantity}` });
  const q = quantityOf(quantity);
  const listed = Array.isArray(value) || q.simplex;
  const steps = listed ? [] : sliderSteps(quantity);
  const field = element("input", {
    id: `f-${quantity}`,
    inputMode: q.axis ? "text" : "decimal",
    autocomplete: "off",
    value: writeValue(value),
    placeholder: q.simplex ? "equal" : "",
  });
  const range = element("input", {
    id: `fs-${quantity}`,
    type: "range",
    min: 0,
    max: steps.length - 1,
    step: 1,
    value: nearestIndex(steps, value),
  });
  const error = element("p", { className: "error", id: `fe-${quantity}`, role: "alert" });
  range.setAttribute("aria-label", `${LABELS[quantity] ?? readable(quantity)}, slider`);
  range.hidden = !steps.length;
  field.setAttribute("aria-describedby", `fe-${quantity}`);
  if (steps.length) range.setAttribute("aria-valuetext", formatted(value));
  const apply = (x) => {
    const why = refusalFor(quantity, x);
    error.textContent = why;
    field.setAttribute("aria-invalid", why ? "true" : "false");
    if (why) return false;
    setQuantity(quantity, x);
    if (typeof x === "number") range.setAttribute("aria-valuetext", formatted(x));
    settingChanged(quantity);
    return true;
  };
  range.addEventListener("input", () => {
    if (apply(steps[range.value])) field.value = String(steps[range.value]);
  });
  field.addEventListener("input", () => {
    const x = parseValue(q, field.value);
    if (apply(x) && typeof x === "number") range.value = nearestIndex(steps, x);
  });
  const label = element("label", { htmlFor: field.id, title: q.meaning }, LABELS[quantity] ?? ` ${readable(quantity)}`);
  if (!LABELS[quantity]) label.insertAdjacentHTML("afterbegin", q.letter);
  box.append(label, field, range, error);
  return box;
}

/* Update controls after their numbers were changed elsewhere. */
function updateControls(...names) {
  for (const quantity of names) {
    $(`f-${quantity}`).value = writeValue(valueOf(quantity));
    $(`fs-${quantity}`).value = nearestIndex(sliderSteps(quantity), valueOf(quantity));
    $(`fs-${quantity}`).setAttribute("aria-valuetext", formatted(valueOf(quantity)));
    $(`fe-${quantity}`).textContent = "";
  }
}
