/** The curve as a picture: SVG, log-log, one panel per operation and slice length, with light and dark colours. */

/** @typedef {import("./curve.js").Point} Point */

/**
 * Lines by contestant: the label, the colours on light and on dark ground, and dashes, which distinguish the lines
 * without colour.
 */
const LINES = {
  "tfjs wasm": { label: "tfjs", light: "#a15c00", dark: "#f0a94a", dash: "2 2" },
  "onnxruntime-node 1": { label: "onnxruntime", light: "#b3261e", dark: "#ff8a80", dash: "6 2" },
  new: { label: "new", light: "#0b57d0", dark: "#7db4ff", dash: "" },
  into: { label: "into", light: "#006b5f", dark: "#5ed6c5", dash: "" },
  plan: { label: "kept plan", light: "#7a2fb8", dark: "#cf9bff", dash: "" },
  "hand into": { label: "hand-written", light: "#444444", dark: "#dddddd", dash: "1 3" },
};

const PANEL = { width: 314, height: 196, left: 130, right: 8, top: 26, bottom: 24 };
const HEADER = 44;
const MARGIN = 8;
/** Height of a line of labels. */
const LABEL = 11;

/**
 * @param {readonly Point[]} points
 * @param {string} subtitle place and time
 * @returns {string} SVG
 */
