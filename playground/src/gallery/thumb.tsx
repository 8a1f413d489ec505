/** A thumbnail of a call: tables without values, in the colours of their targets. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { hitsOf, viewOf, type CallView } from "../cells/view.ts";
import { tintsOf } from "../cells/targets.ts";
import { firstOf, gridsOf, sizeOf } from "../values/shape.ts";
import type { State } from "../values/state.ts";
import { roleOf } from "ndscatter/operators";

/** The maximum number of table rows and columns to draw. */
const MOST = { rows: 8, columns: 6 };
const HEIGHT = 72;
const GAP = 14;

interface Block {
  readonly x: number;
  readonly y: number;
  readonly kind: string;
}

interface Table {
  readonly name: string;
  readonly blocks: readonly Block[];
  readonly rows: number;
  readonly columns: number;
}

/** The tables in the order in which the stage shows them. */
const ORDER = ["indices", "updates", "data", "output"];

export function Thumb({ state }: { readonly state: State }): JSX.Element {
  const tables = useMemo(() => tablesOf(viewOf(state)), [state]);
  const rows = Math.max(...tables.map((table) => table.rows), 4);
  const columns = tables.reduce((sum, table) => sum + table.columns, 0);
  const size = Math.min(HEIGHT / rows, (200 - GAP * tables.length) / Math.max(columns, 1), 14);
  let left = 0;
  return (
    <svg
      class="thumb"
      viewBox={`0 0 200 ${HEIGHT}`}
      preserveAspectRatio="xMinYMid"
      aria-hidden="true"
    >
      {tables.map(({ name, blocks, rows: tall, columns: wide }) => {
        const begin = left;
        left += wide * size + GAP;
        return (
          <g key={name}>
            {name === "output" && (
              <text x={begin - GAP / 2 - 1} y={HEIGHT / 2} text-anchor="middle">
                →
              </text>
            )}
            {blocks.map(({ x, y, kind }) => (
              <rect
                key={`${x},${y}`}
                class={kind}
                x={begin + x * size}
                y={(HEIGHT - tall * size) / 2 + y * size}
                width={size - 1.5}
                height={size - 1.5}
                rx={1.5}
              />
            ))}
          </g>
        );
      })}
    </svg>
  );
}

function tablesOf(call: CallView): readonly Table[] {
  const { state, picture, faults, explanation } = call;
  const roles = explanation?.version?.inputs.map(roleOf) ?? [];
  const shapes = new Map<string, readonly number[]>();
  state.inputs.forEach((input, position) => {
    if (input !== null) shapes.set(roles[position] ?? "", input.shape);
  });
  if (picture !== null) shapes.set("output", picture.output.shape);
  return ORDER.flatMap((name) => {
    const shape = shapes.get(name);
    if (shape === undefined) return [];
    const wrong = new Set(
      faults.flatMap(({ place }) =>
        "input" in place && roles[place.input] === name
          ? "at" in place
            ? [firstOf(place.at, shape)]
            : Array.from({ length: sizeOf(shape) }, (_, element) => element)
          : [],
      ),
    );
    return [tableOf(call, name, shape, wrong)];
  });
}

function tableOf(
  { picture }: CallView,
  name: string,
  shape: readonly number[],
  wrong: ReadonlySet<number>,
): Table {
  const grid = gridsOf(shape);
  const size = grid.rows * grid.grids * grid.columns;
  const rows = Math.min(grid.rows * grid.grids, MOST.rows);
  const columns = Math.min(grid.columns, MOST.columns);
  const tints = picture === null ? null : tintsOf(picture.links, picture.targets, name, size);
  const hits = picture === null ? null : hitsOf(picture.links, name, size);
  const blocks: Block[] = [];
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const element = y * grid.columns + x;
      const tint = tints?.[element] ?? -1;
      const isSeveral = (hits?.[element] ?? 0) > 1;
      const kind = [
        tint < 0 ? "" : `hue-${tint}`,
        isSeveral ? "several" : "",
        wrong.has(element) ? "wrong" : "",
      ];
      blocks.push({ x, y, kind: kind.join(" ").trim() });
    }
  }
  return { name, blocks, rows, columns };
}
