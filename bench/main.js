/** `npm run bench`: compares the library with its peers on the same work. README.md describes the method. */

import os from "node:os";
import * as lib from "../dist/entries/index.js";
import { HELP, readArguments } from "./arguments.js";
import { compareWithCpp, compileBaseline } from "./baseline.js";
import { compare } from "./compare.js";
import { measureCurve, peersOfCurve, pointsOf } from "./curve.js";
import { measureFirstCalls } from "./first-call.js";
import { copyRate as measureCopyRate } from "./measure.js";
import { measureMemory } from "./memory.js";
import { compareWithNative } from "./native/main.js";
import { createOurs } from "./ours.js";
import { loadPeers, versions } from "./peers/index.js";
import { publish } from "./publish.js";
import { writeRecord } from "./record.js";
import { print } from "./report.js";
import { measureRow } from "./rows.js";
import { measureScaling } from "./scaling.js";
import { inputsOf, scaled, weights } from "./workloads.js";

const tell = (/** @type {string} */ message) => process.stderr.write(`${message}\n`);

const settings = readArguments();
if (settings === null) process.stdout.write(HELP);
else {
  const differs = await main(settings);
  // The peers' workers would keep the process alive.
  process.exit(differs ? 1 : 0);
}

/** @returns {Promise<boolean>} true if one of the library's own results is wrong */
async function main({ from, before, out, publishes, ...settings }) {
  const record = from ?? (await measureAll(settings));
  process.stdout.write(print(record));
  if (before !== null) process.stdout.write(`\n${compare(before, record)}`);
  if (from === null) {
    writeRecord(out, record);
    tell(`written to ${out}`);
  }
  if (publishes) {
    publish(record);
    tell("docs/curve.svg and the tables of docs/performance.md are new");
  }
  const { findings, workloads } = record;
  return findings.some(({ ours }) => ours) || workloads.some(({ cpp }) => cpp?.agrees === false);
}

/** Returns all measurements, in the form of results.json. */
async function measureAll({ rows, parts, scale, kind, python, peers: wanted, ...settings }) {
  const { pace, processes, curve } = settings;
  const has = (part) => parts.includes(part);
  const ours = createOurs(lib, kind);
  tell(`ndscatter: ${ours.about}`);
  for (const reason of ours.missing) tell(`  without ${reason}`);
  const peers =
    has("times") || has("curve") ? await loadPeers(wanted, (message) => tell(`  ${message}`)) : [];
  const machine = describeMachine(measureCopyRate());
  const first = has("first") ? measureFirstCalls(2 * processes + 1) : [];
  const findings = [];
  let points = [];
  if (has("curve")) {
    const library = { lib, engine: kind === "auto" ? lib : ours.heap };
    const measured = await measureCurve(library, peersOfCurve(peers), pointsOf(curve), pace, tell);
    points = measured.points;
    findings.push(...measured.findings);
  }
  const compiled = has("cpp") ? compileBaseline(tell) : null;
  const workloads = [];
  const byRow = has("times") || has("cpp") || has("memory") ? rows : [];
  for (const [position, base] of byRow.entries()) {
    const row = scaled(base, scale);
    tell(`${position + 1}/${rows.length} ${row.name}`);
    const inputs = inputsOf(row);
    const { name, op, inPlace, fixed } = row;
    const record = { name, op, inPlace, fixed, moved: weights(row).moved };
    if (has("times")) {
      const measured = await measureRow(row, inputs, ours, peers, pace);
      Object.assign(record, measured.times);
      findings.push(...measured.findings);
    }
    if (compiled !== null) {
      try {
        const { samples } = pace;
        record.cpp = compareWithCpp(compiled, row, inputs, { samples, processes, scale });
      } catch (error) {
        tell(`  C++: ${String(error.message).split("\n")[0]}`);
      }
    }
    if (has("memory")) record.memory = measureMemory(base, scale);
    workloads.push(record);
  }
  compiled?.close();
  const most = 1e7 * Math.min(1, scale);
  const native = has("native") ? await compareWithNative({ python, tell }) : null;
  const scaling = has("scaling") ? await measureScaling(lib, ours.heap, { pace, most, tell }) : [];
  ours.close();
  const { about, missing } = ours;
  return {
    machine,
    about,
    missing,
    scale,
    workloads,
    native,
    scaling,
    first,
    curve: points,
    findings,
  };
}

/** Returns the facts that the numbers depend on. */
function describeMachine(copyRate) {
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model.trim() ?? "unknown",
    cores: cpus.length,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    copyGBs: Number((copyRate / 1e9).toFixed(1)),
    versions: versions(),
  };
}