export function drawCurve(points, subtitle) {
  const slices = [...new Set(points.map(({ slice }) => slice))];
  const kinds = [...new Set(points.map(({ kind }) => kind))];
  const most = Math.max(...points.map(({ updates }) => updates));
  const panels = slices.flatMap((slice, row) => {
    const inRow = points.filter((point) => point.slice === slice);
    const costs = inRow.flatMap((point) => costsOf(point).map(([, cost]) => cost));
    const scale = {
      x: [1, most],
      y: [decade(costs, Math.min, Math.floor), decade(costs, Math.max, Math.ceil)],
    };
    return kinds.map((kind, column) => {
      const x = MARGIN + column * PANEL.width;
      const y = HEADER + row * PANEL.height;
      const list = inRow.filter((point) => point.kind === kind);
      return `<g transform="translate(${x} ${y})">\n${panel(list, titleOf(kind, slice), scale)}</g>\n`;
    });
  });
  const width = 2 * MARGIN + kinds.length * PANEL.width;
  const height = HEADER + slices.length * PANEL.height + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title about">
<title id="title">Time an update of float32, by the number of updates of a call</title>
<desc id="about">${escaped(describe(points))}</desc>
<style>
${styles()}</style>
<rect class="ground" width="${width}" height="${height}" rx="6"/>
<text class="strong" x="${MARGIN + 6}" y="20">Time an update of float32, by the number of updates of a call (both axes logarithmic)</text>
<text x="${MARGIN + 6}" y="36">${escaped(subtitle)}</text>
${panels.join("")}</svg>
`;
}

const decade = (values, most, side) => 10 ** side(Math.log10(most(...values)));

const titleOf = (kind, slice) =>
  `${kind === "gather" ? "gatherND" : `scatterND ${kind}`}, ${slice === 1 ? "single elements" : `slices of ${slice}`}`;

/** Nanoseconds per update, for each contestant that has a line. */
const costsOf = ({ times, updates }) =>
  Object.keys(LINES)
    .filter((name) => name in times)
    .map((name) => [name, times[name] / updates]);

function panel(points, title, scale) {
  const { width, height, left, right, top, bottom } = PANEL;
  const at = (value, [low, high], from, to) =>
    from + ((to - from) * Math.log(value / low)) / Math.log(high / low);
  const x = (updates) => at(updates, scale.x, left, width - right).toFixed(1);
  const y = (cost) => at(cost, scale.y, height - bottom, top).toFixed(1);
  let svg = `<text class="strong" x="${left}" y="${top - 9}">${title}</text>\n`;
  for (const tick of decades(scale.y)) {
    svg += `<path class="grid" d="M${left} ${y(tick)}H${width - right}"/>`;
    svg += `<text class="tick" text-anchor="end" x="44" y="${Number(y(tick)) + 3}">${duration(tick)}</text>\n`;
  }
  for (const tick of decades(scale.x).filter((tick) => Math.log10(tick) % 2 < 0.5)) {
    svg += `<path class="grid" d="M${x(tick)} ${top}V${height - bottom}"/>`;
    svg += `<text class="tick" text-anchor="middle" x="${x(tick)}" y="${height - bottom + 13}">${power(tick)}</text>\n`;
  }
  const lines = Object.keys(LINES).flatMap((name) => {
    const line = points.filter(({ times }) => name in times);
    if (line.length === 0) return [];
    const path = line.map(({ updates, times }) => `${x(updates)} ${y(times[name] / updates)}`);
    return [
      { name, path, first: Number(path[0].split(" ")[1]), from: Number(path[0].split(" ")[0]) },
    ];
  });
  const heights = spread(
    lines.map(({ first }) => first),
    top,
    height - bottom,
  );
  lines.forEach(({ name, path, first, from }, position) => {
    const style = styleName(name);
    const label = heights[position];
    svg += `<path class="line ${style}" d="M${path.join("L")}"/>\n`;
    svg += `<path class="lead ${style}" d="M${from - 3} ${first}L${left - 9} ${label.toFixed(1)}"/>`;
    svg += `<text class="${style} label" text-anchor="end" x="${left - 11}" y="${(label + 3).toFixed(1)}">${LINES[name].label}</text>\n`;
  });
  return svg;
}

/** Returns the heights of labels: as wanted, but at least a line apart. */
function spread(wanted, top, bottom) {
  const order = wanted.map((_, position) => position).sort((a, b) => wanted[a] - wanted[b]);
  const heights = [...wanted];
  let least = top + LABEL / 2;
  for (const position of order) {
    heights[position] = Math.max(heights[position], least);
    least = heights[position] + LABEL;
  }
  let most = bottom;
  for (const position of order.reverse()) {
    heights[position] = Math.min(heights[position], most);
    most = heights[position] - LABEL;
  }
  return heights;
}

function decades([low, high]) {
  const list = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.001; power++)
    list.push(10 ** power);
  return list;
}

const duration = (nanoseconds) => {
  const [size, unit] =
    nanoseconds < 1000 ? [1, "ns"] : nanoseconds < 1e6 ? [1000, "µs"] : [1e6, "ms"];
  return `${Number((nanoseconds / size).toPrecision(3))} ${unit}`;
};

const power = (count) => (count === 1 ? "1" : `10${"⁰¹²³⁴⁵⁶⁷⁸⁹"[Math.round(Math.log10(count))]}`);

const styleName = (name) => `line-${name.replaceAll(/\W+/g, "-")}`;

function styles() {
  const colours = (theme, ground, text, grid) =>
    [
      `.ground { fill: ${ground}; }`,
      `text { fill: ${text}; }`,
      `.grid { stroke: ${grid}; }`,
      ...Object.entries(LINES).map(([name, line]) => {
        const style = styleName(name);
        return `path.${style} { stroke: ${line[theme]}; } text.${style} { fill: ${line[theme]}; }`;
      }),
    ].join("\n");
  const dashes = Object.entries(LINES)
    .filter(([, { dash }]) => dash !== "")
    .map(([name, { dash }]) => `.line.${styleName(name)} { stroke-dasharray: ${dash}; }`);
  return `text { font: 11px system-ui, sans-serif; }
.strong { font-weight: 600; }
.tick { font-size: 10px; }
.label { font-size: 10.5px; }
.grid { stroke-width: 1; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.lead { stroke-width: 0.75; }
${dashes.join("\n")}
${colours("light", "#ffffff", "#1f2328", "#e4e7eb")}
@media (prefers-color-scheme: dark) {
${colours("dark", "#0d1117", "#e6edf3", "#2a3038")}
}
`;
}

/** Returns the picture in words for readers who cannot see it: the cost of a call at both ends. */
function describe(points) {
  const words = [];
  for (const { kind, slice, updates, times } of points) {
    const list = points.filter((point) => point.kind === kind && point.slice === slice);
    if (updates !== list[0].updates && updates !== list.at(-1).updates) continue;
    const costs = costsOf({ times, updates }).map(
      ([name, cost]) => `${LINES[name].label} ${duration(cost)}`,
    );
    words.push(`${titleOf(kind, slice)}, ${updates} updates: ${costs.join(", ")}.`);
  }
  return words.join(" ");
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
