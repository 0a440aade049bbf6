/* Outlines of the regions below a threshold on a grid, by marching squares with linear interpolation. */

/* Return a function from a threshold to the outline, an SVG path, of the region where a field on points xs, ys is below it.
   The boundary of the domain of the field is known only up to a grid step; there the outline is smoothed. */
function contours(field, xs, ys) {
  const width = xs.length + 2;
  const height = ys.length + 2;
  const size = width * height;
  const framed = (list) => [list[0], ...list, list.at(-1)];
  const px = framed(xs);
  const py = framed(ys);
  const values = new Float64Array(size).fill(Infinity);
  const next = new Int32Array(2 * size);
  for (let i = 1; i <= xs.length; i++)
    for (let j = 1; j <= ys.length; j++) values[i * height + j] = field(i - 1, j - 1);
  const minimum = values.reduce((a, b) => Math.min(a, b));
  const onFrame = (k) => {
    const i = Math.floor(k / height);
    const j = k % height;
    return i === 0 || j === 0 || i === width - 1 || j === height - 1;
  };

  /* The edge between two neighbours is numbered 2 k, or 2 k + 1 along a column, where k is its lower point. */
  const point = (edge, threshold) => {
    const a = edge >> 1;
    const b = a + (edge & 1 ? 1 : height);
    const both = Number.isFinite(values[a]) && Number.isFinite(values[b]);
    const t = both ? (threshold - values[a]) / (values[b] - values[a]) : 0.5;
    const [x, y] = [px[Math.floor(a / height)], py[a % height]];
    return {
      x: x + t * (px[Math.floor(b / height)] - x),
      y: y + t * (py[b % height] - y),
      coarse: !both && !onFrame(a) && !onFrame(b),
    };
  };

  return (threshold) => {
    if (!(minimum < threshold)) return "";
    next.fill(-1);
    const starts = [];
    for (let i = 0; i < width - 1; i++)
      for (let j = 0; j < height - 1; j++) {
        const k = i * height + j;
        const p = values[k] < threshold;
        const q = values[k + height] < threshold;
        const r = values[k + height + 1] < threshold;
        const s = values[k + 1] < threshold;
        if (p === q && q === r && r === s) continue;
        /* Along the border of the square, an edge at which the region is left leads to the next one at which it is entered. */
        const turns = [];
        const border = [
          [p, q, 2 * k],
          [q, r, 2 * (k + height) + 1],
          [r, s, 2 * (k + 1)],
          [s, p, 2 * k + 1],
        ];
        for (const [from, to, edge] of border) if (from !== to) turns.push([edge, from]);
        turns.forEach(([edge, leaves], n) => {
          if (leaves) {
            next[edge] = turns[(n + 1) % turns.length][0];
            starts.push(edge);
          }
        });
      }
    let path = "";
    for (const start of starts) {
      const loop = [];
      for (let edge = start; next[edge] >= 0; ) {
        loop.push(point(edge, threshold));
        const to = next[edge];
        next[edge] = -1;
        edge = to;
      }
      if (loop.length)
        path += `M${smoothLoop(loop)
          .map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`)
          .join("L")}Z`;
    }
    return path;
  };
}

/* Move points on the boundary of the domain towards the middle of their neighbours. */
function smoothLoop(loop, times = 8) {
  if (!loop.some((p) => p.coarse)) return loop;
  let now = loop;
  for (let time = 0; time < times; time++)
    now = now.map((p, k) => {
      if (!p.coarse) return p;
      const a = now.at(k - 1);
      const b = now[(k + 1) % now.length];
      return { x: (a.x + 2 * p.x + b.x) / 4, y: (a.y + 2 * p.y + b.y) / 4, coarse: true };
    });
  return now;
}
