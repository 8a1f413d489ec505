import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { reportSentence } from "../support/sentences.ts";

/** A call that must not compile; the last line of the compiler's message ends with a sentence. */
interface Row {
  readonly call: string;
  /** Names, shapes and numbers in the compiler's sentence, in their order. */
  readonly names: readonly string[];
}

const data = `make("float32", [4, 4, 4])`;

const ROWS: readonly Row[] = [
  {
    call: `scatterND(${data}, make("int64", [2, 1]), make("float32", [2, 3, 4]))`,
    names: ["updates.shape", "[2, 4, 4]", "[2, 3, 4]"],
  },
  {
    call: `scatterND(make("int8", [8]), make("int64", [2, 5]), make("int8", [2]))`,
    names: ["indices.shape[-1]", "1", "data", "5"],
  },
  {
    call: `scatterND(${data}, make("int64", [2, 1]), make("float64", [2, 4, 4]))`,
    names: ["updates.dtype", "float32", "float64"],
  },
  {
    call: `scatterND(${data}, make("float32", [2, 1]), make("float32", [2, 4, 4]))`,
    names: ["indices.dtype", "int32", "int64", "float32"],
  },
  {
    call: `scatterND(${data}, make("int64", []), make("float32", [4]))`,
    names: ["indices", "1", "[]"],
  },
  {
    call: `scatterND(make("int8", []), make("int64", [1, 0]), make("int8", [1]))`,
    names: ["data", "1", "[]"],
  },
  {
    call: `scatterND(rows, make("int64", [9, 1]), make("float32", [9, 3]))`,
    names: ["updates.shape", "[9, 4]", "[9, 3]"],
  },
  {
    call: `scatterND(make("int8", [8]), make("int64", [2, 1]), [1, 2], { out: make("int8", [9]) })`,
    names: ["out.shape", "[8]", "[9]"],
  },
  {
    call: `scatterND(make("int8", [8]), make("int64", [2, 1]), [1, 2], { out: make("int16", [8]) })`,
    names: ["out.dtype", "int8", "int16"],
  },
  {
    call: `scatterND(make("float32", [8]), make("int64", [2, depth]), make("float32", [3]))`,
    names: ["updates.shape", "[2, ...]", "[3]"],
  },
  {
    call: `scatterElements(make("float32", [3, 3]), make("int32", [2, 3]), make("float32", [1, 3]))`,
    names: ["updates.shape", "[2, 3]", "[1, 3]"],
  },
  {
    call: `scatterElements(make("float32", [3, 3]), [[0, 1]], make("float32", [2]))`,
    names: ["updates.shape", "[?, ?]", "[2]"],
  },
  {
    call: `gatherElements(${data}, make("int64", [2, 1]))`,
    names: ["indices", "3", "data", "[2, 1]"],
  },
  {
    call: `gatherElements(make("float32", [3]), make("uint8", [2]))`,
    names: ["indices.dtype", "int32", "int64", "uint8"],
  },
  {
    call: `gatherND(${data}, make("int64", [2, 0]))`,
    names: ["indices.shape[-1]", "1", "3", "data", "0"],
  },
  {
    call: `gatherND(${data}, make("int64", [4, 3]), { batchDims: 1 })`,
    names: ["indices.shape[-1]", "1", "2", "data", "batchDims", "3"],
  },
  {
    call: `gatherND(${data}, make("int64", [2, 1]), { batchDims: 1 })`,
    names: ["indices.shape", "[4]", "data", "[2, 1]"],
  },
  {
    call: `gatherND(${data}, make("int64", [4, 1]), { batchDims: 2 })`,
    names: ["batchDims", "0", "2", "indices", "2"],
  },
  {
    call: `gatherND(make("int8", [4]), make("int64", [4, 1, 1]), { batchDims: 1 })`,
    names: ["batchDims", "0", "1", "data", "1"],
  },
];

const HEAD = `
import { gatherElements, gatherND, scatterElements, scatterND } from "../../src/core/functions.ts";
import { zeros as make, type Tensor } from "../../src/core/tensor/tensor.ts";
declare const rows: Tensor<"float32", readonly [number, 4]>;
declare const depth: number;
export const used = [scatterND, scatterElements, gatherND, gatherElements, rows, depth];
`;

/** A call that must not compile, because nothing says that a tensor of any data type is float32. */
const CLAIM = `declare const any: Tensor; export const claimed: Tensor<"float32"> = any; make`;

let folder = "";
/** The lines that the compiler said of each file, by its name without folder and ending. */
const said = new Map<string, string[]>();

before(() => {
  // Inside build/, so that "../../src" is the source and node_modules is found.
  mkdirSync("build", { recursive: true });
  folder = mkdtempSync(join("build", "typed-shape-"));
  for (const [number, { call }] of ROWS.entries()) {
    writeFileSync(join(folder, `${number}.ts`), `${HEAD}${call};\n`);
  }
  writeFileSync(join(folder, "claim.ts"), `${HEAD}${CLAIM};\n`);
  // outDir is left out by default, and this is inside it.
  const compilerOptions = {
    noEmit: true,
    rootDir: "../..",
    // The state of the compiler for the tests themselves remains.
    incremental: false,
    tsBuildInfoFile: null,
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.json",
      compilerOptions,
      include: ["*.ts"],
      exclude: [],
    }),
  );
  const manifest = createRequire(import.meta.url).resolve("typescript/package.json");
  const { stdout } = spawnSync(
    process.execPath,
    [join(dirname(manifest), "bin", "tsc"), "-p", folder, "--pretty", "false", "--singleThreaded"],
    { encoding: "utf8", timeout: 120_000 },
  );
  let file = "";
  for (const line of stdout.split("\n").filter(Boolean)) {
    file = /([^/\\]+)\.ts\(\d+,\d+\): error /.exec(line)?.[1] ?? file;
    said.set(file, [...(said.get(file) ?? []), line]);
  }
});

after(() => rmSync(folder, { recursive: true, force: true }));

for (const [number, { call, names }] of ROWS.entries()) {
  test(`${call} does not compile`, () => {
    const line = said.get(String(number))?.at(-1) ?? "it compiles";
    const sentence = /"([^"]+)"'\.$/.exec(line)?.[1] ?? assert.fail(line);
    reportSentence("type", sentence);
    let end = 0;
    for (const name of names) {
      const start = sentence.indexOf(name, end);
      assert.ok(start >= 0, `expected ${name} in: ${sentence}`);
      end = start + name.length;
    }
  });
}

test("a tensor of any data type is shown as Tensor<DType>, not with the name of each", () => {
  const [line = "it compiles"] = said.get("claim") ?? [];
  assert.match(line, /: Type 'Tensor<DType, readonly number\[\]>' is not assignable/);
});

test("the compiler said nothing of anything but these programs", () => {
  const programs = new Set([...ROWS.map((_, number) => String(number)), "claim"]);
  assert.deepEqual(
    [...said].filter(([file]) => !programs.has(file)),
    [],
  );
});
