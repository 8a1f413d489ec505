/** The rows of the registry against the documents of the two domains, fact by fact, and how versions are compared. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions } from "../../src/core/operators/rows.ts";
import { roleOf, type OperatorVersion } from "../../src/core/operators/operator.ts";
import { elements } from "../../src/core/operators/elements.ts";
import { slices } from "../../src/core/operators/slices.ts";
import { tuples } from "../../src/core/operators/tuples.ts";
import { findOperators, operators, resolve } from "../../src/core/operators/registry.ts";
import { assertRefused } from "../support/refusal.ts";

const INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64";
const T15 = `bool string float16 float32 float64 complex64 complex128 ${INTEGERS}`;
const T13 = `bool bfloat16 float16 float32 float64 ${INTEGERS}`;
const T19 = `${T13} float8e4m3fn float8e5m2 float8e8m0 float4e2m1 int4 uint4 uint2`;

/** The sets of data types that the documents list. */
const TYPES: Readonly<Record<string, string>> = {
  T15,
  T16: `bfloat16 ${T15}`,
  T24: `bfloat16 ${T15} float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz float8e8m0 float4e2m1 int4 uint4`,
  T13,
  T19,
  T20: `${T19} string`,
  I2: "int32 int64",
  I8: INTEGERS,
};

const BATCHES = "batch_dims=0, at least 0";
const SCATTER = "data:T indices:Tind updates:T";
const GATHER = "data:T indices:Tind";
const WITH_AXIS = `${SCATTER} axis:Taxis`;
const CACHE = "data=past_cache:T updates=update:T indices=write_indices?:int64";
const MEANS = "reduction=none(none sum prod min max mean); use_init_val=true";
const GATHER_TYPES = "T=T20 Tind=I8 Taxis=I8";
const UPDATE_TYPES = "T=T13 Tind=I8 Taxis=I8";

/** A version, its inputs, its attributes, the types of its constraints, and what else is said of it. */
type Row = readonly [
  title: string,
  inputs: string,
  attributes: string,
  types: string,
  more?: string,
];

// prettier-ignore
const ROWS: readonly Row[] = [
  ["ai.onnx ScatterND-11", "data:T indices:int64 updates:T", "", "T=T15"],
  ["ai.onnx ScatterND-13", "data:T indices:int64 updates:T", "", "T=T16"],
  ["ai.onnx ScatterND-16", "data:T indices:int64 updates:T", "reduction=none(none add mul)", "T=T16"],
  ["ai.onnx ScatterND-18", "data:T indices:int64 updates:T", "reduction=none(none add mul max min)", "T=T16"],
  ["ai.onnx ScatterElements-11", SCATTER, "axis=0", "T=T15 Tind=I2"],
  ["ai.onnx ScatterElements-13", SCATTER, "axis=0", "T=T16 Tind=I2"],
  ["ai.onnx ScatterElements-16", SCATTER, "axis=0; reduction=none(none add mul)", "T=T16 Tind=I2"],
  ["ai.onnx ScatterElements-18", SCATTER, "axis=0; reduction=none(none add mul max min)", "T=T16 Tind=I2"],
  ["ai.onnx GatherND-11", "data:T indices:int64", "", "T=T15"],
  ["ai.onnx GatherND-12", "data:T indices:int64", BATCHES, "T=T15"],
  ["ai.onnx GatherND-13", "data:T indices:int64", BATCHES, "T=T16"],
  ["ai.onnx GatherElements-11", GATHER, "axis=0", "T=T15 Tind=I2"],
  ["ai.onnx GatherElements-13", GATHER, "axis=0", "T=T16 Tind=I2"],
  ["ai.onnx Gather-1", GATHER, "axis=0", "T=T15 Tind=I2", "not negative"],
  ["ai.onnx Gather-11", GATHER, "axis=0", "T=T15 Tind=I2"],
  ["ai.onnx Gather-13", GATHER, "axis=0", "T=T16 Tind=I2"],
  ["ai.onnx Scatter-9", SCATTER, "axis=0", "T=T15 Tind=I2", "not negative"],
  ["ai.onnx Scatter-11", SCATTER, "axis=0", "T=T15 Tind=I2", "see ScatterElements"],
  ["ai.onnx TensorScatter-24", CACHE, "axis=-2; mode=linear(linear circular)", "T=T24"],
  ["openvino ScatterNDUpdate-3", SCATTER, "", "T=T13 Tind=I2", "not negative, opset4"],
  ["openvino ScatterNDUpdate-15", SCATTER, "reduction=none(none sum sub prod min max)", "T=T13 Tind=I2", "opset15, data stays"],
  ["openvino ScatterElementsUpdate-3", WITH_AXIS, "", UPDATE_TYPES, "not negative"],
  ["openvino ScatterElementsUpdate-12", WITH_AXIS, MEANS, UPDATE_TYPES, "update stays"],
  ["openvino ScatterUpdate-3", WITH_AXIS, "", UPDATE_TYPES, "not negative"],
  ["openvino Gather-1", `${GATHER} axis:Taxis`, "", GATHER_TYPES, "fill, promised range"],
  ["openvino Gather-7", `${GATHER} axis:Taxis`, "batch_dims=0", GATHER_TYPES, "fill, promised range"],
  ["openvino Gather-8", `${GATHER} axis:Taxis`, "batch_dims=0", GATHER_TYPES, "fill"],
  ["openvino GatherND-5", GATHER, BATCHES, "T=T19 Tind=I8", "not negative, fused"],
  ["openvino GatherND-8", GATHER, BATCHES, "T=T19 Tind=I8"],
  ["openvino GatherElements-6", GATHER, "axis", "T=T19 Tind=I2", "not negative, equal axes"],
];

