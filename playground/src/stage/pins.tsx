/** Pinned slices of large tensors, which stay in view while their tables scroll. */

import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { printShape } from "ndscatter/operators";
import { tableWidthOf, type Lane } from "./layout.ts";
import { coordinatesOf } from "../values/shape.ts";
import type { Viewed } from "./use-corners.ts";
import type { Pin } from "./lane-props.ts";
import { laneProps } from "./lanes.ts";
import { elementOf, Sheet } from "./sheet.tsx";

export interface Pins {
  readonly pins: readonly Pin[];
  /** Pins or unpins a slice. */
  toggle(pin: Pin): void;
}

/** The maximum number of pinned slices that fit side by side. */
const MOST = 6;
/** The maximum number of visible rows and columns in a pinned slice. */
const MOST_ROWS = 10;
const MOST_COLUMNS = 12;
/** The heights in pixels of a row, and of the name above a slice with the space around it. */
const PITCH = 20;
const ABOVE = 64;

const isSame = (one: Pin, other: Pin): boolean =>
  one.id === other.id && one.matrix === other.matrix;

/** `key` changes with the shapes, because a pin is meaningless for another shape. */
export function usePins(key: string): Pins {
  const [pins, setPins] = useState<readonly Pin[]>([]);
  useEffect(() => setPins([]), [key]);
  const toggle = useCallback((pin: Pin) => {
    setPins((before) =>
      before.some((one) => isSame(one, pin))
        ? before.filter((one) => !isSame(one, pin))
        : [...before, pin].slice(-MOST),
    );
  }, []);
  return { pins, toggle };
}

/** Returns the stage height that pinned slices take. */
export const pinsHeight = ({ pins }: Pins): number =>
  pins.length === 0 ? 0 : MOST_ROWS * PITCH + ABOVE;

/** Returns the number of table rows in a matrix; indices and scalar updates may form one column. */
const rowsOf = ({ shape, sheet }: Lane): number =>
  ((shape.at(-2) ?? 1) * (shape.at(-1) ?? 1)) / Math.max(sheet.columns, 1);

/** Returns the matrix at the top of a window; null if the tensor has a single matrix or is fully visible. */
export function matrixAt(lane: Lane, row: number): number | null {
  const height = rowsOf(lane);
  return lane.isWindow && lane.shape.length > 2 && height > 0 ? Math.floor(row / height) : null;
}

interface PinnedProps extends Viewed {
  readonly pinned: Pins;
}

export function PinnedSlices({
  session,
  layout,
  windows,
  pinned,
}: PinnedProps): JSX.Element | null {
  const { pins, toggle } = pinned;
  if (pins.length === 0) return null;
  return (
    <div class="pins" role="group" aria-label="pinned slices">
      {pins.map((pin) => {
        const lane = layout.lanes.find(({ id }) => id === pin.id);
        return lane === undefined ? null : (
          <Slice
            key={`${pin.id} ${pin.matrix}`}
            pin={pin}
            lane={lane}
            session={session}
            layout={layout}
            windows={windows}
            onClose={() => toggle(pin)}
          />
        );
      })}
    </div>
  );
}

interface SliceProps extends Omit<PinnedProps, "pinned"> {
  readonly pin: Pin;
  readonly lane: Lane;
  onClose(): void;
}

function Slice({ pin, lane, session, layout, windows, onClose }: SliceProps): JSX.Element {
  const { shape, sheet, cell, side, name } = lane;
  const rows = Math.min(rowsOf(lane), MOST_ROWS);
  const columns = Math.min(sheet.columns, MOST_COLUMNS);
  const lead = coordinatesOf(pin.matrix, shape.slice(0, -2));
  const title = `${name}[${[...lead, ":", ":"].join(", ")}]`;
  const part = {
    ...lane,
    rows,
    columns,
    isWindow: true,
    tableWidth: tableWidthOf(side, columns, cell),
  };
  const { cells, onSpot } = laneProps(session, lane, layout);
  return (
    <section class="tensor" aria-label={title}>
      <div class="line">
        <h3>{title}</h3>
        <button type="button" class="quiet" aria-label={`unpin ${title}`} onClick={onClose}>
          ×
        </button>
      </div>
      <div
        onMouseOver={(event) => {
          const element = elementOf(event.target);
          onSpot(element === -1 ? null : { tensor: pin.id, element }, false);
        }}
        onMouseLeave={() => onSpot(null, false)}
        onClick={(event) => {
          const element = elementOf(event.target);
          if (element !== -1) windows.onReveal(pin.id, element);
        }}
      >
        <Sheet
          {...cells}
          id={pin.id}
          prefix="pinned-"
          name={`${title} of ${printShape(shape)}`}
          lane={part}
          metrics={layout.metrics}
          corner={{ row: pin.matrix * rowsOf(lane), column: 0 }}
          active={-1}
          editing={null}
          isReadOnly
          hasTabs={false}
          onEdited={() => undefined}
        />
      </div>
    </section>
  );
}
