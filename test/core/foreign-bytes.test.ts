/** Files as every kind of buffer and view: each function that takes bytes reads each kind as it reads a plain array. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readNpy, writeNpy } from "../../src/entries/npy.ts";
import {
  buildModel,
  readModel,
  readOutline,
  readTensor,
  writeModel,
  writeTensor,
} from "../../src/entries/onnx.ts";
import { readIR } from "../../src/entries/openvino.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { SCATTER_BIN, scatterNet } from "../support/ir.ts";
import { external, head, initializer, modelFile } from "../support/onnx-parts.ts";
import { file } from "../support/onnx-encoder.ts";
import { WITHOUT_NODE, WITHOUT_NODE_ITSELF } from "../support/platform.ts";
import { assertRefused } from "../support/refusal.ts";

const VALUES = tensor(
  "int32",
  [300],
  Array.from({ length: 300 }, (_, i) => i),
);
const MODEL = writeModel(
  buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: { dtype: "int32", shape: [4] } },
    constants: { weights: VALUES },
    nodes: [{ op: "Identity", inputs: ["data"], outputs: ["y"] }],
    outputs: { y: null },
  }),
);
const TENSOR = writeTensor(VALUES, "weights");
const TYPED = file(head("float32", 2), [0x22, 8], [0, 0, 128, 63, 0, 0, 0, 64]);
const OUTSIDE = file(head("uint8", 6), external({ location: "w" }));
const outline = (bytes: Uint8Array): unknown =>
  readOutline({
    size: MODEL.length,
    read: (from, length) => oddRange(bytes, from, length),
  }).graph.constants[0].read().data;

/** What a source returns that has one odd array: the array, where all of it is asked for. */
const oddRange = (bytes: Uint8Array, from: number, length: number): Uint8Array =>
  from === 0 && length === MODEL.length ? bytes : MODEL.subarray(from, from + length);

/** Every function that takes bytes, with a file, and what it makes of it. */
const TAKERS: Readonly<
  Record<string, readonly [file: Uint8Array, take: (bytes: Uint8Array) => unknown]>
> = {
  readNpy: [writeNpy(VALUES), (bytes) => readNpy(bytes).data],
  readTensor: [TENSOR, (bytes) => readTensor(bytes).data],
  "readTensor, typed values": [TYPED, (bytes) => readTensor(bytes).data],
  "what external returns": [
    Uint8Array.of(1, 2, 3, 4, 5, 6),
    (bytes) => readTensor(OUTSIDE, { external: () => bytes }).data,
  ],
  readModel: [MODEL, (bytes) => readModel(bytes).graph.constants[0].read().data],
  "what the file of readOutline returns": [MODEL, outline],
  "readIR, the XML": [
    new TextEncoder().encode(scatterNet()),
    (bytes) => readIR(bytes, SCATTER_BIN).graph.nodes.map(({ inputs }) => inputs),
  ],
  "readIR, the .bin": [
    SCATTER_BIN,
    (bytes) => readIR(scatterNet(), bytes).graph.constants[0].read().data,
  ],
  "readIR, what the .bin returns": [
    SCATTER_BIN.slice(4),
    (bytes) => readIR(scatterNet(), { size: 24, read: () => bytes }).graph.constants[0].read().data,
  ],
};

/** A subclass whose constructor and methods are its own. */
class Chunk extends Uint8Array {
  constructor(...parts: readonly number[]) {
    if (parts.length > 0) throw new RangeError("a chunk is made empty");
    super(CHUNK.length);
  }
  override get length(): number {
    return 1_000_000;
  }
  override subarray(): never {
    throw new RangeError("a chunk is never cut");
  }
}
const CHUNK = { length: 0 };

function chunkOf(bytes: Uint8Array): Uint8Array {
  CHUNK.length = bytes.length;
  const chunk = new Chunk();
  Uint8Array.prototype.set.call(chunk, bytes);
  return chunk;
}

/** `bytes` in the middle of a larger memory. */
function within(buffer: ArrayBufferLike, bytes: Uint8Array, at = 3): Uint8Array {
  const view = new Uint8Array(buffer, at, bytes.length);
  view.set(bytes);
  return view;
}

const own = <T extends object>(view: T, name: string | symbol, value: unknown): T =>
  Object.defineProperty(view, name, { value });

