/** `npm run bench`: compares the library with its peers on the same work. README.md says how it measures. */

import fs from "node:fs";
import os from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as lib from "../dist/index.js";
import { compareWithCpp, compileBaseline } from "./baseline.js";
import { check } from "./check.js";
import { copyRate as measureCopyRate, measure } from "./measure.js";
import { measureMemory } from "./memory.js";
import { createOurs, THREADS } from "./ours.js";
import { loadPeers, versions } from "./peers/index.js";
import {
  printBaseline,
  printMemory,
  printPeers,
  printScaling,
  printTargets,
  printTimes,
  recordOf,
} from "./report.js";
import { measureScaling } from "./scaling.js";
import { inputsOf, scaled, weights, WORKLOADS } from "./workloads.js";

const HELP = `npm run bench -- [options]

  --only TEXT       only rows whose name contains TEXT; may be repeated
  --peers A,B       only peers whose name starts with A or B, or "none"   (all)
  --parts A,B       only these of times, cpp, scaling, memory             (all)
  --samples N       samples of each contestant of a row                   (15)
  --scale X         shrinks the first axes, for a trial: --scale 0.01     (1)
  --kind KIND       engine for heap tensors: auto, js or wasm             (auto)
  --processes N     processes of C++ and of the library in the part cpp   (5)
  --out FILE        where the results go: bench/results.json for a full
                    run, bench/results.partial.json for any other
  --help
`;

const PARTS = ["times", "cpp", "scaling", "memory"];
const tell = (/** @type {string} */ message) => process.stderr.write(`${message}\n`);

const settings = readArguments();
if (settings === null) process.stdout.write(HELP);
else {
  const differs = await main(settings);
  // The peers' workers would keep the process alive.
  process.exit(differs ? 1 : 0);
}

