/**
 * Records failures on the GPU. A call that may fail on the GPU, because of its indices or its inputs, has a slot of
 * words in a buffer. Kernels check the slot before they write, and the host reads it later, so validation does not wait
 * for the host.
 */

import { GPU } from "../../core/limits.ts";
import { OPEN } from "../../core/resources.ts";
import { contentsOf, destroyBuffer, TENSOR_USAGE, type Gpu } from "./gpu.ts";
import { FINE, type Span } from "./kernel.ts";

/** The words of a slot. */
export const SLOT = {
  /**
   * The first word: FINE for success, 0 if an input has no contents, and otherwise 1 + the number of the first bad
   * index.
   */
  failure: 0,
  /**
   * The second word: FINE if the result has valid elements, or 0 if the failed call left the result without contents.
   */
  contents: 1,
  /** The low word of the first bad index. */
  low: 2,
  high: 3,
  /** FINE, or 1 + the first position that repeats the target of an earlier position. */
  repeat: 4,
  earlier: 5,
  target: 6,
} as const;

/** The number of words per slot. */
export const WORDS = 8;

/** The slot for calls that cannot fail on the GPU. */
export const NEVER = 0;

/** The GPU's report on a call: null for success, or `input` if an input has no contents. */
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

  /** Returns the first word of a free slot, which the first kernel of the call initializes. */
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
   * Enlarges the buffer. The copy is submitted separately, because the device may refuse the next call, while pending
   * calls still need their slots.
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
