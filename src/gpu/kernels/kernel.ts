/**
 * A kernel: a compute shader with one entry point, written as the body of a function for one invocation. The code that
 * all kernels share is added here, so that the other files contain only the specific code.
 */

/** Invocations per workgroup. Devices in WebGPU's compatibility mode allow no more. */
export const WORKGROUP = 128;

/** The target of a position without one: its update or element is left out. */
export const NOWHERE = 0xffffffff;

/** The status of success. */
export const FINE = 0xffffffff;

/**
 * The type of a buffer in a kernel: 32-bit words, vectors of four words, or words that other invocations change too.
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
  /** Numbers that a dispatch supplies, in addition to those of every kernel; read as `params.NAME`. */
  readonly params?: readonly string[];
  /** Buffers, all of which must be used: WebGPU leaves unused ones out of the layout. */
  readonly buffers: Readonly<Record<string, BufferKind>>;
  /**
   * True if the kernel does nothing in a call that has failed. A guarded kernel has the buffer `status` and the number
   * `params.slot`. The buffer is read-only unless the kernel declares otherwise: all invocations read one word of it,
   * and a device caches only data that no kernel may change.
   */
  readonly isGuarded?: boolean;
  /** Functions and workgroup memory. */
  readonly declarations?: string;
  /** The statements of invocation `i`. */
  readonly body: string;
  /** True if the body needs whole workgroups: `i` may then exceed the last one, and the body must check it. */
  readonly isWhole?: boolean;
}

/**
 * A kernel, identified by its name. The text is made lazily, because most calls use only kernels that are already
 * compiled.
 */
export interface Kernel {
  /** A unique name: kernels with the same name have the same text. */
  readonly name: string;
  readonly parts: () => KernelParts;
}

export const kernelOf = (name: string, parts: () => KernelParts): Kernel => ({ name, parts });

/** Numbers of every kernel: the first invocation of the dispatch, and the number of invocations. */
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
