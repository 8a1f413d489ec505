/** Which options compile, and the types that calls and tensors give. Nothing here runs: compiling it is the test. */

import type { AsyncFunctions, Engine } from "../../src/core/create-engine.ts";
import type { run } from "../../src/core/functions.ts";
import type { RuntimeTensor, Tensor, toRuntime } from "../../src/core/tensor/tensor.ts";
import type { GpuEngine, GpuTensor } from "../../src/gpu/calls/types.ts";

interface Given {
  readonly async: AsyncFunctions;
  readonly engine: Engine;
  readonly gpu: GpuEngine;
  readonly data: Tensor<"float32", [4, 2]>;
  readonly onGpu: GpuTensor<"float32">;
  readonly run: typeof run;
  readonly toRuntime: typeof toRuntime;
  readonly any: Tensor;
  readonly bfloat16: Tensor<"bfloat16">;
  readonly int4: Tensor<"int4", [3]>;
  /** A tensor of onnxruntime. */
  readonly out: RuntimeTensor;
}

/** What a call would refuse when it runs, it refuses here: `fill` is for gathers, the other policies for scatters. */
export function policies({ async, engine, gpu, data, onGpu }: Given): void {
  async.scatterND(data, [[1]], [[1, 2]], { bounds: "drop", includeSelf: false, reduction: "add" });
  async.scatterElements(data, [[1]], [[1]], { axis: 1, duplicates: "error", negative: "error" });
  async.gatherND(data, [[1]], { bounds: "fill", batchDims: 1, out: data });
  async.gather(data, [1], { bounds: "fill", axis: 1, batchDims: 0 });
  engine.planScatterND([4, 2], [[1]], {});
  gpu.scatterND(onGpu, [[1]], [[1, 2]], { bounds: "clip", out: onGpu });
  gpu.gatherElements(onGpu, [[1]], { bounds: "fill", axis: 1 });

  // @ts-expect-error fill is for gathers
  async.scatterND(data, [[1]], [[1, 2]], { bounds: "fill" });
  // @ts-expect-error fill is for gathers
  async.scatterElements(data, [[1]], [[1]], { bounds: "fill" });
  // @ts-expect-error fill is for gathers
  async.scatter(data, [[1]], [[1]], { bounds: "fill" });
  // @ts-expect-error drop is for scatters
  async.gatherND(data, [[1]], { bounds: "drop" });
  // @ts-expect-error a gather has no targets
  async.gatherElements(data, [[1]], { duplicates: "error" });
  // @ts-expect-error a gather has no targets
  async.gather(data, [1], { includeSelf: false });
  // @ts-expect-error positions of sequences have rules of their own
  async.tensorScatter(data, data, [0], { bounds: "clip" });
  // @ts-expect-error a kept plan has no policies
  engine.planScatterND([4, 2], [[1]], { bounds: "clip" });
  // @ts-expect-error a kept plan has no policies
  engine.planScatterElements([4, 2], [[1]], { bounds: "clip" });
  // @ts-expect-error fill is for gathers
  gpu.scatterND(onGpu, [[1]], [[1, 2]], { bounds: "fill" });
  // @ts-expect-error fill is for gathers
  gpu.scatterElements(onGpu, [[1]], [[1]], { bounds: "fill" });
  // @ts-expect-error drop is for scatters
  gpu.gatherND(onGpu, [[1]], { bounds: "drop" });
  // @ts-expect-error a gather has no targets
  gpu.gather(onGpu, [1], { duplicates: "error" });
  // @ts-expect-error a kept plan has no policies
  gpu.planScatterND([4, 2], [[1]], { bounds: "clip" });
}

/** Every operator has one output, which is there where the compiler asks whether an entry of a list is. */
export function outputs({ run, data }: Given): Tensor {
  const results = run({ op: "GatherND", opset: 13 }, [data, [[1]]]);
  const one: [Tensor] = results;
  // @ts-expect-error there is no second output
  void results[1];
  return one[0];
}

/** The result may be written to a tensor of onnxruntime, whose shape and data type are checked when the call runs. */
export function outOfRuntimes({ async, engine, gpu, run, data, onGpu, out }: Given): void {
  engine.scatterND(data, [[1]], [[1, 2]], { out });
  engine.scatterElements(data, [[1]], [[1]], { out, axis: 1 });
  engine.gatherND(data, [[1]], { out });
  engine.gatherElements(data, [[1]], { out });
  engine.gather(data, [1], { out });
  engine.tensorScatter(data, data, [0], { out });
  const plan = engine.planScatterND([4, 2], [[1]]);
  plan.scatter(data, [[1, 2]], { out });
  plan.gather(data, { out });
  async.scatterND(data, [[1]], [[1, 2]], { out });
  async.gatherND(data, [[1]], { out });
  async.tensorScatter(data, data, [0], { out });
  run({ op: "ScatterND", opset: 18 }, [data, [[1]], [[1, 2]]], { out });

  // @ts-expect-error a list is no tensor
  engine.scatterND(data, [[1]], [[1, 2]], { out: [[1, 2]] });
  // @ts-expect-error a tensor of the host
  gpu.scatterND(onGpu, [[1]], [[1, 2]], { out });
}

/** A tensor for onnxruntime has the name of its data type and the class of its data. */
export function forRuntimes({ engine, toRuntime, data, any, bfloat16, int4 }: Given): void {
  const made = toRuntime(data);
  const type: "float32" = made.type;
  const values: Float32Array = made.data;
  const packed: Uint8Array = toRuntime(int4).data;
  engine.scatterND(made, [[1]], [[1, 2]], { out: made });
  toRuntime(any);
  // @ts-expect-error onnxruntime has no bfloat16
  toRuntime(bfloat16);
  // @ts-expect-error whether it is float32 is not known
  const claimed: "float32" = toRuntime(any).type;
  void [type, values, packed, claimed];
}
