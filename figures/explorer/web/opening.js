/* Opening the page: as one federation with every theorem, or as one bound; the link says which. */
const federated = (text) => atlas !== null && (text.replace(/^#/, "") === "" || /^#?v=2\b/.test(text));

async function unpacked() {
  const raw = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function show(whole) {
  $("federation").hidden = !whole;
  $("layout").hidden = whole;
  for (const [id, on] of [["view-federation", whole], ["view-bound", !whole]]) $(id).setAttribute("aria-current", on ? "page" : "false");
}

function open(address) {
  const text = mended(address), whole = federated(text);
  show(whole);
  if (whole) return openFederation(text);
  try {
    state = restored(text);
    notice("");
  } catch (error) {
    state = fresh([...bounds.keys()][0]);
    notice(`The link is damaged: ${error.message}. The page shows its defaults instead.`);
  }
  wide = Math.floor($("chart").getBoundingClientRect().width);
  list();
  arrange();
}

function openFederation(text) {
  startThread();
  try {
    fed = federationOf(text);
    notice("");
  } catch (error) {
    fed = freshFederation();
    notice(`The link is damaged: ${error.message}. The page shows its defaults instead.`);
  }
  const first = text.replace(/^#/, "") === "" && !history.state;
  resumeStory(history.state);
  byItself = true;
  planeWide = Math.floor($("plane").getBoundingClientRect().width);
  ladderWide = Math.floor($("ladder").getBoundingClientRect().width) - 4;
  arrangeFederation();
  if (first) tell(0, 0);
}

async function start() {
  keptTheme();
  if (typeof DecompressionStream === "undefined") return notice("This browser cannot unpack the page: it lacks DecompressionStream, which browsers have since 2023.");
  const data = await unpacked();
  ({ claims, papers } = data);
  bounds = new Map(data.bounds.map((b) => [b.name, b]));
  if (data.atlas.targets) {
    atlas = data.atlas;
    atlas.places = new Map(atlas.situations.map((key, i) => [key, i]));
    listenFederation();
    told_();
  }
  $("views").hidden = atlas === null;
  $("layout").classList.toggle("alone", bounds.size === 1);
  document.querySelector("[data-copy=link]").hidden = location.protocol === "about:";
  open(location.hash);
  listen();
}

/* For tests and for people with a console. */
if (typeof document !== "undefined") globalThis.explorer = { evaluated: (name, ...rest) => evaluated(bounds.get(name), ...rest), bounds: () => bounds, state: () => state, fresh, mark, value: () => picture().here.total, timing, texts: COPIES,
  federation: () => fed, told: () => told(), threaded: () => thread !== null, busy: () => underWay !== null, resting: () => keptLink === 0, dropThread, take, takeRuns, exported: EXPORTS, copies: FEDERATION_COPIES, taken, drawn: () => drawn, levels: () => LEVELS,
  rows: (target, given, upTo) => evidenced(target, worldOf(given, upTo)).map(({ bound, kind, state: found, value, terms, failed, conversions, alias, trusted, evidence }) =>
    ({ bound: bound.name, kind: kind === undefined ? "" : atlas.classes[kind].words, state: found, value: String(value), terms: (terms ?? []).map(String), failed: failed.map((f) => f.words), conversions: conversions ?? [], alias, trusted, evidence: (evidence ?? []).map((one) => ({ ...one, value: String(one.value) })) })) };
if (typeof document === "undefined") serve(); else start();
