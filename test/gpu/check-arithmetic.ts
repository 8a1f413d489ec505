/** The arithmetic of the GPU against that of the JavaScript engine, which are compared on pairs of operands. */

import { combineSource, divideSource } from "../../src/gpu/kernels/arithmetic.ts";
import {
  BUFFER_USAGE,
  MAP_MODE_READ,
  type GpuBufferLike,
  type GpuDeviceLike,
} from "../../src/gpu/kernels/webgpu.ts";
import { scatterCombine } from "../../src/core/kernels/combine.ts";
import { divide } from "../../src/core/kernels/divide.ts";
import {
  CHOICES,
  DTYPES,
  reductionsOf,
  viewOf,
  type DType,
  type Reduction,
  type Step,
} from "../../src/core/tensor/dtype.ts";
import { randomFrom, type Random } from "../support/random.ts";
import { counts, floatPairs, floatSums, integerPairs, type Format, type Pairs } from "./pairs.ts";

type Combining = Exclude<Reduction | Step, "none">;

export interface ArithmeticResult {
  readonly step: Combining;
  readonly pairs: number;
  /** How many results have other bits than the JavaScript engine's, and the first of them. */
  readonly different: number;
  readonly first: string | null;
}

// The widths of the formats (IEEE 754-2019, table 3.5; bfloat16 is float32 without its last 16 bits).
const FORMATS: Partial<Record<DType, Format>> = {
  float16: { fractionBits: 10, exponentBits: 5 },
  bfloat16: { fractionBits: 7, exponentBits: 8 },
  float32: { fractionBits: 23, exponentBits: 8 },
};

/**
 * Runs each step of a data type on `count` pairs, or on all pairs of a type that has fewer. Different bits are in the
 * results: nothing is thrown for them.
 * @param count at most 2^22: one dispatch with the least limits of devices has not quite 2^23 invocations
 */
export async function checkArithmetic(
  device: GpuDeviceLike,
  dtype: DType,
  count: number,
  seed = 1,
): Promise<ArithmeticResult[]> {
  const results: ArithmeticResult[] = [];
  // Making the pairs takes longer than a step, so that all steps but mul and mean share theirs.
  const shared = operands(dtype, "add", count, randomFrom(seed));
  const choices = FORMATS[dtype] === undefined ? [] : CHOICES;
  for (const step of [...reductionsOf(dtype), ...choices]) {
    if (step === "none") continue;
    const isShared = step !== "mul" && step !== "mean";
    const pairs = isShared ? shared : operands(dtype, step, count, randomFrom(seed));
    // oxlint-disable-next-line no-await-in-loop -- One kernel at a time: drivers share the processor.
    const actual = await runKernel(device, dtype, step, pairs);
    results.push(compared(dtype, step, pairs, actual));
  }
  return results;
}

function compared(
  dtype: DType,
  step: Combining,
  { a, b }: Pairs,
  actual: Uint32Array,
): ArithmeticResult {
  const expected = onJavaScript(dtype, step, a, b);
  const words = wordsOf(dtype);
  const isSame = (p: number): boolean =>
    actual[words * p] === expected[words * p] &&
    actual[words * p + words - 1] === expected[words * p + words - 1];
  const pairs = expected.length / words;
  let different = 0;
  let first: string | null = null;
  for (let p = 0; p < pairs; p++) {
    if (isSame(p)) continue;
    different++;
    const right = hexOf(b, p, step === "mean" ? 1 : words);
    first ??= `${hexOf(a, p, words)} and ${right} give ${hexOf(actual, p, words)}, not ${hexOf(expected, p, words)}`;
  }
  return { step, pairs, different, first };
}

/** The bits of an element. */
const hexOf = (data: Uint32Array, p: number, words: number): string =>
  [...data.subarray(p * words, (p + 1) * words)]
    .reverse()
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");

const wordsOf = (dtype: DType): 1 | 2 => (DTYPES[dtype].bytes === 8 ? 2 : 1);

