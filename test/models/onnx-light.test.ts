/** Models whose large weights stay in their file, as external data of the file itself. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { readModel, type Constant, type Graph, type Model } from "../../src/entries/onnx.ts";
import { lightModel, withWeightsOf } from "../../src/models/onnx/light-model.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { writeTensor } from "../../src/models/onnx/tensor.ts";
import { setLimits } from "../support/limits.ts";
import { sourceOf } from "../support/byte-source.ts";
import {
  bytes,
  file,
  int,
  littleEndian,
  numbers,
  text,
  varint,
  type Bytes,
} from "../support/onnx-encoder.ts";
import {
  ATTRIBUTE,
  attribute,
  external,
  FUNCTION,
  functionNode,
  GRAPH,
  head,
  initializer,
  MODEL,
  modelFile,
  NODE,
  node,
  opset,
  TENSOR,
} from "../support/onnx-parts.ts";

const LEAST = 131_072;
after(setLimits({ CLI: { weights: LEAST } }));

const SIZE = 65_536;
const VALUES = Array.from({ length: SIZE }, (_, at) => at - 7);

/** A tensor of 256 KiB with its data in `raw_data`. */
const raw = (name: string): Bytes => [...writeTensor(tensor("float32", [SIZE], VALUES), name)];

/** A tensor whose data is in a typed field, in one record or in two. */
const typed = (name: string, dtype: "float32" | "float64" | "int32", records = 1): Bytes => {
  const [field, kind] = {
    float32: [TENSOR.floatData, "float"],
    float64: [TENSOR.doubleData, "double"],
    int32: [TENSOR.int32Data, "varint"],
  }[dtype] as [number, "float" | "double" | "varint"];
  const half = SIZE / records;
  const parts = Array.from({ length: records }, (_, nth) =>
    numbers(field, VALUES.slice(nth * half, (nth + 1) * half), kind, true),
  );
  return [...head(dtype, SIZE), ...parts.flat(), ...text(TENSOR.name, name)];
};

const made = (output: string): Bytes => text(NODE.output, output);
const value = (...tensorBytes: Bytes[]): Bytes =>
  attribute("value", "TENSOR", bytes(ATTRIBUTE.t, tensorBytes.flat()));

const GRAPH_PARTS = [
  node("Constant", made("in a node"), value(raw("in a node"))),
  // An operator that reads the tensor itself.
  node("Own", made("own"), value(raw("own"))),
  node(
    "If",
    text(NODE.input, "c"),
    made("y"),
    attribute(
      "then_branch",
      "GRAPH",
      bytes(ATTRIBUTE.g, [
        ...initializer(raw("in a body")),
        ...node("Constant", made("node in a body"), value(raw("node in a body"))),
      ]),
    ),
  ),
  initializer(raw("raw")),
  initializer(typed("floats", "float32")),
  initializer(typed("doubles", "float64")),
  initializer(typed("integers", "int32")),
  initializer(typed("two records", "float32", 2)),
  initializer([
    ...head("float32", 1),
    ...bytes(TENSOR.rawData, littleEndian(Float32Array.of(7))),
    ...text(TENSOR.name, "small"),
  ]),
];
const FILE = file(
  int(MODEL.irVersion, 8),
  bytes(MODEL.graph, GRAPH_PARTS.flat()),
  opset(18),
  bytes(MODEL.functions, [
    ...text(FUNCTION.name, "F"),
    ...text(FUNCTION.domain, "own"),
    ...functionNode("Constant", made("in a function"), value(raw("in a function"))),
    ...opset(18, undefined, FUNCTION.opsetImport),
  ]),
);

