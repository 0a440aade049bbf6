/* The bounds as functions: values of quantities in, terms and failing conditions out. */
function sum(length, f) {
  let total = 0;
  for (let k = 0; k < length; k++) total += f(k);
  return total;
}

function top(length, f) {
  let most = -Infinity;
  for (let k = 0; k < length; k++) { const x = f(k); if (!(x <= most)) most = x; }
  return most;
}

/* log(1+x)/x, continued by 1 at 0. */
const logRatio = (x) => (x === 0 ? 1 : Math.log1p(x) / x);

/* (1+x)^y for whole y, of a negative base too; nothing is lost where x is tiny. */
const growth = (x, y) => {
  if (x > -1) return Math.exp(y * Math.log1p(x));
  if (x === -1) return y > 0 ? 0 : y === 0 ? 1 : Infinity;
  return (Math.abs(y) % 2 ? -1 : 1) * Math.exp(y * Math.log1p(-2 - x));
};

/* Terms, their sum and the places of failing conditions, at values by name and lengths of the axes. */
function evaluated(bound, v, n, entry = 0) {
  const code = CODE[bound.name];
  const terms = code.t.map((f) => f(v, n, entry));
  const holds = ([f, each]) => {
    for (let i = 0; i < (each ? n[bound.axis] : 1); i++) if (!f(v, n, i)) return false;
    return true;
  };
  const failed = [];
  code.c.forEach((condition, i) => { if (!holds(condition)) failed.push(i); });
  return { terms, total: terms.reduce((a, b) => a + b, 0), failed };
}

/* The inequalities of conditions; they leave both sides in a list that is given. */
const le = (a, b, sides) => { sides?.push(a, b); return a <= b; };
const lt = (a, b, sides) => { sides?.push(a, b); return a < b; };
const ge = (a, b, sides) => { sides?.push(a, b); return a >= b; };
const gt = (a, b, sides) => { sides?.push(a, b); return a > b; };

/* Both sides of a condition that fails, of the first member where it does. */
function bothSides(bound, k, v, n) {
  const [f, each] = CODE[bound.name].c[k];
  for (let i = 0; i < (each ? n[bound.axis] : 1); i++) {
    const sides = [];
    if (!f(v, n, i, sides) && sides.length === 2) return { left: sides[0], right: sides[1] };
  }
  return {};
}

/* Values by name and lengths of axes from choices; x is put in for the quantity of that name. */
function inputs(bound, choices, name = "", x = NaN) {
  const v = { ...bound.given }, n = { clients: 1, classes: 1 };
  if (bound.axis) {
    const list = different(bound);
    n[bound.axis] = list.length ? list.length : Math.max(1, Math.round(name === bound.axis ? x : choices.value(bound.axis)));
    v[bound.axis] = n[bound.axis];
  }
  for (const q of bound.quantities) {
    if (q.axis) v[q.name] = members(q, n[q.axis], choices);
    else if (q.name !== bound.axis) v[q.name] = q.name === name ? x : choices.value(q.name);
  }
  return [v, n];
}

function members(quantity, length, choices) {
  const list = choices.list(quantity.name);
  if (list && list.length === length) return list;
  return Array(length).fill(quantity.simplex ? 1 / length : choices.value(quantity.name));
}

const at = (bound, choices, name, x) => evaluated(bound, ...inputs(bound, choices, name, x), memberOf(bound) - 1);

/* Where the bound is smallest by its closed form, NaN where it has none there. */
function closedForm(bound, choices, over) {
  const found = CODE[bound.name].o[over];
  if (!found) return NaN;
  const [v, n] = inputs(bound, choices);
  return found[1].every((needs) => needs(v, n, 0)) ? found[0](v, n, 0) : NaN;
}
