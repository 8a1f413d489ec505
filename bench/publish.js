/**
 * Writes the results of a run into the documents: the curve as docs/curve.svg, and the tables of docs/performance.md.
 */

import fs from "node:fs";
import { drawCurve } from "./chart.js";
import { nativeRows } from "./native/report.js";
import { markdownTable } from "./table.js";

const DOCUMENT = new URL("../docs/performance.md", import.meta.url);
const PICTURE = new URL("../docs/curve.svg", import.meta.url);

/** The rows of the table: ScatterND with `add` of single float32. */
const SIZES = [4, 64, 256, 4096, 65_536, 1_048_576];
const COLUMNS = {
  "hand-written": "hand into",
  "`new`": "new",
  "`into`": "into",
  "kept plan": "plan",
  "onnxruntime-node": "onnxruntime-node 1",
  tfjs: "tfjs wasm",
};

/**
 * @param {any} record with a curve or a comparison with native runtimes
 * @throws {Error} if docs/performance.md lacks the marks of a table
 */
export function publish({ machine, curve, native }) {
  const where = `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.date}`;
  if (curve.length > 0) {
    fs.writeFileSync(PICTURE, drawCurve(curve, where));
    replaceTable("performance", tableOf(curve), where);
  }
  const rows = native === null ? null : nativeRows(native);
  if (rows === null) return;
  const versions = Object.entries(native.versions).map(
    ([name, version]) => `${name} ${version.split("-")[0]}`,
  );
  replaceTable("native", markdownTable(...rows), `${versions.join(", ")}; ${where}`);
}

function replaceTable(mark, table, where) {
  const text = fs.readFileSync(DOCUMENT, "utf8");
  const [first, last] = [`<!-- ${mark} -->\n`, `<!-- /${mark} -->`];
  const [start, end] = [text.indexOf(first) + first.length, text.indexOf(last)];
  if (end < start) throw new Error(`docs/performance.md lacks ${first.trim()} and ${last}`);
  fs.writeFileSync(DOCUMENT, `${text.slice(0, start)}${table}\n${where}.\n${text.slice(end)}`);
}

/** @param {readonly import("./curve.js").Point[]} curve */
function tableOf(curve) {
  const lines = SIZES.flatMap((size) => {
    const point = curve.find(
      ({ kind, slice, updates }) => kind === "add" && slice === 1 && updates === size,
    );
    if (point === undefined) return [];
    const cells = Object.values(COLUMNS).map((name) => cellOf(point, name));
    const [updates, into] = [point.updates, point.into].map((count) => count.toLocaleString("en"));
    return [[`${updates} into ${into}`, ...cells]];
  });
  return markdownTable(["updates", ...Object.keys(COLUMNS)], lines);
}

/** Returns a time; for the library also as a multiple of the checked hand-written loop. */
function cellOf({ times, ratios }, name) {
  if (times[name] === undefined) return "";
  const time = duration(times[name]);
  return ratios[name] === undefined ? time : `${time}, ${short(ratios[name].ratio)}×`;
}

function duration(nanoseconds) {
  if (nanoseconds < 1000) return `${short(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${short(nanoseconds / 1000)} µs`;
  return `${short(nanoseconds / 1e6)} ms`;
}

/** Two digits, or all digits before the point. */
const short = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
