/**
 * Records failures on the GPU. A call with indices on the GPU, or with inputs from a call that may have failed, has a
 * slot of words in a buffer. Kernels check the slot before they write, and the host reads the slot later, so validation
 * needs no round trip.
 */

import { GPU } from "../../core/limits.ts";
import { OPEN } from "../../core/resources.ts";
import { contentsOf, destroyBuffer, TENSOR_USAGE, type Gpu } from "./gpu.ts";
import { FINE } from "./kernel.ts";
import type { Span } from "./recording.ts";

/** The words of a slot. */
export const SLOT = {
  /** The value FINE for success, 0 if an input has no contents, and otherwise 1 + the number of the first bad index. */
  failure: 0,
  /** The value FINE if the result has valid elements; 0 if the failed call left the result empty. */
  contents: 1,
  /** The low word of the first bad index. */
  low: 2,
  high: 3,
  /** The value FINE, or 1 + the first position that repeats the target of an earlier position. */
  repeat: 4,
  earlier: 5,
  target: 6,
} as const;

/** The number of words per slot. */
export const WORDS = 8;

/** The slot of calls that cannot fail on the GPU. */
export const NEVER = 0;

/** The GPU's report on one call: null for success, `input` if an input was missing. */
export type SlotState = null | "input" | BadIndex | RepeatFound;

export interface BadIndex {
  readonly kind: "index";
  readonly place: number;
  readonly low: number;
  readonly high: number;
}

export interface RepeatFound {
  readonly kind: "repeat";
  readonly position: number;
  readonly earlier: number;
  readonly target: number;
}

/** The buffer with the status of calls, and the slot of this call. */
export interface Guard {
  readonly status: Span;
  readonly slot: number;
}

export class StatusBoard {
  readonly #gpu: Gpu;
  #slots = GPU.slots;
  #span: Span;
  #free: number[] = [];
  #next = 1;

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
    this.#span = this.#create(this.#slots);
    const { buffer } = this.#span;
    gpu.device.queue.writeBuffer(buffer, 0, new Uint32Array(WORDS).fill(FINE).buffer);
  }

  #create(slots: number): Span {
    const bytes = 4 * WORDS * slots;
    return { buffer: this.#gpu.createBuffer(bytes, TENSOR_USAGE, "status of calls"), bytes };
  }

  get span(): Span {
    return this.#span;
  }

  /** Returns the first word of a free slot. `beginCall` initializes the slot's contents. */
  take(): number {
    const slot = this.#unused();
    OPEN.slots++;
    return slot;
  }

  #unused(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#next === this.#slots) this.#grow();
    return WORDS * this.#next++;
  }

  /**
   * Enlarges the buffer. The copy is submitted separately, because the device may refuse the call that needs the new
   * slot, while pending calls still need their slots.
   */
  #grow(): void {
    const { device } = this.#gpu;
    const { buffer, bytes } = this.#span;
    const larger = this.#create(2 * this.#slots);
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, larger.buffer, 0, bytes);
    device.queue.submit([encoder.finish()]);
    destroyBuffer(buffer);
    this.#span = larger;
    this.#slots *= 2;
  }

  give(slot: number): void {
    OPEN.slots--;
    this.#gpu.overwrite(this.#span.buffer, 4 * slot, 4 * WORDS);
    this.#free.push(slot);
  }

  destroy(): void {
    destroyBuffer(this.#span.buffer);
  }

  /** Reads the outcomes of all submitted calls, by slot. */
  async read(): Promise<(slot: number) => SlotState> {
    const { buffer, bytes } = this.#span;
    const staging = this.#gpu.copyForHost(buffer, bytes, "copy of the status");
    const words = new Uint32Array(await contentsOf(staging));
    return (slot) => stateOf(words.subarray(slot, slot + WORDS));
  }
}

function stateOf(words: Uint32Array): SlotState {
  const failure = words[SLOT.failure];
  if (failure === FINE) return null;
  if (failure === 0) return "input";
  if (words[SLOT.repeat] !== FINE) {
    const [earlier, target] = [words[SLOT.earlier], words[SLOT.target]];
    return { kind: "repeat", position: failure - 1, earlier, target };
  }
  const [low, high] = [words[SLOT.low], words[SLOT.high]];
  return { kind: "index", place: failure - 1, low, high };
}
