/**
 * Records failures on the GPU. A call that may fail on the GPU, because of its indices or its inputs, has a slot of
 * words in a buffer. Kernels check the call before other kernels write: they initialize the slot, convert indices to
 * targets, and record whether the result will have contents. If there are few indices, one dispatch of one workgroup
 * performs all steps. The host reads the slot later, so validation does not wait for the host.
 */

import { GPU } from "../../core/limits.ts";
import { OPEN } from "../../core/resources.ts";
import { contentsOf, destroyBuffer, TENSOR_USAGE, type Gpu } from "./gpu.ts";
import { FINE, WORKGROUP, type Span } from "./kernel.ts";
import type { Reading } from "./read-indices.ts";
import type { Recording } from "./recording.ts";
import { mostHit, positionsOf, runOnTargets, tableOf, type Targets } from "./targets.ts";

/** The words of a slot. */
const SLOT = {
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
    if (this.#free.length === 0 && this.#next === this.#slots) this.#grow();
    OPEN.slots++;
    return this.#free.pop() ?? WORDS * this.#next++;
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

/** The inputs of a call's checks, except for the indices. */
export interface CheckedCall {
  /**
   * The slots of the pending calls that compute the inputs, of which there are at most three. A tensor that a kept plan
   * has uploaded has no slot.
   */
  readonly inputs: readonly number[];
  /** The slot of the previous call that wrote `out`, or null for a new result. */
  readonly before: number | null;
}

/** The indices on the GPU, and the number of words per index. */
interface IndexSpan extends Span {
  readonly step: 1 | 2;
}

/** Returns the numbers of the kernels that begin and end the checks. */
function numbersOf(slot: number, { inputs, before }: CheckedCall): Record<string, number> {
  const [a = NEVER, b = NEVER, c = NEVER, ...others] = inputs;
  // Every slot must be read, because a skipped slot could hide an input without contents.
  if (others.length > 0) throw new Error(`a call reads 3 slots of inputs, got ${inputs.length}`);
  return { slot, a, b, c, before: before ?? NEVER, isNew: before === null ? 1 : 0 };
}

/** Returns an expression for a word in a slot. */
const wordOf = (slot: string, word: number): string => `&status[params.${slot} + ${word}u]`;
const own = (word: number): string => wordOf("slot", word);

/** WGSL that initializes a slot. If an input has no contents, the call is marked as failed. */
const BEGIN = `
fn begin() {
  let contents = min(atomicLoad(${wordOf("a", SLOT.contents)}),
    min(atomicLoad(${wordOf("b", SLOT.contents)}), atomicLoad(${wordOf("c", SLOT.contents)})));
  for (var word = 0u; word < ${WORDS}u; word++) { atomicStore(&status[params.slot + word], FINE); }
  atomicStore(&status[params.slot], contents);
}`;

/**
 * Returns WGSL that stores the words of a bad index, and records whether the result will have contents. The parameter
 * `step` is 0 without indices.
 */
const endOf = (step: 0 | 1 | 2): string => `
fn end() {
  var failure = atomicLoad(${own(SLOT.failure)});
  ${
    step === 0
      ? ""
      : `if (failure != FINE && failure != 0u) {
    let at = (failure - 1u) * ${step}u;
    atomicStore(${own(SLOT.low)}, indices[at]);
    atomicStore(${own(SLOT.high)}, ${step === 2 ? "indices[at + 1u]" : "0u"});
  }`
  }
  if (failure == FINE) {
    failure = atomicLoad(${own(SLOT.repeat)});
    atomicStore(${own(SLOT.failure)}, failure);
  }
  if (failure != FINE) {
    let before = atomicLoad(${wordOf("before", SLOT.contents)});
    atomicStore(${own(SLOT.contents)}, select(before, 0u, params.isNew == 1u));
  }
}`;

const SLOT_BYTES = 4 * WORDS;

/** Records the checks of a call whose indices were checked on the host, because an input may still have no contents. */
export function checkInputs(recording: Pick<Recording, "run" | "guard">, call: CheckedCall): void {
  const { status, slot } = recording.guard;
  recording.run({
    ...{ name: "checks of inputs", threads: 1, bytes: SLOT_BYTES, params: numbersOf(slot, call) },
    buffers: { atomic: { status } },
    declarations: () => BEGIN + endOf(0),
    body: () => "  begin();\n  end();",
  });
}

/**
 * Records the checks of a call with indices on the GPU, and fills `targets`. `between` records additional checks of the
 * targets, or is null.
 */
export function checkIndices(
  recording: Recording,
  call: CheckedCall,
  { name, params: read, declarations, body, count, isChecked }: Reading,
  indices: IndexSpan,
  targets: Span,
  between: (() => void) | null,
): void {
  const { status, slot } = recording.guard;
  const atomic = { status };
  const { step } = indices;
  const params = numbersOf(slot, call);
  const bytes = indices.bytes + targets.bytes;
  if (between === null && count <= GPU.alone) {
    // One workgroup initializes the slot, reads the indices, and ends the checks in one dispatch.
    recording.run({
      ...{
        name: `checks, ${name}, ${step}`,
        isWhole: true,
        params: { ...params, ...read, total: count },
      },
      ...{ threads: WORKGROUP, bytes: bytes + SLOT_BYTES },
      buffers: { atomic, read: { indices }, write: { targets } },
      declarations: () => BEGIN + endOf(step) + declarations,
      body: () => `  if (local == 0u) { begin(); }
  storageBarrier();
  for (var i = local; i < params.total; i += ${WORKGROUP}u) {
  ${body}
  }
  storageBarrier();
  if (local == 0u) { end(); }`,
    });
    return;
  }
  const single = { threads: 1, bytes: SLOT_BYTES, params };
  recording.run({
    ...{ name: "begin", ...single, buffers: { atomic } },
    ...{ declarations: () => BEGIN, body: () => "  begin();" },
  });
  // The kernel is not guarded, because an invocation that stopped after another's failure could miss the first bad
  // index.
  recording.run({
    ...{ name, threads: count, bytes, params: { ...read, slot } },
    buffers: { ...(isChecked && { atomic, read: { indices } }), write: { targets } },
    ...{ declarations: () => declarations, body: () => body },
  });
  between?.();
  recording.run({
    ...{ name: `end of checks, ${step}`, ...single, buffers: { atomic, read: { indices } } },
    ...{ declarations: () => endOf(step), body: () => "  end();" },
  });
}

/**
 * Implements `duplicates: "error"`: finds the first position that repeats the target of an earlier position, and writes
 * this position into the call's slot, unless there is a bad index.
 */
export function findRepeat(recording: Recording, targets: Targets): void {
  const positions = positionsOf(targets);
  if (targets.slice === 0 || positions === 0) return;
  const table = tableOf(recording, targets, "first", false);
  const buffers = { atomic: { status: recording.guard.status }, read: { table } };
  // The first position has the greatest key, because all bits of its number are inverted.
  runOnTargets(recording, targets, {
    ...{ name: "repeat", bytes: 4 * mostHit(targets), guard: "stops", buffers },
    body: () => `  let t = targetOf(i);
  if (t == NOWHERE) { return; }
  if (table[t] != ~i) { atomicMin(${own(SLOT.repeat)}, i + 1u); }`,
  });
  runOnTargets(recording, targets, {
    ...{ name: "describe repeat", threads: 1, bytes: 0, guard: "stops", buffers },
    body: () => `  let repeat = atomicLoad(${own(SLOT.repeat)});
  if (repeat == FINE) { return; }
  let t = targetOf(repeat - 1u);
  atomicStore(${own(SLOT.earlier)}, ~table[t]);
  atomicStore(${own(SLOT.target)}, t);`,
  });
}
