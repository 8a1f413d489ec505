/**
 * Defines the kernels that check a call before other kernels write. These kernels initialize the status slot, convert
 * indices to targets, and record whether the result will have contents. If there are few indices, one dispatch of one
 * workgroup performs all steps.
 */

import { GPU } from "../../core/limits.ts";
import { kernelOf, WORKGROUP, type Kernel } from "./kernel.ts";
import type { Reading } from "./read-indices.ts";
import type { Recording, Span } from "./recording.ts";
import { NEVER, SLOT, WORDS, type Guard } from "./status.ts";

/** The inputs of a call's checks, except for the indices. */
export interface CheckedCall extends Guard {
  /**
   * The slots of the pending calls that compute the inputs, of which there are at most three. A tensor that a kept plan
   * has uploaded has no slot.
   */
  readonly inputs: readonly number[];
  /** The slot of the previous call that wrote `out`, or null for a new result. */
  readonly before: number | null;
}

/** The indices on the GPU, and the number of words per index. */
export interface IndexSpan extends Span {
  readonly step: 1 | 2;
}

const INPUT_SLOTS = ["a", "b", "c"] as const;
const BEGIN_PARAMS = ["slot", ...INPUT_SLOTS] as const;
const END_PARAMS = ["slot", "before", "isNew"] as const;

function numbersOf({ slot, inputs, before }: CheckedCall): Record<string, number> {
  const [a = NEVER, b = NEVER, c = NEVER, ...others] = inputs;
  // Every slot must be read, because a skipped slot could hide an input without contents.
  if (others.length > 0)
    throw new Error(`a call reads ${INPUT_SLOTS.length} slots of inputs, got ${inputs.length}`);
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
export function checkInputs(recording: Pick<Recording, "run">, call: CheckedCall): void {
  const kernel = kernelOf("checks of inputs", () => ({
    params: [...new Set([...BEGIN_PARAMS, ...END_PARAMS])],
    buffers: { status: "atomic" },
    declarations: BEGIN + endOf(0),
    body: "  begin();\n  end();",
  }));
  recording.run(kernel, 1, SLOT_BYTES, numbersOf(call), { status: call.status });
}

/**
 * Returns the kernel for few indices, which initializes the slot, reads the indices, and ends the checks in one
 * dispatch.
 */
const aloneKernel = ({ name, params, declarations, body }: Reading, step: 1 | 2): Kernel =>
  kernelOf(`checks, ${name}, ${step}`, () => ({
    isWhole: true,
    params: [...new Set([...BEGIN_PARAMS, ...END_PARAMS]), "total", ...Object.keys(params)],
    buffers: { status: "atomic", indices: "read", targets: "write" },
    declarations: BEGIN + endOf(step) + declarations,
    body: `  if (local == 0u) { begin(); }
  storageBarrier();
  for (var i = local; i < params.total; i += ${WORKGROUP}u) {
  ${body}
  }
  storageBarrier();
  if (local == 0u) { end(); }`,
  }));

const BEGIN_KERNEL = kernelOf("begin", () => ({
  params: BEGIN_PARAMS,
  buffers: { status: "atomic" },
  declarations: BEGIN,
  body: "  begin();",
}));

/**
 * Returns the kernel that reads indices. The kernel is not guarded, because an invocation that stopped after another's
 * failure could miss the first bad index.
 */
const readKernel = ({ name, params, declarations, body, isChecked }: Reading): Kernel =>
  kernelOf(name, () => ({
    params: [...(isChecked ? ["slot"] : []), ...Object.keys(params)],
    buffers: { ...(isChecked && { status: "atomic", indices: "read" }), targets: "write" },
    ...{ declarations, body },
  }));

const endKernel = (step: 1 | 2): Kernel =>
  kernelOf(`end of checks, ${step}`, () => ({
    params: END_PARAMS,
    buffers: { status: "atomic", indices: "read" },
    declarations: endOf(step),
    body: "  end();",
  }));

/**
 * Records the checks of a call with indices on the GPU, and fills `targets`. `between` records additional checks of the
 * targets, or is null.
 */
export function checkIndices(
  recording: Recording,
  call: CheckedCall,
  reading: Reading,
  indices: IndexSpan,
  targets: Span,
  between: (() => void) | null,
): void {
  const { status } = call;
  const { count } = reading;
  const { step } = indices;
  const params = { ...numbersOf(call), ...reading.params, total: count };
  const buffers = { status, indices, targets };
  const bytes = indices.bytes + targets.bytes;
  if (between === null && count <= GPU.alone) {
    const kernel = aloneKernel(reading, step);
    recording.run(kernel, WORKGROUP, bytes + SLOT_BYTES, params, buffers);
    return;
  }
  recording.run(BEGIN_KERNEL, 1, SLOT_BYTES, params, buffers);
  recording.run(readKernel(reading), count, bytes, params, buffers);
  between?.();
  recording.run(endKernel(step), 1, SLOT_BYTES, params, buffers);
}
