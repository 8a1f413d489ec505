/**
 * Replaced nodes on a GPU, by engines that compute here or fail on demand: the tensors are counted, and each must be
 * disposed of once, after its last use. `test/gpu/exact.gpu.ts` runs real ones.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { TensorError } from "../../src/core/errors.ts";
import { FUNCTIONS } from "../../src/core/operators/registry.ts";
import { runPlain } from "../../src/core/call/run.ts";
import { defaultExecutor } from "../../src/core/engines/choice.ts";
import { asTensor, tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import {
  createExactSession,
  readModel,
  runModel,
  type CreateGpu,
  type ExactGpu,
  type ExactGpuTensor,
  type ModelNodeSpec,
  type RuntimeSession,
  type Tensors,
} from "../../src/entries/onnx.ts";
import { body } from "../support/exact-models.ts";
import { BOOL, F32, f32, I64, i64, onnxModel } from "../support/node-models.ts";
import { assertRejected } from "../support/refusal.ts";

/** A tensor that a runtime has on a GPU. */
const onGpu = (type: string, ...dims: number[]): object => ({
  ...{ location: "gpu-buffer", gpuBuffer: {}, type, dims },
});

/**
 * An engine whose calls are right at once, and of which one has failed at the end.
 * @param live the tensors that were made and not disposed of
 */
const failing =
  (error: Error, live: Set<ExactGpuTensor>): CreateGpu =>
  () => {
    const compute = (...args: readonly { readonly out?: ExactGpuTensor }[]): ExactGpuTensor => {
      const { out } = args.at(-1) ?? {};
      if (out !== undefined) return out;
      const made: ExactGpuTensor = {
        ...{ dtype: "float32", shape: [2], buffer: {} },
        read: () => Promise.reject(new Error("not read")),
        dispose: () => live.delete(made),
      };
      live.add(made);
      return made;
    };
    const functions = Object.fromEntries(Object.keys(FUNCTIONS).map((name) => [name, compute]));
    return {
      ...(functions as Record<keyof typeof FUNCTIONS, () => ExactGpuTensor>),
      ...{ fromBuffer: compute, upload: compute, dispose() {} },
      done: () => Promise.reject(error),
    };
  };

const model = onnxModel(18, {
  inputs: { x: F32(3), i: I64(2) },
  nodes: [
    { op: "Gather", name: "take", inputs: ["x", "i"], outputs: ["a"] },
    { op: "Gather", name: "again", inputs: ["a", "i"], outputs: ["b"] },
    { op: "ScatterElements", name: "put", inputs: ["b", "i", "a"], outputs: ["y"] },
  ],
  outputs: { y: null },
});

const failure = (op: string): TensorError =>
  new TensorError("index-out-of-range", "indices[0] is 3", {
    op,
    input: "indices",
    at: [0],
    axis: 0,
    got: 3,
    size: 3,
    expected: [-3, 2],
  });

for (const [title, error, names] of [
  ["of an operator that one node has names the node", failure("ScatterElements"), ["put"]],
  ["of an operator that several nodes have names them", failure("Gather"), ["take", "again"]],
  ["of another operator names all nodes", failure("Scatter"), ["take", "again", "put"]],
  ["of the device is as it is", new Error("the device is lost"), null],
] as const) {
  test(`an error on the GPU ${title}`, async () => {
    const live = new Set<ExactGpuTensor>();
    const run = (): Promise<never> => Promise.reject(new Error("not run"));
    const session = await createExactSession(model, {
      ...{ createSession: async () => ({ run }), nodes: "all", gpu: failing(error, live) },
    });
    const running = session.run({ x: onGpu("float32", 3) as never, i: onGpu("int64", 2) as never });
    if (names === null) await assert.rejects(running, error);
    else {
      const facts = { op: error.op, at: [0] };
      const { message } = await assertRejected("index-out-of-range", facts, () => running);
      assert.deepEqual(message.match(/(?<=")\w+(?=")/g), [...names]);
    }
    assert.equal(live.size, 0);
    await session.release();
  });
}

/** Memory on a GPU, whose owner frees it. */
interface FakeBuffer {
  readonly held: Tensor;
  isFree: boolean;
}