const titleOf = ({ domain, name, sinceVersion }: OperatorVersion): string =>
  `${domain} ${name}-${sinceVersion}`;

const inputsText = ({ inputs }: OperatorVersion): string =>
  inputs
    .map((input) => {
      const { name, type, optional } = input;
      const role = roleOf(input) === name ? "" : `${roleOf(input)}=`;
      return `${role}${name}${optional === true ? "?" : ""}:${type}`;
    })
    .join(" ");

const attributesText = ({ attributes }: OperatorVersion): string =>
  attributes
    .map(({ name, type, default: initial, values, minimum }) => {
      const words = values === undefined ? "" : `(${values.join(" ")})`;
      const least = minimum === undefined ? "" : `, at least ${minimum}`;
      const kind = { int: "number", string: "string", boolean: "boolean" }[type];
      assert.ok(initial === undefined || typeof initial === kind);
      return `${name}${initial === undefined ? "" : `=${initial}`}${words}${least}`;
    })
    .join("; ");

const moreText = (version: OperatorVersion): string | undefined => {
  const facts = [
    ...(version.negativeIndices ? [] : ["not negative"]),
    ...(version.outOfRange === undefined ? [] : [version.outOfRange]),
    ...(version.opset === undefined ? [] : [`opset${version.opset}`]),
    ...(version.fusesBatches === true ? ["fused"] : []),
    ...(version.stays === undefined ? [] : [`${version.stays} stays`]),
    ...(version.needsEqualAxes === true ? ["equal axes"] : []),
    ...(version.promisesRange === true ? ["promised range"] : []),
    ...(version.deprecated === undefined ? [] : [`see ${version.deprecated}`]),
  ];
  return facts.length === 0 ? undefined : facts.join(", ");
};

for (const [title, inputs, attributes, types, more] of ROWS) {
  test(`${title} is what its document says`, () => {
    const version = operators().find((row) => titleOf(row) === title);
    assert.ok(version);
    assert.equal(inputsText(version), inputs);
    assert.equal(attributesText(version), attributes);
    assert.equal(moreText(version), more);
    const constraints = types.split(" ").map((type) => type.split("="));
    assert.deepEqual(
      version.typeConstraints.map(({ name, types }) => [name, types.toSorted()]),
      constraints.map(([name, set]) => [name, TYPES[set].split(" ").toSorted()]),
    );
    const [{ name, type }, ...others] = version.outputs;
    assert.deepEqual(others, []);
    assert.deepEqual([name, type], [inputs === CACHE ? "present_cache" : "output", "T"]);
    const { function: isFunction, supportLevel, shapeInference } = version;
    assert.deepEqual([isFunction, supportLevel, shapeInference], [false, "COMMON", true]);
  });
}

