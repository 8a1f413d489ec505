/** Combines the library's explanation of a call with the content of each tensor's cells. */

import type { Explanation, Scalar, Tensor } from "ndscatter";
import { explainState, type Fault, type Reading } from "../document/read-state.ts";
import { printElement } from "../values/scalar-text.ts";
import type { State } from "../values/state.ts";
import { linksOf, type Links } from "./links.ts";
import { targetsOf, type Targets } from "./targets.ts";
import type { Cells } from "./cells.ts";

export interface CallView {
  readonly state: State;
  readonly explanation: Explanation | null;
  readonly faults: readonly Fault[];
  /** The picture, or null if the call has errors. */
  readonly picture: Picture | null;
  /** The parsed texts, which the next view reuses. */
  readonly reads: Reading["reads"];
}

export interface Picture {
  readonly state: State;
  readonly explanation: Explanation;
  readonly links: Links;
  readonly targets: Targets;
  readonly output: Tensor;
  readonly printed: Printed;
}

/**
 * Texts already parsed in `before` are reused. Any error becomes a fault of the call, so this function never throws.
 */
export function viewOf(state: State, before: CallView | null = null): CallView {
  try {
    const { explanation, faults, reads } = explainState(state, before?.reads);
    const isValid = explanation !== null && faults.length === 0;
    const picture = isValid ? pictureOf(state, explanation, before?.picture ?? null) : null;
    return { state, explanation, faults, picture, reads };
  } catch (error) {
    const fault: Fault = { place: { whole: "operator" }, sentence: String(error) };
    return { state, explanation: null, faults: [fault], picture: null, reads: new Map() };
  }
}

function pictureOf(state: State, explanation: Explanation, before: Picture | null): Picture | null {
  const { output } = explanation;
  const isMoved = before === null || !areAddressedAlike(state, before, explanation);
  const links = isMoved ? linksOf(explanation) : before.links;
  if (links === null || output === null) return null;
  const targets = isMoved ? targetsOf(links) : before.targets;
  const isAlike = before?.output.dtype === output.dtype;
  const printed = printOf(output, isAlike ? before.printed : undefined);
  return { state, explanation, links, targets, output, printed };
}

/**
 * Checks whether the same updates or reads reach the same places as before. Reading 20,000 of them takes 30 ms, and
 * most edits change a value.
 */
function areAddressedAlike(
  { domain, op, opset, attributes, inputs }: State,
  { state }: Picture,
  explanation: Explanation,
): boolean {
  const isSame =
    domain === state.domain &&
    op === state.op &&
    opset === state.opset &&
    attributes === state.attributes;
  return (
    isSame &&
    inputs.every((text, input) => {
      const other = state.inputs[input] ?? null;
      const role = explanation.inputs[input]?.role ?? "";
      if (text === other || text === null || other === null) return text === other;
      return (role === "data" || role === "updates") && String(text.shape) === String(other.shape);
    })
  );
}

export interface Printed {
  readonly elements: readonly Scalar[];
  readonly texts: readonly string[];
}

/**
 * Prints the elements. Unchanged elements reuse their text, because printing 4096 floats takes 3 of the 16 ms in a
 * player step.
 */
function printOf(tensor: Tensor, before: Printed = { elements: [], texts: [] }): Printed {
  const nested: readonly unknown[] = [tensor.toArray()];
  const elements = nested.flat(tensor.shape.length) as Scalar[];
  const texts = elements.map((value, element) =>
    Object.is(value, before.elements[element])
      ? before.texts[element]
      : printElement(tensor.dtype, value),
  );
  return { elements, texts };
}

/**
 * Returns the printed output after `step` steps; null after the last step, and for a gather, whose elements never
 * change.
 */
export function printedAfter(
  { explanation: { story }, links }: Picture,
  step: number,
  before: Printed | undefined,
): Printed | null {
  if (story?.kind !== "scatter" || step >= links.count) return null;
  return printOf(story.after(step), before);
}

export function outputCells(
  { links, output, printed: { texts: values } }: Picture,
  tints: Int8Array,
  hits: Uint32Array | null,
  step: number,
  printed: Printed | null,
): Pick<Cells, "values" | "tints" | "hits"> {
  if (step >= links.count) return { values, tints, hits };
  if (links.kind === "gather") {
    const isThere = (element: number): boolean => links.carried[element] < step;
    return {
      values: values.map((value, element) => (isThere(element) ? value : "")),
      tints: tints.map((tint, element) => (isThere(element) ? tint : -1)),
      hits,
    };
  }
  const shown = new Uint32Array(output.size);
  for (const [slice, orders] of links.reached) {
    const count = orders.findIndex((order) => order >= step);
    const begin = slice * links.slice;
    shown.fill(count === -1 ? orders.length : count, begin, begin + links.slice);
  }
  return {
    values: printed?.texts ?? values,
    tints: tints.map((tint, element) => (shown[element] === 0 ? -1 : tint)),
    hits: shown,
  };
}

/** Counts the updates that reach each element of data or a scatter's output; null for other tensors. */
export function hitsOf(links: Links, role: string, size: number): Uint32Array | null {
  if (links.kind === "gather" || (role !== "data" && role !== "output")) return null;
  const hits = new Uint32Array(size);
  for (const [slice, { length }] of links.reached) {
    if (links.slice === 1) hits[slice] = length;
    else hits.fill(length, slice * links.slice, (slice + 1) * links.slice);
  }
  return hits;
}
