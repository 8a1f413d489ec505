/** Hooks for drawing the call's picture, its tensors, and the described cell. */

import type { OperatorVersion, Tensor } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { outputShapeOf } from "./output-shape.ts";
import { printElement } from "../values/scalar-text.ts";
import type { State } from "../values/state.ts";
import { tintsOf } from "./targets.ts";
import { elementsOf } from "../values/tensor-text.ts";
import { editsOf } from "../document/edits.ts";
import { sortFaults, type Faults } from "../document/faults.ts";
import { inputView, type InputView } from "./input-view.ts";
import type { Page } from "../document/use-page.ts";
import type { Edits } from "../stage/lane-props.ts";
import { tabsOf } from "./tabs.ts";
import { NOTHING_SAID, type Cells } from "./cells.ts";
import {
  hitsOf,
  outputCells,
  printedAfter,
  viewOf,
  type CallView,
  type Picture,
  type Printed,
} from "./view.ts";
import type { Spot } from "../story/vocabulary.ts";

interface Drawn {
  readonly call: CallView;
  readonly version: OperatorVersion | null;
  readonly faults: Faults;
  readonly picture: Picture | null;
  /** The call's output shape; null if the shape is unknown, in which case no output is drawn. */
  readonly outputShape: readonly number[] | null;
  /** True if the picture shows the previous call because the current call has an error. */
  readonly isStale: boolean;
}

/**
 * Returns the call that a state describes, and its picture. `last` is the picture of the last valid call, which stays
 * visible until the call is corrected.
 */
export function usePicture(state: State, last: { current: Picture | null }): Drawn {
  const before = useRef<CallView | null>(null);
  const call = useMemo(() => viewOf(state, before.current), [state]);
  before.current = call;
  if (call.picture !== null) last.current = call.picture;
  const outputShape = useMemo(() => outputShapeOf(call), [call]);
  const { domain, op } = state;
  // The previous picture is discarded if the operator or the output shape changes.
  const isKept =
    last.current?.state.op === op &&
    last.current.state.domain === domain &&
    (outputShape === null || printShape(outputShape) === printShape(last.current.output.shape));
  const picture = isKept ? last.current : null;
  return {
    call,
    version: call.explanation?.version ?? null,
    faults: useMemo(() => sortFaults(call.faults), [call]),
    picture,
    outputShape: outputShape ?? picture?.output.shape ?? null,
    isStale: call.picture === null,
  };
}

/** Returns the content and event handlers of each tensor. The player changes only the content of `output`. */
export function useTensors(
  { call: { state }, version, faults, picture, isStale }: Drawn,
  page: Page,
  step: number,
  shown: Shown,
): {
  readonly inputs: readonly InputView[];
  readonly edits: readonly Edits[];
  readonly output: Cells | null;
} {
  const inputs = useMemo(
    () => state.inputs.map((_, position) => inputView(picture, isStale, state, position, faults)),
    [state, picture, faults],
  );
  const edits = useMemo(
    () => state.inputs.map((_, position) => editsOf(version, position, page)),
    [version, state.inputs.length],
  );
  return { inputs, edits, output: useOutput(picture, step, shown) };
}

/** Another system's output, which replaces the exact output or is compared with it. */
export interface Shown {
  /** The other system's rule for computing the output; null for the exact output. */
  readonly rule: OutputRule | null;
  /** A runtime's output, if it differs from the exact output. */
  readonly actual: OutputActual | null;
}

/** The runtime's output in row-major order. */
interface OutputActual {
  readonly texts: readonly string[];
  readonly differing: ReadonlySet<number>;
}

export interface OutputRule {
  readonly name: string;
  readonly output: Tensor;
  readonly differing: ReadonlySet<number>;
}

/** Returns the output cells after `step` player steps. */
function useOutput(picture: Picture | null, step: number, { rule, actual }: Shown): Cells | null {
  const marks = useMemo(() => {
    if (picture === null) return null;
    const { links, targets, output } = picture;
    return {
      tints: tintsOf(links, targets, "output", output.size),
      hits: hitsOf(links, "output", output.size),
      tabs: tabsOf(links, picture.state.op, "output", output.shape),
    };
  }, [picture]);
  const before = useRef<{ picture: Picture; printed: Printed } | null>(null);
  const others = useMemo(
    () => (rule === null || picture === null ? null : othersOf(picture, rule)),
    [rule, picture],
  );
  const theirs = useMemo(
    () =>
      actual === null
        ? null
        : new Map([...actual.differing].map((element) => [element, actual.texts[element] ?? ""])),
    [actual],
  );
  return useMemo((): Cells | null => {
    if (picture === null || marks === null) return null;
    const known = before.current?.picture === picture ? before.current.printed : undefined;
    const printed = printedAfter(picture, step, known);
    if (printed !== null) before.current = { picture, printed };
    const cells = outputCells(picture, marks.tints, marks.hits, step, printed);
    const all: Cells = { ...NOTHING_SAID, ...cells, tabs: marks.tabs };
    // The other system's values are known only after the last step.
    if (step < picture.links.count) return all;
    if (others !== null) return { ...all, ...others };
    return theirs === null ? all : { ...all, others: theirs };
  }, [picture, marks, step, others, theirs]);
}

/** Returns the other system's values and the exact values where they differ. */
function othersOf(
  { printed }: Picture,
  { output, differing }: OutputRule,
): Pick<Cells, "values" | "others"> {
  const values = elementsOf(output).map((value) => printElement(output.dtype, value));
  return {
    values,
    others: new Map([...differing].map((element) => [element, printed.texts[element]])),
  };
}

interface Spots {
  /** The cell under the pointer, or null. */
  readonly pointed: Spot | null;
  /** The cell to describe: the cell under the pointer, or else the focused cell. */
  readonly spot: Spot | null;
  onSpot(next: Spot | null, isFocus: boolean): void;
  setFocused(spot: Spot | null): void;
  setPointed(spot: Spot | null): void;
}

/** Tracks which cell is described. */
export function useSpots(): Spots {
  const [focused, setFocused] = useState<Spot | null>(null);
  const [pointed, setPointed] = useState<Spot | null>(null);
  const onSpot = useCallback((next: Spot | null, isFocus: boolean) => {
    if (isFocus) setFocused(next);
    setPointed(isFocus ? null : next);
  }, []);
  return { pointed, spot: pointed ?? focused, onSpot, setFocused, setPointed };
}
