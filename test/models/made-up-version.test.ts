/**
 * A new version takes one row of its operator and one type set. A copy of the compiled sources gets these two lines for
 * an invented ScatterND-29 with more data types and int32 indices, and every part that must know the version is tested.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import type * as Library from "../../src/entries/index.ts";
import type * as Onnx from "../../src/entries/onnx.ts";
import type * as Operators from "../../src/entries/operators.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import type { OperatorVersion } from "../../src/core/operators/operator.ts";
import { assertCode } from "../support/refusal.ts";
import { ROOT } from "../support/root.ts";

/** Next to the sources, so that packages are found. */
const COPY = path.join(ROOT, `build/made-up-${process.pid}`);
after(() => fs.rmSync(COPY, { recursive: true, force: true }));
fs.cpSync(path.join(ROOT, "build/src"), path.join(COPY, "src"), { recursive: true });

/** Inserts text before the last occurrence of `mark`. */
function insert(file: string, mark: string, text: string): void {
  const name = path.join(COPY, "src/core/operators", file);
  const source = fs.readFileSync(name, "utf8");
  const at = source.lastIndexOf(mark);
  assert.notEqual(at, -1, `${file} has no ${mark}`);
  fs.writeFileSync(name, source.slice(0, at) + text + source.slice(at));
}

insert("schemas.js", "export const T_ANY", "export const T_MADE_UP = onnxTypes(26);\n");
insert("tuples.js", ", REDUCTION_18)", ", REDUCTION_18), madeUpRow(29, T_MADE_UP");
insert(
  "tuples.js",
  "const scatterNDVersions",
  `const madeUpRow = (...row) => ({ ...scatterNDRow(...row), typeConstraints: [T_MADE_UP, TIND],
     inputs: scatterFields("ScatterND", "Tind").inputs });\n`,
);
insert("tuples.js", "import { plainVersion", 'import { T_MADE_UP } from "./schemas.js";\n');

const load = <T>(name: string): Promise<T> =>
  import(pathToFileURL(path.join(COPY, "src", name)).href) as Promise<T>;
const library = await load<typeof Library>("entries/index.js");
const { resolve } = await load<typeof Operators>("entries/operators.js");
const onnx = await load<typeof Onnx>("entries/onnx.js");
const { tensor } = library;

const ndscatter = (...words: readonly string[]): string =>
  execFileSync(process.execPath, [path.join(COPY, "src/cli/main.js"), ...words], {
    encoding: "utf8",
  });

const node = (opset: number): Library.NodeSpec => ({ op: "ScatterND", opset });
const where = tensor("int32", [2, 1], [2, -4]);

test("the invented version runs with its data types and indices, and older versions name it in their errors", () => {
  assert.equal(resolve({ op: "ScatterND", opset: 29 }).sinceVersion, 29);
  assert.equal(resolve({ op: "ScatterND", opset: 28 }).sinceVersion, 18);
  for (const dtype of ["float32", "int4", "float8e4m3fn", "string"] as const) {
    const of = (...values: readonly number[]): Library.Tensor =>
      tensor(dtype, [values.length], dtype === "string" ? values.map(String) : values);
    const inputs = [of(1, 2, 3, 4), where, of(6, 5)];
    const [output] = library.run(node(29), inputs);
    assert.ok(library.equals(output, of(5, 2, 6, 4)), dtype);
    assertCode("dtype", { op: "ScatterND", opset: 18 }, () => library.run(node(18), inputs));
  }
  const narrow = [tensor("int4", [1], [1]), tensor("int64", [1, 1], [0]), tensor("int4", [1], [2])];
  const refusal = assertCode("dtype", { input: "data", got: "int4" }, () =>
    library.run(node(18), narrow),
  );
  assert.match(refusal.message, /version 29 accepts it/);
});

test("the output of the invented version has the data type and the shape of data", () => {
  const types = [
    { dtype: "int4", shape: ["N", 3] },
    { dtype: "int32", shape: [2, 1] },
    { dtype: "int4", shape: [2, 3] },
  ] as const;
  assert.deepEqual(library.infer(node(29), types), [types[0]]);
  assertCode("dtype", { opset: 18 }, () => library.infer(node(18), types));
});

/** A model of one ScatterND. */
const modelOf = (opset: number, dtype: DType, indexType: DType): Onnx.Model =>
  onnx.buildModel({
    opsets: { "ai.onnx": opset },
    inputs: {
      x: { dtype, shape: [4] },
      i: { dtype: indexType, shape: [2, 1] },
      u: { dtype, shape: [2] },
    },
    nodes: [{ op: "ScatterND", inputs: ["x", "i", "u"], outputs: ["y"] }],
    outputs: { y: { dtype, shape: [4] } },
  });

