/* Exports: the comparison as a command, and the pictures for a paper. */

/* The constants that hold at the plan, as arguments of compare. */
const constantsInUse = () => Object.entries(validAtPlan(currentInputs().given, currentInputs().upTo).valid);

const compareCommand = () =>
  [
    "fedbounds",
    "compare",
    state.target,
    ...constantsInUse().map(
      ([quantity, value]) => `${quantity}=${Array.isArray(value) ? `[${value.join(",")}]` : value}`,
    ),
  ]
    .map(shellQuoted)
    .join(" ");

const compareCode = () =>
  `import fedbounds\n\nprint(fedbounds.compare(\n    "${state.target}",\n${constantsInUse()
    .map(([quantity, value]) => `    ${quantity}=${JSON.stringify(value)},`)
    .join("\n")}\n))\n`;

/* Call `act` with the ranking as one picture, drawn off screen since each row of the page is a separate picture. */
function withRankingPicture(act) {
  const rows = [];
  const width = rankingWidth;
  let y = 40;
  const text = (x, at, label, anchor = "start", strong = "") =>
    `<text class="${strong}" text-anchor="${anchor}" x="${x}" y="${at}">${esc(label)}</text>`;
  for (const node of $("ranking").querySelectorAll(".rule, summary, li.row")) {
    const bars = node.querySelector("svg");
    if (node.matches(".rule")) rows.push(bars.innerHTML);
    else if (node.matches("summary")) {
      y += 20;
      rows.push(text(4, y, node.textContent, "start", "title"));
      y += 8;
    } else {
      const [name, value] = node.querySelector(".head").children;
      y += 14;
      rows.push(
        text(4, y, name.textContent),
        text(width - 4, y, value.textContent, "end"),
        `<g class="${node.className}" transform="translate(0 ${y + 3})">${bars.innerHTML}</g>`,
      );
      y += 16;
      for (const one of node.querySelectorAll("small.of, small.beside")) {
        y += 11;
        rows.push(text(4, y, one.textContent, "start", "tick"));
        y += 3;
      }
    }
  }
  const box = element("div", { className: "bars" });
  box.style.cssText = "position:absolute;left:-99999px";
  box.innerHTML = `<svg width="${width}" height="${y + 8}" viewBox="0 0 ${width} ${y + 8}">${rows.join("")}</svg>`;
  document.body.append(box);
  try {
    return act(box.firstElementChild);
  } finally {
    box.remove();
  }
}

