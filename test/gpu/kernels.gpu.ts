/**
 * All kernels that calls can ask for, by name: a device that only takes their texts down is given calls of every data
 * type, reduction, policy and place of indices, and a real one then says whether each text is a shader. Names are met
 * here in combinations that no call with a result to compare needs.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { GpuBufferLike, GpuDeviceLike } from "../../src/gpu/kernels/webgpu.ts";
import { DTYPE_NAMES, dtypesWhere, reductionsOf, type DType } from "../../src/core/tensor/dtype.ts";
import { zeros } from "../../src/core/tensor/tensor.ts";
import type { GpuEngine, GpuPlan } from "../../src/gpu/calls/types.ts";
import { assertRefused } from "../support/refusal.ts";
import { device, hasArithmetic, openEngine, WITH_GRADIENTS } from "./gpu.ts";

const nothing = (): void => {};

/**
 * A device that does nothing but to put the texts of kernels into a list, by their names.
 * @param bytes that it seems to have for a buffer
 */
function listingDevice(
  texts: Map<string, Set<string>>,
  bytes = device.limits.maxBufferSize,
): GpuDeviceLike {
  const one = { label: "" };
  const createBuffer = ({ size, usage }: { size: number; usage: number }): GpuBufferLike => ({
    ...{ size, usage, mapState: "unmapped", unmap: nothing, destroy: nothing },
    mapAsync: () => Promise.resolve(undefined),
    getMappedRange: () => new ArrayBuffer(size),
  });
  const pass = {
    ...{ setPipeline: nothing, setBindGroup: nothing, dispatchWorkgroups: nothing, end: nothing },
  };
  return {
    limits: { maxBufferSize: bytes, maxStorageBufferBindingSize: bytes },
    lost: new Promise(nothing),
    queue: { submit: nothing, writeBuffer: nothing },
    createBuffer,
    createShaderModule({ code, label = "" }) {
      const all = texts.get(label) ?? new Set();
      texts.set(label, all.add(code));
      return one;
    },
    createComputePipeline: () => ({ getBindGroupLayout: () => one }),
    createComputePipelineAsync: async () => ({ getBindGroupLayout: () => one }),
    createBindGroup: () => one,
    createCommandEncoder: () => ({
      ...{ clearBuffer: nothing, copyBufferToBuffer: nothing },
      beginComputePass: () => pass,
      finish: () => one,
    }),
    pushErrorScope: nothing,
    popErrorScope: () => Promise.resolve(null),
    destroy: nothing,
  };
}

const DIFFERENTIABLE = dtypesWhere(({ family }) => ["float", "half", "complex"].includes(family));

const INDEX_TYPES = ["int32", "int64"] as const;

/** Slices of less than a word, of words that are no fours, and of fours, in each width of elements. */
const SLICES = [1, 3, 16];

/** What indices mean, in each operator and number of axes. */
function readingOf(engine: GpuEngine): void {
  const data = (shape: number[]) => engine.alloc("float32", shape);
  for (const type of INDEX_TYPES) {
    const indices = (shape: number[]) => engine.alloc(type, shape);
    for (const negative of ["wrap", "error"] as const) {
      for (const bounds of ["error", "clip", "fill"] as const) {
        for (let k = 1; k <= 4; k++) {
          const dims = Array.from({ length: k }, () => 3);
          engine.gatherND(data(dims), indices([4, k]), { bounds, negative });
          engine.gatherElements(data(dims), indices(dims), { bounds, negative });
        }
      }
      for (let k = 1; k <= 4; k++) {
        const dims = Array.from({ length: k }, () => 3);
        engine.scatterND(data(dims), indices([4, k]), data([4]), { bounds: "drop", negative });
        engine.scatterElements(data(dims), indices(dims), data(dims), { bounds: "drop", negative });
      }
    }
    engine.scatterND(data([3, 5]), indices([2, 0]), data([2, 3, 5]));
    for (const mode of ["linear", "circular"] as const) {
      engine.tensorScatter(data([2, 4, 3]), data([2, 2, 3]), indices([2]), { mode, axis: 1 });
    }
  }
}

/** Plans of one batch, of batches that share their targets, and of such that do not. */
const plansOf = (engine: GpuEngine, slice: number): GpuPlan[] => [
  engine.planScatterND([4, slice], [[1], [1]]),
  engine.planGather([2, 5, slice], [1, 1], { axis: 1 }),
  engine.planGather([2, 5, slice], zeros("int32", [2, 3]), { axis: 1, batchDims: 1 }),
];

