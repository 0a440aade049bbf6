/* Format, parse and check numbers; values of sliders and ticks of axes. */
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raised = (k) =>
  String(k)
    .replace(/\d/g, (d) => RAISED[d])
    .replace("-", "⁻");

function formatted(x, digits = 4) {
  if (Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e5 && size >= 1e-3) return String(Number(x.toPrecision(digits))).replace("-", "−");
  const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
  const short = String(Number(mantissa)).replace("-", "−");
  const power = `10${raised(Number(exponent))}`;
  return short === "1" ? power : short === "−1" ? `−${power}` : `${short}·${power}`;
}

/* A number with enough digits to be typed into an equality condition. */
const exactly = (x) => String(Number(x.toPrecision(12)));

/* Two numbers with enough digits to distinguish them. */
function distinguishable(left, right, digits = 3) {
  while (digits < 17 && formatted(left, digits) === formatted(right, digits)) digits += 1;
  return [formatted(left, digits), formatted(right, digits)];
}

/* Parse a number as typed (0.5, 1e-3, 1/3); NaN for anything else. */
function parseNumber(text) {
  const [above, below, more] = text
    .trim()
    .split("/")
    .map((part) => (part.trim() === "" ? NaN : Number(part)));
  return more !== undefined ? NaN : below === undefined ? above : above / below;
}

/* The chart evaluates every client and class at every point; with more of them it could not follow a moving slider. */
const MAX_MEMBERS = 10000;
const countsMembers = (name) => name === "clients" || name === "classes";

/* The reason why x is not a valid value of the quantity; empty if it is. */
function rangeError(quantity, x) {
  const { low = -Infinity, high = Infinity, open, whole } = quantity;
  const outside = x < low || x > high || (open[0] && x === low) || (open[1] && x === high);
  if (!Number.isFinite(x)) return "write a number, such as 0.5, 1e-3 or 1/3";
  if (countsMembers(quantity.name) && x > MAX_MEMBERS) return `must be at most ${MAX_MEMBERS} on this page`;
  return outside || (whole && x !== Math.round(x)) ? `must be ${quantity.domain.split(/[,;] (?=<=|per)/)[0]}` : "";
}

/* Equally spaced values. The ends are weighted separately, since their ratio or difference may overflow. */
function spaced(low, high, log, steps) {
  const at = (t) => (log ? low ** (1 - t) * high ** t : low * (1 - t) + high * t);
  return Array.from({ length: steps + 1 }, (_, s) => (s === steps ? high : at(s / steps)));
}

/* The values of a slider: rounded, inside the domain, each once. */
function sliderValues(quantity, steps = 240) {
  const [low, high, log, zero] = quantity.slider;
  const grain = 10 ** Math.floor(Math.log10((high - low) / steps));
  const round = quantity.whole
    ? Math.round
    : log
      ? (x) => Number(x.toPrecision(3))
      : (x) => Number((Math.round(x / grain) * grain).toPrecision(12));
  const values = spaced(low, high, log, steps)
    .map(round)
    .filter((x) => !rangeError(quantity, x));
  return [...new Set(zero ? [0, ...values] : values)];
}

function nearestIndex(values, x) {
  let best = 0;
  values.forEach((value, i) => {
    if (Math.abs(value - x) < Math.abs(values[best] - x)) best = i;
  });
  return best;
}

/* At most `maxCount` ticks at round numbers. */
function ticks(low, high, log, maxCount) {
  if (log) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / maxCount));
    const decades = [];
    for (let k = first; k <= last; k += step) decades.push(10 ** k);
    if (decades.length >= 2) {
      const between = decades.flatMap((d) => [d / 5, d / 2, d, 2 * d, 5 * d]).filter((x) => x >= low && x <= high);
      const fuller = [...new Set(between.map((x) => Number(x.toPrecision(3))))].sort((a, b) => a - b);
      return step === 1 && fuller.length <= maxCount ? fuller : decades;
    }
  }
  const coarse = high / maxCount - low / maxCount;
  const size = 10 ** Math.floor(Math.log10(coarse));
  const step = [1, 2, 5, 10].map((m) => m * size).find((s) => s >= coarse);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  if (!(count >= 1 && count <= maxCount + 2 && first + count > first)) return [low, high]; // too narrow, or wide, for round numbers
  const marks = Array.from({ length: count }, (_, k) => Number(((first + k) * step).toPrecision(10)));
  return marks.filter(Number.isFinite);
}
