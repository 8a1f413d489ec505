/**
 * Defines kernels, which are compute shaders, by the body of a function that runs once per invocation. The code that
 * all kernels share is added here.
 */

import type { GpuBufferLike } from "./webgpu.ts";

/** The number of invocations per workgroup, which is the maximum in WebGPU's compatibility mode. */
export const WORKGROUP = 128;

/** The value for a position without a target, whose update or element is omitted. */
export const NOWHERE = 0xffffffff;

/** The status value of success. */
export const FINE = 0xffffffff;

/** A buffer and the number of bytes in use, because a user's buffer may be longer than its tensor. */
export interface Span {
  readonly buffer: GpuBufferLike;
  readonly bytes: number;
}

/** The buffer with the status of all calls, and the slot of this call. */
export interface Guard {
  readonly status: Span;
  readonly slot: number;
}

/**
 * The type of a buffer in a kernel: words of 32 bits, vectors of four words, or words that other invocations also
 * change.
 */
export type BufferKind = "read" | "write" | "read four" | "write four" | "atomic" | "atomic signed";

const DECLARATIONS: Readonly<Record<BufferKind, string>> = {
  read: "var<storage, read> NAME: array<u32>",
  write: "var<storage, read_write> NAME: array<u32>",
  "read four": "var<storage, read> NAME: array<vec4<u32>>",
  "write four": "var<storage, read_write> NAME: array<vec4<u32>>",
  atomic: "var<storage, read_write> NAME: array<atomic<u32>>",
  "atomic signed": "var<storage, read_write> NAME: array<atomic<i32>>",
};

/** Buffers by their kinds and names. A body must use each, because WebGPU omits unused buffers from the layout. */
export type Buffers = Readonly<Partial<Record<BufferKind, Readonly<Record<string, Span>>>>>;

/** A kernel with the numbers and buffers of a dispatch. */
export interface Kernel {
  /** The unique name; kernels with the same name must have the same text, and names of numbers and buffers. */
  readonly name: string;
  /** The numbers besides those of every kernel. The kernel reads them as `params.NAME`. */
  readonly params?: Readonly<Record<string, number>>;
  readonly buffers: Buffers;
  /**
   * `stops` for a kernel that must do nothing after its call has failed, and `reads` for a kernel whose body reads the
   * status itself. Both have the buffer `status` and the number `params.slot`. By default, the buffer `status` is
   * read-only, because all invocations read the same word, and devices cache only read-only data.
   */
  readonly guard?: "stops" | "reads";
  /** True if the body needs whole workgroups, so that it must check whether `i` exceeds the last invocation. */
  readonly isWhole?: boolean;
  /** Returns WGSL declarations of functions and workgroup memory. Texts are created on demand, for compilation. */
  readonly declarations?: () => string;
  /** Returns the WGSL statements for invocation `i`. */
  readonly body: () => string;
}

/** The parameters of every kernel: the first invocation of the dispatch, and the number of invocations. */
const OWN_PARAMS = ["first", "threads"] as const;

/** The text of a kernel, and the names of its numbers and buffers in the order of the text. */
export interface KernelText {
  readonly code: string;
  /** All numbers except `first` and `threads`, which come first. */
  readonly params: readonly string[];
  readonly buffers: readonly (readonly [kind: BufferKind, name: string])[];
}

export function textOf({ params = {}, buffers, guard, isWhole, ...texts }: Kernel): KernelText {
  const bound = Object.entries(buffers).flatMap(([kind, spans]) =>
    Object.keys(spans).map((name) => [kind as BufferKind, name] as const),
  );
  const isAtomic = bound.some(([, name]) => name === "status");
  if (guard && !isAtomic) bound.unshift(["read", "status"]);
  const failure = isAtomic ? "atomicLoad(&status[params.slot])" : "status[params.slot]";
  const bindings = bound.map(
    ([kind, name], at) =>
      `@group(0) @binding(${at + 1}) ${DECLARATIONS[kind].replace("NAME", name)};`,
  );
  const names = [...new Set([...(guard ? ["slot"] : []), ...Object.keys(params)])];
  const code = [
    `struct Params { ${[...OWN_PARAMS, ...names].map((name) => `${name}: u32`).join(", ")} }`,
    "@group(0) @binding(0) var<uniform> params: Params;",
    ...bindings,
    `const NOWHERE = ${NOWHERE}u;`,
    `const FINE = ${FINE}u;`,
    texts.declarations?.() ?? "",
    `@compute @workgroup_size(${WORKGROUP})`,
    "fn main(",
    "  @builtin(global_invocation_id) global: vec3<u32>,",
    "  @builtin(local_invocation_index) local: u32,",
    "  @builtin(workgroup_id) workgroup: vec3<u32>,",
    ") {",
    isWhole ? "" : "  if (global.x >= params.threads) { return; }",
    guard === "stops" ? `  if (${failure} != FINE) { return; }` : "",
    "  let i = params.first + global.x;",
    texts.body(),
    "}",
  ];
  return { params: names, buffers: bound, code: code.join("\n") };
}
