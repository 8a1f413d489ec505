/** Hooks for drawing the call's picture and its tensors. */

import type { OperatorVersion } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { useMemo, useRef } from "preact/hooks";
import { outputShapeOf } from "./output-shape.ts";
import { printElement } from "../values/scalar-text.ts";
import type { State } from "../values/state.ts";
import { tintsOf } from "./targets.ts";
import { elementsOf } from "../values/tensor-text.ts";
import { sortFaults, type Faults } from "../document/faults.ts";
import { inputView, type InputView } from "./input-view.ts";
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
import type { OutputRule, ShownActual } from "../document/state.ts";

export interface Drawn {
  readonly call: CallView;
  readonly version: OperatorVersion | null;
  readonly faults: Faults;
  /** The picture of the last valid call; null after another operator or output shape was chosen since. */
  readonly picture: Picture | null;
  /** The call's output shape; null if the shape is unknown, in which case no output is drawn. */
  readonly outputShape: readonly number[] | null;
  /** True if the picture shows the previous call because the current call has an error. */
  readonly isStale: boolean;
}

/**
 * Returns the call that a state describes, and its picture. The picture of the last valid call stays visible until the
 * call is corrected. `generation` increases when another call is shown.
 */
export function usePicture(state: State, generation: number): Drawn {
  const before = useRef<CallView | null>(null);
  const call = useMemo(() => viewOf(state, before.current), [state]);
  before.current = call;
  const last = useRef<{ readonly picture: Picture; readonly generation: number } | null>(null);
  if (call.picture !== null) last.current = { picture: call.picture, generation };
  const outputShape = useMemo(() => outputShapeOf(call), [call]);
  const { domain, op } = state;
  // The previous picture is discarded if the operator or the output shape changes.
  const known = last.current?.generation === generation ? last.current.picture : null;
  const isKept =
    known?.state.op === op &&
    known.state.domain === domain &&
    (outputShape === null || printShape(outputShape) === printShape(known.output.shape));
  const picture = isKept ? known : null;
  return {
    call,
    version: call.explanation?.version ?? null,
    faults: useMemo(() => sortFaults(call.faults), [call]),
    picture,
    outputShape: outputShape ?? picture?.output.shape ?? null,
    isStale: call.picture === null,
  };
}

/** Returns the content of each tensor. The player changes only the content of `output`. */
export function useTensors(
  { call: { state }, faults, picture, isStale }: Drawn,
  step: number,
  shown: Shown,
): { readonly inputs: readonly InputView[]; readonly output: Cells | null } {
  const inputs = useMemo(
    () => state.inputs.map((_, position) => inputView(picture, isStale, state, position, faults)),
    [state, picture, faults],
  );
  return { inputs, output: useOutput(picture, step, shown) };
}

/** Another system's output, which replaces the exact output or is compared with it. */
interface Shown {
  readonly rule: OutputRule | null;
  readonly actual: ShownActual | null;
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
