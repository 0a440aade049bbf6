/* The link that holds the state of the page. */
const VERSION = "2";

/* The checksum of a link. */
function checksum(text) {
  let hash = 2166136261;
  for (const c of text) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hash.toString(36);
}

/* Repairs of links that were altered in transit: escaped ampersands, double encoding, appended text, line breaks. */
const LINK_REPAIRS = [
  (x) => x.replaceAll("&amp;", "&"),
  decode,
  (x) => x.replace(/(&c=[0-9a-z]+).*$/is, "$1"),
  (x) => x.replace(/\s|%20|%0[ad]/gi, ""),
];

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function checksumHolds(text) {
  const params = new URLSearchParams(text);
  const check = params.get("c");
  params.delete("c");
  return check === checksum(params.toString());
}

/* The repaired link if its checksum is then correct, else the link as it came. */
function repairedLink(text) {
  const tries = [text.replace(/^#/, "")];
  for (const mend of LINK_REPAIRS) tries.push(...tries.map(mend));
  return `#${tries.find(checksumHolds) ?? tries[0]}`;
}

const LINK_KEYS = { target: "target", b: "theorem", x: "x" };

/* The quantity to compare for a theorem: its own target if the page has it, else the current one. */
const targetFor = (name, target = state.target) =>
  atlas.targets.includes(bounds.get(name)?.target.name) ? bounds.get(name).target.name : target;

function stateLink() {
  const params = new URLSearchParams({ v: VERSION });
  const start = initialState(state.place);
  if (state.place) params.set("f", federation().name);
  for (const [key, name] of Object.entries(LINK_KEYS)) if (state[name] !== start[name]) params.set(key, state[name]);
  for (const quantity of PLAN_QUANTITIES)
    if (state.plan[quantity] !== start.plan[quantity] && state.plan[quantity] !== undefined)
      params.set(`p.${quantity}`, state.plan[quantity]);
  for (const [quantity, value] of Object.entries(state.constants))
    params.set(`w.${quantity}`, [value].flat().join(","));
  params.set("c", checksum(params.toString()));
  return `#${params}`;
}

/* The state of a link; raises the reason if it is damaged. */
function parseStateLink(text) {
  const params = new URLSearchParams(text.replace(/^#/, ""));
  const check = params.get("c");
  params.delete("c");
  if (!text.replace(/^#/, "")) return initialState();
  if (params.get("v") !== VERSION) throw Error("it is none of this page, or of another version of it");
  const bare = check === null && [...params.keys()].every((key) => key === "v" || key === "b");
  if (!bare && check !== checksum(params.toString())) throw Error("something in it is missing or changed");
  if (params.get("b") && !bounds.has(params.get("b"))) throw Error(`this page holds no bound ${params.get("b")}`);
  const own = (one, k) => (singleBounds() && params.has("b") ? one.of === params.get("b") : k === 0);
  const place = atlas.federations.findIndex(params.has("f") ? (one) => one.name === params.get("f") : own);
  if (place < 0) throw Error(`it is of a federation that was loaded: ${params.get("f")}`);
  const parsed = initialState(place);
  const before = state;
  state = parsed;
  try {
    for (const [key, value] of params) {
      const [kind, quantity] = key.split(".");
      const free =
        kind === "p"
          ? inPlan(quantity)
          : kind === "w" &&
            !inPlan(quantity) &&
            quantityOf(quantity).open &&
            (singleBounds() || hasControl(quantity) || baseValue(quantity) === undefined);
      if (key === "target" && atlas.targets.includes(value)) parsed.target = value;
      else if (key === "b") {
        parsed.theorem = value;
        if (bare) parsed.target = targetFor(value, parsed.target);
      } else if (key === "x" && shownBound()?.quantities.some((q) => q.name === value)) parsed.x = value;
      else if (free)
        (kind === "p" ? parsed.plan : parsed.constants)[quantity] = parseValue(quantityOf(quantity), value) ?? NaN;
      else if (key !== "v" && key !== "f") throw Error(`it has ${key}, which this page does not know`);
    }
    for (const [quantity, x] of [...Object.entries(parsed.constants), ...Object.entries(parsed.plan)]) {
      const why = x === initialState(place).plan[quantity] ? "" : refusalFor(quantity, x);
      if (why) throw Error(`${readable(quantity)} cannot be ${x} (${why})`);
    }
  } finally {
    state = before;
  }
  return parsed;
}
