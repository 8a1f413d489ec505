import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

/** A call that must not compile, and what the last line of the compiler's message must end with. */
interface Row {
  readonly call: string;
  readonly says: string;
}

const data = `make("float32", [4, 4, 4])`;

const ROWS: readonly Row[] = [
  {
    call: `scatterND(${data}, make("int64", [2, 1]), make("float32", [2, 3, 4]))`,
    says: "updates.shape must be [2, 4, 4], got [2, 3, 4]",
  },
  {
    call: `scatterND(make("int8", [8]), make("int64", [2, 5]), make("int8", [2]))`,
    says: "indices.shape[-1] must be at most 1, the rank of data, got 5",
  },
  {
    call: `scatterND(${data}, make("int64", [2, 1]), make("float64", [2, 4, 4]))`,
    says: "updates.dtype must be float32, got float64",
  },
  {
    call: `scatterND(${data}, make("float32", [2, 1]), make("float32", [2, 4, 4]))`,
    says: "indices.dtype must be int32 or int64, got float32",
  },
  {
    call: `scatterND(${data}, make("int64", []), make("float32", [4]))`,
    says: "indices must have rank 1 or more, got shape []",
  },
  {
    call: `scatterND(make("int8", []), make("int64", [1, 0]), make("int8", [1]))`,
    says: "data must have rank 1 or more, got shape []",
  },
  {
    call: `scatterND(rows, make("int64", [9, 1]), make("float32", [9, 3]))`,
    says: "updates.shape must be [9, 4], got [9, 3]",
  },
  {
    call: `scatterND(make("int8", [8]), make("int64", [2, 1]), [1, 2], { out: make("int8", [9]) })`,
    says: "out.shape must be [8], got [9]",
  },
  {
    call: `scatterND(make("int8", [8]), make("int64", [2, 1]), [1, 2], { out: make("int16", [8]) })`,
    says: "out.dtype must be int8, got int16",
  },
  {
    call: `scatterND(make("float32", [8]), make("int64", [2, depth]), make("float32", [3]))`,
    says: "updates.shape must be [2, ...], got [3]",
  },
  {
    call: `scatterElements(make("float32", [3, 3]), make("int32", [2, 3]), make("float32", [1, 3]))`,
    says: "updates.shape must be [2, 3], got [1, 3]",
  },
  {
    call: `scatterElements(make("float32", [3, 3]), [[0, 1]], make("float32", [2]))`,
    says: "updates.shape must be [?, ?], got [2]",
  },
  {
    call: `gatherElements(${data}, make("int64", [2, 1]))`,
    says: "indices must have rank 3, as data has, got shape [2, 1]",
  },
  {
    call: `gatherElements(make("float32", [3]), make("uint8", [2]))`,
    says: "indices.dtype must be int32 or int64, got uint8",
  },
  {
    call: `gatherND(${data}, make("int64", [2, 0]))`,
    says: "indices.shape[-1] must be from 1 to 3, the rank of data, got 0",
  },
  {
    call: `gatherND(${data}, make("int64", [4, 3]), { batchDims: 1 })`,
    says: "indices.shape[-1] must be from 1 to 2, the rank of data less batchDims, got 3",
  },
  {
    call: `gatherND(${data}, make("int64", [2, 1]), { batchDims: 1 })`,
    says: "indices.shape must begin with [4], the batch dimensions of data, got [2, 1]",
  },
  {
    call: `gatherND(${data}, make("int64", [4, 1]), { batchDims: 2 })`,
    says: "batchDims must be at least 0 and below 2, the rank of indices, got 2",
  },
  {
    call: `gatherND(make("int8", [4]), make("int64", [4, 1, 1]), { batchDims: 1 })`,
    says: "batchDims must be at least 0 and below 1, the rank of data, got 1",
  },
];

const HEAD = `
import { gatherElements, gatherND, scatterElements, scatterND } from "../../src/core/functions.ts";
import { type Tensor, zeros as make } from "../../src/core/tensor/tensor.ts";
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

for (const [number, { call, says }] of ROWS.entries()) {
  test(`${call} does not compile`, () => {
    const line = said.get(String(number))?.at(-1) ?? "it compiles";
    assert.ok(line.endsWith(`"${says}"'.`), `expected … "${says}", got: ${line}`);
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