// prettier-ignore
const ODD_BYTES: Readonly<Record<string, (bytes: Uint8Array) => ArrayBufferLike | ArrayBufferView>> = {
  "an ArrayBuffer": (bytes) => bytes.slice().buffer,
  "a DataView": (bytes) => new DataView(within(new ArrayBuffer(bytes.length + 9), bytes).buffer, 3, bytes.length),
  "a DataView with its own buffer": (bytes) => own(new DataView(bytes.slice().buffer), "buffer", 3),
  "an Int8Array": (bytes) => new Int8Array(bytes.slice().buffer),
  "a subclass": chunkOf,
  "a part of a larger memory": (bytes) => within(new ArrayBuffer(bytes.length + 9), bytes),
  "memory that can be resized": (bytes) =>
    within(Reflect.construct(ArrayBuffer, [bytes.length + 9, { maxByteLength: bytes.length + 99 }]) as ArrayBuffer, bytes),
  ...(typeof SharedArrayBuffer === "undefined" ? {} : {
    "shared memory": (bytes: Uint8Array) => within(new SharedArrayBuffer(bytes.length + 9), bytes),
    "a SharedArrayBuffer": (bytes: Uint8Array) => within(new SharedArrayBuffer(bytes.length), bytes, 0).buffer,
  }),
  ...Object.fromEntries(
    ["length", "byteLength", "byteOffset", "buffer", "constructor", "subarray", Symbol.toStringTag].map((name) =>
      [`with its own ${String(name)}`, (bytes: Uint8Array) => own(bytes.slice(), name, 3)]),
  ),
};

for (const [name, [bytes, take]] of Object.entries(TAKERS)) {
  for (const [kind, odd] of Object.entries(ODD_BYTES)) {
    test(`${name}: ${kind}`, () => {
      assert.deepEqual(take(odd(bytes) as never), take(bytes));
    });
  }
  test(`${name}: a Buffer of Node`, { skip: WITHOUT_NODE }, () => {
    assert.deepEqual(take(Buffer.from(bytes)), take(bytes));
  });
  test(`${name}: an array of another realm`, { skip: WITHOUT_NODE_ITSELF }, async () => {
    const { runInNewContext } = await import("node:vm");
    const foreign = runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] });
    assert.ok(!(foreign instanceof Uint8Array));
    for (const one of [foreign, foreign.buffer]) assert.deepEqual(take(one), take(bytes));
  });
  test(`${name}: memory that was transferred, and values that hold no bytes`, () => {
    const gone = bytes.slice();
    const view = new DataView(gone.buffer);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    for (const one of [gone, gone.buffer, view])
      assertRefused("disposed", {}, () => take(one as never));
    const others = [
      Object.create(ArrayBuffer.prototype),
      Promise.resolve(bytes),
      new Proxy(bytes, {}),
      [1],
      7,
      null,
    ];
    for (const other of others) {
      assertRefused("malformed-file", {}, () => take(other as never));
    }
  });
}

// What is read later finds out then that its memory is gone: zeros would look like values.
const LATER: Readonly<Record<string, readonly [Uint8Array, (bytes: Uint8Array) => () => unknown]>> =
  {
    "a constant of an ONNX model": [MODEL, (bytes) => readModel(bytes).graph.constants[0].read],
    "a constant of typed values": [
      modelFile(initializer(head("float32", 2), [0x22, 8, 0, 0, 128, 63, 0, 0, 0, 64])),
      (bytes) => readModel(bytes).graph.constants[0].read,
    ],
    "a constant of an IR": [
      SCATTER_BIN,
      (bytes) => readIR(scatterNet(), bytes).graph.constants[0].read,
    ],
  };

for (const [name, [bytes, open]] of Object.entries(LATER)) {
  test(`${name} whose file was transferred`, () => {
    const given = bytes.slice();
    const read = open(given);
    structuredClone(given.buffer, { transfer: [given.buffer] });
    assertRefused("disposed", {}, read);
  });
}

const OPTIONS: readonly unknown[] = [
  null,
  "external",
  { external: 5 },
  { external: null },
  { extrenal: () => MODEL },
];

for (const [row, options] of OPTIONS.entries()) {
  test(`options of readers are refused, row ${row}`, () => {
    const source = { size: MODEL.length, read: () => MODEL };
    for (const read of [
      () => readModel(MODEL, options as never),
      () => readTensor(TENSOR, options as never),
      () => readOutline(source, options as never),
    ]) {
      assertRefused("attribute", {}, read);
    }
  });
}
