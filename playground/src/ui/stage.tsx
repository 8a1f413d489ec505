/** The tensors of the call side by side, with the arrows between their cells. */

import type { JSX } from "preact";
import { Arrows } from "./arrows.tsx";
import { withGiven } from "./edits.ts";
import type { Session } from "./session.ts";
import { TensorCard } from "./tensor-card.tsx";
import type { Picture } from "./view.ts";

const NO_FAULTS: readonly string[] = [];
const NO_NUMBERS: ReadonlySet<number> = new Set();

export function Stage({ session }: { readonly session: Session }): JSX.Element {
  const { state, picture, isStale, tuples, description, spot } = session;
  return (
    <div class={`stage${isStale ? " failing" : ""}`}>
      {state.inputs.map((_, position) => inputCard(session, position))}
      {picture === null ? <NoOutput version={session.version} /> : outputCard(session, picture)}
      <Arrows arrows={description?.arrows ?? []} tuples={tuples} spot={isStale ? null : spot} />
    </div>
  );
}

/** A function, not a component, because cards are keyed by the names of inputs. */
function inputCard(session: Session, position: number): JSX.Element {
  const { state, version, page, inputs, edits, picture, at, tuples, onSpot } = session;
  const text = state.inputs[position];
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
          add it
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
}

function outputCard(
  { output, tuples, isStale, onSpot }: Session,
  { explanation, output: tensor }: Picture,
): JSX.Element | null {
  const schema = explanation.version?.outputs[0];
  return output === null ? null : (
    <TensorCard
      id="output"
      name={schema?.name ?? "output"}
      description={schema?.description ?? ""}
      dtype={tensor.dtype}
      shape={tensor.shape}
      cells={output}
      tuples={tuples}
      faults={NO_FAULTS}
      wrongDimensions={NO_NUMBERS}
      isStale={isStale}
      edits={null}
      onSpot={onSpot}
    />
  );
}

function NoOutput({ version }: Pick<Session, "version">): JSX.Element {
  return (
    <section class="tensor left-out" aria-label="output">
      <header>
        <h2>{version?.outputs[0].name ?? "output"}</h2>
        <span>there is none while something is wrong</span>
      </header>
    </section>
  );
}
