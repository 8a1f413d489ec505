/** Edits an input's shape, with a field for each dimension and buttons to add or remove the last dimension. */

import type { JSX } from "preact";
import { MOST_AXES } from "../values/limits.ts";
import { NumberField } from "../widgets/number-field.tsx";

interface ShapeEditorProps {
  readonly name: string;
  readonly shape: readonly number[];
  /** The dimensions that an error refers to. */
  readonly wrong?: ReadonlySet<number>;
  readonly describedBy?: string | undefined;
  onShape(shape: readonly number[]): void;
  /** Adds an axis at the end, with length 1 by default. */
  onGrow?(): void;
}

export function ShapeEditor(props: ShapeEditorProps): JSX.Element {
  const { name, shape, wrong, describedBy, onShape, onGrow } = props;
  return (
    <span class="shape">
      <span aria-hidden="true">[</span>
      {shape.map((length, axis) => (
        <Dimension
          key={axis}
          label={`dimension ${axis} of ${name}`}
          length={length}
          isWrong={wrong?.has(axis) === true}
          describedBy={describedBy}
          onLength={(other) => onShape(shape.with(axis, other))}
        />
      ))}
      <span aria-hidden="true">]</span>
      <button
        type="button"
        title={`one dimension fewer for ${name}`}
        disabled={shape.length === 0}
        onClick={() => onShape(shape.slice(0, -1))}
      >
        <span aria-hidden="true">−</span>
      </button>
      <button
        type="button"
        title={`one dimension more for ${name}`}
        disabled={shape.length >= MOST_AXES}
        onClick={onGrow ?? (() => onShape([...shape, 1]))}
      >
        <span aria-hidden="true">+</span>
      </button>
    </span>
  );
}

interface DimensionProps {
  readonly label: string;
  readonly length: number;
  readonly isWrong: boolean;
  readonly describedBy: string | undefined;
  onLength(length: number): void;
}

const Dimension = (props: DimensionProps): JSX.Element => {
  const { label, length, isWrong, describedBy, onLength } = props;
  return (
    <NumberField
      attributes={{
        class: "dimension",
        role: "spinbutton",
        "aria-label": label,
        "aria-valuenow": length,
        "aria-valuemin": 0,
        "aria-invalid": isWrong ? true : undefined,
        "aria-describedby": isWrong ? describedBy : undefined,
        size: Math.max(1, String(length).length),
      }}
      text={String(length)}
      // A text that is not a length is refused with a reason, like a length that is too large.
      onText={(text) => onLength(text.trim() === "" ? Number.NaN : Number(text))}
      stepped={(by) => String(Math.max(0, length + by))}
    />
  );
};