test("models with the invented version are read, inspected, inferred and run", () => {
  const model = onnx.readModel(onnx.writeModel(modelOf(29, "int4", "int32")));
  const { nodes, counts } = onnx.inspectModel(model);
  assert.deepEqual([nodes[0].version, counts.wrong, counts.risky], [29, 0, 0]);
  assert.deepEqual(onnx.inferTypes(model).get("y")?.dtype, "int4");
  const { y } = onnx.runModel(model, {
    x: tensor("int4", [4], [1, 2, 3, 4]),
    i: where,
    u: tensor("int4", [2], [6, 5]),
  });
  assert.deepEqual(y.toArray(), [5, 2, 6, 4]);
  const older = onnx.inspectModel(modelOf(28, "int4", "int32"));
  assert.deepEqual(
    older.nodes[0].findings.map(({ id }) => id),
    ["data-type-not-taken", "index-type-not-taken", "data-type-not-taken"],
  );
});

test("conversions from 18 to the invented version and back keep the node, cast the indices, or are refused", () => {
  const plain = modelOf(18, "float32", "int64");
  const newer = onnx.convertModel(plain, { opset: 29 }).model;
  assert.deepEqual(newer.opsets, { "ai.onnx": 29 });
  assert.equal(newer.graph, plain.graph);
  assert.equal(onnx.convertModel(newer, { opset: 18 }).model.graph, plain.graph);

  const narrow = onnx.convertModel(modelOf(29, "float32", "int32"), { opset: 18 }).model;
  assert.deepEqual(
    narrow.graph.nodes.map(({ op }) => op),
    ["Cast", "ScatterND"],
  );
  const { y } = onnx.runModel(narrow, {
    x: tensor("float32", [4], [1, 2, 3, 4]),
    i: where,
    u: tensor("float32", [2], [6, 5]),
  });
  assert.deepEqual(y.toArray(), [5, 2, 6, 4]);

  for (const opset of [18, 28]) {
    const action = () => onnx.convertModel(modelOf(29, "int4", "int64"), { opset });
    assert.match(
      assertCode("unsupported-model", {}, action).message,
      /ScatterND-18 does not accept int4; opset 29 supports it/,
    );
  }
});

test("the invented version converts to OpenVINO, if OpenVINO has the data types", () => {
  const opsetOf = (dtype: DType): readonly string[] =>
    onnx
      .convertModel(modelOf(29, dtype, "int32"), { domain: "openvino" })
      .model.graph.nodes.map(({ op }) => op);
  assert.deepEqual(opsetOf("float32"), ["ScatterNDUpdate"]);
  assertCode("unsupported-model", {}, () => opsetOf("int4"));
});

test("the command lists the invented version", () => {
  const list = ndscatter("ops", "ScatterND");
  assert.match(list, /^ai\.onnx +ScatterND +29 +reduction +int32, int64 +26 types$/m);
  assert.match(ndscatter("ops", "ScatterND", "--diff", "18", "29"), /int64 -> Tind/);
  const infer = ["infer", "ScatterND", "int4[4]", "int32[2,1]", "int4[2]"];
  assert.match(ndscatter(...infer), /int4\[4\]/);
});

test("the table of the documents has the invented version", async () => {
  const script = pathToFileURL(path.join(ROOT, "scripts/operators-table.js")).href;
  const { table }: { table: (all: readonly OperatorVersion[]) => string } = await import(script);
  const row = table(library.operators())
    .split("\n")
    .find((line) => line.startsWith("| ScatterND |"));
  assert.match(row ?? "", / 18, 29 \|.*; 29: .*int2, int32 or int64 indices \|$/);
});

test("the page offers the invented version, and its reference has a section for it", async () => {
  const source = path.join(ROOT, "playground/src");
  const bundle = path.join(COPY, "page.js");
  await build({
    stdin: {
      contents: `
        export { withOperator } from "./document/with-operator.ts";
        export { operatorGroups } from "./values/schema.ts";
        export { families } from "./site/reference/families.ts";
        export { examplesOf } from "./site/reference/calls.ts";
        export { versionSection } from "./site/reference/version-section.ts";
        export { PRESETS } from "./examples/presets.ts";`,
      resolveDir: source,
    },
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    alias: {
      "ndscatter/operators": path.join(COPY, "src/entries/operators.js"),
      ndscatter: path.join(COPY, "src/entries/index.js"),
    },
    logLevel: "error",
  });
  const page = await import(pathToFileURL(bundle).href);
  const [group] = page.operatorGroups();
  assert.equal(group.versions[0].sinceVersion, 29);
  const [{ state }] = page.PRESETS;
  const { state: moved, remarks } = page.withOperator(state, { ...state, opset: 29 });
  assert.deepEqual([moved.op, moved.opset, remarks], ["ScatterND", 29, []]);
  const [family] = page.families();
  const { body } = page.versionSection(family, family.newest, page.examplesOf(family), []);
  assert.match(body.markup, /data-version="29"[^]*int4/);
});
