/* What is chosen, and the fragment of the address that says it. Only what differs from the start is kept. */
const VERSION = "1";
const PLAIN = { b: "bound", o: "overlay", x: "x", f: "from", t: "to", y: "y", d: "terms", u: "vacuous", p: "run", m: "member" };
let bounds = new Map(), claims = [], papers = {};
let state = {};

const fresh = (name) => ({
  bound: name, overlay: "", x: bounds.get(name).x, from: "", to: "", y: "auto", terms: "lines", vacuous: "", run: "", member: "1",
  values: Object.create(null), lists: Object.create(null), // so that no name of a link means something else
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

/* The clients, or classes, that a bound's own lists or those chosen are over; none where all are alike. */
const different = (bound) => Object.values(bound.given).find(Array.isArray) ?? choices.lists(bound)[0] ?? [];
/* Which of them a target that varies over them is shown of, counted from 1. */
const memberOf = (bound) => Math.max(1, Math.min(Number(state.member), different(bound).length));
const ofMember = (bound) => {
  const { axis } = bound.target, one = axis === "clients" ? "client" : "class";
  return !axis ? "" : different(bound).length ? ` of ${one} ${memberOf(bound)}` : ` of every ${one}`;
};

/* Quantities of both bounds, those of the second alone last. */
function quantities() {
  const found = new Map();
  for (const b of shown()) for (const q of b.quantities) if (!found.has(q.name)) found.set(q.name, q);
  return [...found.values()];
}

const axes = () => quantities().filter((q) => !q.axis && !shown().some((b) => b.axis === q.name && different(b).length));
const firstAxis = () => (axes().find((q) => q.name === main().x) ?? axes()[0])?.name ?? "";
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
  for (const [name, value] of Object.entries(state.values)) if (owned(name) && value !== owned(name).value) said.set(`q.${name}`, value);
  for (const [name, list] of Object.entries(state.lists)) if (owned(name)) said.set(`l.${name}`, list.join(","));
  said.set("c", mark(said.toString()));
  return `#${said}`;
}

/* What undoes that which happens to links on their way: an ampersand spelled out, signs encoded once more, something put behind, line breaks. */
const MENDS = [(x) => x.replaceAll("&amp;", "&"), decoded, (x) => x.replace(/(&c=[0-9a-z]+).*$/is, "$1"), (x) => x.replace(/\s|%20|%0[ad]/gi, "")];

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function unharmed(text) {
  const said = new URLSearchParams(text), check = said.get("c");
  said.delete("c");
  return check === mark(said.toString());
}

/* The link as it was, where its sum says that it is whole again; else as it came. */
function mended(text) {
  const tries = [text.replace(/^#/, "")];
  for (const mend of MENDS) tries.push(...tries.map(mend));
  const found = tries.find(unharmed);
  return found === undefined ? text : `#${found}`;
}

/* The state a fragment stands for; a damaged one is an error that says why. */
function restored(text) {
  const said = new URLSearchParams(text.replace(/^#/, ""));
  const check = said.get("c");
  said.delete("c");
  if (!text.replace(/^#/, "")) return fresh([...bounds.keys()][0]);
  const bare = [...said.keys()].every((key) => key === "v" || key === "b");
  if (said.get("v") !== VERSION) throw Error("it is none of this page, or of another version of it");
  if (!said.get("b")) throw Error("it names no bound");
  if (!bounds.has(said.get("b"))) throw Error(`this page holds no bound ${said.get("b")}`);
  if (check === null ? !bare : check !== mark(said.toString())) throw Error("something in it is missing or changed");
  return filled(fresh(said.get("b")), said);
}

function filled(found, said) {
  for (const [key, value] of said) {
    if (Object.hasOwn(PLAIN, key)) found[PLAIN[key]] = value;
    else if (key.startsWith("q.")) found.values[key.slice(2)] = typed(value);
    else if (key.startsWith("l.")) found.lists[key.slice(2)] = typedList(value);
    else if (key !== "v") throw Error(`it speaks of ${key}`);
  }
  const before = state;
  state = found;
  try { checkState(); } finally { state = before; }
  return found;
}

function checkState() {
  if (state.overlay && !comparable(main()).includes(other())) throw Error(`nothing to compare with: ${state.overlay}`);
  for (const [name, value] of Object.entries(state.values)) refused(name, value, owned(name) ? refusal(owned(name), value) : "unknown");
  for (const [name, list] of Object.entries(state.lists)) refused(name, list, owned(name)?.axis ? refusedList(owned(name), list) : "no list");
  if (state.x !== firstAxis() && !axes().some((q) => q.name === state.x)) throw Error(`no x-axis ${state.x}`);
  for (const name of Object.values(PLAIN)) refused(name, state[name], refusedPlain(name, state[name]));
  for (const [name, why] of Object.entries(refusedRange(state))) refused(name, state[name], why);
}

function refused(name, value, why) {
  if (why) throw Error(`${words(name)} cannot be ${value} (${why})`);
}

/* ---- what is no value, typed or out of a link ---- */

const typedList = (text) => (text.trim() === "" ? [] : text.split(",").map(typed));

/* Why a list over clients or classes is none of the quantity; empty where it is one. */
function refusedList(q, list) {
  const bad = list.map((x) => refusal(q, x)).find(Boolean), total = list.reduce((a, b) => a + b, 0);
  if (list.length > MOST_MEMBERS) return `must hold at most ${MOST_MEMBERS} numbers on this page; it holds ${list.length}`;
  if (bad) return `every number ${bad}`;
  return q.simplex && list.length && Math.abs(total - 1) > 1e-9 ? `must sum to 1; the sum is ${said(total)}` : unequal(q, list);
}

/* Lists over one axis have one length. */
function unequal(q, list) {
  const others = quantities().filter((o) => o.axis === q.axis && o.name !== q.name && choices.list(o.name)?.length);
  const length = others.length ? choices.list(others[0].name).length : list.length;
  return list.length && list.length !== length ? `has ${list.length} numbers; ${words(others[0].name)} has ${length}` : "";
}

/* The same for everything that is no quantity. */
function refusedPlain(name, text) {
  const counts = (most) => (/^\d+$/.test(text) && Number(text) < most ? "" : "there is none of this number");
  if (name === "y" || name === "terms") return [...$(name).options].some((o) => o.value === text) ? "" : "no such choice";
  if (name === "member") return text === "1" ? "" : counts(different(main()).length + 1) || (text === "0" ? "they count from 1" : "");
  if (name === "run") return text && counts(main().points.length);
  if (text === "" || !["from", "to", "vacuous"].includes(name)) return "";
  return name === "vacuous" || !owned(state.x) ? refusal(ANY, typed(text)) : refusal(owned(state.x), typed(text));
}

/* Why the x-axis cannot go so far, by the end that is wrong; an end that is not given is the slider's. */
function refusedRange({ from, to }) {
  const q = owned(state.x), span = q && (from || to) ? ends(q, { from, to }) : {};
  if (!(span.from >= span.to)) return {};
  return from ? { from: `must be below ${said(span.to)}, where the axis ends` } : { to: `must be above ${said(span.from)}, where the axis starts` };
}

/* Whether the ends that were chosen are some of this x-axis. */
const ranged = () => !refusedPlain("from", state.from) && !refusedPlain("to", state.to) && !Object.keys(refusedRange(state)).length;

const ANY = { open: [false, false], whole: false };
