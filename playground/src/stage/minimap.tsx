/**
 * A minimap of a whole tensor, drawn above its window. The minimap shows each element's number of updates and the
 * window's position; a click moves the window.
 */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { MINIMAP } from "./layout.ts";
import type { LaneProps } from "./lane-props.ts";
import { useTheme } from "../widgets/theme.tsx";

const HEIGHT = MINIMAP - 12;
const MOST_WIDTH = 240;

type Colour = readonly [red: number, green: number, blue: number];
type Colours = readonly [Colour, Colour, Colour, Colour];

/**
 * Colours for no update, one update, several updates, and an error. The colour for several updates becomes stronger
 * with their number.
 */
const COLOURS: Readonly<Record<"light" | "dark", Colours>> = {
  light: [
    [226, 231, 237],
    [86, 160, 215],
    [196, 92, 0],
    [179, 38, 30],
  ],
  dark: [
    [44, 54, 65],
    [74, 148, 206],
    [244, 140, 60],
    [255, 120, 110],
  ],
};

export function Minimap({ id, name, lane, cells, corner, onCorner }: LaneProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const colours = COLOURS[useTheme()];
  const { sheet } = lane;
  const width = Math.min(
    lane.width,
    MOST_WIDTH,
    Math.max(24, (HEIGHT * sheet.columns) / sheet.rows),
  );
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context === null || context === undefined || sheet.rows * sheet.columns === 0) return;
    draw(context, sheet, cells, colours);
  }, [cells, lane, colours]);
  const move = (event: PointerEvent): void => {
    const box = canvas.current?.getBoundingClientRect();
    if (box === undefined || event.buttons !== 1) return;
    onCorner(id, {
      row: at((event.clientY - box.top) / box.height, sheet.rows, lane.rows),
      column: at((event.clientX - box.left) / box.width, sheet.columns, lane.columns),
    });
  };
  return (
    <div
      class="minimap"
      style={{ height: `${HEIGHT}px`, width: `${width}px` }}
      title={`overview of ${name}: click to move the window`}
      onPointerDown={move}
      onPointerMove={move}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <span
        class="viewport"
        style={{
          top: percent(corner.row, sheet.rows),
          left: percent(corner.column, sheet.columns),
          height: percent(lane.rows, sheet.rows),
          width: percent(lane.columns, sheet.columns),
        }}
      />
    </div>
  );
}

const percent = (part: number, all: number): string => `${(100 * part) / Math.max(all, 1)}%`;

/** Returns the first visible row or column of a view centred at the fraction `part`. */
const at = (part: number, all: number, seen: number): number =>
  Math.max(0, Math.min(all - seen, Math.round(part * all - seen / 2)));

/** Draws one pixel per element, or per group of elements in the colour of its strongest element. */
function draw(
  context: CanvasRenderingContext2D,
  { rows, columns }: { readonly rows: number; readonly columns: number },
  { tints, hits, faults }: LaneProps["cells"],
  [nothing, one, several, wrong]: Colours,
): void {
  const size = { width: Math.min(columns, MOST_WIDTH * 2), height: Math.min(rows, HEIGHT * 2) };
  Object.assign(context.canvas, size);
  const heat = new Float32Array(size.width * size.height);
  let most = 2;
  for (let element = 0; element < rows * columns; element++) {
    const count = faults.has(element)
      ? Infinity
      : (hits?.[element] ?? ((tints[element] ?? -1) >= 0 ? 1 : 0));
    if (count === 0) continue;
    const y = Math.floor((Math.floor(element / columns) * size.height) / rows);
    const x = Math.floor(((element % columns) * size.width) / columns);
    const pixel = y * size.width + x;
    heat[pixel] = Math.max(heat[pixel], count);
    if (count !== Infinity) most = Math.max(most, count);
  }
  const image = context.createImageData(size.width, size.height);
  for (const [pixel, count] of heat.entries()) {
    const share = count <= 1 ? 1 : 0.55 + 0.45 * (Math.log(count) / Math.log(most));
    const base = count === Infinity ? wrong : count > 1 ? several : count === 1 ? one : nothing;
    for (let part = 0; part < 3; part++) {
      image.data[4 * pixel + part] =
        nothing[part] + (base[part] - nothing[part]) * Math.min(share, 1);
    }
    image.data[4 * pixel + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