function readArguments() {
  const string = (/** @type {string | undefined} */ value) => ({ type: "string", default: value });
  const { values } = parseArgs({
    options: {
      only: { type: "string", multiple: true },
      peers: { type: "string" },
      parts: string(PARTS.join(",")),
      samples: string("15"),
      scale: string("1"),
      kind: string("auto"),
      processes: string("5"),
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  const positive = (name) => {
    const value = Number(values[name]);
    if (value > 0 && (name === "scale" || Number.isInteger(value))) return value;
    return fail(`--${name} must be a positive number, got ${values[name]}`);
  };
  const { only = [""], kind } = values;
  const rows = WORKLOADS.filter(({ name }) => only.some((text) => name.includes(text)));
  if (rows.length === 0) fail(`no row has ${only.join(" or ")} in its name`);
  const parts = values.parts.split(",");
  const odd = parts.find((part) => !PARTS.includes(part));
  if (odd !== undefined) fail(`there is no part ${odd}, only ${PARTS.join(", ")}`);
  const scale = positive("scale");
  const full = scale === 1 && rows.length === WORKLOADS.length && parts.length === PARTS.length;
  const file = full && values.peers === undefined ? "results.json" : "results.partial.json";
  return {
    rows,
    parts,
    scale,
    kind,
    peers: values.peers?.split(","),
    samples: positive("samples"),
    processes: positive("processes"),
    out: values.out ?? fileURLToPath(new URL(file, import.meta.url)),
  };
}

/** @returns {never} */
function fail(message) {
  tell(message);
  process.exit(2);
}

/** @returns {Promise<boolean>} whether one of the library's own results is wrong */
async function main({ rows, parts, scale, kind, peers: wanted, samples, processes, out }) {
  const ours = createOurs(lib, kind);
  tell(`ndscatter: ${ours.about}`);
  for (const reason of ours.missing) tell(`  without ${reason}`);
  const peers = parts.includes("times")
    ? await loadPeers(wanted, (message) => tell(`  ${message}`))
    : [];
  const compiled = parts.includes("cpp") ? compileBaseline(tell) : null;
  const copyRate = measureCopyRate();
  const results = [];
  const findings = [];
  for (const [position, base] of rows.entries()) {
    const row = scaled(base, scale);
    tell(`${position + 1}/${rows.length} ${row.name}`);
    const inputs = inputsOf(row);
    const result = { row, modes: {}, threads: {}, peers: {}, moved: weights(row).moved };
    if (parts.includes("times")) {
      const contest = await hold(row, inputs, ours, peers, samples);
      Object.assign(result, contest.times);
      findings.push(...contest.findings);
    }
    if (compiled !== null) {
      try {
        result.baseline = compareWithCpp(compiled, row, inputs, { samples, processes, scale });
      } catch (error) {
        tell(`  C++: ${String(error.message).split("\n")[0]}`);
      }
    }
    if (parts.includes("memory")) result.memory = measureMemory(base, scale);
    results.push(result);
  }
  compiled?.close();
  const scaling = parts.includes("scaling")
    ? await measureScaling(lib, ours.heap, { samples, most: 1e7 * Math.min(1, scale), tell })
    : [];
  ours.close();

  const machine = describeMachine(copyRate, results);
  const text = [
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, ${machine.date}; ndscatter: ${ours.about}\n`,
    ...(ours.missing.length === 0 ? [] : [`Not measured: ${ours.missing.join("; ")}\n`]),
    ...(scale === 1 ? [] : [`At scale ${scale}: the times say nothing about the targets\n`]),
    ...(parts.includes("times") ? [printTimes(results, copyRate), printPeers(results)] : []),
    printFindings(findings),
    printBaseline(results),
    printScaling(scaling),
    printMemory(results),
    printTargets(results, scaling),
  ];
  process.stdout.write(`${text.filter((part) => part !== "").join("\n")}\n`);
  fs.writeFileSync(
    out,
    `${JSON.stringify({ machine, workloads: results.map(recordOf) }, null, 2)}\n`,
  );
  tell(`written to ${out}`);
  return (
    findings.some(({ ours }) => ours) || results.some(({ baseline }) => baseline?.agrees === false)
  );
}

/** One row: prepares the contestants, compares their results, and times them. */
async function hold(row, inputs, ours, peers, samples) {
  const own = ours.contestants(row, inputs);
  const others = [];
  const findings = [];
  for (const { name, cooldown, prepare } of peers) {
    try {
      const contestant = await prepare(row, inputs);
      if (contestant === null) continue;
      // Some peers refuse the work only when they run.
      await contestant.call();
      others.push({ name, cooldown, ...contestant });
    } catch (error) {
      const reason = String(error.message ?? error).split("\n")[0];
      findings.push({ row: row.name, name, ours: false, message: `cannot: ${reason}` });
    }
  }
  const differences = await check(ours.expected(row, inputs), own, others);
  findings.push(...differences.map((finding) => ({ row: row.name, ...finding })));
  const all = await measure([...own, ...others], samples);
  for (const { release } of [...own, ...others]) await release?.();

  const times = { modes: {}, threads: {}, peers: {} };
  for (const { name } of others) times.peers[name] = all.get(name);
  for (const { name } of own) if (name !== THREADS[2]) times.modes[name] = all.get(name);
  for (const [threads, name] of Object.entries(THREADS)) {
    if (all.has(name)) times.threads[threads] = all.get(name);
  }
  return { times, findings };
}

function printFindings(findings) {
  if (findings.length === 0) return "All results have the same bits.\n";
  const lines = findings.map(({ row, name, message }) => `  ${row}: ${name}: ${message}\n`);
  return `Results that differ from the library's JavaScript\n${lines.join("")}`;
}

/** What the numbers depend on. The copy and C++ are here too, because they are not contestants of a row. */
function describeMachine(copyRate, results) {
  const baselines = results.filter(({ baseline }) => baseline !== undefined);
  const cpus = os.cpus();
  return {
    cpu: cpus[0]?.model.trim() ?? "unknown",
    cores: cpus.length,
    node: process.version,
    date: new Date().toISOString().slice(0, 10),
    copyGBs: Number((copyRate / 1e9).toFixed(1)),
    versions: versions(),
    cpp: Object.fromEntries(
      baselines.map(({ row, baseline: { cpp, ours, mode } }) => [
        row.name,
        { cpp: Number(cpp.toPrecision(4)), [mode]: Number(ours.toPrecision(4)) },
      ]),
    ),
  };
}
