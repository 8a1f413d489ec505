/** The page: the state that is edited, the picture that the library makes of it, and what the two are drawn with. */

import { operators, printShape, type OperatorVersion } from "ndscatter";
import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { withDType, withShape, withValue } from "../model/edit.ts";
import { withText } from "../model/paste.ts";
import { fromHash, toHash } from "../model/hash.ts";
import { type Fault } from "../model/read-state.ts";
import type { State, TensorText } from "../model/state.ts";
import { zerosText } from "../model/tensor-text.ts";
import { withOperator } from "../model/with-operator.ts";
import { Arrows } from "./arrows.tsx";
import { OpenFile } from "./open-file.tsx";
import { EXAMPLES } from "./examples.ts";
import type { Cells } from "./grid.tsx";
import { marksOf, type Tuple } from "../model/links.ts";
import { OperatorBar } from "./operator-bar.tsx";
import { Player } from "./player.tsx";
import { Shapes } from "./shapes.tsx";
import { aloud, Story } from "./story.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { describeCell, describeStep, type Spot, type Description } from "./describe.ts";
import { TensorCard, type DTypeChoice, type Edits } from "./tensor-card.tsx";
import { ThemeButton } from "./theme.tsx";
import {
  viewOf,
  notesOf,
  nowOf,
  outputCells,
  printedAfter,
  type CallView,
  type Picture,
  type Printed,
} from "./view.ts";
import { roleOf, typesOf } from "../model/schema.ts";
import { coordinatesOf, sizeOf } from "../model/shape.ts";

/** The state, and the one way to change it. */
interface Page {
  state(): State;
  /** What is said explains the change. */
  show(next: State, words?: readonly string[]): void;
}

/** What is shown, and what was said when it came to be. */
interface Shown {
  readonly state: State;
  readonly said: readonly string[];
  /** The preset that it was, as long as nothing has been changed. */
  readonly preset: string | null;
  /** Rises with every change. */
  readonly edition: number;
}

