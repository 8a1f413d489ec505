/**
 * Scatter and gather on arrays larger than the allowed memory, beside the usual tools for this work, on the same files
 * in one run: `node bench/larger/main.js FOLDER [--gigabytes 8] [--rounds 2] [--memory 512] [--only NAMES]`.
 *
 * Every contestant is a separate process. `dd` on the bytes that must move gives the lower bound. peers.py has the
 * contestants of Python's libraries. Results are compared by the SHA-256 of their elements with that of reference.py,
 * which shares no code with the contestants.
 */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeInputs } from "./inputs.js";

const HERE = path.dirname(fileURLToPath(import.meta.url));
/** The most milliseconds per contestant, after which it is stopped. */
const LONGEST = 300_000;

const PYTHON = "/usr/bin/python3";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gigabytes: { type: "string", default: "8" },
    rounds: { type: "string", default: "2" },
    memory: { type: "string", default: "512" },
    only: { type: "string", default: "" },
  },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stdout.write(
    "usage: node bench/larger/main.js FOLDER [--gigabytes 8] [--rounds 2] [--memory 512]\n",
  );
  process.exit(2);
}
const gigabytes = Number(values.gigabytes);
const only = values.only === "" ? null : values.only.split(",");
fs.mkdirSync(folder, { recursive: true });

/** Each contestant receives the folder, and leaves its result there under a name that gives its format. */
const CONTESTANTS = [
  { name: "dd", work: "scatter", command: ["bash", path.join(HERE, "floor.sh"), folder] },
  ours("scatter", "table.zarr", "ours.zarr"),
  ours("scatter", "table.npy", "ours.npy"),
  ours("scatter", "table.npy", "ours.npy", "320"),
  python("scatter", "numpy-memmap"),
  python("scatter", "zarr-chunks"),
  python("scatter", "zarr-blocks"),
  ours("gather", "table.zarr", "rows-ours.npy"),
  python("gather", "numpy-memmap"),
  python("gather", "zarr-oindex"),
  python("gather", "dask"),
].filter(({ name }) => only === null || only.some((one) => name.includes(one)));

function ours(work, table, out, memory = values.memory) {
  const command = [process.execPath, path.join(HERE, "ours.js"), folder, work, table, out, memory];
  return { name: `ndscatter, ${path.extname(table).slice(1)}, ${memory} MB`, work, command, out };
}

function python(work, name) {
  return {
    name,
    work,
    command: [PYTHON, path.join(HERE, "peers.py"), folder, work, name],
    out: `${work}-${name}`,
  };
}

await makeInputs(folder, gigabytes);
const expected = hashes();
const table = [];
for (let round = 0; round < Number(values.rounds); round++) {
  for (const contestant of CONTESTANTS) table.push({ round, ...measure(contestant) });
}
print();
fs.writeFileSync(path.join(folder, "results.json"), JSON.stringify({ gigabytes, table }, null, 2));

/** Returns the SHA-256 of the elements that each work must produce, computed once per folder. */
function hashes() {
  const file = path.join(folder, "expected.json");
  if (!fs.existsSync(file)) {
    const made = spawnSync(PYTHON, [path.join(HERE, "reference.py"), folder], { encoding: "utf8" });
    if (made.status !== 0) throw new Error(made.stderr);
    fs.writeFileSync(file, made.stdout);
  }
  return JSON.parse(fs.readFileSync(file, "utf8"));
}

function measure({ name, work, command, out }) {
  // Pending writes of the last contestant must not count for this one.
  spawnSync("sync");
  const begin = process.hrtime.bigint();
  const [program, ...rest] = command;
  const child = spawnSync(program, rest, { encoding: "utf8", timeout: LONGEST });
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
  const said = /^RSS (\d+)$/m.exec(child.stdout ?? "");
  const row = { name, work, seconds, megabytes: said === null ? null : Number(said[1]) };
  process.stderr.write(
    `${work} ${name}: ${seconds.toFixed(1)} s, ${row.megabytes} MB${child.status === 0 ? "" : ", given up"}\n`,
  );
  process.stderr.write(child.stderr ?? "");
  if (child.status !== 0 || out === undefined) return { ...row, status: child.status };
  const checked = spawnSync(PYTHON, [path.join(HERE, "reference.py"), folder, out], {
    encoding: "utf8",
  });
  const isRight = checked.stdout.trim() === expected[work];
  if (!isRight) process.stderr.write(`  the result is wrong: ${checked.stdout}${checked.stderr}\n`);
  fs.rmSync(path.join(folder, out), { recursive: true, force: true });
  return { ...row, status: 0, isRight };
}

function print() {
  const names = [...new Set(table.map(({ work, name }) => `${work}\t${name}`))];
  process.stdout.write(
    "| work | by | seconds, each round | median | memory, MB | result |\n|---|---|---|---|---|---|\n",
  );
  for (const key of names) {
    const [work, name] = key.split("\t");
    const rows = table.filter((row) => row.work === work && row.name === name);
    const seconds = rows.map((row) => row.seconds);
    const middle = seconds.toSorted((a, b) => a - b)[Math.floor(seconds.length / 2)];
    const memory = Math.max(...rows.map(({ megabytes }) => megabytes ?? 0)) || "";
    const result = rows.every(({ status }) => status === 0)
      ? rows[0].isRight === undefined
        ? ""
        : rows.every(({ isRight }) => isRight)
          ? "right"
          : "**wrong**"
      : "failed";
    const each = seconds.map((one) => one.toFixed(1)).join(", ");
    process.stdout.write(
      `| ${work} | ${name} | ${each} | ${middle.toFixed(1)} | ${memory} | ${result} |\n`,
    );
  }
}
