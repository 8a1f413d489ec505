/** The results of a run as cells, which the page shows in a table and the command prints. */

import { geometricMean } from "../statistics.js";

export const HEAD = [
  "row",
  "who",
  "least MB",
  "moved MB",
  "passes",
  "commands",
  "dispatches",
  "ms",
  "wall ms",
  "GB/s",
  "of copy",
  "moved, of copy",
  "ratio",
  "right",
  "repeats",
];

/** The meaning of the columns. */
export const LEGEND = `least MB: what any implementation has to move; moved MB: what the commands of ndscatter move
passes: of compute; commands: dispatches, copies and clears
ms: the time of the device for a call, where it has timestamps, else of the wall clock
GB/s: the least, over ms; of copy: as a share of the faster plain copy; moved, of copy: the same for what is moved
ratio: ms over that of ndscatter in the same round
right: how many cells differ from the JavaScript engine; repeats: how many results 5 runs gave`;

/** @returns {string[][]} a line for each contestant of each row */
export function linesOf({ rows, copy }) {
  return rows.flatMap(({ name, least, results }) =>
    results.map((result, position) => [
      ...(position === 0 ? [name, result.name, short(least / 1e6)] : ["", result.name, ""]),
      ...(result.error === undefined ? cellsOf(result, copy) : refusal(result.error)),
    ]),
  );
}

function cellsOf({ work, ms, wall, rate, ratio, wrong, size, variants }, copy) {
  const best = Math.max(copy.buffer, copy.kernel);
  const share = (gigabytes) => `${(100 * (gigabytes / best)).toFixed(0)} %`;
  return [
    ...(work === undefined ? ["", "", "", ""] : countsOf(work)),
    short(ms),
    short(wall),
    short(rate),
    share(rate),
    work === undefined ? "" : share(work.bytes / 1e6 / ms),
    ratio === null ? "" : short(ratio.ratio),
    wrong === 0 ? "yes" : `${wrong.toLocaleString("en")} of ${size.toLocaleString("en")} differ`,
    variants === 1 ? "1 result" : `${variants} results`,
  ];
}

const countsOf = ({ bytes, passes, commands, dispatches }) => [
  short(bytes / 1e6),
  ...[passes, commands, dispatches].map(String),
];

const refusal = (error) => [...Array.from({ length: 10 }, () => ""), error, ""];

/** The machine in two lines. */
export function machineOf({ adapter, browser, date, scale, timing, copy }) {
  return [
    `${adapter.name}${adapter.isSoftware ? " (in software: its times say nothing about a GPU)" : ""}; ${browser}; ${date}; scale ${scale}; ${timing}`,
    `plain copies, read and written: copyBufferToBuffer ${short(copy.buffer)} GB/s, kernel ${short(copy.kernel)} GB/s`,
  ];
}

/** The conclusions of the run, a sentence each. */
export function verdictsOf({ rows, findings }) {
  const names = [...new Set(rows.flatMap(({ results }) => results.map(({ name }) => name)))];
  const sentences = names.map((name) => {
    const results = rows.flatMap((row) => row.results.filter((result) => result.name === name));
    const ran = results.filter(({ error }) => error === undefined);
    const right = ran.filter(({ wrong }) => wrong === 0).length;
    const steady = ran.filter(({ variants }) => variants === 1).length;
    const ratios = ran.flatMap(({ ratio }) => (ratio === null ? [] : [ratio.ratio]));
    const times =
      ratios.length === 0 || name === "ndscatter"
        ? ""
        : `; ${short(geometricMean(ratios))} times the time of ndscatter, by the geometric mean`;
    return `${name}: ${right} of ${ran.length} rows right, ${steady} with one result in 5 runs${times}`;
  });
  return [...sentences, ...findings];
}

/** True if a result of the library itself is wrong or changes. */
export const isFaulty = ({ rows }) =>
  rows.some(({ results }) =>
    results.some(
      ({ name, error, wrong, variants }) =>
        name.startsWith("ndscatter") && (error !== undefined || wrong > 0 || variants > 1),
    ),
  );

/** Three digits. */
const short = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