/* A picture with the styles of the page written into its elements. */
function withInlineStyles(svg) {
  const copy = svg.cloneNode(true);
  const each = (node) => [node, ...node.querySelectorAll("*")];
  const from = each(svg);
  each(copy).forEach((node, i) => {
    const look = getComputedStyle(from[i]);
    for (const name of ["fill", "fill-opacity", "stroke", "stroke-width", "font-size", "font-weight"])
      node.setAttribute(name, look.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}

/* ---- TikZ ---- */

const TEX = {
  η: "$\\eta$",
  β: "$\\beta$",
  σ: "$\\sigma$",
  μ: "$\\mu$",
  ζ: "$\\zeta$",
  "·": "$\\cdot$",
  "−": "$-$",
  "∞": "$\\infty$",
  "×": "$\\times$",
  "≤": "$\\le$",
  "±": "$\\pm$",
  "–": "--",
  "◆": "$\\diamond$",
  "●": "$\\bullet$",
  "■": "\\rule{0.7ex}{0.7ex}",
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
};
const texEscaped = (text) =>
  text
    .replace(
      /[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g,
      (power) => `\u0001${[...power].map((c) => (c === "⁻" ? "-" : RAISED.indexOf(c))).join("")}\u0002`,
    )
    .replace(/[\\~^ηβσμζ·−∞×≤±–◆●■]/g, (c) => TEX[c])
    .replace(/[&%#_]/g, "\\$&")
    .replaceAll("\u0001", "$^{")
    .replaceAll("\u0002", "}$");

/* The corners of a path of straight lines, piece by piece. */
function pathPieces(path) {
  const pieces = [];
  let x = 0;
  let y = 0;
  let x0 = 0;
  let y0 = 0;
  for (const [, kind, numbers] of path.matchAll(/([MLHVZmlhvz])([^MLHVZmlhvz]*)/g)) {
    const n = (numbers.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
    const away = kind >= "a";
    const type = kind.toUpperCase();
    if (type === "Z") {
      pieces.at(-1).closed = true;
      [x, y] = [x0, y0];
      continue;
    }
    for (let k = 0; k < n.length; k += type === "M" || type === "L" ? 2 : 1) {
      const to = type === "H" ? [n[k], away ? 0 : y] : type === "V" ? [away ? 0 : x, n[k]] : [n[k], n[k + 1]];
      [x, y] = away ? [x + to[0], y + to[1]] : to;
      if (type === "M" && k === 0) {
        pieces.push({ at: [], closed: false });
        [x0, y0] = [x, y];
      }
      pieces.at(-1).at.push([x, y]);
    }
  }
  return pieces;
}

/* TikZ code of a picture of rectangles, circles, straight lines and texts, with its colours on the page. */
function tikz(svg) {
  const colours = new Map();
  const lines = [];
  const home = svg.getCTM().inverse();
  const short = (x) => String(Number(x.toFixed(2)));
  const colour = (text) => {
    const [r, g, b] = text.match(/[\d.]+/g).map(Number);
    const key = `${r},${g},${b}`;
    if (!colours.has(key))
      colours.set(key, `fb${String.fromCharCode(97 + Math.floor(colours.size / 26), 97 + (colours.size % 26))}`);
    return colours.get(key);
  };
  for (const node of svg.querySelectorAll("rect, circle, path, text")) {
    if (node.closest("defs")) continue;
    const look = getComputedStyle(node);
    const { a, b, c, d, e, f } = home.multiply(node.getCTM());
    const n = (name) => Number(node.getAttribute(name) ?? 0);
    const point = (x, y) => `(${short(a * x + c * y + e)},${short(b * x + d * y + f)})`;
    const style = [];
    if (node.localName === "text") {
      const anchor = { start: "base west", middle: "base", end: "base east" }[
        node.getAttribute("text-anchor") ?? "start"
      ];
      const turned = Math.round((-Math.atan2(b, a) * 180) / Math.PI);
      lines.push(
        `\\node[anchor=${anchor}, inner sep=0pt, font=\\fontsize{${short(0.75 * parseFloat(look.fontSize))}pt}{10pt}\\selectfont${Number(look.fontWeight) >= 600 ? "\\bfseries" : ""}, text=${colour(look.fill)}${turned ? `, rotate=${turned}` : ""}] at ${point(n("x"), n("y"))} {${texEscaped(node.textContent)}};`,
      );
      continue;
    }
    if (look.fill.startsWith("url"))
      style.push(
        `pattern=north east lines, pattern color=${colour(look.stroke === "none" ? "rgb(139,148,158)" : look.stroke)}`,
      );
    else if (look.fill !== "none")
      style.push(
        `fill=${colour(look.fill)}${Number(look.fillOpacity) < 1 ? `, fill opacity=${short(Number(look.fillOpacity))}` : ""}`,
      );
    if (look.stroke !== "none")
      style.push(
        `draw=${colour(look.stroke)}, line width=${short(0.75 * parseFloat(look.strokeWidth))}pt${
          look.strokeDasharray === "none"
            ? ""
            : `, dash pattern=${look.strokeDasharray
                .match(/[\d.]+/g)
                .map((x, k) => `${k % 2 ? "off" : "on"} ${short(0.75 * Number(x))}pt`)
                .join(" ")}`
        }`,
      );
    const shape =
      node.localName === "rect"
        ? `${point(n("x"), n("y"))} rectangle ${point(n("x") + n("width"), n("y") + n("height"))}`
        : node.localName === "circle"
          ? `${point(n("cx"), n("cy"))} circle[radius=${short(0.75 * n("r"))}pt]`
          : pathPieces(node.getAttribute("d"))
              .map(
                ({ at: corners, closed }) =>
                  corners.map(([x, y]) => point(x, y)).join(" -- ") + (closed ? " -- cycle" : ""),
              )
              .join(" ");
    if (style.length && shape) lines.push(`\\path[${style.join(", ")}] ${shape};`);
  }
  const defined = [...colours].map(([rgb, name]) => `\\definecolor{${name}}{RGB}{${rgb}}`);
  return `% needs \\usepackage{tikz} and \\usetikzlibrary{patterns}; ${stateLink()}\n${defined.join("\n")}\n\\begin{tikzpicture}[x=0.75pt, y=-0.75pt]\n${lines.join("\n")}\n\\end{tikzpicture}\n`;
}

const EXPORTS = {
  "rows.csv": () => rowsCsv(shownRows),
  "federation.json": () => constantsFile(),
  "map.svg": () => withInlineStyles($("map").firstElementChild),
  "ranking.svg": () => withRankingPicture(withInlineStyles),
  "map.tex": () => tikz($("map").firstElementChild),
  "ranking.tex": () => withRankingPicture(tikz),
};
const TYPES = { csv: "text/csv", json: "application/json", svg: "image/svg+xml", tex: "application/x-tex" };
const COMPARISONS = {
  python: compareCode,
  shell: compareCommand,
  link: () => location.href.split("#")[0] + stateLink(),
};
