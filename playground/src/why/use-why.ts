/** The state of the panel "Why is mine different?": the output to compare, the results, and the pressed toggle. */

import type { DialectId, Explanation } from "ndscatter";
import { useEffect, useRef, useState } from "preact/hooks";
import { readState } from "../document/read-state.ts";
import type { Session } from "../cells/session.ts";
import type { ShownActual } from "../document/state.ts";
import { cellId, type TensorId } from "../values/spot.ts";
import type { State, TensorText } from "../values/state.ts";
import {
  compareActual,
  compareShape,
  firstBeside,
  fitActual,
  isOfType,
  outputTypeOf,
  printCompared,
  readActual,
  readCompared,
  rulesOf,
  type Actual,
  type Comparison,
  type OutputType,
  type ReadActual,
  type Rule,
  type Rules,
} from "./on-demand.ts";

export interface WhyProps {
  readonly session: Session;
  /** Scrolls a cell of the stage into view. */
  onReveal(id: TensorId, element: number): void;
}

/** The pressed toggle's key; at most one toggle is pressed. */
export interface Pressing {
  readonly pressed: string | null;
  onPress(key: string): void;
}

/** The user's text or file, which is read again after each edit, because the output type may have changed. */
interface Source {
  read(output: OutputType): ReadActual;
}

interface Found {
  readonly state: State;
  readonly source: Source | null;
  readonly actual: Actual | null;
  readonly comparison: Comparison | null;
  readonly error: string | null;
  readonly rules: Rules;
}

/** The values that the panel draws, and the functions that its form calls. */
export interface Why {
  /** The system next to the user's output and the exact output. */
  readonly beside: DialectId | null;
  onBeside(id: DialectId): void;
  readonly found: Found | null;
  readonly hasSource: boolean;
  readonly pressing: Pressing;
  onText(text: string): void;
  onFile(input: TensorText): void;
  onRefusal(sentence: string): void;
  onClear(): void;
}

export function useWhy(props: WhyProps): Why {
  const { state, explanation, generation, asked } = props.session;
  const { actual = null, dialect, link } = asked ?? {};
  const [source, setSource] = useState<Source | null>(null);
  const [chosen, setChosen] = useState<DialectId | null>(null);
  const [pressed, setPressed] = useState<string | null>(null);
  const found = useFound(state, explanation, source);
  const take = (read: Source["read"] | null): void => {
    setSource(read && { read });
    setPressed(null);
  };
  useEffect(() => {
    take(null);
    setChosen(null);
  }, [generation]);
  useEffect(() => {
    if (actual !== null) take((output) => ({ ...fitActual(actual, output), dialect }));
  }, [actual]);
  useEffect(() => {
    if (link === undefined) return;
    const linked = readCompared(link);
    take((output) =>
      linked === null
        ? { error: "The output of the link cannot be read." }
        : fitActual(linked.text, output, linked.rounding, "The output of the link"),
    );
    setChosen(linked?.beside ?? null);
  }, [link, generation]);
  useTells(found, { source, chosen, pressed }, props);
  const { comparison = null, rules = null } = found ?? {};
  return {
    found,
    beside: chosen ?? (comparison && rules && firstBeside(rules, comparison)),
    onBeside: setChosen,
    hasSource: source !== null,
    pressing: { pressed, onPress: (key) => setPressed(key === pressed ? null : key) },
    onText: (text) => take((output) => readActual(text, output)),
    onFile: (input) => take((output) => fitActual(input, output)),
    onRefusal: (error) => take(() => ({ error })),
    onClear: () => take(null),
  };
}

interface Chosen {
  readonly source: Source | null;
  readonly chosen: DialectId | null;
  readonly pressed: string | null;
}

