/**
 * The part of WebAssembly's JavaScript interface that this package uses; TypeScript declares the interface only for
 * browsers.
 */

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

/** Returns WebAssembly's JavaScript interface, which exists if `whyUnsupported` returned null. */
export const webAssembly = (): WebAssemblyApi => Reflect.get(globalThis, "WebAssembly");

/** A test module with one function, which returns a vector of zeros: `i32.const 0, i32x4.splat`. */
// prettier-ignore
const VECTOR_PROBE = /* @__PURE__ */ Uint8Array.of(
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, // magic and version
  0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, // type 0: no parameters, a v128
  0x03, 0x02, 0x01, 0x00, // function 0 is of type 0
  0x0a, 0x08, 0x01, 0x06, 0x00, 0x41, 0x00, 0xfd, 0x11, 0x0b, // its code
);

/**
 * Returns the reason why kernels cannot run on this platform; null if they can. Compiling the kernels takes 25 to 200
 * ms, whereas the 33-byte test module takes almost no time. Compiling either module fails if WebAssembly or vectors are
 * missing, or if a policy forbids compiling.
 */
export function whyUnsupported(): string | null {
  if (!("WebAssembly" in globalThis)) return "WebAssembly is not available";
  try {
    // WebKit compiles a module even if a policy forbids WebAssembly, but refuses to instantiate the module.
    Reflect.construct(webAssembly().Instance, [new (webAssembly().Module)(VECTOR_PROBE)]);
    return null;
  } catch (error) {
    return `WebAssembly SIMD does not compile (${String(error)})`;
  }
}
