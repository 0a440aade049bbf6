/* The texts that the copy buttons of a bound copy. */
/* Quote one word of a shell command if necessary. */
const shellQuoted = (text) => (/^[\w.:/,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/* Whether the command line can load the bound: from the catalogue or a file, not from a notebook. */
const loadable = (bound) => Boolean(bound.paper) || bound.name.includes(":");

/* The value of every quantity: a number, a list, or one number for all members of an axis. */
function copiedValues(bound) {
  const scenario = currentScenario();
  const [v, n] = inputs(bound, scenario);
  const own = (q) => Array.isArray(scenario.v[q.name]);
  Object.assign(v, bestConstants(bound, scenario));
  const chosen = bound.quantities
    .filter((q) => !q.count)
    .map((q) => ({ q, value: v[q.name], own: Boolean(q.axis) && own(q) }));
  const values = [...fixedValues(bound), ...chosen];
  return { values, lists: values.some((one) => one.own), length: n[bound.axis] };
}

/* The values at which a bound of the catalogue was fixed for the page; a bound from a file fixes them itself. */
function fixedValues(bound) {
  if (!bound.paper) return [];
  return Object.entries(bound.given).map(([name, value]) => {
    const own = Array.isArray(value);
    return { q: { name, axis: own ? bound.axis : "" }, value, own };
  });
}

function python() {
  const b = shownBound();
  const { values, length } = copiedValues(b);
  const text = values.map(({ q, value, own }) => {
    const one = q.simplex ? `1 / ${length}` : value[0];
    return `    ${q.name}=${!q.axis ? value : own ? `[${value.join(", ")}]` : `[${one}] * ${length}`},`;
  });
  const named = b.paper
    ? `import fedbounds\n\nbound = fedbounds.get("${b.name}")`
    : loadable(b)
      ? `from bounds.showing.loading import load\n\nbound = load(${JSON.stringify(b.name)})`
      : `# bound: the one that explore was given, ${b.name}`;
  const entry = b.target.axis && b.axis ? "[0]" : "";
  const asked_for = b.conditions.map((one) => `# if ${one.words}${one.formula ? `: ${one.formula}` : ""}\n`).join("");
  return `${named}\n${asked_for}print(bound(\n${text.join("\n")}\n)${entry})\n`;
}

function shell() {
  const b = shownBound();
  const { values, lists, length } = copiedValues(b);
  /* Equal weights select the special case of equal clients, which rejects quantities that it does not need. */
  const special = !lists && values.some(({ q }) => q.simplex && q.axis === "clients");
  const text = values
    .filter(({ q }) => !(special && b.dropped.includes(q.name)))
    .map(({ q, value, own }) => {
      if (!q.axis) return `${q.name}=${value}`;
      if (q.simplex && !own) return `${q.name}=uniform`;
      return `${q.name}=${own || q.axis !== "clients" ? `[${value.join(",")}]` : value[0]}`;
    });
  const isCount = b.quantities.some((q) => q.count) && !(special && b.dropped.includes("clients"));
  if (b.axis === "clients" && !lists && isCount) text.push(`clients=${length}`);
  return ["fedbounds", "eval", b.name, ...text].map(shellQuoted).join(" ");
}

/* The statement with its conditions, a line each, for an equation of amsmath. */
function latex() {
  const { latex: formula, conditions } = shownBound();
  const lines = conditions.map((one) => `\\text{if } ${one.latex}`);
  return lines.length ? `\\begin{gathered}\n${[formula, ...lines].join(" \\\\\n")}\n\\end{gathered}` : formula;
}

const COPIES = { latex, python, shell };

/** @param {string} what @param {string} text @param {string} view */
async function copy(what, text, view = "") {
  const manual = $(`${view}manual`);
  const before = /** @type {HTMLElement} */ (document.activeElement);
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = selectAndCopy(manual, text);
  }
  manual.hidden = done;
  if (!done) {
    manual.value = text;
    manual.select();
  } else before.focus();
  setContent(
    `${view}copied`,
    done ? `${what} copied` : "Copying is not allowed here: press Ctrl+C (the text is selected)",
  );
  return text;
}

/* Copy without the clipboard API. */
function selectAndCopy(manual, text) {
  manual.hidden = false;
  manual.value = text;
  manual.select();
  return document.execCommand("copy");
}
