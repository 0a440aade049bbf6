/* Helpers for elements of the page: find, make and fill them; the notice above the page; the theme. */

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);

/** @param {string} selector @returns {any[]} */
const selectAll = (selector) => [...document.querySelectorAll(selector)];

/** @param {string} tag @param {object} properties @param {(Node|string)[]} children @returns {any} */
function element(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** @param {string} id @param {(Node|string)[]} children */
const setContent = (id, ...children) => $(id).replaceChildren(...children);

/* A name with possible line breaks after its separators. */
const withBreaks = (text) =>
  text.split(/(?<=[_/*(])|(?<=\.)(?=[a-z])/).flatMap((part, k) => (k ? [element("wbr"), part] : [part]));

/* Set the ASCII formulas in a sentence: kappa^2 <= F^* becomes κ² ≤ F*. */
const GREEK = {
  alpha: "α",
  beta: "β",
  gamma: "γ",
  delta: "δ",
  eps: "ε",
  eta: "η",
  theta: "θ",
  kappa: "κ",
  lambda: "λ",
  mu: "μ",
  nu: "ν",
  rho: "ρ",
  sigma: "σ",
  tau: "τ",
  phi: "φ",
  Gamma: "Γ",
  Delta: "Δ",
  Lambda: "Λ",
};
const RELATIONS = { "<=": "≤", ">=": "≥" };
const typeset = (text) =>
  text
    .replace(new RegExp(`\\b(${Object.keys(GREEK).join("|")})(?![a-z])`, "g"), (name) => GREEK[name])
    .replace(/(?<!\p{L})(\p{L})_(\d)/gu, (_, letter, digit) => letter + "₀₁₂₃₄₅₆₇₈₉"[digit])
    .replace(/\^(-?\d)(?!\d|\/\d)/g, (_, power) =>
      [...power].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join(""),
    )
    .replace(/\^\*/g, "*")
    .replace(/\bsqrt\(/g, "√(")
    .replace(/[<>]=/g, (sign) => RELATIONS[sign]);

/* Group a long formula into rows, so that lines break before a term or a definition, not inside one. */
function breakIntoRows(math) {
  let row = null;
  let defining = false;
  for (const node of [...math.children]) {
    const sign = node.localName === "mo" ? node.textContent : "";
    const first = !row || (!defining && (node.localName === "mspace" || sign === "+" || sign === "−"));
    if (first) math.append((row = document.createElementNS(math.namespaceURI, "mrow")));
    row.append(node);
    if (defining && (node.localName === "mspace" || sign === ",")) row = null;
    defining ||= node.localName === "mtext";
  }
}

/* Show a text above the page; an empty one hides the notice. */
function notice(text) {
  setContent("notice", text);
  $("notice").hidden = !text;
}

/* ---- light and dark ---- */

const THEME = "fedbounds-theme";

const dark = () => matchMedia("(prefers-color-scheme: dark)");

/* Use the theme of the last visit, else that of the system. */
function restoreTheme() {
  let stored = "";
  try {
    stored = localStorage.getItem(THEME);
  } catch {
    /* a page inside a frame may keep nothing */
  }
  const usual = () => {
    document.documentElement.dataset.theme = dark().matches ? "dark" : "light";
  };
  if (stored === "dark" || stored === "light") document.documentElement.dataset.theme = stored;
  else {
    usual();
    dark().addEventListener("change", usual);
  }
}

function toggleTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(THEME, dataset.theme);
  } catch {
    /* a page inside a frame may keep nothing */
  }
}
