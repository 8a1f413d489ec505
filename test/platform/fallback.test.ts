/** What an engine falls back to where the platform lacks something, each time in a process of its own. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

/** The bundled package, which is loaded faster than the compiled sources, which `npm run mutate` changes. */
const COMPILED = process.env["MUTATE_MAIN"] === undefined ? "../../../dist" : "../../src";
const ENTRY = new URL(`${COMPILED}/entries/index.js`, import.meta.url).href;

interface Row {
  readonly without: string;
  /** What takes it away: options of Node, or a program that runs first. */
  readonly options?: readonly string[];
  readonly program?: string;
  /** What is left of an engine that was to have WebAssembly and two threads. */
  readonly left: readonly [kind: string, threads: number];
  readonly skip?: string | false;
}

const FORBIDDEN = 'throw new WebAssembly.CompileError("refused")';

// prettier-ignore
const ROWS: readonly Row[] = [
  { without: "nothing", left: ["wasm", 2] },
  { without: "code made at run time, and so WebAssembly", options: ["--jitless"], left: ["js", 1] },
  { without: "the name WebAssembly", program: "delete globalThis.WebAssembly", left: ["js", 1] },
  { without: "permission to compile, by a policy", program: `WebAssembly.Module = function () { ${FORBIDDEN} }`, left: ["js", 1] },
  { without: "permission to make instances, by a policy", program: `WebAssembly.Instance = function () { ${FORBIDDEN} }`, left: ["js", 1] },
  { without: "vectors", options: ["--no-enable-sse4-1"], left: ["js", 1], skip: process.arch !== "x64" && "an option of x64" },
  { without: "address space for more than 256 MiB", options: ["--wasm-max-mem-pages=4096"], left: ["wasm", 2] },
  { without: "address space for 16 MiB", options: ["--wasm-max-mem-pages=128"], left: ["js", 1] },
  { without: "shared memory", program: "delete globalThis.SharedArrayBuffer", left: ["wasm", 1] },
  { without: "workers", program: "process.getBuiltinModule = undefined", left: ["wasm", 1] },
  { without: "permission to start workers", program: 'require("node:worker_threads").Worker = function () { throw new Error("refused") }', left: ["wasm", 1] },
  { without: "scripts by default", options: ["--input-type=module"], left: ["wasm", 2] },
  { without: "permission to wait", program: 'Atomics.wait = () => { throw new TypeError("not here") }', left: ["wasm", 1] },
];

/** Enough updates and indices for WebAssembly and for threads; sums and rows whose values follow without an engine. */
const CHECK = `
  const [count, cells] = [200_000, 16];
  for (const kind of ["auto", "wasm"]) {
    const engine = createEngine({ kind, threads: 2 });
    const indices = engine.alloc("int32", [count, 1]);
    const updates = engine.alloc("float32", [count]);
    for (let p = 0; p < count; p++) [indices.data[p], updates.data[p]] = [p % cells, p % cells];
    const sums = engine.scatterND(engine.alloc("float32", [cells]), indices, updates, { reduction: "add" });
    const rows = engine.gatherND(sums, indices);
    const isRight = (sum, cell) => sum === cell * count / cells;
    const right = sums.data.every(isRight) && rows.data.every((sum, p) => isRight(sum, p % cells));
    console.log(engine.kind, engine.threads, right);
    engine.dispose();
  }`;

for (const { without, options = [], program = "", left, skip = false } of ROWS) {
  test(`without ${without}`, { skip }, () => {
    const source = `${program}; import(${JSON.stringify(ENTRY)}).then(({ createEngine }) => {${CHECK}});`;
    const { stdout, stderr } = spawnSync(process.execPath, [...options, "--eval", source], {
      encoding: "utf8",
      timeout: 60_000,
    });
    const expected = `${left.join(" ")} true\n`;
    assert.equal(stdout, expected + expected, stderr);
  });
}