/** A tensor of the runtime, on the host or on the GPU, as onnxruntime-web has it. */
class FakeValue {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
  location = "cpu";
  gpuBuffer: FakeBuffer | undefined;
  dispose = (): void => {};

  constructor(type: string, data: unknown, dims: readonly number[]) {
    this.type = type;
    this.data = data;
    this.dims = dims;
  }

  static fromGpuBuffer(
    gpuBuffer: FakeBuffer,
    { dims, dispose }: { readonly dims: readonly number[]; readonly dispose: () => void },
  ): FakeValue {
    const made = new FakeValue(gpuBuffer.held.dtype, null, dims);
    return Object.assign(made, { location: "gpu-buffer", gpuBuffer, dispose });
  }
}

/** A runtime and an engine with buffers that only pretend to be on a GPU, so that a use after the end is an error. */
function fakeGpu() {
  /** Tensors of the engine, and of the runtime, that were not disposed of. */
  const open = { engine: 0, runtime: 0, uploaded: 0 };
  const read = ({ held, isFree }: FakeBuffer, shape: readonly number[]): Tensor => {
    if (isFree) throw new Error("the buffer was freed");
    return new Tensor(held.dtype, [...shape], held.size, held.data);
  };
  /** Returns what disposes of a tensor, which must happen once. */
  const disposer = (who: keyof typeof open, free = (): void => {}): (() => void) => {
    open[who]++;
    let isDone = false;
    return () => {
      if (isDone) throw new Error(`a tensor of the ${who} was disposed of twice`);
      isDone = true;
      open[who]--;
      free();
    };
  };
  const tensorOn = (
    buffer: FakeBuffer,
    shape: readonly number[],
    owns: boolean,
    who: keyof typeof open = "engine",
  ): ExactGpuTensor => ({
    dtype: buffer.held.dtype,
    shape,
    buffer,
    read: async () => read(buffer, shape),
    dispose: disposer(who, () => (buffer.isFree ||= owns)),
  });
  const keep = (held: Tensor): ExactGpuTensor =>
    tensorOn({ held, isFree: false }, held.shape, true);
  const functions = Object.fromEntries(
    Object.entries(FUNCTIONS).map(([name, operator]) => {
      const compute = (...args: readonly unknown[]): ExactGpuTensor => {
        const { out, ...options } = args.at(-1) as { readonly out?: ExactGpuTensor };
        const inputs = args.slice(0, -1).map((one) => {
          const { buffer, shape } = (one ?? {}) as ExactGpuTensor;
          return buffer === undefined ? undefined : read(buffer as FakeBuffer, shape);
        });
        const made = runPlain(defaultExecutor(), operator, inputs, options);
        if (out === undefined) return keep(made);
        (read(out.buffer as FakeBuffer, out.shape).data as Float32Array).set(made.data as never);
        return out;
      };
      return [name, compute];
    }),
  ) as Record<keyof typeof FUNCTIONS, () => ExactGpuTensor>;
  const gpu: ExactGpu = {
    ...functions,
    fromBuffer: (buffer: FakeBuffer, _: string, shape: readonly number[]) =>
      tensorOn(buffer, shape, false),
    upload: ({ dtype, shape, size, data }: Tensor) =>
      tensorOn(
        { held: new Tensor(dtype, shape, size, data.slice()), isFree: false },
        shape,
        true,
        "uploaded",
      ),
    done: async () => {},
    dispose() {},
  };
  const valueOf = (held: Tensor): FakeValue => {
    const buffer: FakeBuffer = { held, isFree: false };
    const dispose = disposer("runtime", () => (buffer.isFree = true));
    return FakeValue.fromGpuBuffer(buffer, { dims: held.shape, dispose });
  };
  const tensorOf = (value: unknown): Tensor => {
    const { gpuBuffer, dims } = value as FakeValue;
    return gpuBuffer === undefined ? asTensor(value, {}) : read(gpuBuffer, dims);
  };
  const createSession = async (bytes: Uint8Array): Promise<RuntimeSession> => {
    const part = readModel(bytes);
    return {
      async run(feeds: Readonly<Record<string, unknown>>) {
        const given = Object.entries(feeds).map(([name, one]) => [name, tensorOf(one)]);
        const outputs = runModel(part, Object.fromEntries(given) as Tensors);
        return Object.fromEntries(
          Object.entries(outputs).map(([name, { dtype, shape, size, data }]) => [
            name,
            valueOf(new Tensor(dtype, [...shape], size, data.slice())),
          ]),
        );
      },
    };
  };
  return { createSession, gpu, open, tensorOf };
}

