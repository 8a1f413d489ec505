/** One tensor of the call: its name, its data type, its shape and its grid. All of an input can be changed. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Cursor } from "./cursor.tsx";
import { memo } from "./memo.ts";
import { ShapeEditor } from "./shape-editor.tsx";
import { bracketed, TextEditor } from "./text-editor.tsx";
import type { Edits, TensorCardProps } from "./tensor-props.ts";
import type { TensorId } from "./vocabulary.ts";

const MOST_FAULTS = 3;

const faultsId = (id: TensorId): string => `faults-${id}`;

export const TensorCard = memo<TensorCardProps>((props) => {
  const { id, name, description, dtype, shape, faults, isStale, edits } = props;
  // Pasted text that is no tensor goes into the text editor, with the error.
  const [text, setText] = useState<string | null>(null);
  const isWrong = faults.length > 0;
  return (
    <section
      class={`tensor${isStale ? " stale" : ""}${isWrong ? " wrong" : ""}`}
      aria-label={name}
      data-tensor={id}
    >
      <header>
        <div class="line">
          <h2 title={description}>{name}</h2>
          {edits === null ? (
            <span class="dtype">{dtype}</span>
          ) : (
            <DTypeMenu name={name} dtype={dtype} edits={edits} />
          )}
        </div>
        {edits === null ? (
          <code class="line shape-of-output">[{shape.join(", ")}]</code>
        ) : (
          <ShapeLine {...props} edits={edits} text={text} onText={setText} />
        )}
      </header>
      {isStale && <p class="stale-note">as it was before the error</p>}
      {text !== null && edits !== null && (
        <TextEditor
          name={name}
          text={text}
          error={edits.errorOf(text)}
          onText={edits.onText}
          onClose={() => setText(null)}
        />
      )}
      {isWrong && (
        <div class="faults" id={faultsId(id)} role="alert">
          {faults.slice(0, MOST_FAULTS).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          {faults.length > MOST_FAULTS && <p>and {faults.length - MOST_FAULTS} more</p>}
        </div>
      )}
      <Cursor
        {...props}
        onPasted={(pasted) => {
          if (edits !== null && edits.onText(pasted) !== null) setText(pasted);
        }}
      />
    </section>
  );
});

interface DTypeMenuProps {
  readonly name: string;
  readonly dtype: string;
  readonly edits: Edits;
}

const DTypeMenu = ({ name, dtype, edits }: DTypeMenuProps): JSX.Element => (
  <select
    aria-label={`data type of ${name}`}
    value={dtype}
    onChange={(event) => edits.onDType(event.currentTarget.value)}
  >
    {edits.dtypes.map((choice) => (
      <option key={choice.name} value={choice.name} disabled={choice.reason !== null}>
        {choice.reason === null ? choice.name : `${choice.name} (${choice.reason})`}
      </option>
    ))}
  </select>
);

interface ShapeLineProps extends TensorCardProps {
  readonly edits: Edits;
  /** The text in the text editor; null while there is none. */
  readonly text: string | null;
  onText(text: string | null): void;
}

/** The shape, and the buttons beside it. */
function ShapeLine(props: ShapeLineProps): JSX.Element {
  const { id, name, shape, cells, faults, wrongDimensions, edits, text, onText } = props;
  return (
    <div class="line">
      <ShapeEditor
        name={name}
        shape={shape}
        wrong={wrongDimensions}
        describedBy={faults.length > 0 ? faultsId(id) : undefined}
        onShape={edits.onShape}
        onGrow={edits.onGrow}
      />
      <button
        type="button"
        class="small"
        aria-label={`${name} as text`}
        aria-expanded={text !== null}
        onClick={() => onText(text === null ? bracketed(cells.values, shape) : null)}
      >
        text
      </button>
      {edits.onLeaveOut !== null && (
        <button type="button" class="small" onClick={edits.onLeaveOut}>
          leave out
        </button>
      )}
    </div>
  );
}