/** Two operands, or sums and counts for a mean. */
function operands(dtype: DType, step: Combining, count: number, random: Random): Pairs {
  const format = FORMATS[dtype];
  const bits = DTYPES[dtype].family === "bool" ? 1 : 8 * DTYPES[dtype].bytes;
  if (step !== "mean") {
    return format === undefined
      ? integerPairs(bits, count, random)
      : floatPairs(format, step === "mul", count, random);
  }
  const divisors = counts(count, random);
  if (format !== undefined) return { a: floatSums(format, divisors, random), b: divisors };
  const { a } = integerPairs(bits, count, random);
  // Where the type has few values, they come again and again.
  const words = count * wordsOf(dtype);
  return { a: Uint32Array.from({ length: words }, (_, p) => a[p % a.length]), b: divisors };
}

function onJavaScript(dtype: DType, step: Combining, a: Uint32Array, b: Uint32Array): Uint32Array {
  const count = a.length / wordsOf(dtype);
  const offsets = Uint32Array.from({ length: count }, (_, p) => p);
  const data = packed(dtype, a);
  const view = viewOf(dtype, data.buffer);
  if (step === "mean") {
    divide(dtype, view, 1, offsets, b);
  } else {
    const plan = { offsets, slice: 1, count, size: count, batches: 1, span: count };
    scatterCombine(plan, dtype, step, viewOf(dtype, packed(dtype, b).buffer), view);
  }
  return Uint32Array.from(data);
}

/** The elements as memory has them: without the bits that fill words. */
function packed(dtype: DType, elements: Uint32Array) {
  switch (DTYPES[dtype].bytes) {
    case 1:
      return Uint8Array.from(elements);
    case 2:
      return Uint16Array.from(elements);
    default:
      return elements.slice();
  }
}

const WORKGROUP = 128;

function kernel(dtype: DType, step: Combining): string {
  const isMean = step === "mean";
  return /* wgsl */ `
${isMean ? divideSource(dtype) : combineSource(dtype, step)}
@group(0) @binding(0) var<storage, read> left: array<Element>;
@group(0) @binding(1) var<storage, read> right: array<${isMean ? "u32" : "Element"}>;
@group(0) @binding(2) var<storage, read_write> results: array<Element>;
@compute @workgroup_size(${WORKGROUP}) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&results)) {
    results[id.x] = ${isMean ? "divide" : "combine"}(left[id.x], right[id.x]);
  }
}`;
}

/** `results[p] = f(a[p], b[p])` on the device. */
async function runKernel(
  device: GpuDeviceLike,
  dtype: DType,
  step: Combining,
  { a, b }: Pairs,
): Promise<Uint32Array> {
  const code = kernel(dtype, step);
  device.pushErrorScope("validation");
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
  });
  const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = BUFFER_USAGE;
  const left = uploaded(device, a);
  const right = uploaded(device, b);
  const results = device.createBuffer({ size: a.byteLength, usage: STORAGE | COPY_SRC });
  const read = device.createBuffer({ size: a.byteLength, usage: MAP_READ | COPY_DST });
  const entries = [left, right, results].map((buffer, binding) => ({
    binding,
    resource: { buffer },
  }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(Math.ceil(a.length / wordsOf(dtype) / WORKGROUP));
  pass.end();
  encoder.copyBufferToBuffer(results, 0, read, 0, a.byteLength);
  device.queue.submit([encoder.finish()]);
  const error = await device.popErrorScope();
  if (error !== null) throw new Error(`${error.message}\n${code}`);
  await read.mapAsync(MAP_MODE_READ);
  const words = new Uint32Array(read.getMappedRange().slice(0));
  for (const buffer of [left, right, results, read]) buffer.destroy();
  return words;
}

function uploaded(device: GpuDeviceLike, data: Uint32Array): GpuBufferLike {
  const buffer = device.createBuffer({
    size: data.byteLength,
    usage: BUFFER_USAGE.STORAGE | BUFFER_USAGE.COPY_DST,
  });
  device.queue.writeBuffer(buffer, 0, data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  return buffer;
}