type Nodes = readonly ModelNodeSpec[];
const node = (op: string, inputs: readonly string[], output: string, more = {}): ModelNodeSpec => ({
  ...{ op, inputs, outputs: [output], ...more },
});
const SUM = { attributes: { reduction: "add" } };
const cast = (from: string, to: string) => node("Cast", [from], to, { attributes: { to: 1 } });
const view = (from: string, to: string) => node("Squeeze", [from, "axes"], to);
const add = (from: string, to: string) => node("ScatterND", [from, "at", "u"], to, SUM);
const branches = (nodes: Nodes, output: string) => {
  const branch = body({ nodes, outputs: { [output]: null } });
  return node("If", ["c"], "y", { attributes: { then_branch: branch, else_branch: branch } });
};

/**
 * Nodes behind `data`, a column that the runtime makes. A Squeeze whose axes come from a replaced node is a view that is
 * made here.
 */
const OVER: readonly (readonly [title: string, nodes: Nodes, y: readonly number[]])[] = [
  ["behind a view", [view("data", "list"), add("list", "y")], [1, 7, 3, 4]],
  [
    "behind a view of a view",
    [
      view("data", "list"),
      node("Unsqueeze", ["list", "axes"], "column"),
      view("column", "again"),
      add("again", "y"),
    ],
    [1, 7, 3, 4],
  ],
  [
    "behind two views",
    [
      view("data", "one"),
      view("data", "two"),
      add("one", "s"),
      node("ScatterElements", ["s", "all", "two"], "y", SUM),
    ],
    [2, 9, 6, 8],
  ],
  [
    "behind a view that outlives its name",
    [
      view("data", "list"),
      node("Identity", ["list"], "same"),
      add("same", "s"),
      node("ScatterElements", ["s", "all", "same"], "y", SUM),
    ],
    [2, 9, 6, 8],
  ],
  ["behind a view that the runtime reads", [view("data", "list"), cast("list", "y")], [1, 2, 3, 4]],
  ["behind a view that is an output", [view("data", "y")], [1, 2, 3, 4]],
  [
    "behind a view in a branch",
    [branches([view("data", "list"), add("list", "t")], "t")],
    [1, 7, 3, 4],
  ],
  ["behind a view that a branch makes", [branches([view("data", "t")], "t")], [1, 2, 3, 4]],
  [
    "behind a view of which only the shape is used",
    [view("data", "list"), node("Shape", ["list"], "shape"), cast("shape", "y")],
    [4],
  ],
];

for (const [title, nodes, expected] of OVER) {
  test(`a buffer of the runtime ${title} is disposed of once, after its last use`, async () => {
    const { createSession, gpu, open, tensorOf } = fakeGpu();
    const model = onnxModel(18, {
      inputs: { x: F32(4, 1), a: I64(2), c: BOOL() },
      constants: {
        at: i64([1, 1], 1),
        u: f32([1], 5),
        last: i64([1], 1),
        all: i64([4], 0, 1, 2, 3),
      },
      nodes: [cast("x", "data"), node("Gather", ["a", "last"], "axes"), ...nodes],
      outputs: { y: null },
    });
    const x = f32([4, 1], 1, 2, 3, 4);
    const feeds = { x, a: i64([2], 7, 1), c: tensor("bool", [], true) };
    const session = await createExactSession(model, {
      createSession,
      gpu: () => gpu,
      nodes: "all",
    });
    let uploaded = 0;
    for (let run = 0; run < 2; run++) {
      const { y } = await session.run(feeds);
      assert.deepEqual([...tensorOf(y).data], expected);
      if (y instanceof FakeValue) y.dispose();
      // The session keeps the constants that the first run uploaded.
      if (run === 0) ({ uploaded } = open);
      assert.deepEqual(open, { engine: 0, runtime: 0, uploaded }, `after run ${run}`);
    }
    // A run that fails leaves nothing either.
    await assert.rejects(session.run({ ...feeds, a: i64([2], 7, 5) }));
    assert.deepEqual(open, { engine: 0, runtime: 0, uploaded }, "after a failed run");
    await session.release();
  });
}

