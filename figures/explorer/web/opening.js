/* Open the page at the setting, plan and theorem of its link. */
async function unpackData() {
  const raw = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/* Take over the data of the page. */
function fill(data) {
  ({ atlas, claims } = data);
  const whole = ([place, own]) => ({ ...data.quantities[place], ...own });
  bounds = new Map(data.bounds.map((b) => [b.name, { ...b, quantities: b.quantities.map(whole) }]));
  atlas.places = new Map(atlas.situations.map((key, k) => [key, k]));
}

function openAt(address) {
  const text = repairedLink(address);
  try {
    fed = federationOf(text);
    notice("");
  } catch (error) {
    fed = freshFederation();
    notice(`The link is damaged: ${error.message}. The page shows its defaults instead.`);
  }
  byItself = true;
  if (single()) return arrange();
  const first = text === "#" && !history.state;
  resumeStory(history.state);
  planeWide = Math.floor($("plane").getBoundingClientRect().width);
  ladderWide = Math.floor($("ladder").getBoundingClientRect().width) - 4;
  arrange();
  if (first) tell(0, 0);
}

async function start() {
  keptTheme();
  if (typeof DecompressionStream === "undefined") return notice("This browser cannot unpack the page: it lacks DecompressionStream, which browsers have since 2023.");
  fill(await unpackData());
  document.body.classList.toggle("single", single());
  document.body.classList.toggle("curve", window.name === "curve"); // a frame of this name shows the curve and its sliders
  $("federation").hidden = false;
  $("if").open = innerWidth > 760;
  $("one").open = innerWidth > 760 || single();
  if (!single()) { startThread(); showStory(); }
  openAt(location.hash);
  listen();
}

/* For tests and for use in the console. */
const rowTold = ({ bound, kind, state, value, terms = [], failed, conversions = [], alias, trusted, evidence = [] }) => ({
  bound: bound.name, kind: kind === undefined ? "" : atlas.classes[kind].words, state, value: String(value), terms: terms.map(String),
  failed: failed.map((one) => one.words), conversions, alias, trusted, evidence: evidence.map((one) => ({ ...one, value: String(one.value) })),
});
const explorer = {
  state: () => fed, told: () => currentInputs(), value: () => evaluateIn(opened(), here()).total, texts: COPIES, compared: COMPARISONS, exported: EXPORTS,
  rows: (target, given, upTo) => comparedWithEvidence(target, worldOf(given, upTo)).map(rowTold), drawn: () => drawn, levels: () => LEVELS, taken,
  threaded: () => thread !== null, dropThread, take, takeRuns,
  /* Whether the page shows the result of the last change completely. */
  settled: () => fed !== null && !waiting && !job && underWay === null && (single() || (drawn && !drawn.stale)),
  resting: () => keptLink === 0,
};
if (typeof document === "undefined") serve(); else { Object.assign(globalThis, { explorer }); start(); }