/** All constants of a model, by name. */
function constantsOf({ graph, functions = [] }: Model): Map<string, Constant> {
  const found = new Map<string, Constant>();
  const add = ({ constants, nodes }: Graph): void => {
    for (const one of constants) found.set(one.name, one);
    for (const { attributes } of nodes)
      for (const one of Object.values(attributes)) {
        if (one.type === "tensor") found.set(one.value.name, one.value);
        if (one.type === "other") one.graphs?.forEach(add);
      }
  };
  add(graph);
  for (const one of functions) add(one.graph);
  return found;
}

/** The tensors whose data must be in the model itself. */
const KEPT = new Set(["own", "integers", "two records", "small"]);

test("large weights stay in the file, and the model is the same", () => {
  const source = sourceOf(FILE);
  const light = lightModel("m.onnx", source) as Uint8Array;
  let asked = 0;
  const external = (location: string, offset: number, length: number): Uint8Array => {
    assert.equal(location, "m.onnx");
    asked++;
    return FILE.slice(offset, offset + length);
  };
  const model = readModel(light, { external });
  assert.equal(asked, 0);
  const whole = constantsOf(readModel(FILE));
  const constants = constantsOf(model);
  assert.deepEqual([...constants.keys()], [...whole.keys()]);
  for (const [name, one] of constants) {
    const before: number = asked;
    assert.ok(equals(one.read(), whole.get(name)?.read() as never), name);
    assert.equal(asked > before, !KEPT.has(name), name);
  }
  assert.equal(constants.size, 11);
  // The four kept tensors have at most 256 KiB each, and reading one of the seven others would add 256 KiB or more.
  assert.ok(source.taken() < 4 * 4 * SIZE, `${source.taken()} bytes were read`);
});

test("a light model gets its weights back, in pieces", () => {
  const light = lightModel("m.onnx", sourceOf(FILE)) as Uint8Array;
  const pieces = [...withWeightsOf(light, "m.onnx", sourceOf(FILE))];
  const again = constantsOf(readModel(file(...pieces)));
  const whole = constantsOf(readModel(FILE));
  assert.deepEqual([...again.keys()], [...whole.keys()]);
  for (const [name, one] of again)
    assert.ok(equals(one.read(), whole.get(name)?.read() as never), name);
});

test("data in another file stays there", () => {
  const light = lightModel("m.onnx", sourceOf(FILE)) as Uint8Array;
  const pieces = [...withWeightsOf(light, "other.onnx", sourceOf(FILE))];
  assert.deepEqual(file(...pieces), light);
});

test("a file that is no model is left to the usual reader", () => {
  // A part of a file, an unknown wire type, a length that is cut short, and a float that is cut short.
  for (const part of [FILE.subarray(0, 200), file([0x0f, 1]), file([0x3a, 0xff]), file([0x0d, 1])])
    assert.equal(lightModel("m.onnx", sourceOf(part)), null);
});

test("bodies that are nested too deeply stay in the light model", () => {
  const parts = [raw("w")];
  let { length } = parts[0];
  const wrap = (field: number): void => {
    const start = [...varint((field << 3) | 2), ...varint(length)];
    parts.push(start);
    length += start.length;
  };
  wrap(GRAPH.initializer);
  for (let depth = 0; depth < 20_000; depth++)
    for (const field of [ATTRIBUTE.g, NODE.attribute, GRAPH.node]) wrap(field);
  wrap(MODEL.graph);
  const deep = file(...parts.reverse());
  assert.deepEqual(lightModel("m.onnx", sourceOf(deep)), deep);
});

test("offsets and lengths in the model's own file are checked", () => {
  const restored = (entries: Readonly<Record<string, string>>): void => {
    const own = external({ location: "m.onnx", ...entries });
    const model = modelFile(initializer(head("float32", 16), own));
    const pieces = withWeightsOf(model, "m.onnx", sourceOf(new Uint8Array(64)));
    assert.deepEqual(file(...pieces), model);
  };
  restored({ offset: "0" });
  for (const length of ["1e400", "-5", "x"])
    assert.throws(() => restored({ offset: "0", length }), { code: "malformed-file" });
});
