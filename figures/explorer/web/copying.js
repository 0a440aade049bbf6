/* What the copy buttons copy. */
const quoted = (text) => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/* Quantity by quantity: a number, a list, or one number for all members of an axis. */
function given(bound) {
  const [v, n] = inputs(bound, choices), lists = choices.lists(bound).length > 0;
  const found = bound.quantities.filter((q) => !q.count).map((q) => ({ q, value: v[q.name], own: q.axis && choices.list(q.name)?.length > 0 }));
  return { found, lists, length: n[bound.axis] };
}

function python() {
  const b = main(), { found, length } = given(b);
  const text = found.map(({ q, value, own }) => {
    const one = q.simplex ? `1 / ${length}` : value[0];
    return `    ${q.name}=${!q.axis ? value : own ? `[${value.join(", ")}]` : `[${one}] * ${length}`},`;
  });
  const named = b.paper ? `import fedbounds\n\nbound = fedbounds.get("${b.name}")` : `from bounds.showing.loading import load\n\nbound = load(${JSON.stringify(b.name)})`;
  return `${named}\nprint(bound(\n${text.join("\n")}\n))\n`;
}

function shell() {
  const b = main(), { found, lists, length } = given(b);
  const text = found.map(({ q, value, own }) => {
    if (!q.axis) return `${q.name}=${value}`;
    if (q.simplex && !own) return `${q.name}=uniform`;
    return `${q.name}=${own || q.axis !== "clients" ? `[${value.join(",")}]` : value[0]}`;
  });
  if (b.axis === "clients" && !lists && b.quantities.some((q) => q.count)) text.push(`clients=${length}`);
  return ["fedbounds eval", quoted(b.name), ...text].join(" ");
}

const COPIES = { latex: () => main().latex, python, shell, link: () => location.href.split("#")[0] + fragment() };

async function copy(what) {
  const text = COPIES[what](), manual = $("manual");
  let done = false;
  try { await navigator.clipboard.writeText(text); done = true; } catch { done = byHand(manual, text); }
  manual.hidden = done;
  if (!done) { manual.value = text; manual.select(); }
  put("copied", done ? `${what} copied` : "Copying is not allowed here: press Ctrl+C (the text is selected)");
  return text;
}

/* Where the page has no clipboard: the old way. */
function byHand(manual, text) {
  manual.hidden = false;
  manual.value = text;
  manual.select();
  return document.execCommand("copy");
}
