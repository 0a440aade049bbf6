/* The view of one bound: its list, its redraws, and what people do there. */
let waiting = 0, kept = 0, wide = 0;
const timing = { redraws: [] };

function notice(text) {
  put("notice", text);
  $("notice").hidden = !text;
}

/* ---- the list of bounds ---- */

function list() {
  const wanted = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (b) => wanted.every((w) => `${b.name} ${b.source} ${words(b.target.name)} ${b.target.meaning}`.toLowerCase().includes(w));
  const found = [...bounds.values()].filter(fits);
  const groups = Map.groupBy ? Map.groupBy(found, (b) => b.paper) : grouped(found);
  put("bound", ...[...groups].map(([paper, members]) => made("optgroup", { label: paper ? papers[paper][0] : "your own" }, ...members.map(option))));
  put("count", `(${found.length} of ${bounds.size})`);
  $("bound").value = state.bound;
}

function grouped(found) {
  const groups = new Map();
  for (const b of found) groups.set(b.paper, [...(groups.get(b.paper) ?? []), b]);
  return groups;
}

function option(b) {
  const short = b.paper ? words(b.name.slice(b.paper.length + 1)) : b.name;
  return made("option", { value: b.name, title: b.source }, `${short} – ${b.source.replace(`${papers[b.paper]?.[0]}, `, "")}`);
}

function choose(name) {
  const { terms, y } = state;
  state = { ...fresh(name), terms, y };
  notice("");
  arrange();
}

/* ---- drawing ---- */

/* A change of what is on the page: all controls anew, which takes the focus from them. */
function arrange() {
  describe();
  const same = comparable(main());
  put("overlay", new Option("nothing", ""), ...same.map((b) => new Option(b.name, b.name)));
  sliders();
  choosable();
}

/* A change of what can be chosen: the controls of the quantities stay. */
function choosable() {
  if (!axes().some((q) => q.name === state.x)) Object.assign(state, { x: firstAxis(), from: "", to: "" });
  if (!ranged()) state.from = state.to = ""; // they were of a second bound that is gone
  membered();
  put("x", ...axes().map((q) => new Option(words(q.name), q.name)));
  if (!state.x) put("x", new Option("none", ""));
  for (const id of ["bound", "overlay", "x", "from", "to", "y", "terms", "vacuous", "member"]) $(id).value = state[id];
  $("runs").value = state.run;
  plainly();
  countable();
  changed();
}

/* A target that varies over clients or classes is shown of one of them, where they differ. */
function membered() {
  const { axis } = main().target, count = axis ? different(main()).length : 0;
  state.member = String(count ? memberOf(main()) : 1);
  $("member-choice").hidden = !count;
  put("member-word", axis === "clients" ? "client" : "class");
  put("member", ...Array.from({ length: Math.max(1, count) }, (_, i) => new Option(i + 1)));
}

/* A change of a number: one redraw before the next frame. */
function changed() {
  if (!waiting) waiting = requestAnimationFrame(redraw);
  clearTimeout(kept);
  kept = setTimeout(keep, 250);
}

function redraw() {
  const begin = performance.now();
  waiting = 0;
  if ($("layout").hidden) return;
  const shown = picture();
  if (shown.along) {
    $("chart").innerHTML = chart(shown, wide);
    legend(shown);
    minimum(shown);
    if ($("table").open) values(shown);
  } else for (const id of ["chart", "legend", "minimum", "values"]) put(id);
  readout(shown);
  put("run-words", runWords());
  $("chart").setAttribute("aria-label", $("readout").textContent);
  void $("chart").getBoundingClientRect();
  timing.redraws.push(performance.now() - begin);
  timing.first ??= performance.now();
}

function keep() {
  if ($("layout").hidden) return;
  $("view-bound").href = fragment();
  try { history.replaceState(null, "", fragment()); } catch { /* a page inside another has no address of its own */ }
}

/* ---- what people do ---- */

const THEME = "fedbounds-theme";

/* The theme that was chosen the last time. */
function keptTheme() {
  try {
    const kept_ = localStorage.getItem(THEME);
    if (kept_ === "dark" || kept_ === "light") document.documentElement.dataset.theme = kept_;
  } catch { /* nothing was kept */ }
}

function run(index) {
  state.run = index;
  const found = main().points[Number(index)];
  if (index !== "" && found) {
    const lists = Object.values(found.values).some(Array.isArray);
    for (const q of main().quantities) if (lists && q.axis) state.lists[q.name] = []; // another run's, or the example's
    for (const [name, value] of Object.entries(found.values)) (Array.isArray(value) ? state.lists : state.values)[name] = value;
    if (state.x !== "rounds" && axes().some((q) => q.name === "rounds")) Object.assign(state, { x: "rounds", from: "", to: "" });
  }
  arrange();
}

/* A pointer over the chart reads it; pressed, it takes the quantity of the axis along. */
function listenChart() {
  const box = $("chart"), from = (event) => event.clientX - box.getBoundingClientRect().left;
  const over = () => $("chart-pointer") && chartFrame.x.length, pointed = (text) => { if (over()) $("chart-pointer").innerHTML = text; };
  const drag = (event) => {
    const q = owned(state.x), x = placeOf(from(event));
    if (!q || $(`q-${q.name}`)?.disabled !== false) return;
    $(`q-${q.name}`).value = String(x);
    $(`s-${q.name}`).value = nearest(ladders.get(q.name), x);
    chosen(q, x);
  };
  let held = false;
  box.addEventListener("pointerdown", (event) => { if (!over()) return; held = true; box.setPointerCapture(event.pointerId); drag(event); });
  box.addEventListener("pointermove", (event) => { if (!over()) return; if (held) drag(event); else pointed(pointerMark(from(event))); });
  for (const kind of ["pointerup", "pointercancel"]) box.addEventListener(kind, () => { held = false; });
  box.addEventListener("pointerleave", () => pointed(""));
}

function listen() {
  listenChart();
  $("search").addEventListener("input", list);
  $("bound").addEventListener("change", () => choose($("bound").value));
  for (const id of ["overlay", "x", "member"]) $(id).addEventListener("change", () => {
    state[id] = $(id).value;
    if (id === "x") state.from = state.to = "";
    arrange();
  });
  for (const id of ["y", "terms"]) $(id).addEventListener("input", () => { state[id] = $(id).value; changed(); });
  for (const id of Object.keys(FIELDS)) $(id).addEventListener("input", () => { plainly(); changed(); });
  $("runs").addEventListener("change", () => run($("runs").value));
  $("table").addEventListener("toggle", changed);
  $("reset").addEventListener("click", () => choose(state.bound));
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button.dataset.copy));
  $("theme").addEventListener("click", () => {
    const { dataset } = document.documentElement, dark = (dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem(THEME, dataset.theme); } catch { /* a page inside a frame may keep nothing */ }
  });
  addEventListener("hashchange", () => { if (federated(location.hash) !== $("layout").hidden || location.hash !== ($("layout").hidden ? federationLink() : fragment())) open(location.hash); });
  new ResizeObserver(([entry]) => { const now = Math.floor(entry.contentRect.width); if (now !== wide) { wide = now; changed(); } }).observe($("chart"));
}