/** What a scatter or a gather of one data type does. */
function workOf(engine: GpuEngine, dtype: DType): void {
  for (const slice of SLICES) {
    const reductions = hasArithmetic(dtype) ? reductionsOf(dtype) : (["none"] as const);
    // Of the larger one only few elements are targets.
    const datas = [4, 500].map((rows) => engine.alloc(dtype, [rows, slice]));
    const batched = engine.alloc(dtype, [2, 5, slice]);
    const [one, updates] = [engine.alloc("int32", [2]), engine.alloc(dtype, [2, 2, slice])];
    for (const data of datas) engine.gather(data, one);
    engine.gather(batched, one, { axis: 1 });
    for (const plan of plansOf(engine, slice)) {
      const data = engine.alloc(dtype, plan.dataShape);
      plan.gather(data);
      for (const reduction of reductions) {
        plan.scatter(data, engine.alloc(dtype, plan.shape), { reduction });
      }
    }
    const indices = engine.alloc("int32", [2, 2, 1]);
    for (const reduction of reductions) {
      for (const includeSelf of [true, false]) {
        for (const data of datas) {
          const options = { reduction, includeSelf, duplicates: "error" } as const;
          engine.scatterND(data, indices, updates, options);
          engine.scatterND(data, indices, updates, { ...options, out: data });
        }
      }
    }
    const cache = engine.alloc(dtype, [2, 5, slice]);
    engine.tensorScatter(cache, engine.alloc(dtype, [2, 2, slice]), one, { axis: 1 });
  }
}

/** The gradients of what {@link workOf} does, by calls and by plans. */
function gradientsOf(engine: GpuEngine, dtype: DType): void {
  const [, slice] = SLICES;
  const reductions = WITH_GRADIENTS.slice(0, hasArithmetic(dtype) ? 4 : 2);
  const data = engine.alloc(dtype, [4, slice]);
  const [one, updates] = [engine.alloc("int32", [2, 2, 1]), engine.alloc(dtype, [2, 2, slice])];
  const given = [data, null, updates].map((like) => like && engine.alloc(dtype, like.shape));
  const plans = plansOf(engine, slice);
  const tensors = plans.map(({ dataShape, shape }) =>
    [dataShape, shape].map((dims) => engine.alloc(dtype, dims)),
  );
  for (const reduction of reductions) {
    for (const includeSelf of [true, false]) {
      const node = { function: "scatterND", options: { reduction, includeSelf } } as const;
      engine.vjp(node, [data, one, updates], data);
      engine.vjp(node, [data, one, updates], data, { out: given });
    }
    for (const [i, plan] of plans.entries()) {
      const [own, list] = tensors[i];
      plan.scatterVjp(own, list, own, { reduction });
      if (hasArithmetic(dtype)) plan.gatherVjp(list);
    }
  }
}

test("the text of every kernel", async () => {
  const texts = new Map<string, Set<string>>();
  const engine = await openEngine({ device: listingDevice(texts) });
  readingOf(engine);
  for (const dtype of DTYPE_NAMES) if (dtype !== "string") workOf(engine, dtype);
  const before = texts.size;
  for (const dtype of DIFFERENTIABLE) gradientsOf(engine, dtype);
  assert.ok(texts.size > before + 6, `only ${texts.size - before} kernels of gradients`);
  assert.ok(before > 240, `only ${before} kernels`);
  const refused: string[] = [];
  for (const [label, [code, other]] of texts) {
    assert.equal(other, undefined, `two texts have the name ${label}`);
    device.pushErrorScope("validation");
    device.createShaderModule({ label, code });
    // oxlint-disable-next-line no-await-in-loop -- one error scope at a time
    const error = await device.popErrorScope();
    if (error !== null) refused.push(`${label}: ${error.message}`);
  }
  assert.deepEqual(refused, []);
});

test("a mean of so many updates that its quotient could be rounded twice", async () => {
  const engine = await openEngine({ device: listingDevice(new Map(), 2 ** 32 - 4) });
  const meanOf = (updates: number): void => {
    const [data, one] = [engine.alloc("float32", [1]), engine.alloc("int32", [updates, 1])];
    const options = { reduction: "mean" } as const;
    engine.scatterND(data, one, engine.alloc("float32", [updates]), options);
  };
  meanOf(2 ** 27 - 1);
  assertRefused("too-large", { op: "ScatterND" }, () => meanOf(2 ** 27));
});
