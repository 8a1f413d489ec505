/** Holds the documents in `docs/` to the code: codes, paths, licences, and every row of the errata. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { siblingsOf } from "../src/convert/meaning.ts";
import { ERROR_CODES, isTensorError, type ErrorCode } from "../src/errors.ts";
import { gatherND, scatterElements, scatterND } from "../src/functions.ts";
import { FINDINGS, writeModel, type Model } from "../src/onnx/index.ts";
import { operators, resolve } from "../src/operators/registry.ts";
import { infer } from "../src/call/infer.ts";
import { run } from "../src/call/run.ts";
import { tensor, zeros, type Tensor } from "../src/tensor/tensor.ts";
import { REASONS } from "./cases/convert-reasons.ts";
import { EXAMPLES } from "./cases/examples.ts";
import { runCommand } from "./support/cli.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string) => fs.readFileSync(path.join(root, file), "utf8");
const exists = (file: string) => fs.existsSync(path.join(root, file));

const DOCUMENTS = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...fs.readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`),
].filter((file) => file.endsWith(".md") && exists(file));

/** The cells of the rows of a table, without its head; a bar in a cell would be written `\|`. */
const rowsOf = (markdown: string): string[][] =>
  markdown
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    )
    .slice(2);

test("semantics.md lists every error code with its meaning, and no other", () => {
  const [, table] = /<!-- codes -->\n([^]*?)<!-- \/codes -->/.exec(read("docs/semantics.md")) ?? [];
  assert.deepEqual(
    rowsOf(table),
    Object.entries(ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );
});

test("inspect.md lists every finding with its severity and its meaning, and no other", () => {
  const [, table] =
    /<!-- findings -->\n([^]*?)<!-- \/findings -->/.exec(read("docs/inspect.md")) ?? [];
  assert.deepEqual(
    rowsOf(table),
    Object.entries(FINDINGS).map(([id, { severity, meaning }]) => [`\`${id}\``, severity, meaning]),
  );
});

test("the example of inspect.md is what the command and the code say", async () => {
  const text = read("docs/inspect.md");
  const [, shown] = /```text\n\$ ndscatter inspect model\.onnx\n([^]*?)```/.exec(text) ?? [];
  const [, code] = /```ts\n([^]*?)```/.exec(text) ?? [];
  const folder = fs.mkdtempSync(path.join(root, "build", "inspect-"));
  try {
    const file = path.join(folder, "example.mjs");
    fs.writeFileSync(
      file,
      `${code.replaceAll("console.log(", "void (")}\nexport { model, counts };`,
    );
    const { model, counts }: { model: Model; counts: unknown } = await import(file);
    assert.deepEqual(counts, { wrong: 2, risky: 0, note: 0 });
    fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(model));
    const { status, stdout } = await runCommand(folder, ["inspect", "model.onnx"]);
    assert.equal(stdout, shown);
    assert.equal(status, 1);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

/** The rows of a table of convert.md between two marks. */
function tableOfConvert(mark: string): string[][] {
  const table = new RegExp(`<!-- ${mark} -->\\n([^]*?)<!-- /${mark} -->`);
  return rowsOf(table.exec(read("docs/convert.md"))?.[1] ?? "");
}

test("convert.md lists every operator with what the other format calls it", () => {
  const listed = tableOfConvert("operators");
  const names = (cell: string): string[] => (cell === "-" ? [] : cell.split(", "));
  const known = (domain: string): string[] =>
    [...new Set(operators().flatMap((row) => (row.domain === domain ? [row.name] : [])))].sort();
  const inOther = (name: string, domain: string): string[] => [
    ...new Set(siblingsOf(name, domain).map((row) => row.name)),
  ];
  assert.deepEqual(listed.flatMap(([onnx]) => names(onnx)).sort(), known("ai.onnx"));
  assert.deepEqual(listed.flatMap(([, openvino]) => names(openvino)).sort(), known("openvino"));
  for (const [onnx, openvino] of listed) {
    for (const name of names(onnx)) assert.deepEqual(inOther(name, "openvino"), names(openvino));
    for (const name of names(openvino)) assert.deepEqual(inOther(name, "ai.onnx"), names(onnx));
  }
});

test("convert.md has every reason of a refusal, and no other", () => {
  assert.deepEqual(
    tableOfConvert("refused").map(([reason]) => reason),
    REASONS.map((reason) => `\`${reason}\``),
  );
});

test("the example of convert.md is what the command and the code say", async () => {
  const text = read("docs/convert.md");
  const [, line, shown] = /```text\n\$ ndscatter (.*)\n([^]*?)```/.exec(text) ?? [];
  const [, code] = /```ts\n([^]*?)```/.exec(text) ?? [];
  const folder = fs.mkdtempSync(path.join(root, "build", "convert-"));
  try {
    const file = path.join(folder, "example.mjs");
    const printed = [...code.matchAll(/console\.log\((\w+)\); \/\/ (.*)/g)];
    fs.writeFileSync(
      file,
      `${code.replaceAll("console.log(", "void (")}\nexport { model, changes, unchecked, notes };`,
    );
    const values: Record<string, unknown> & { model: Model } = await import(file);
    assert.equal(printed.length, 3);
    for (const [, name, said] of printed) assert.equal(inspect(values[name]), said);
    fs.writeFileSync(path.join(folder, "model.onnx"), writeModel(values.model));
    const { status, stdout } = await runCommand(folder, line.split(" "));
    assert.equal(stdout, shown);
    assert.equal(status, 0);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("every code that a document names exists", () => {
  const codes = rowsOf(read("docs/semantics.md")).flatMap((cells) =>
    cells.filter((cell) => /^`[a-z]+-[a-z-]+`$/.test(cell)),
  );
  for (const code of codes) assert.ok(Object.hasOwn(ERROR_CODES, code.slice(1, -1)), code);
});

for (const file of DOCUMENTS) {
  test(`links and paths in ${file} exist`, () => {
    const text = read(file);
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      assert.ok(exists(path.join(path.dirname(file), target)), `the link to ${target}`);
    }
    for (const [, named] of text.matchAll(
      /`((?:src|test|docs|examples|scripts|\.ci)\/[\w./-]*)`/g,
    )) {
      assert.ok(exists(named), `the path ${named}`);
    }
  });
}

test("adding.md and architecture.md name code that is there", () => {
  const places: Record<string, readonly string[]> = {
    "src/tensor/dtype.ts": ["DTYPES", "Family", "reductionsOf", "Scalar", "allocate"],
    "src/tensor/scalar.ts": ["reader", "writer"],
    "src/plan/plan.ts": ["coarsen", "split", "absoluteOffsets"],
    "src/plan/tuples.ts": ["planTuples"],
    "src/plan/elements.ts": ["planElements"],
    "src/operators/types.ts": ["T15", "T16"],
    "src/operators/registry.ts": ["OPERATORS"],
    "src/operators/settings.ts": ["WORDS", "settingsOf", "plainVersion"],
    "src/operators/operator.ts": ["Settings", "inferShape"],
    "src/kernels/combine.ts": ["KERNELS"],
    "src/cli/tensor-format.ts": ["FORMATS"],
    "src/inspect/findings.ts": ["FINDINGS"],
    "src/convert/meaning.ts": ["OTHER_NAMES"],
    "src/convert/target.ts": ["BROUGHT"],
    "src/model/model.ts": ["Model", "Constant"],
  };
  const text = read("docs/adding.md") + read("docs/architecture.md");
  for (const [file, names] of Object.entries(places)) {
    for (const name of names) {
      assert.ok(text.includes(name), `${name} is not told`);
      assert.match(read(file), new RegExp(`\\b${name}\\b`), `${name} is not in ${file}`);
    }
  }
});

test("dependencies.md has a line for each dependency, with its licence", () => {
  const manifest: Record<string, Record<string, string>> = JSON.parse(read("package.json"));
  const names = Object.keys({ ...manifest["dependencies"], ...manifest["devDependencies"] });
  const rows = rowsOf(read("docs/dependencies.md"));
  assert.deepEqual(rows.map(([name]) => name.slice(1, -1)).toSorted(), names.toSorted());
  for (const [name, licence] of rows) {
    const { license } = JSON.parse(read(`node_modules/${name.slice(1, -1)}/package.json`));
    assert.equal(licence, license, name);
  }
});

test("the changelog tells of this version, the licence of its year", () => {
  const { version } = JSON.parse(read("package.json"));
  assert.ok(read("CHANGELOG.md").includes(`## [${version}]`));
  assert.match(read("LICENSE"), /^MIT License\n\nCopyright \(c\) 2026 the ndscatter authors\n/);
});

test("the changelog lists every version of every operator", () => {
  const text = read("CHANGELOG.md").replaceAll(/\s+/g, " ");
  const lists = new Map<string, number[]>();
  for (const { domain, name, sinceVersion } of operators()) {
    const key = `${domain} ${name}`;
    lists.set(key, [...(lists.get(key) ?? []), sinceVersion]);
  }
  for (const [key, list] of lists) {
    const [domain, name] = key.split(" ");
    const [, ofDomain] = text.split(`Operators of ${domain}`);
    assert.match(ofDomain.split(" - ")[0], new RegExp(`[ ]${name} ${list.join(", ")}[;.]`), key);
  }
});

// The errata. Each row names its tests as `file` "name", "name"; those of this file follow below.

test("every row of the errata names tests that are there", () => {
  const rows = rowsOf(read("docs/errata.md"));
  assert.ok(rows.length >= 26);
  for (const [document, , , tests] of rows) {
    const files = [...tests.matchAll(/`(test\/[^`]+)` ("[^"]+"(?:, "[^"]+")*)/g)];
    assert.ok(files.length > 0, `${document}: ${tests}`);
    for (const [, file, names] of files) {
      for (const [, name] of names.matchAll(/"([^"]+)"/g)) {
        assert.ok(read(file).includes(name), `${file} has no ${JSON.stringify(name)}`);
      }
    }
  }
});

const i64 = (shape: readonly number[], ...values: number[]) => tensor("int64", shape, values);
const f32 = (shape: readonly number[], ...values: number[]) => tensor("float32", shape, values);
const update = (reduction = "none") => ({
  domain: "openvino",
  op: "ScatterNDUpdate",
  opset: 15,
  attributes: { reduction },
});

const assertCode = (code: ErrorCode, action: () => unknown) =>
  assert.throws(action, (error) => {
    assert.ok(isTensorError(error, code), String(error));
    return true;
  });

const valuesOf = (value: Tensor) => value.toArray();

test("updates end with all of data.shape[k:]", () => {
  const data = zeros("float32", [4, 4, 5]);
  const indices = i64([2, 1], 0, 2);
  for (const opset of [11, 13, 16, 18]) {
    const node = { op: "ScatterND", opset };
    assert.deepEqual(run(node, [data, indices, zeros("float32", [2, 4, 5])])[0].shape, [4, 4, 5]);
    // indices.shape[0:q-1] ++ data.shape[k:r-1], as printed.
    assertCode("shape-mismatch", () => run(node, [data, indices, zeros("float32", [2, 4])]));
  }
});

test("an index tuple is a tuple, not a list of rows", () => {
  const output = scatterND(f32([2, 2], 0, 0, 0, 0), [[0, 1]], [9]);
  assert.deepEqual(valuesOf(output), [
    [0, 9],
    [0, 0],
  ]);
});

test("the rank of GatherND's output counts the batch dimensions", () => {
  for (const opset of [11, 12, 13]) {
    const [output] = resolve({ op: "GatherND", opset }).outputs;
    assert.equal(output.description.includes("batch_dims"), opset > 11);
  }
  const r = 4;
  for (const b of [0, 1, 2]) {
    for (const q of [b + 1, b + 2]) {
      for (let k = 1; k <= r - b; k++) {
        const shapes = { data: [2, 2, 5, 6], indices: [...[2, 2, 3].slice(0, q - 1), k] };
        const [{ shape }] = infer({ op: "GatherND", opset: 13, attributes: { batch_dims: b } }, [
          { dtype: "float32", shape: shapes.data },
          { dtype: "int64", shape: shapes.indices },
        ]);
        assert.equal(shape?.length, q + r - k - 1 - b);
      }
    }
  }
});

test("each batch of GatherND is addressed on its own", () => {
  const data = tensor("int32", [2, 2, 2], [0, 1, 2, 3, 4, 5, 6, 7]);
  const output = gatherND(data, [[[1, 0]], [[0, -1]]], { batchDims: 1 });
  assert.deepEqual(valuesOf(output), [[2], [5]]);
});

test("a gather gives the updates back where targets are distinct, and only there", () => {
  const data = zeros("float32", [4]);
  const updates = f32([2], 1, 2);
  const back = (indices: Tensor<"int64">) =>
    valuesOf(gatherND(scatterND(data, indices, updates), indices));
  assert.deepEqual(back(i64([2, 1], 3, 0)), [1, 2]);
  assert.deepEqual(back(i64([2, 1], 3, -1)), [2, 2]);
  assert.ok(
    resolve({ op: "ScatterND", opset: 18 }).attributes.every(({ name }) => name !== "batch_dims"),
  );
});

test("equal indices with distinct targets are no duplicates", () => {
  const example = EXAMPLES.find(({ source }) => source.startsWith("ScatterElements, example 1"));
  assert.ok(example);
  const indices = example.indices as number[][];
  assert.equal(new Set(indices.flat()).size, 3);
  const output = scatterElements(
    zeros("float32", [3, 3]),
    indices,
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    { duplicates: "error" },
  );
  assert.deepEqual(valuesOf(output), [
    [4, 2, 0],
    [1, 0, 6],
    [0, 5, 3],
  ]);
  // Different indices with one target.
  assertCode("duplicate-index", () =>
    scatterElements(zeros("float32", [3, 1]), [[-1], [2]], [[1], [2]], { duplicates: "error" }),
  );
});

test("every version of ScatterND takes -s to s - 1", () => {
  for (const opset of [11, 13, 16, 18]) {
    const at = (index: number) =>
      valuesOf(
        run({ op: "ScatterND", opset }, [f32([3], 0, 0, 0), i64([1, 1], index), f32([1], 9)])[0],
      );
    assert.deepEqual(at(2), [0, 0, 9]);
    assert.deepEqual(at(-3), [9, 0, 0]);
    assertCode("index-out-of-range", () => at(3));
    assertCode("index-out-of-range", () => at(-4));
  }
});

const FIVE = [0, 2, -3, -3, 0];

test("ScatterNDUpdate's examples as printed have k = 5, above the rank", () => {
  const updates = f32([5], 10, 20, 30, 40, 50);
  const indices = tensor("int32", [5], FIVE);
  assertCode("rank", () => run(update(), [f32([4], 1, 2, 3, 4), indices, updates]));
});

test("ScatterNDUpdate-15, examples 1 and 4", () => {
  const expected = { none: [50, 40, 20, 4], prod: [500, 2400, 60, 4] };
  for (const [reduction, values] of Object.entries(expected)) {
    const inputs = [
      f32([4], 1, 2, 3, 4),
      tensor("int32", [5, 1], FIVE),
      f32([5], 10, 20, 30, 40, 50),
    ];
    assert.deepEqual(valuesOf(run(update(reduction), inputs)[0]), values);
    const rows = EXAMPLES.filter(
      ({ attributes, output }) =>
        attributes?.["reduction"] === reduction &&
        JSON.stringify(output) === JSON.stringify(values),
    );
    assert.equal(rows.length, 1);
  }
});

test("ScatterNDUpdate-15 reduces what is at the tuple", () => {
  const inputs = [f32([2, 2], 1, 2, 3, 4), i64([1, 2], 0, 1), f32([1], 10)];
  assert.deepEqual(valuesOf(run(update("sum"), inputs)[0]), [
    [1, 12],
    [3, 4],
  ]);
});

test("ScatterNDUpdate-15 takes max and min of slices", () => {
  const inputs = [f32([2, 2], 1, 2, 3, 4), i64([1, 1], 0), f32([1, 2], 0, 9)];
  assert.deepEqual(valuesOf(run(update("max"), inputs)[0]), [
    [1, 9],
    [3, 4],
  ]);
  assert.deepEqual(valuesOf(run(update("min"), inputs)[0]), [
    [0, 2],
    [3, 4],
  ]);
});

test("reduction is an attribute of the node", () => {
  const { attributes } = resolve(update());
  assert.deepEqual(
    attributes.map(({ name }) => name),
    ["reduction"],
  );
  assert.deepEqual(attributes[0].values, ["none", "sum", "sub", "prod", "min", "max"]);
});

test("the type is ScatterNDUpdate, to the letter", () => {
  assert.equal(resolve(update()).name, "ScatterNDUpdate");
  assertCode("unknown-operator", () => resolve({ ...update(), op: "ScatterNdUpdate" }));
});

test("a tuple has k indices", () => {
  const inputs = (...tuple: number[]) => [
    zeros("float32", [2, 2, 2]),
    i64([1, tuple.length], ...tuple),
    zeros("float32", [1, ...[2, 2, 2].slice(tuple.length)]),
  ];
  for (const tuple of [[1], [1, 1], [1, 1, 1]])
    assert.equal(run(update(), inputs(...tuple)).length, 1);
  assertCode("rank", () => run(update(), inputs(1, 1, 1, 1)));
});

test("a negative index counts from the back", () => {
  const inputs = [zeros("float32", [2, 3]), i64([1, 2], -1, -2), f32([1], 9)];
  assert.deepEqual(valuesOf(run(update(), inputs)[0]), [
    [0, 0, 0],
    [0, 9, 0],
  ]);
});

test("ScatterNDUpdate-15 takes max and min of booleans", () => {
  const inputs = [
    tensor("bool", [4], [false, false, true, true]),
    i64([4, 1], 0, 1, 2, 3),
    tensor("bool", [4], [false, true, false, true]),
  ];
  assert.deepEqual(valuesOf(run(update("max"), inputs)[0]), [false, true, true, true]);
  assert.deepEqual(valuesOf(run(update("min"), inputs)[0]), [false, false, false, true]);
});

test("the commands of my-model-fails.md print what it shows", async () => {
  const blocks = read("docs/my-model-fails.md").matchAll(/```text\n(\$ ndscatter [^]*?)```/g);
  const shown = [...blocks].flatMap(([, block]) => block.split(/^\$ ndscatter /m).slice(1));
  assert.ok(shown.length >= 6);
  for (const one of shown) {
    const [command, ...lines] = one.trimEnd().split("\n");
    const { stdout, stderr } = await runCommand(root, command.split(" "));
    // A line of dots stands for any lines.
    const pattern = lines.map((line) =>
      line === "..." ? "(?:.*\\n)*" : `${line.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")}\\n`,
    );
    const printed = `${stdout}${stderr}`.replace(/\n*$/, "\n");
    assert.match(printed, new RegExp(`^${pattern.join("")}$`), command);
  }
});
