/* Elements of the page: made, found, filled; what is said above all; light and dark. */

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);

/** @param {string} selector @returns {any[]} */
const every = (selector) => [...document.querySelectorAll(selector)];

/** @param {string} tag @param {object} properties @param {(Node|string)[]} children @returns {any} */
function made(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** @param {string} id @param {(Node|string)[]} children */
const put = (id, ...children) => $(id).replaceChildren(...children);

/* A name that may go on in the next line after a joint, not within a word. */
const jointed = (text) => text.split(/(?<=[_/*(])|(?<=\.)(?=[a-z])/).flatMap((part, k) => (k ? [made("wbr"), part] : [part]));

/* Formulas within sentences, which are typed in ASCII, as one writes them: kappa^2 <= F^* becomes κ² ≤ F*. */
const GREEK = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", eps: "ε", eta: "η", theta: "θ", kappa: "κ", lambda: "λ", mu: "μ", nu: "ν", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", Gamma: "Γ", Delta: "Δ", Lambda: "Λ" };
const RELATIONS = { "<=": "≤", ">=": "≥" };
const typeset = (text) => text
  .replace(new RegExp(`\\b(${Object.keys(GREEK).join("|")})(?![a-z])`, "g"), (name) => GREEK[name])
  .replace(/(?<!\p{L})(\p{L})_(\d)/gu, (_, letter, digit) => letter + "₀₁₂₃₄₅₆₇₈₉"[digit])
  .replace(/\^(-?\d)(?!\d|\/\d)/g, (_, power) => [...power].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join(""))
  .replace(/\^\*/g, "*").replace(/\bsqrt\(/g, "√(").replace(/[<>]=/g, (sign) => RELATIONS[sign]);

/* A long formula goes on in the next line before a term or a definition, not inside of one. */
function rowed(math) {
  let row = null, defining = false;
  for (const node of [...math.children]) {
    const sign = node.localName === "mo" ? node.textContent : "";
    const first = !row || (!defining && (node.localName === "mspace" || sign === "+" || sign === "−"));
    if (first) math.append(row = document.createElementNS(math.namespaceURI, "mrow"));
    row.append(node);
    if (defining && (node.localName === "mspace" || sign === ",")) row = null;
    defining ||= node.localName === "mtext";
  }
}

/* Says it above the page; nothing hides it. */
function notice(text) {
  put("notice", text);
  $("notice").hidden = !text;
}

/* ---- light and dark ---- */

const THEME = "fedbounds-theme";

const dark = () => matchMedia("(prefers-color-scheme: dark)");

/* The theme that was chosen the last time, else that of the system. */
function keptTheme() {
  let kept = "";
  try { kept = localStorage.getItem(THEME); } catch { /* a page inside a frame may keep nothing */ }
  const usual = () => { document.documentElement.dataset.theme = dark().matches ? "dark" : "light"; };
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
  else { usual(); dark().addEventListener("change", usual); }
}

function otherTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem(THEME, dataset.theme); } catch { /* a page inside a frame may keep nothing */ }
}
