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
    imports: { env: { memory: WasmMemory } },
  ) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** Undefined where the platform has none, so that using it throws. */
export const webAssembly = (): WebAssemblyApi => Reflect.get(globalThis, "WebAssembly");
