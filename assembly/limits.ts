/**
 * Sizes at which kernels switch to another method, from the record `KERNELS` in `src/core/limits.ts`. The host writes
 * these limits into the first words of the memory, which are never allocated
 * (`src/core/engines/wasm/kernel-memory.ts`). A kernel reads a limit outside loops over elements.
 */

@inline
export const AHEAD: usize = 0;
@inline
export const FAR: usize = 1;
@inline
export const LONG: usize = 2;
@inline
export const PREFETCHED: usize = 3;
@inline
export const NARROW: usize = 4;

@inline
export function limit(which: usize): usize {
  return <usize>load<u32>(4 * which);
}
