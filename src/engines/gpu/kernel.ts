/**
 * A kernel: a compute shader of one entry point, written as the body of a function of one invocation. What all kernels
 * have in common is added here, so that the files beside this one hold nothing but what a kernel does.
 */

/** Invocations of a workgroup. Devices of WebGPU's compatibility mode allow no more. */
export const WORKGROUP = 128;

/** A target that there is not: its update or element is left out. */
export const NOWHERE = 0xffffffff;

/** A status that says that nothing is wrong. */
export const FINE = 0xffffffff;

/** How a kernel sees a buffer: as 32-bit words, or as words that invocations may change at the same time. */
export type BufferKind = "read" | "write" | "atomic" | "atomic signed";

const DECLARATIONS: Readonly<Record<BufferKind, string>> = {
  read: "var<storage, read> NAME: array<u32>",
  write: "var<storage, read_write> NAME: array<u32>",
  atomic: "var<storage, read_write> NAME: array<atomic<u32>>",
  "atomic signed": "var<storage, read_write> NAME: array<atomic<i32>>",
};

export interface KernelParts {
  /** What tells the kernel from all others. */
  readonly name: string;
  /** Numbers that a dispatch gives, beside those that every kernel has; read as `params.NAME`. */
  readonly params?: readonly string[];
  /** All of them must be used: WebGPU leaves others out of the layout. */
  readonly buffers: Readonly<Record<string, BufferKind>>;
  /**
   * Whether the kernel does nothing in a call that has failed. It then has the buffer `status` and the number
   * `params.slot`.
   */
  readonly isGuarded?: boolean;
  /** Functions and workgroup memory. */
  readonly declarations?: string;
  /** What invocation `i` does. */
  readonly body: string;
  /** Whether the body needs whole workgroups: `i` may be beyond `params.end` then, and the body has to look. */
  readonly isWhole?: boolean;
}

export interface Kernel {
  readonly name: string;
  readonly params: readonly string[];
  readonly buffers: readonly string[];
  readonly code: string;
}

/** Numbers of every kernel: the first invocation of the dispatch, and how many there are. */
export const OWN_PARAMS = ["first", "threads"] as const;

export function kernelOf(parts: KernelParts): Kernel {
  const { name, isGuarded = false, isWhole = false, declarations = "", body } = parts;
  const params = [...OWN_PARAMS, ...(isGuarded ? ["slot"] : []), ...(parts.params ?? [])];
  const buffers: Record<string, BufferKind> = {
    ...(isGuarded && { status: "atomic" }),
    ...parts.buffers,
  };
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
    isGuarded ? "  if (atomicLoad(&status[params.slot]) != FINE) { return; }" : "",
    "  let i = params.first + global.x;",
    body,
    "}",
  ];
  return { name, params, buffers: Object.keys(buffers), code: code.join("\n") };
}
