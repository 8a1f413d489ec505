/** Prints the comparison with native runtimes. */

import { geometricMean } from "../statistics.js";
import { table } from "../table.js";
import { NATIVE_WORKLOADS } from "./workloads.js";

/**
 * @typedef {object} Native least milliseconds by workload
 * @property {Record<string, string>} versions of the runtimes
 * @property {readonly string[]} missing runtimes, each with the reason
 * @property {readonly string[]} wrong results of a runtime that differ from ndscatter's
 * @property {Record<string, Record<string, number>>} ours by way
 * @property {Record<string, Record<string, number>>} peers by runtime and number of threads, such as "onnxruntime 2"
 */

/**
 * The columns of the table: a title, and a runtime with its number of threads, whose time is divided by the time of one
 * of our ways.
 */
const COLUMNS = [
  ["ORT, plain", "onnxruntime 1", "plain"],
  ["OpenVINO, plain", "openvino 1", "plain"],
  ["ORT, engine", "onnxruntime 1", "engine"],
  ["OpenVINO, engine", "openvino 1", "engine"],
  ["ORT, 2 threads", "onnxruntime 2", "engine, 2 threads"],
  ["OpenVINO, 2 threads", "openvino 2", "engine, 2 threads"],
];

/**
 * Returns the head and the lines of the table of ratios, or null without a runtime.
 * @param {Native} native
 * @returns {[head: readonly string[], lines: readonly (readonly string[])[]] | null}
 */
export function nativeRows({ ours, peers }) {
  const columns = COLUMNS.filter(([, peer]) => peers[peer] !== undefined);
  if (columns.length === 0) return null;
  const ratioOf = ([, peer, way], name) => {
    const time = peers[peer][name];
    return time === undefined ? undefined : time / ours[way][name];
  };
  const print = (ratio) => (ratio === undefined ? "" : ratio.toFixed(2));
  const lines = NATIVE_WORKLOADS.map(({ name }) => [
    name,
    ...columns.map((column) => print(ratioOf(column, name))),
  ]);
  const means = columns.map((column) =>
    geometricMean(NATIVE_WORKLOADS.flatMap(({ name }) => ratioOf(column, name) ?? [])),
  );
  const head = ["workload", ...columns.map(([title]) => title)];
  return [head, [...lines, ["geometric mean", ...means.map(print)]]];
}

/** @param {Native | null} native */
export function printNative(native) {
  if (native === null) return "";
  const { versions, missing, wrong } = native;
  const notes = [
    ...missing.map((line) => `Native runtime not measured: ${line}\n`),
    ...wrong.map((line) => `Result of a native runtime that differs: ${line}\n`),
  ].join("");
  const rows = nativeRows(native);
  if (rows === null) return notes;
  const about = Object.entries(versions).map((pair) => pair.join(" "));
  const title = `Native runtimes (${about.join(", ")}) called natively: least time divided by ours`;
  return `${title}\n${table(...rows)}${notes}`;
}
