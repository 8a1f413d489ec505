/** The part of WebAssembly's JavaScript interface that is used here; TypeScript has it in the library of browsers only. */

export interface WasmMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
}

interface WebAssemblyApi {
  readonly Memory: new (descriptor: {
    initial: number;
    maximum: number;
    shared: boolean;
  }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports?: { env: { memory: WasmMemory } },
  ) => { readonly exports: Readonly<Record<string, (...args: number[]) => number | undefined>> };
}

/** WebAssembly's interface; use it only if {@link whyUnsupported} returned null. */
export const webAssembly = (): WebAssemblyApi => Reflect.get(globalThis, "WebAssembly");

/** A module with one function that returns a vector of zeros: `i32.const 0, i32x4.splat`. */
// prettier-ignore
const VECTOR_PROBE = /* @__PURE__ */ Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic and version
  0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, // type 0: no parameters, a v128
  0x03, 0x02, 0x01, 0x00, // function 0 is of type 0
  0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x11, 0x0b, // its code
);

/**
 * The reason why the kernels cannot run here; null if they can. Compiling the kernels takes 25 to 200 ms, this module
 * of 33 bytes takes none: both fail where WebAssembly or vectors are missing, or a policy forbids to compile.
 */
export function whyUnsupported(): string | null {
  if (!("WebAssembly" in globalThis)) return "WebAssembly is missing";
  try {
    // WebKit compiles under a policy that forbids WebAssembly, and refuses the instance.
    Reflect.construct(webAssembly().Instance, [new (webAssembly().Module)(VECTOR_PROBE)]);
    return null;
  } catch (error) {
    return `WebAssembly with vectors does not compile (${String(error)})`;
  }
}