/** Tells the page what the panel has found, and at the end that the panel shows nothing. */
function useTells(
  found: Found | null,
  { source, chosen, pressed }: Chosen,
  { session: { act, onSpot }, onReveal }: WhyProps,
): void {
  const printed = useRef({ source, suffix: "" });
  useEffect(() => {
    if (found === null || found.source !== source) return;
    // A comparison may be impossible while the call is being edited, but stays in the URL.
    if (found.actual !== null)
      printed.current = { source, suffix: printCompared({ ...found.actual, beside: chosen }) };
    if (source === null) act({ do: "compare", compared: null });
    else if (printed.current.source === source) {
      const { suffix } = printed.current;
      act({ do: "compare", compared: { state: found.state, suffix } });
    }
  }, [found, chosen]);
  useEffect(() => act({ do: "show", actual: found && shownOf(found) }), [found]);
  // The first differing element of an output that is compared for the first time is selected.
  useEffect(() => {
    const [first] = found?.comparison?.differing ?? [];
    if (first === undefined) return;
    onReveal("output", first);
    onSpot({ tensor: "output", element: first }, true);
    const id = cellId("output", first);
    requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView({ block: "nearest" }));
  }, [found?.actual]);
  useEffect(() => {
    const rule = pressed === null || found === null ? null : ruleOf(pressed, found);
    act({ do: "show", rule });
  }, [pressed, found]);
  useEffect(
    () => () => {
      act({ do: "show", rule: null, actual: null });
      act({ do: "compare", compared: null });
    },
    [],
  );
}

/**
 * The delay in milliseconds after an edit: diagnosing a call with 4,096 elements takes longer than the time between two
 * keystrokes.
 */
const REST = 250;

function useFound(
  state: State,
  explanation: Explanation | null,
  source: Source | null,
): Found | null {
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    const isEdit = found !== null && found.state !== state;
    const timer = setTimeout(
      () => setFound((before) => find(state, explanation, source, before)),
      isEdit ? REST : 0,
    );
    return () => clearTimeout(timer);
  }, [state, explanation, source]);
  return found;
}

function find(
  state: State,
  explanation: Explanation | null,
  source: Source | null,
  before: Found | null,
): Found {
  const reading = readState(state);
  const { node, inputs, faults } = reading;
  const rules = faults.length > 0 ? { error: faults[0].sentence } : rulesOf(node, inputs);
  const nothing = { state, source, actual: null, comparison: null, error: null, rules };
  if (source === null) return nothing;
  const output = outputTypeOf(reading);
  if ("error" in output) return { ...nothing, error: output.error };
  // Parsing is the slowest step if the text is large. Most edits do not change the output type, so the text is parsed
  // again only if the type changes.
  const known = before?.source === source ? before.actual : null;
  const actual = known !== null && isOfType(known.text, output) ? known : source.read(output);
  const { unfit } = actual;
  const call = { ...reading, explanation };
  const other = unfit === undefined ? null : compareShape(call, unfit, output, rules);
  if (unfit !== undefined && other !== null) {
    const own = { text: unfit, rounding: null, remarks: [] };
    return { ...nothing, actual: own, comparison: other };
  }
  if ("error" in actual) return { ...nothing, error: actual.error };
  const comparison = compareActual(call, actual, rules);
  return "error" in comparison
    ? { ...nothing, error: comparison.error }
    : { ...nothing, actual, comparison };
}

const shownOf = ({ state, comparison }: Found): ShownActual | null =>
  comparison && { state, texts: comparison.texts, differing: comparison.differing };

/** Returns the toggle key for a cause's number. The toggle shows the pasted output. */
export const causeKey = (number: number): string => `cause ${number}`;

/** Returns a toggle's rule: the systems with this key, or the explanation of a cause. */
function ruleOf(key: string, { rules, comparison }: Found): Rule | null {
  const causes = comparison?.causes ?? [];
  const cause = causes.find((_, number) => causeKey(number) === key);
  if (cause !== undefined && comparison !== null) {
    const { output, differing } = comparison;
    return { name: cause.sentence, output, differing, undecided: new Set() };
  }
  return "error" in rules ? null : (rules.choices.find((one) => one.key === key)?.rule ?? null);
}