test("the form of indices that a row names is the way in which its operator addresses data", () => {
  const plans = {
    tuples: tuples.planner,
    elements: elements.planner,
    slices: slices.planner,
  };
  for (const { versions, planner } of findOperators(() => true)) {
    const way = Object.entries(plans).find(([, one]) => one === planner)?.[0] ?? "sequences";
    for (const version of versions) assert.equal(version.indexForm, way, titleOf(version));
  }
});

test("every version has a row, and everything in it a description", () => {
  assert.deepEqual(
    operators().map(titleOf),
    ROWS.map(([title]) => title),
  );
  for (const version of operators()) {
    const { summary, attributes, inputs, outputs, typeConstraints } = version;
    assert.ok(summary.length > 40 && summary.endsWith("."));
    for (const { name, description } of [attributes, inputs, outputs, typeConstraints].flat()) {
      assert.ok(description.endsWith("."), `${titleOf(version)}: ${name}`);
    }
  }
});

test("an operator that is no text is named as it is printed", () => {
  assertRefused("unknown-operator", { op: "5" }, () => resolve({ op: 5n as never, opset: 18 }));
});

/** What changed from one version to another: the kind, the path, and the values. */
type Change = readonly [kind: string, path: string, ...values: readonly unknown[]];
type Changes = readonly [from: OperatorVersion, to: OperatorVersion, changes: readonly Change[]];

const version = (domain: "ai.onnx" | "openvino", op: string, opset: number) =>
  resolve({ domain, op, opset });

// prettier-ignore
const CHANGES: readonly Changes[] = [
  [version("ai.onnx", "ScatterND", 11), version("ai.onnx", "ScatterND", 13), [
    ["changed", "sinceVersion", 11, 13],
    ["added", "typeConstraints.T.types.bfloat16", "bfloat16"],
  ]],
  [version("ai.onnx", "ScatterND", 13), version("ai.onnx", "ScatterND", 11), [
    ["changed", "sinceVersion", 13, 11],
    ["removed", "typeConstraints.T.types.bfloat16", "bfloat16"],
  ]],
  [version("ai.onnx", "ScatterElements", 16), version("ai.onnx", "ScatterElements", 18), [
    ["changed", "sinceVersion", 16, 18],
    ["added", "attributes.reduction.values.max", "max"],
    ["added", "attributes.reduction.values.min", "min"],
  ]],
  [version("ai.onnx", "GatherND", 13), version("ai.onnx", "GatherND", 13), []],
];

for (const [from, to, expected] of CHANGES) {
  test(`changes from ${titleOf(from)} to ${titleOf(to)}`, () => {
    const changes = compareVersions(from, to)
      // Texts are for people.
      .filter(({ path }) => !path.endsWith("description") && path !== "summary")
      .map(({ kind, path, value, from, to }): Change =>
        kind === "changed" ? [kind, path, from, to] : [kind, path, value],
      );
    assert.deepEqual(changes, expected);
  });
}

test("changes of an attribute, of an input and of a fact", () => {
  const found = compareVersions(
    version("ai.onnx", "GatherND", 11),
    version("openvino", "GatherND", 5),
  );
  const kinds = new Map(found.map((change) => [change.path, change]));
  const [batches] = version("openvino", "GatherND", 5).attributes;
  assert.deepEqual(kinds.get("attributes.batch_dims"), {
    kind: "added",
    path: "attributes.batch_dims",
    value: batches,
  });
  const type = { kind: "changed", path: "inputs.indices.type", from: "int64", to: "Tind" };
  assert.deepEqual(kinds.get("inputs.indices.type"), type);
  const fused = { kind: "added", path: "fusesBatches", value: true };
  assert.deepEqual(kinds.get("fusesBatches"), fused);
  assert.ok(kinds.has("typeConstraints.Tind") && !kinds.has("name"));
});
