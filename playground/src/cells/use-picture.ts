/** Hooks for what is drawn: the picture of the call, what the cards of tensors show, and the cell that is described. */

import { printShape, type OperatorVersion, type Tensor } from "ndscatter";
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
import { lettersOf } from "./letters.ts";
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

/** A call, and the picture that is drawn of it. */
interface Drawn {
  readonly call: CallView;
  /** Null where there is no such operator. */
  readonly version: OperatorVersion | null;
  readonly faults: Faults;
  readonly picture: Picture | null;
  /** The shape of the call's output; null if it is unknown, and then no output is drawn. */
  readonly outputShape: readonly number[] | null;
  /** Whether the picture is of a call before, because this one has an error. */
  readonly isStale: boolean;
}

/**
 * The call of a state, and its picture.
 *
 * @param last the last picture of a call without errors. It stays on the page while the call is corrected.
 */
export function usePicture(state: State, last: { current: Picture | null }): Drawn {
  const before = useRef<CallView | null>(null);
  const call = useMemo(() => viewOf(state, before.current), [state]);
  before.current = call;
  if (call.picture !== null) last.current = call.picture;
  const outputShape = useMemo(() => outputShapeOf(call), [call]);
  const { domain, op } = state;
  // The last picture is dropped if it shows another operator, or an output of another shape.
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

/** What the cards of the tensors show and do, of which only `output` changes while the picture is played. */
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

/** What is shown in place of the output, or marked in it. */
export interface Shown {
  /** The output as another system gives it; null for the exact one. */
  readonly rule: OutputRule | null;
  /** What a runtime gave, where it differs. */
  readonly actual: OutputActual | null;
}

/** What a runtime gave, in the order of the output's elements. */
interface OutputActual {
  readonly texts: readonly string[];
  readonly differing: ReadonlySet<number>;
}

export interface OutputRule {
  /** The system. */
  readonly name: string;
  readonly output: Tensor;
  readonly differing: ReadonlySet<number>;
}

/** The cells of the output after `step` steps of the player. */
function useOutput(picture: Picture | null, step: number, { rule, actual }: Shown): Cells | null {
  const marks = useMemo(() => {
    if (picture === null) return null;
    const { links, targets, output } = picture;
    return {
      tints: tintsOf(links, targets, "output", output.size),
      hits: hitsOf(links, "output", output.size),
      letters: lettersOf(links, "output", output.size),
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
    const all: Cells = { ...NOTHING_SAID, ...cells, letters: marks.letters };
    // Nobody knows what another system has after some of the steps.
    if (step < picture.links.count) return all;
    if (others !== null) return { ...all, ...others };
    return theirs === null ? all : { ...all, others: theirs };
  }, [picture, marks, step, others, theirs]);
}

/** The values of another system, and where they differ the exact ones. */
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
  /** The cell that the pointer is on; null where it is on none. */
  readonly pointed: Spot | null;
  /** The cell that is described: the one pointed at, else the one in focus. */
  readonly spot: Spot | null;
  onSpot(next: Spot | null, isFocus: boolean): void;
  setFocused(spot: Spot | null): void;
  setPointed(spot: Spot | null): void;
}

/** The cell whose story is shown. */
export function useSpots(): Spots {
  const [focused, setFocused] = useState<Spot | null>(null);
  const [pointed, setPointed] = useState<Spot | null>(null);
  const onSpot = useCallback((next: Spot | null, isFocus: boolean) => {
    if (isFocus) setFocused(next);
    setPointed(isFocus ? null : next);
  }, []);
  return { pointed, spot: pointed ?? focused, onSpot, setFocused, setPointed };
}
