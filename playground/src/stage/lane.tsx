/** Shows a tensor on the stage: name, data type, shape and table. All parts of an input can be edited. */

import type { JSX } from "preact";
import { Cursor } from "./cursor.tsx";
import { DTypeMenu } from "../inputs/dtype-menu.tsx";
import type { LaneProps } from "./lane-props.ts";
import { memo } from "../widgets/memo.ts";
import { Minimap } from "./minimap.tsx";
import { isShort, type ShortHead } from "./metrics.ts";
import { ShapeEditor } from "../inputs/shape-editor.tsx";
import { typeIn } from "./lane-sizes.ts";
import { FAULTS_ID } from "../values/spot.ts";

export const TensorLane = memo<LaneProps>((props) => {
  const { id, name, isStale, isWrong, head, edits, hasMap } = props;
  return (
    <section
      class={`tensor${isStale ? " stale" : ""}${isWrong ? " wrong" : ""}`}
      aria-label={name}
      data-tensor={id}
    >
      {/* A screen reader can skip a group. It comes before the table because the focus moves in the visible order. */}
      <header {...(edits !== null && !isShort(head) && groupOf(name))}>
        {isShort(head) ? (
          <ShortLines {...props} head={head} />
        ) : (
          <>
            <NameLine {...props} />
            <TypeLines {...props} />
          </>
        )}
      </header>
      {hasMap && <Minimap {...props} />}
      <Cursor {...props} onPasted={(text, element) => void edits?.onPaste(element, text)} />
    </section>
  );
});

const groupOf = (name: string) =>
  ({ role: "group", "aria-label": `${name}: type and shape` }) as const;

/** The header for a small stage, where one button opens all edits of a tensor. */
function ShortLines(props: LaneProps & { readonly head: ShortHead }): JSX.Element {
  const { id, name, dtype, lane, edits, remark, onText, head } = props;
  const shape = `[${lane.shape.join(", ")}]`;
  const title = `${name} ${dtype} ${shape}`.replace("  ", " ");
  const short = head === "line" || dtype === "" ? "" : typeIn(dtype, lane, head);
  const type = <span class="dtype">{`${short} ${shape}`.trim()}</span>;
  if (edits === null || id === "output") {
    return (
      <div class="short" title={title}>
        <h2>{name}</h2>
        {/* In a low header, the remark replaces the output's data type, which is the same as the type of data. */}
        {(remark === "" || head === "short") && type}
        {remark !== "" && (
          <span class="dtype">
            <em>{remark}</em>
          </span>
        )}
      </div>
    );
  }
  return (
    <button
      type="button"
      class="short"
      aria-haspopup="dialog"
      title={title}
      onClick={() => onText(id)}
    >
      <h2>
        {name}
        <small aria-hidden="true">▾</small>
      </h2>
      {type}
    </button>
  );
}

function NameLine(props: LaneProps): JSX.Element {
  const { id, name, description, edits, onText } = props;
  return (
    <div class="line">
      <h2 title={description}>{name}</h2>
      {edits !== null && id !== "output" && (
        <button
          type="button"
          class="quiet"
          aria-label={`${name} as text`}
          title="view as text, to copy or replace"
          onClick={() => onText(id)}
        >
          text
        </button>
      )}
      {edits !== null && edits.onLeaveOut !== null && (
        <button
          type="button"
          class="quiet"
          aria-label={`leave ${name} out`}
          title="omit this optional input"
          onClick={edits.onLeaveOut}
        >
          ×
        </button>
      )}
    </div>
  );
}

function TypeLines(props: LaneProps): JSX.Element {
  const { name, dtype, lane, remark, edits, isWrong, wrongDimensions } = props;
  if (edits === null) {
    return (
      <>
        <div class="line dtype">
          {dtype}
          {remark !== "" && (
            <em>
              {dtype !== "" && "\u00a0"}
              {remark}
            </em>
          )}
        </div>
        <code class="line shape-of-output">[{lane.shape.join(", ")}]</code>
      </>
    );
  }
  return (
    <>
      <div class="line">
        <DTypeMenu name={name} dtype={dtype} edits={edits} />
      </div>
      <div class="line">
        <ShapeEditor
          name={name}
          shape={lane.shape}
          wrong={wrongDimensions}
          describedBy={isWrong ? FAULTS_ID : undefined}
          onShape={edits.onShape}
          onGrow={edits.onGrow}
        />
      </div>
    </>
  );
}
