/** The arithmetic of the GPU against that of the JavaScript engine: every data type and step, on adversarial pairs. */

import { combineSource, divideSource, hasGpuArithmetic } from "../../src/engines/gpu/arithmetic.ts";
import {
  BUFFER_USAGE,
  MAP_MODE_READ,
  type GpuBufferLike,
  type GpuDeviceLike,
} from "../../src/engines/gpu/webgpu.ts";
import { scatterCombine } from "../../src/kernels/combine.ts";
import { divide } from "../../src/kernels/divide.ts";
import {
  DTYPES,
  DTYPE_NAMES,
  reductionsOf,
  viewOf,
  type DType,
  type Step,
} from "../../src/tensor/dtype.ts";
import { randomFrom, type Random } from "../support/random.ts";
import { counts, floatPairs, floatSums, integerPairs, type Format } from "./pairs.ts";

export interface ArithmeticResult {
  readonly dtype: DType;
  readonly reduction: Step | "mean";
  readonly pairs: number;
  /** How many results have other bits than the JavaScript engine's, and the first of them. */
  readonly different: number;
  readonly first: string | null;
  readonly seconds: number;
}

// The widths of the formats (IEEE 754-2019, table 3.5; bfloat16 is float32 without its last 16 bits).
const FORMATS: Partial<Record<DType, Format>> = {
  float16: { fractionBits: 10, exponentBits: 5 },
  bfloat16: { fractionBits: 7, exponentBits: 8 },
  float32: { fractionBits: 23, exponentBits: 8 },
};

/**
 * Runs each step of each data type that has arithmetic on a GPU on `count` pairs, or on all pairs of a type that has
 * fewer. Does not throw for different bits: they are in the results.
 */
export async function testArithmetic(
  device: GpuDeviceLike,
  count: number,
  seed = 1,
  dtypes: readonly DType[] = DTYPE_NAMES.filter(hasGpuArithmetic),
): Promise<ArithmeticResult[]> {
  const results: ArithmeticResult[] = [];
  for (const dtype of dtypes) {
    for (const reduction of reductionsOf(dtype)) {
      if (reduction === "none") continue;
      const start = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- One kernel at a time: drivers share the processor.
      const result = await testStep(device, dtype, reduction, count, randomFrom(seed));
      results.push({ ...result, seconds: (performance.now() - start) / 1000 });
    }
  }
  return results;
}

async function testStep(
  device: GpuDeviceLike,
  dtype: DType,
  reduction: Step | "mean",
  count: number,
  random: Random,
): Promise<Omit<ArithmeticResult, "seconds">> {
  const { a, b } = operands(dtype, reduction, count, random);
  const actual = await runKernel(device, kernel(dtype, reduction), a, b);
  const expected = onJavaScript(dtype, reduction, a, b);
  const words = wordsOf(dtype);
  let different = 0;
  let first: string | null = null;
  for (let p = 0; p < expected.length / words; p++) {
    if (isEqual(actual, expected, p, words)) continue;
    const divisor = reduction === "mean" ? b.subarray(p, p + 1) : elementAt(b, p, words);
    first ??= `${hexOf(elementAt(a, p, words))}, ${hexOf(divisor)}: ${hexOf(elementAt(actual, p, words))}, but JavaScript gives ${hexOf(elementAt(expected, p, words))}`;
    different++;
  }
  return { dtype, reduction, pairs: expected.length / words, different, first };
}

const wordsOf = (dtype: DType): 1 | 2 => (DTYPES[dtype].bytes === 8 ? 2 : 1);

function isEqual(a: Uint32Array, b: Uint32Array, p: number, words: 1 | 2): boolean {
  return words === 1 ? a[p] === b[p] : a[2 * p] === b[2 * p] && a[2 * p + 1] === b[2 * p + 1];
}

const elementAt = (data: Uint32Array, p: number, words: number): Uint32Array =>
  data.subarray(p * words, (p + 1) * words);

const hexOf = (element: Uint32Array): string =>
  [...element]
    .reverse()
    .map((word) => word.toString(16).padStart(8, "0"))
    .join("");

/** Two operands, or sums and counts for a mean. */
function operands(dtype: DType, reduction: Step | "mean", count: number, random: Random) {
  const format = FORMATS[dtype];
  const bits = DTYPES[dtype].family === "bool" ? 1 : 8 * DTYPES[dtype].bytes;
  if (reduction !== "mean") {
    return format === undefined
      ? integerPairs(bits, count, random)
      : floatPairs(format, reduction === "mul", count, random);
  }
  const divisors = counts(count, random);
  if (format !== undefined) return { a: floatSums(format, divisors, random), b: divisors };
  const { a } = integerPairs(bits, count, random);
  // Where the type has few values, they come again and again.
  const words = count * wordsOf(dtype);
  return { a: Uint32Array.from({ length: words }, (_, p) => a[p % a.length]), b: divisors };
}

function onJavaScript(
  dtype: DType,
  reduction: Step | "mean",
  a: Uint32Array,
  b: Uint32Array,
): Uint32Array {
  const count = a.length / wordsOf(dtype);
  const offsets = Uint32Array.from({ length: count }, (_, p) => p);
  const data = packed(dtype, a);
  const view = viewOf(dtype, data.buffer);
  if (reduction === "mean") {
    divide(dtype, view, 1, offsets, b);
  } else {
    const plan = { offsets, slice: 1, count, size: count, batches: 1, span: count };
    scatterCombine(plan, dtype, reduction, viewOf(dtype, packed(dtype, b).buffer), view);
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

const WORKGROUP = 64;

function kernel(dtype: DType, reduction: Step | "mean"): string {
  const isMean = reduction === "mean";
  return /* wgsl */ `
${isMean ? divideSource(dtype) : combineSource(dtype, reduction)}
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
  code: string,
  a: Uint32Array,
  b: Uint32Array,
): Promise<Uint32Array> {
  device.pushErrorScope("validation");
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
  });
  const error = await device.popErrorScope();
  if (error !== null) throw new Error(`${error.message}\n${code}`);
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
  pass.dispatchWorkgroups(Math.ceil(a.length / WORKGROUP));
  pass.end();
  encoder.copyBufferToBuffer(results, 0, read, 0, a.byteLength);
  device.queue.submit([encoder.finish()]);
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