/** The state that a link holds; the first preset where there is none, or where it cannot be read. */
function shownAt(hash: string): Shown {
  const [first] = EXAMPLES;
  const plain: Shown = { state: first.state, said: [], preset: first.id, edition: 0 };
  if (hash.replace(/^#/, "") === "") return plain;
  const found = fromHash(hash);
  if ("error" in found) return { ...plain, said: [found.error] };
  const text = toHash(found.state);
  const preset = EXAMPLES.find(({ state }) => toHash(state) === text)?.id ?? null;
  return { state: found.state, said: [], preset, edition: 0 };
}

const NO_TUPLES: readonly Tuple[] = [];
const NO_FAULTS: readonly string[] = [];
const NO_NOTES: ReadonlyMap<number, string> = new Map();
const NO_NUMBERS: ReadonlySet<number> = new Set();
const NOWHERE: readonly [number, number] = [0, 0];

/** So many milliseconds after the last change the address holds the state. */
const REST = 200;

const HINT =
  "Point at a cell, or move to it with Tab and the arrow keys: its story stands here. Type, or click twice, to change it.";

export function App(): JSX.Element {
  const [shown, setShown] = useState(() => shownAt(location.hash));
  const [step, setStep] = useState<number | null>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [focused, setFocused] = useState<Spot | null>(null);
  const [pointed, setPointed] = useState<Spot | null>(null);
  const { state, said, preset, edition } = shown;
  /** The last picture of a call without errors. It stays while the call is being put right, and no longer. */
  const last = useRef<Picture | null>(null);

  // Two changes may come before the page is drawn again.
  const latest = useRef(state);
  latest.current = state;
  const page = useMemo(
    (): Page => ({
      state: () => latest.current,
      show(next, words = []) {
        const isSame = next === latest.current;
        latest.current = next;
        setStep(null);
        setShown((before) => ({
          state: next,
          said: words,
          preset: isSame ? before.preset : null,
          edition: before.edition + 1,
        }));
      },
    }),
    [],
  );
  const showPreset = (id: string): void => {
    const chosen = EXAMPLES.find((one) => one.id === id);
    if (chosen === undefined) return;
    last.current = null;
    setStep(null);
    setFocused(null);
    setShown({ state: chosen.state, said: [], preset: id, edition: edition + 1 });
  };

  useEffect(() => {
    const timer = setTimeout(() => {
      const hash = `#${toHash(state)}`;
      if (hash !== location.hash) history.replaceState(null, "", hash);
    }, REST);
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    const onHash = (): void => {
      last.current = null;
      setStep(null);
      setShown((before) => ({ ...shownAt(location.hash), edition: before.edition + 1 }));
    };
    window.addEventListener("hashchange", onHash);
    return () => window.removeEventListener("hashchange", onHash);
  }, []);

  const call = useMemo(() => viewOf(state), [state]);
  if (call.picture !== null) last.current = call.picture;
  const { domain, op } = state;
  // Another operator's picture would say nothing of this call.
  const isKept = last.current?.state.op === op && last.current.state.domain === domain;
  const picture = isKept ? last.current : null;
  const isStale = call.picture === null;
  const version = call.explanation?.version ?? null;
  const faults = useMemo(() => sorted(call.faults), [call]);
  const tuples = picture?.links.tuples ?? NO_TUPLES;
  const count = picture?.links.count ?? 0;
  const at = isStale ? count : Math.min(step ?? count, count);

  // What does not change while the picture is played.
  const inputs = useMemo(
    () =>
      state.inputs.map((text, position) =>
        inputView(picture, isStale, state, text, position, faults),
      ),
    [state, picture, faults],
  );
  const edits = useMemo(
    () => state.inputs.map((_, position) => editsOf(version, position, page)),
    [version, state.inputs.length],
  );
  const outputMarks = useMemo(
    () => (picture === null ? [] : marksOf(picture.links, "output", picture.output.size)),
    [picture],
  );
  const before = useRef<{ picture: Picture; printed: Printed } | null>(null);
  const output = useMemo((): Cells | null => {
    if (picture === null) return null;
    const known = before.current?.picture === picture ? before.current.printed : undefined;
    const printed = printedAfter(picture, at, known);
    if (printed !== null) before.current = { picture, printed };
    const cells = outputCells(picture, outputMarks, at, printed);
    return { ...cells, notes: NO_NOTES, faults: NO_NOTES };
  }, [picture, outputMarks, at]);

  const spot = pointed ?? focused;
  const told = call.picture;
  const description = useMemo(() => {
    if (told === null) return describeFault(call, spot);
    if (spot !== null) return describeCell(told, spot);
    return step === null ? null : describeStep(told, step - 1);
  }, [call, told, spot, step]);
  const onSpot = useCallback((next: Spot | null, isFocus: boolean) => {
    if (isFocus) setFocused(next);
    setPointed(isFocus ? null : next);
  }, []);
  const onStep = useCallback((next: number) => {
    setFocused(null);
    setPointed(null);
    setStep(next);
  }, []);
  const toHear =
    isPlaying || pointed !== null || description === null ? "" : aloud(description, tuples);

  const onFit = (name: string, shape: readonly number[]): void => {
    const position = version?.inputs.findIndex((one) => one.name === name) ?? -1;
    edits[position]?.onShape(shape);
  };
  const note = EXAMPLES.find(({ id }) => id === preset)?.note ?? "";

  return (
    <div class="page">
      <header class="top">
        <h1>
          <a href="./">ndscatter</a> <span>playground</span>
        </h1>
        <Presets chosen={preset} onPreset={showPreset} />
        <OpenFile
          inputs={version?.inputs.map(({ name }) => name) ?? []}
          onTensor={(input, position, words) =>
            page.show({ ...state, inputs: state.inputs.with(position, input) }, words)
          }
          onState={(next, words) => {
            last.current = null;
            page.show(next, words);
          }}
          onRefusal={(sentence) => page.show(state, [sentence])}
        />
        <ExportDialog state={state} explanation={call.explanation} />
        <ThemeButton />
      </header>
      <main>
        {note !== "" && <p class="note-of-preset">{note}</p>}
        <OperatorBar
          state={state}
          version={version}
          faults={faults.attributes}
          onChoice={(choice) => {
            const chosen = withOperator(state, choice);
            page.show(chosen.state, chosen.remarks);
          }}
          onAttribute={(name, text) => page.show(withAttribute(state, version, name, text))}
        />
        {/* It is there before anything is said: readers announce what comes into it. */}
        <div class="said" role="status">
          {said.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
        {faults.whole.length > 0 && (
          <div class="faults" role="alert">
            {faults.whole.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
          </div>
        )}
        <Shapes shapes={call.explanation?.shapes ?? []} onFit={onFit} />
        <Player
          noun={picture?.links.kind === "gather" ? "reads" : "updates"}
          count={count}
          step={at}
          isDisabled={isStale}
          edition={edition}
          onStep={onStep}
          onPlaying={setPlaying}
        />
        <div class="columns">
          <div class={`stage${isStale ? " failing" : ""}`}>
            {state.inputs.map((text, position) => {
              const schema = version?.inputs[position];
              const name = schema?.name ?? `input ${position}`;
              const view = inputs[position];
              return text === null ? (
                <section class="tensor left-out" key={name} aria-label={name}>
                  <header>
                    <h2>{name}</h2>
                    <span>is left out</span>
                    <button
                      type="button"
                      class="small"
                      onClick={() => page.show(withGiven(state, version, position))}
                    >
                      give it
                    </button>
                  </header>
                </section>
              ) : (
                <TensorCard
                  key={name}
                  id={position}
                  name={name}
                  description={schema?.description ?? ""}
                  dtype={text.dtype}
                  shape={text.shape}
                  cells={view.at(at, picture)}
                  tuples={tuples}
                  faults={view.sentences}
                  wrongDimensions={view.dimensions}
                  isStale={false}
                  edits={edits[position]}
                  onSpot={onSpot}
                />
              );
            })}
            {picture !== null && output !== null && (
              <TensorCard
                id="output"
                name={picture.explanation.version?.outputs[0].name ?? "output"}
                description={picture.explanation.version?.outputs[0].description ?? ""}
                dtype={picture.output.dtype}
                shape={picture.output.shape}
                cells={output}
                tuples={tuples}
                faults={NO_FAULTS}
                wrongDimensions={NO_NUMBERS}
                isStale={isStale}
                edits={null}
                onSpot={onSpot}
              />
            )}
            {picture === null && (
              <section class="tensor left-out" aria-label="output">
                <header>
                  <h2>{version?.outputs[0].name ?? "output"}</h2>
                  <span>there is none while something is wrong</span>
                </header>
              </section>
            )}
            <Arrows
              arrows={description?.arrows ?? []}
              tuples={tuples}
              spot={isStale ? null : spot}
            />
          </div>
          <aside>
            <Story
              description={description}
              tuples={tuples}
              hint={isStale ? "There is a story again when the error is put right." : HINT}
            />
          </aside>
        </div>
        <p class="hidden" role="status" id="aloud">
          {toHear}
        </p>
      </main>
    </div>
  );
}

/** What is wrong with a cell is its story. */
function describeFault({ faults, state }: CallView, spot: Spot | null): Description | null {
  if (spot === null || spot.tensor === "output") return null;
  const shape = state.inputs[spot.tensor]?.shape ?? [];
  const found = faults.find(
    ({ place }) =>
      "at" in place && place.input === spot.tensor && flatElement(place.at, shape) === spot.element,
  );
  return found === undefined ? null : { title: found.sentence, lines: [], arrows: [] };
}

interface PresetsProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
}

function Presets({ chosen, onPreset }: PresetsProps): JSX.Element {
  const groups = [...new Set(EXAMPLES.map(({ group }) => group))];
  return (
    <label class="presets">
      <span>example</span>
      <select value={chosen ?? ""} onChange={(event) => onPreset(event.currentTarget.value)}>
        {chosen === null && <option value="">your own</option>}
        {groups.map((group) => (
          <optgroup key={group} label={group}>
            {EXAMPLES.filter((one) => one.group === group).map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** Faults by what they are about. */
interface Faults {
  readonly attributes: ReadonlyMap<string, string>;
  readonly whole: readonly string[];
  readonly inputs: ReadonlyMap<number, readonly Fault[]>;
}

function sorted(faults: readonly Fault[]): Faults {
  const attributes = new Map<string, string>();
  const whole: string[] = [];
  const inputs = new Map<number, Fault[]>();
  for (const fault of faults) {
    const { place, sentence } = fault;
    if ("attribute" in place) attributes.set(place.attribute, sentence);
    else if ("whole" in place) whole.push(sentence);
    else inputs.set(place.input, [...(inputs.get(place.input) ?? []), fault]);
  }
  return { attributes, whole, inputs };
}

interface InputView {
  readonly sentences: readonly string[];
  readonly dimensions: ReadonlySet<number>;
  at(step: number, picture: Picture | null): Cells;
}

/** What the cells of an input look like; after an error they keep the colours of the last picture where they fit. */
function inputView(
  picture: Picture | null,
  isStale: boolean,
  state: State,
  text: TensorText | null,
  position: number,
  { inputs }: Faults,
): InputView {
  const mine = inputs.get(position) ?? [];
  const shape = text?.shape ?? [];
  const cells = new Map<number, string>();
  const dimensions = new Set<number>();
  for (const { place, sentence } of mine) {
    if ("at" in place) cells.set(flatElement(place.at, shape), sentence);
    if ("dims" in place) for (const axis of place.dims) dimensions.add(axis);
  }
  const before = picture?.state.inputs[position];
  const fits =
    picture !== null &&
    picture.state.op === state.op &&
    printShape(before?.shape ?? []) === printShape(shape);
  const role = picture?.explanation.inputs[position]?.role ?? "";
  const marks = fits ? marksOf(picture.links, role, sizeOf(shape)) : [];
  const isNoted = fits && !isStale && role === "indices";
  const still: Cells = {
    values: text?.values ?? [],
    marks,
    shown: null,
    notes: isNoted ? notesOf(picture.links, shape) : NO_NOTES,
    faults: cells,
    now: NOWHERE,
  };
  return {
    sentences: mine.map(({ sentence }) => sentence),
    dimensions,
    at: (step, now) => {
      if (now === null || isStale) return still;
      const range = nowOf(now.links, role, step, shape);
      return range[0] === range[1] ? still : { ...still, now: range };
    },
  };
}

/** The element that an error speaks of; a place in the middle of a tensor is that of its first element. */
const flatElement = (at: readonly number[], shape: readonly number[]): number =>
  shape.reduce((element, length, axis) => element * length + (at[axis] ?? 0), 0);

function editsOf(version: OperatorVersion | null, position: number, page: Page): Edits {
  const schema = version?.inputs[position];
  const put = (text: TensorText | null): void => {
    const state = page.state();
    page.show({ ...state, inputs: state.inputs.with(position, text) });
  };
  const mine = (): TensorText => page.state().inputs[position] ?? zerosText("float32", []);
  // Inputs of one type constraint have one data type.
  const isAlike = (other: number): boolean => version?.inputs[other]?.type === schema?.type;
  return {
    dtypes: version === null ? [] : dtypesOf(version, position),
    onDType: (name) => {
      const chosen = version && schema && typesOf(version, schema).find((one) => one === name);
      if (!chosen) return;
      const state = page.state();
      const inputs = state.inputs.map((text, other) =>
        text !== null && isAlike(other) ? withDType(text, chosen) : text,
      );
      page.show({ ...state, inputs });
    },
    onShape: (shape) => {
      const edited = withShape(mine(), shape);
      if ("error" in edited) page.show(page.state(), [edited.error]);
      else put(edited.input);
    },
    onValue: (element, value) =>
      put(withValue(mine(), coordinatesOf(element, mine().shape), value)),
    onText: (text) => {
      const edited = withText(mine(), text);
      if ("error" in edited) return edited.error;
      put(edited.input);
      return null;
    },
    errorOf: (text) => {
      const edited = withText(mine(), text);
      return "error" in edited ? edited.error : null;
    },
    onLeaveOut: schema?.optional === true ? () => put(null) : null,
  };
}

/** The data types that a version takes, and those that only others of the operator do. */
function dtypesOf(version: OperatorVersion, position: number): DTypeChoice[] {
  const schema = version.inputs[position];
  const taken = typesOf(version, schema);
  const choices = taken.map((name): DTypeChoice => ({ name, reason: null }));
  for (const other of operators()) {
    const same = other.inputs[position];
    if (other.name !== version.name || other.domain !== version.domain || same === undefined)
      continue;
    for (const name of typesOf(other, same)) {
      if (choices.some((one) => one.name === name)) continue;
      choices.push({ name, reason: `version ${other.sinceVersion} takes it` });
    }
  }
  return choices;
}

/** Attributes that are as by default are not part of a state. */
function withAttribute(
  state: State,
  version: OperatorVersion | null,
  name: string,
  text: string,
): State {
  const { [name]: _, ...others } = state.attributes;
  const initial = version?.attributes.find((one) => one.name === name)?.default;
  const attributes = String(initial) === text ? others : { ...others, [name]: text };
  return { ...state, attributes };
}

/** An optional input that was left out, given: zeros, one for each entry of the first axis of data. */
function withGiven(state: State, version: OperatorVersion | null, position: number): State {
  const schema = version?.inputs[position];
  if (version === null || schema === undefined) return state;
  const shape = roleOf(schema) === "axis" ? [] : (state.inputs[0]?.shape.slice(0, 1) ?? []);
  const text = zerosText(typesOf(version, schema)[0], shape);
  return { ...state, inputs: state.inputs.with(position, text) };
}
