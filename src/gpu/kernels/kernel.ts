/**
 * Defines kernels, which are compute shaders, by the body of a function that runs once per invocation. The code that
 * all kernels share is added here.
 */

/** The number of invocations per workgroup, which is the maximum in WebGPU's compatibility mode. */
export const WORKGROUP = 128;

/** The value for a position without a target, whose update or element is omitted. */
export const NOWHERE = 0xffffffff;

/** The status value of success. */
export const FINE = 0xffffffff;

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

export interface KernelParts {
  /**
   * The names of numbers that a dispatch supplies, besides those of every kernel. The kernel reads them as
   * `params.NAME`.
   */
  readonly params?: readonly string[];
  /** The buffers, each of which the body must use, because WebGPU omits unused buffers from the layout. */
  readonly buffers: Readonly<Record<string, BufferKind>>;
  /**
   * True if the kernel must do nothing after its call has failed. Every guarded kernel has the buffer `status` and the
   * number `params.slot`. By default, the buffer `status` is read-only, because all invocations read the same word, and
   * devices cache only read-only data.
   */
  readonly isGuarded?: boolean;
  /** The WGSL declarations of functions and workgroup memory. */
  readonly declarations?: string;
  /** The WGSL statements for invocation `i`. */
  readonly body: string;
  /** True if the body needs whole workgroups, so that it must check whether `i` exceeds the last invocation. */
  readonly isWhole?: boolean;
}

/**
 * A kernel with a unique name. The text is created on demand, because most calls use only kernels that are already
 * compiled.
 */
export interface Kernel {
  /** The unique name; kernels with the same name must have the same text. */
  readonly name: string;
  readonly parts: () => KernelParts;
}

export const kernelOf = (name: string, parts: () => KernelParts): Kernel => ({ name, parts });

/** The parameters of every kernel: the first invocation of the dispatch, and the number of invocations. */
const OWN_PARAMS = ["first", "threads"] as const;

/** The text of a kernel, and the names of its numbers and buffers in the order of the text. */
export interface KernelText {
  readonly code: string;
  readonly params: readonly string[];
  readonly buffers: readonly string[];
}

export function textOf({ parts }: Kernel): KernelText {
  const made = parts();
  const { isGuarded = false, isWhole = false, declarations = "", body } = made;
  const params = [...OWN_PARAMS, ...(isGuarded ? ["slot"] : []), ...(made.params ?? [])];
  const buffers: Record<string, BufferKind> = {
    ...(isGuarded && { status: "read" }),
    ...made.buffers,
  };
  const failure =
    buffers["status"] === "read" ? "status[params.slot]" : "atomicLoad(&status[params.slot])";
  const bindings = Object.entries(buffers).map(
    ([buffer, kind], at) =>
      `@group(0) @binding(${at + 1}) ${DECLARATIONS[kind].replace("NAME", buffer)};`,
  );
  const code = [
    `struct Params { ${params.map((param) => `${param}: u32`).join(", ")} }`,
    "@group(0) @binding(0) var<uniform> params: Params;",
    ...bindings,
    `const NOWHERE = ${NOWHERE}u;`,
    `const FINE = ${FINE}u;`,
    declarations,
    `@compute @workgroup_size(${WORKGROUP})`,
    "fn main(",
    "  @builtin(global_invocation_id) global: vec3<u32>,",
    "  @builtin(local_invocation_index) local: u32,",
    "  @builtin(workgroup_id) workgroup: vec3<u32>,",
    ") {",
    isWhole ? "" : "  if (global.x >= params.threads) { return; }",
    isGuarded ? `  if (${failure} != FINE) { return; }` : "",
    "  let i = params.first + global.x;",
    body,
    "}",
  ];
  return { params, buffers: Object.keys(buffers), code: code.join("\n") };
}