for (const [title, first] of [
  ["of the runtime", cast("x", "y")],
  ["that was computed on the host", add("x", "y")],
] as const) {
  test(`an output ${title} leaves nothing on the GPU, where a node reads it`, async () => {
    const { createSession, gpu, open } = fakeGpu();
    const model = onnxModel(18, {
      inputs: { x: F32(4), a: I64(2) },
      constants: { at: i64([1, 1], 1), u: f32([1], 5) },
      nodes: [
        first,
        node("Cast", ["a"], "i", { attributes: { to: 7 } }),
        node("Gather", ["y", "i"], "z"),
      ],
      outputs: { y: null, z: null },
    });
    const options = { createSession, gpu: () => gpu, nodes: "all" } as const;
    const session = await createExactSession(model, options);
    const outputs = await session.run({ x: f32([4], 1, 2, 3, 4), a: i64([2], 3, 0) });
    for (const value of Object.values(outputs)) if (value instanceof FakeValue) value.dispose();
    assert.deepEqual(open, { engine: 0, runtime: 0, uploaded: 0 });
    await session.release();
  });
}

/** A Loop that collects `row`, a value of the runtime, in each iteration. */
const loop = (nodes: Nodes) =>
  node("Loop", ["count", ""], "y", {
    attributes: {
      body: body({
        inputs: { at: I64(), going: BOOL() },
        nodes: [...nodes, node("Gather", ["data", "at"], "one"), cast("one", "row")],
        outputs: { next: null, row: null },
      }),
    },
  });

const column = cast("x", "data");
const OUTSIDE = { code: "index-out-of-range" };

for (const [title, nodes, refusal] of [
  ["a branch", branches([column, node("Gather", ["data", "a"], "t")], "t"), OUTSIDE],
  ["the third iteration", loop([column, node("Identity", ["going"], "next")]), OUTSIDE],
  [
    "the condition of a Loop",
    loop([column, cast("x", "next")]),
    { code: "malformed-file", got: 2, expected: 1 },
  ],
] as const) {
  test(`a run that fails in ${title} disposes of the buffers of its body`, async () => {
    const { createSession, gpu, open } = fakeGpu();
    const model = onnxModel(18, {
      inputs: { x: F32(2), a: I64(1), c: BOOL() },
      constants: { count: i64([], 4) },
      nodes: [nodes],
      outputs: { y: null },
    });
    const session = await createExactSession(model, {
      createSession,
      gpu: () => gpu,
      nodes: "all",
    });
    const feeds = { x: f32([2], 1, 2), a: i64([1], 5), c: tensor("bool", [], true) };
    await assert.rejects(session.run(feeds), refusal);
    assert.deepEqual({ ...open, uploaded: 0 }, { engine: 0, runtime: 0, uploaded: 0 });
    await session.release();
  });
}

test("a value that is overwritten on the host is uploaded to the GPU again", async () => {
  const { createSession, gpu, tensorOf } = fakeGpu();
  const model = onnxModel(18, {
    inputs: { x: F32(4), a: I64(4) },
    constants: { at: i64([1, 1], 1), u: f32([1], 5) },
    nodes: [
      node("Cast", ["a"], "i", { attributes: { to: 7 } }),
      add("x", "once"),
      node("Gather", ["once", "i"], "before"),
      add("once", "twice"),
      node("Gather", ["twice", "i"], "after"),
    ],
    outputs: { before: null, after: null },
  });
  const session = await createExactSession(model, { createSession, gpu: () => gpu, nodes: "all" });
  const { before, after } = await session.run({ x: f32([4], 1, 2, 3, 4), a: i64([4], 0, 1, 2, 3) });
  assert.deepEqual([...tensorOf(before).data], [1, 7, 3, 4]);
  assert.deepEqual([...tensorOf(after).data], [1, 12, 3, 4]);
  await session.release();
});
