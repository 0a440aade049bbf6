/* What is chosen, and the fragment of the address that says it. Only what differs from the start is kept. */
const VERSION = "1";
const PLAIN = { b: "bound", o: "overlay", x: "x", f: "from", t: "to", y: "y", d: "terms", u: "vacuous", p: "run" };
let bounds = new Map(), claims = [], papers = {};
let state = {};

const fresh = (name) => ({
  bound: name, overlay: "", x: bounds.get(name).x, from: "", to: "", y: "auto", terms: "lines", vacuous: "", run: "",
  values: {}, lists: {},
});
const main = () => bounds.get(state.bound);
const other = () => bounds.get(state.overlay);
const shown = () => [main(), other()].filter(Boolean);
const owned = (name) => shown().flatMap((b) => b.quantities).find((q) => q.name === name);
const axisCount = (name) => shown().find((b) => b.axis === name)?.members;

const choices = {
  value: (name) => state.values[name] ?? owned(name)?.value ?? axisCount(name),
  list: (name) => state.lists[name] ?? shown().map((b) => b.lists[name]).find(Boolean),
  lists: (bound) => bound.quantities.map((q) => choices.list(q.name)).filter((list) => list?.length),
};

/* Quantities of both bounds, those of the second alone last. */
function quantities() {
  const found = new Map();
  for (const b of shown()) for (const q of b.quantities) if (!found.has(q.name)) found.set(q.name, q);
  return [...found.values()];
}

const listed = () => shown().some((b) => choices.lists(b).length);
const axes = () => quantities().filter((q) => !q.axis && !(listed() && shown().some((b) => b.axis === q.name)));
const comparable = (b) => [...bounds.values()].filter((c) => c !== b && c.target.unit === b.target.unit);

/* ---- the fragment ---- */

function mark(text) {
  let hash = 2166136261;
  for (const c of text) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hash.toString(36);
}

function fragment() {
  const said = new URLSearchParams({ v: VERSION }), start = fresh(state.bound);
  for (const [key, name] of Object.entries(PLAIN)) if (name === "bound" || state[name] !== start[name]) said.set(key, state[name]);
  for (const [name, value] of Object.entries(state.values)) if (value !== owned(name)?.value) said.set(`q.${name}`, value);
  for (const [name, list] of Object.entries(state.lists)) said.set(`l.${name}`, list.join(","));
  said.set("c", mark(said.toString()));
  return `#${said}`;
}

/* The state a fragment stands for; a damaged one is an error that says why. */
function restored(text) {
  const said = new URLSearchParams(text.replace(/^#/, ""));
  const check = said.get("c");
  said.delete("c");
  if (!text.replace(/^#/, "")) return fresh([...bounds.keys()][0]);
  const bare = [...said.keys()].every((key) => key === "v" || key === "b");
  if (said.get("v") !== VERSION) throw Error("it is none of this page, or of another version of it");
  if (!bounds.has(said.get("b"))) throw Error(`this page holds no bound ${said.get("b")}`);
  if (check === null ? !bare : check !== mark(said.toString())) throw Error("something in it is missing or changed");
  return filled(fresh(said.get("b")), said);
}

function filled(found, said) {
  for (const [key, value] of said) {
    if (key in PLAIN) found[PLAIN[key]] = value;
    else if (key.startsWith("q.")) found.values[key.slice(2)] = Number(value);
    else if (key.startsWith("l.")) found.lists[key.slice(2)] = value === "" ? [] : value.split(",").map(Number);
    else if (key !== "v") throw Error(`it speaks of ${key}`);
  }
  const before = state;
  state = found;
  try { checkState(); } finally { state = before; }
  return found;
}

function checkState() {
  if (state.overlay && !comparable(main()).includes(other())) throw Error(`nothing to compare with: ${state.overlay}`);
  for (const [name, value] of Object.entries(state.values)) {
    if (!owned(name) || refusal(owned(name), value)) throw Error(`${name} cannot be ${value}`);
  }
  for (const [name, list] of Object.entries(state.lists)) {
    if (!owned(name)?.axis || list.some((x) => refusal(owned(name), x))) throw Error(`${name} cannot be ${list}`);
  }
  if (state.x && !axes().some((q) => q.name === state.x)) throw Error(`no x-axis ${state.x}`);
}
