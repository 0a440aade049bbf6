/* The controls of the quantities: a number, a slider, and a list where clients or classes may differ. */
const ladders = new Map();

/* What a run is free to choose stands apart from what the problem and its costs are; local steps and step size first. */
function sliders() {
  ladders.clear();
  const groups = ["You choose", "The problem"].map((title, i) => [title, quantities().filter((q) => Boolean(q.choice) !== Boolean(i))]);
  groups[0][1].sort((a, b) => a.choice - b.choice);
  put("sliders", ...groups.filter(([, found]) => found.length).flatMap(([title, found]) => [made("h4", {}, title), ...found.map(control)]));
}

function control(q) {
  const id = `q-${q.name}`, box = made("div", { className: "control", id: `c-${q.name}` });
  const label = made("label", { htmlFor: id });
  label.innerHTML = q.letter;
  label.append(` ${words(q.name)}`);
  const unit = q.unit === "1" ? "" : ` [${q.unit}]`;
  const hint = made("p", { className: "hint", id: `h-${q.name}` }, `${q.meaning}${unit}; ${q.domain}${capped(q.name) ? `; on this page at most ${MOST_MEMBERS}` : ""}`);
  const error = made("p", { className: "error", id: `e-${q.name}`, role: "alert" });
  box.append(label);
  if (!q.simplex) box.append(...number(q, id));
  if (q.axis) box.append(listField(q));
  box.append(hint, error);
  return box;
}

function number(q, id) {
  const steps = ladder(q), value = choices.value(q.name);
  ladders.set(q.name, steps);
  const field = made("input", { id, inputMode: "decimal", value: String(value), autocomplete: "off" });
  const range = made("input", { type: "range", id: `s-${q.name}`, min: 0, max: steps.length - 1, step: 1, value: nearest(steps, value) });
  for (const [node, name] of [[field, words(q.name)], [range, `${words(q.name)}, slider`]]) {
    node.setAttribute("aria-label", name);
    node.setAttribute("aria-describedby", `h-${q.name} e-${q.name}`);
  }
  range.setAttribute("aria-valuetext", said(value));
  range.addEventListener("input", () => { field.value = String(steps[range.value]); chosen(q, steps[range.value]); });
  field.addEventListener("input", () => {
    const x = typed(field.value), why = refusal(q, x);
    complain(q.name, why, field);
    if (!why) { range.value = nearest(steps, x); chosen(q, x); }
  });
  return [field, range];
}

function chosen(q, x) {
  state.values[q.name] = x;
  complain(q.name, "", $(`q-${q.name}`));
  $(`s-${q.name}`).setAttribute("aria-valuetext", said(x));
  changed();
}

function complain(name, why, field) {
  $(`e-${name}`).textContent = why;
  field.setAttribute("aria-invalid", why ? "true" : "false");
}

function listField(q) {
  const member = q.axis === "clients" ? "client" : "class", list = choices.list(q.name) ?? [];
  const box = made("details", { open: list.length > 0 }, made("summary", {}, q.simplex ? "the same for every client; a list instead" : `the same for every ${member}; a list instead`));
  const field = made("input", { id: `l-${q.name}`, value: list.join(", "), placeholder: `one number per ${member}: 0.2, 0.3`, autocomplete: "off" });
  field.setAttribute("aria-label", `${words(q.name)} of every ${member}`);
  field.setAttribute("aria-describedby", `h-${q.name} e-${q.name}`);
  field.addEventListener("change", () => setList(q, field));
  box.append(field);
  return box;
}

function setList(q, field) {
  const list = typedList(field.value), why = refusedList(q, list);
  complain(q.name, why, field);
  if (why) return;
  state.lists[q.name] = list;
  choosable();
}

/* Where a list says how many there are, the number cannot be chosen. */
function countable() {
  for (const b of shown()) if (b.axis && $(`q-${b.axis}`)) {
    const lists = choices.lists(b);
    for (const id of [`q-${b.axis}`, `s-${b.axis}`]) $(id).disabled = lists.length > 0;
    $(`q-${b.axis}`).value = String(lists.length ? lists[0].length : choices.value(b.axis));
  }
}

/* ---- the choices above the chart ---- */

const FIELDS = { from: "from", to: "to", vacuous: "vacuous above" };

/* Takes what was typed into them, or says why it cannot be drawn; what was good before stays on the chart. */
function plainly() {
  const text = {}, why = {};
  for (const id of Object.keys(FIELDS)) why[id] = refusedPlain(id, text[id] = $(id).value.trim());
  if (!why.from && !why.to) Object.assign(why, refusedRange(text));
  if (!why.from && !why.to) Object.assign(state, { from: text.from, to: text.to });
  if (!why.vacuous) state.vacuous = text.vacuous;
  for (const id of Object.keys(FIELDS)) $(id).setAttribute("aria-invalid", why[id] ? "true" : "false");
  put("e-choices", Object.keys(FIELDS).filter((id) => why[id]).map((id) => `${FIELDS[id]}: ${why[id]}; got ${text[id]}`).join(". "));
}
