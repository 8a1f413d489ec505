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

/** How a kernel sees a buffer: as words of 32 bits, as four of them at a time, or as words that others change too. */
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
  /** Numbers that a dispatch gives, beside those that every kernel has; read as `params.NAME`. */
  readonly params?: readonly string[];
  /** All of them must be used: WebGPU leaves others out of the layout. */
  readonly buffers: Readonly<Record<string, BufferKind>>;
  /**
   * Whether the kernel does nothing in a call that has failed. It then has the buffer `status` and the number
   * `params.slot`. The buffer is read-only unless the kernel asks for more: all invocations read one word of it, and a
   * device caches only what no kernel may change.
   */
  readonly isGuarded?: boolean;
  /** Functions and workgroup memory. */
  readonly declarations?: string;
  /** What invocation `i` does. */
  readonly body: string;
  /** Whether the body needs whole workgroups: `i` may be beyond the last one then, and the body has to look. */
  readonly isWhole?: boolean;
}

/** A kernel by its name. Most calls need none but such that were compiled before, so the text is made when it is needed. */
export interface Kernel {
  /** Tells the kernel from all others: two of one name have one text. */
  readonly name: string;
  readonly parts: () => KernelParts;
}

export const kernelOf = (name: string, parts: () => KernelParts): Kernel => ({ name, parts });

/** Numbers of every kernel: the first invocation of the dispatch, and how many there are. */
const OWN_PARAMS = ["first", "threads"] as const;

/** The text of a kernel, and the names of its numbers and buffers in the order in which the text has them. */
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
