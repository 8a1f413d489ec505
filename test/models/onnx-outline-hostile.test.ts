/** Files of models that are read by their outline, and that are broken or made to hurt. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ErrorCode } from "../../src/core/errors.ts";
import {
  buildModel,
  inspectModel,
  readModel,
  readOutline,
  writeModel,
  writeTensor,
  type ByteSource,
  type Graph,
  type Model,
} from "../../src/entries/onnx.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { bytes, file, int, mutate, text, varint, type Bytes } from "../support/onnx-encoder.ts";
import { sourceOf } from "../support/byte-source.ts";
import {
  attribute,
  ATTRIBUTE,
  functionNode,
  GRAPH,
  head,
  initializer,
  MODEL,
  modelFile,
  node,
  NODE,
  TENSOR,
} from "../support/onnx-parts.ts";
import { assertRefused, isTaken } from "../support/refusal.ts";
import { caseCount } from "../support/cases.ts";
import { randomFrom } from "../support/random.ts";

interface Hostile {
  readonly what: string;
  readonly content: Uint8Array | ByteSource;
  readonly code?: ErrorCode;
}

/** A graph that is said to have so many bytes, and what follows. */
const lying = (...tail: number[]): Uint8Array => file([(MODEL.graph << 3) | 2], tail);
const endless = Array.from({ length: 20 }, () => 0xff);
const named = (length: number): Uint8Array =>
  modelFile(node("Relu", text(NODE.name, "x".repeat(length))));
/** A tensor of one float with so many bytes of values. */
const fat = (length: number): Uint8Array =>
  modelFile(initializer(head("float32", 1), bytes(TENSOR.rawData, new Uint8Array(length))));
const source = (size: number, read: (offset: number, length: number) => unknown): ByteSource =>
  ({ size, read }) as ByteSource;

// prettier-ignore
const HOSTILE: readonly Hostile[] = [
  { what: "an empty file", content: file() },
  { what: "a length behind the end", content: lying(5, 0, 0) },
  { what: "a length one behind the end", content: lying(3, 0, 0) },
  { what: "a part longer than the one around it",
    content: modelFile(initializer(int(TENSOR.dataType, 1), [(TENSOR.rawData << 3) | 2, 9])) },
  { what: "a tag without a record", content: modelFile([(GRAPH.name << 3) | 2]) },
  { what: "a double of 7 bytes", content: file([(3 << 3) | 1, 1, 2, 3, 4, 5, 6, 7]) },
  { what: "a float of 3 bytes", content: file([(3 << 3) | 5, 1, 2, 3]) },
  { what: "a length of 2^53", content: lying(...varint(2 ** 53)) },
  { what: "a length of 2^53 - 1", content: lying(...varint(2 ** 53 - 1)) },
  { what: "a length of 2^63", content: lying(...varint(2n ** 63n)) },
  { what: "a length of 2^64 - 1", content: lying(...varint(-1)) },
  { what: "a length that never ends", content: lying(...endless) },
  { what: "a length of 11 bytes", content: lying(...Array<number>(10).fill(128), 0) },
  { what: "a number that never ends", content: file([1 << 3], endless) },
  { what: "a number of 11 bytes", content: file([1 << 3], Array(10).fill(128), [0]) },
  { what: "a number that is cut short", content: file([1 << 3, 0x80]) },
  { what: "a group", content: file([(3 << 3) | 3, (3 << 3) | 4]) },
  { what: "the end of a group", content: file([(3 << 3) | 4]) },
  { what: "wire type 6", content: file([(3 << 3) | 6]) },
  { what: "field 0", content: file([2, 0]) },
  { what: "field 2^29", content: file(varint(2 ** 32 + 2), [0]) },
  { what: "the tag of the graph and 2^32", content: file(varint(2 ** 32 + 58), [0]) },
  { what: "no operator", content: modelFile(bytes(GRAPH.node, text(NODE.name, "n"))) },
  { what: "a name of 64 KiB and a byte", content: named(2 ** 16 + 1), code: "too-large" },
  { what: "a tensor far longer than its shape", content: fat(2 ** 17) },
  { what: "a source that gives too little", content: source(10, () => new Uint8Array(3)) },
  { what: "a source that gives too much", content: source(10, () => new Uint8Array(11)) },
  { what: "a source that gives no bytes", content: source(10, () => "0123456789") },
  ...[NaN, -1, 0.5, 2 ** 53, Infinity].map((size): Hostile =>
    ({ what: `a source of ${size} bytes`, content: source(size, () => file()) })),
];

for (const { what, content, code = "malformed-file" } of HOSTILE) {
  test(`${what}: ${code}`, () => {
    assertRefused(code, {}, () => {
      const whole = content instanceof Uint8Array ? sourceOf(content) : content;
      for (const one of readOutline(whole).graph.constants) one.read();
    });
  });
}

