/* Open the page at the setting, plan and theorem of its link. */
async function unpackData() {
  const raw = decodeAscii85($("data").textContent);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/* Decode Ascii85, in which v stands for <. */
function decodeAscii85(text) {
  const padding = (5 - (text.length % 5)) % 5;
  const digits = text + "u".repeat(padding);
  const bytes = new DataView(new ArrayBuffer((digits.length / 5) * 4));
  for (let k = 0; k < digits.length; k += 5) {
    let value = 0;
    for (const digit of digits.slice(k, k + 5)) value = value * 85 + (digit === "v" ? "<" : digit).charCodeAt(0) - 33;
    bytes.setUint32((k / 5) * 4, value);
  }
  return new Uint8Array(bytes.buffer, 0, bytes.byteLength - padding);
}

/* Take over the data of the page. */
function loadData(data) {
  ({ atlas, claims } = data);
  const whole = ([place, own]) => ({ ...data.quantities[place], ...own });
  bounds = new Map(data.bounds.map((b) => [b.name, { ...b, quantities: b.quantities.map(whole) }]));
  atlas.places = new Map(atlas.situations.map((key, k) => [key, k]));
}

function openAt(address) {
  const text = repairedLink(address);
  try {
    state = parseStateLink(text);
    notice("");
  } catch (error) {
    state = initialState();
    notice(`The link is damaged: ${error.message}. The page shows its defaults instead.`);
  }
  automatic = true;
  if (singleBounds()) return showControls();
  const first = text === "#" && !history.state;
  resumeStory(history.state);
  mapWidth = Math.floor($("map").getBoundingClientRect().width);
  rankingWidth = Math.floor($("ranking").getBoundingClientRect().width) - 4;
  showControls();
  if (first) showStep(0, 0);
}

async function start() {
  restoreTheme();
  if (typeof DecompressionStream === "undefined")
    return notice("This browser cannot unpack the page: it lacks DecompressionStream, which browsers have since 2023.");
  loadData(await unpackData());
  document.body.classList.toggle("single", singleBounds());
  document.body.classList.toggle("curve", window.name === "curve"); // a frame of this name shows the curve and its sliders
  $("federation").hidden = false;
  $("conditions-part").open = innerWidth > 760;
  $("theorem-panel").open = innerWidth > 760 || singleBounds();
  if (!singleBounds()) {
    startWorker();
    showStory();
  }
  openAt(location.hash);
  listen();
}

/* For tests and for use in the console. */
const plainRow = ({
  bound,
  kind,
  state,
  value,
  terms = [],
  failed,
  conversions = [],
  alias,
  assumed,
  evidence = [],
}) => ({
  bound: bound.name,
  kind: kind === undefined ? "" : atlas.classes[kind].words,
  state,
  value: String(value),
  terms: terms.map(String),
  failed: failed.map((one) => one.words),
  conversions,
  alias,
  assumed,
  evidence: evidence.map((one) => ({ ...one, value: String(one.value) })),
});
const explorer = {
  state: () => state,
  inputs: () => currentInputs(),
  value: () => evaluateIn(shownBound(), currentScenario()).total,
  texts: COPIES,
  comparisons: COMPARISONS,
  exports: EXPORTS,
  rows: (target, given, upTo) => compareWithEvidence(target, scenarioOf(given, upTo)).map(plainRow),
  map: () => mapGrid,
  levels: () => LEVELS,
  timings,
  hasWorker: () => worker !== null,
  stopWorker,
  openConstants,
  openRuns,
  /* Whether the page shows the result of the last change completely. */
  settled: () =>
    state !== null && !redrawRequest && !mapJob && currentTask === null && (singleBounds() || (mapGrid && !mapGrid.stale)),
  resting: () => linkTimer === 0,
};
if (typeof document === "undefined") runWorker();
else {
  Object.assign(globalThis, { explorer });
  start();
}
