/**
 * The tensors of the call in fixed lanes: indices, updates, data, output. Tables stand where `layout.ts` says, so that a
 * change of a value moves nothing.
 */

import { Fragment, type JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { gutterWidth, heightOf, MINIMAP, type Lane, type Layout } from "../model/layout.ts";
import { ORIGIN, type Windows } from "./corners.ts";
import { Chips, Marks, Wires } from "./gutter.tsx";
import { TensorLane } from "./lane.tsx";
import { laneProps } from "./lanes.ts";
import type { Session } from "./session.ts";
import { cellId } from "./sheet.tsx";
import { withGiven } from "./edits.ts";
import type { Spot } from "./vocabulary.ts";
import { NO_WIRING, wiringOf } from "../model/wiring.ts";

interface StageProps {
  readonly session: Session;
  readonly layout: Layout;
  readonly windows: Windows;
  onText(id: number, text: string | null): void;
}

export function Stage({ session, layout, windows, onText }: StageProps): JSX.Element {
  const { picture, isStale, description, spot, at, links } = session;
  const { corners, onCorner, onReveal } = windows;
  const orders = useMemo(
    () => (description === null || isStale ? null : new Set(description.orders)),
    [description, isStale],
  );
  const wiring = useMemo(
    () =>
      picture === null || isStale
        ? NO_WIRING
        : wiringOf(picture, layout, description?.orders ?? []),
    [picture, isStale, layout, (links?.count ?? 0) > 64 ? description : null],
  );
  const box = useRef<HTMLDivElement>(null);
  useLit(
    box,
    description?.arrows.flatMap(({ from, to }) => [from, to]) ?? [],
    isStale ? null : spot,
  );
  // The tables of a large call follow the cell that is described.
  useEffect(() => {
    if (spot === null) return;
    for (const { from, to } of description?.arrows ?? []) {
      for (const other of [from, to]) {
        if (other.tensor !== spot.tensor) onReveal(other.tensor, other.element);
      }
    }
  }, [description]);
  const tuples =
    orders === null || links === null
      ? null
      : new Set([...orders].map((order) => links.tupleOf[order]));
  const sideOf = (lane: Lane) => ({ lane, corner: corners.get(lane.id) ?? ORIGIN });
  const heights = layout.lanes.map(({ sheet, rows }) =>
    heightOf({ ...sheet, rows }, layout.metrics),
  );
  const gutterAfter = (position: number): JSX.Element | null => {
    const [left, right] = layout.lanes.slice(position, position + 2);
    const gutter = layout.gutters[position];
    if (gutter === undefined || right === undefined) return null;
    if (layout.isNarrow && gutter !== "chips" && gutter !== "gap") return null;
    const { metrics, isNarrow } = layout;
    const width = gutterWidth(gutter, isNarrow);
    if (gutter === "chips") {
      const rows =
        tuples === null
          ? null
          : new Set(wiring.chips.flatMap((chip, tuple) => (tuples.has(tuple) ? [chip.row] : [])));
      return (
        <Chips
          width={width}
          metrics={metrics}
          side={sideOf(left)}
          chips={left.isWindow ? [] : wiring.chips}
          tuples={rows}
        />
      );
    }
    if (gutter === "becomes") {
      return (
        <Marks
          width={width}
          metrics={metrics}
          side={sideOf(right)}
          marks={right.isWindow ? [] : wiring.marks}
        />
      );
    }
    if (gutter === "gap") return <div class="gutter" style={{ width: `${width}px` }} />;
    return (
      <Wires
        width={width}
        metrics={metrics}
        left={sideOf(left)}
        right={sideOf(right)}
        wires={wiring.wires.get(left.role) ?? []}
        orders={orders}
        step={session.step === null ? Infinity : at}
        height={Math.max(...heights)}
        verb={left.role === "updates" ? session.verb : left.role === "data" ? "⇒" : ""}
      />
    );
  };
  return (
    <div
      class={`stage${isStale ? " failing" : ""}${layout.isNarrow ? " narrow" : ""} ${layout.kind}`}
      ref={box}
      style={{
        "--pitch": `${layout.metrics.pitch}px`,
        "--font": `${layout.metrics.font}px`,
        "--top": layout.hasMaps ? `${MINIMAP}px` : "0px",
      }}
    >
      {layout.lanes.map((lane, position) => (
        <Fragment key={lane.name}>
          <div class={`lane ${lane.role}`} style={{ width: `${lane.width}px` }}>
            <TensorLane
              {...laneProps(session, lane, layout)}
              corner={corners.get(lane.id) ?? ORIGIN}
              onCorner={onCorner}
              onReveal={onReveal}
              onText={onText}
            />
          </div>
          {gutterAfter(position)}
        </Fragment>
      ))}
      <LeftOut session={session} />
    </div>
  );
}

/** Optional inputs that are left out. */
function LeftOut({
  session: { state, version, page },
}: {
  readonly session: Session;
}): JSX.Element | null {
  const missing = state.inputs.flatMap((text, position) => (text === null ? [position] : []));
  if (missing.length === 0) return null;
  return (
    <p class="left-out">
      {missing.map((position) => {
        const name = version?.inputs[position]?.name ?? `input ${position}`;
        return (
          <button
            type="button"
            key={position}
            onClick={() => page.show(withGiven(state, version, position))}
          >
            add {name}
          </button>
        );
      })}
    </p>
  );
}

/**
 * Marks the cells that a description is about by an attribute that no component sets, so that moving the pointer redraws
 * no table.
 */
function useLit(
  box: { readonly current: HTMLElement | null },
  spots: readonly Spot[],
  spot: Spot | null,
): void {
  useLayoutEffect(() => {
    const all = spot === null ? spots : [...spots, spot];
    const cells = all
      .map(({ tensor, element }) => document.getElementById(cellId(tensor, element)))
      .filter((cell) => cell !== null && box.current?.contains(cell) === true) as HTMLElement[];
    for (const cell of cells) cell.dataset["lit"] = "";
    return () => {
      for (const cell of cells) delete cell.dataset["lit"];
    };
  });
}