test("the last of what is taken", () => {
  const { graph } = readOutline(sourceOf(named(2 ** 16)));
  assert.equal(graph.nodes[0].name.length, 2 ** 16);
  // A tensor of n values may take 20 bytes for each of them, and 64 KiB. 8 bytes are around the values here.
  const read = (length: number): unknown =>
    readOutline(sourceOf(fat(length))).graph.constants[0].read();
  const most = 2 ** 16 + 20 - 8;
  assertRefused("malformed-file", {}, () => read(most));
  assertRefused("malformed-file", {}, () => read(most + 1));
});

test("text may be longer than any number", () => {
  const long = "x".repeat(2 ** 17);
  const content = modelFile(bytes(GRAPH.initializer, writeTensor(tensor("string", [1], [long]))));
  const [w] = readOutline(sourceOf(content)).graph.constants;
  assert.deepEqual(w.read().toArray(), [long]);
});

const deepBodies = (depth: number): Bytes =>
  depth === 0
    ? text(GRAPH.name, "innermost")
    : node("If", attribute("b", "GRAPH", bytes(ATTRIBUTE.g, deepBodies(depth - 1))));

test("bodies are read 16 deep, also in functions, and more of them are no harm", () => {
  const depthOf = ({ nodes: [node] }: Graph): number => {
    const inner = node?.attributes["b"];
    return inner?.type === "other" && inner.graphs?.length ? 1 + depthOf(inner.graphs[0]) : 0;
  };
  for (const read of [readModel, (content: Uint8Array) => readOutline(sourceOf(content))]) {
    for (const [depth, shown] of [
      [15, 15],
      [16, 16],
      [17, 16],
      [100, 16],
    ]) {
      assert.equal(depthOf(read(modelFile(deepBodies(depth))).graph), shown);
      // A function has its nodes in a field of another number.
      const inner = attribute("b", "GRAPH", bytes(ATTRIBUTE.g, deepBodies(depth - 1)));
      const whole = file(modelFile(), bytes(MODEL.functions, functionNode("If", inner)));
      const [{ graph }] = read(whole).functions ?? [];
      assert.equal(depthOf(graph), shown);
    }
  }
});

/** What a reader makes of a file, as text that can be compared; null where it refuses the file. */
function verdict(read: () => Model): string | null {
  let shown: string | null = null;
  isTaken(() => {
    shown = JSON.stringify(read(), (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
  });
  return shown;
}

test("a file cut short anywhere is a model with less in it, or malformed", () => {
  const value = bytes(ATTRIBUTE.t, writeTensor(tensor("int8", [1], [1])));
  const small = modelFile(
    bytes(GRAPH.initializer, writeTensor(tensor("int64", [3], [1, 2, 3]), "i")),
    node("Constant", text(NODE.output, "c"), attribute("value", "TENSOR", value)),
  );
  for (let length = 0; length < small.length; length++) {
    const cut = small.subarray(0, length);
    const [left, right] = [() => readModel(cut), () => readOutline(sourceOf(cut))].map(verdict);
    assert.equal(right, left, `${length} bytes`);
  }
});

const data = { dtype: "float32", shape: ["N", 2] } as const;
const INDICES = tensor("int64", [2, 2], [0, 1, 1, 0]);
const axis = { axis: 1 };

/** A model of operators that `inspectModel` has something to say about. */
const INSPECTED = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data, updates: { ...data, shape: [2, 2] } },
    constants: {
      indices: tensor("int64", [2, 1], [1, -1]),
      w: tensor("float32", [300], Array(300).fill(1)),
    },
    nodes: [
      { op: "Constant", inputs: [], outputs: ["i"], attributes: { value: INDICES } },
      {
        op: "ScatterND",
        name: "s",
        inputs: ["data", "indices", "updates"],
        outputs: ["y"],
        attributes: { reduction: "mul" },
      },
      { op: "GatherElements", inputs: ["y", "i"], outputs: ["z"], attributes: axis },
      { op: "ScatterElements", inputs: ["y", "i", "updates"], outputs: ["v"], attributes: axis },
      { op: "GatherND", inputs: ["w", "indices"], outputs: ["u"] },
    ],
    outputs: { z: data },
  }),
);

const MUTANTS = caseCount(2000, 4);

test(`of ${MUTANTS} files changed at random each is what the whole model is, and inspected`, () => {
  const next = randomFrom(21);
  let taken = 0;
  for (let i = 0; i < MUTANTS; i++) {
    const mutant = mutate(INSPECTED, next);
    const whole = verdict(() => readModel(mutant));
    const outline = verdict(() => readOutline(sourceOf(mutant)));
    // The outline leaves fields out that may be wrong, and reads bodies that no attribute shows.
    if (whole !== null && outline !== null) assert.equal(outline, whole, `mutant ${i}`);
    if (outline === null) continue;
    taken++;
    try {
      inspectModel(readOutline(sourceOf(mutant)));
    } catch (error) {
      throw new Error(`mutant ${i} (${[...mutant].join()})`, { cause: error });
    }
  }
  assert.ok(taken > MUTANTS / 10 && taken < 0.95 * MUTANTS, `${taken} were taken`);
});
