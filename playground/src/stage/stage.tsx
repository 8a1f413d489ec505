/**
 * Draws the call's tensors in fixed order: indices, updates, data, output. Table positions come from `layout.ts`, so
 * changing a value moves no table.
 */

import { Fragment, type JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { crossingsOf, heightOf, MINIMAP, type Lane, type Layout, type Room } from "./layout.ts";
import { HEADS } from "./metrics.ts";
import { ORIGIN, type Viewed } from "./use-corners.ts";
import { Bus, Chips, Marks, Wires } from "./gutter.tsx";
import { TensorLane } from "./lane.tsx";
import { Bubble, Frame } from "./frame.tsx";
import { laneProps } from "./lanes.ts";
import type { Session } from "../cells/session.ts";
import type { State } from "../values/state.ts";
import { cellId, type Spot } from "../values/spot.ts";
import { NO_WIRING, wiringOf, type Wiring } from "./wiring.ts";
import { MOST_WIRES } from "./wires.ts";

interface StageProps extends Viewed {
  onText(id: number): void;
}

export function Stage(props: StageProps): JSX.Element {
  const { session, layout, windows } = props;
  const { isStale, description, spot, isPointed } = session;
  const { onReveal } = windows;
  const box = useRef<HTMLDivElement>(null);
  const spots = description?.arrows.flatMap(({ from, to }) => [from, to]) ?? [];
  // Elements that a step reads or writes are framed.
  useLit(box, spot === null ? [] : spots, isStale ? null : spot);
  // A large call's tables scroll to the selected cell or step. Tables do not scroll when the pointer moves over cells.
  useEffect(() => {
    if (isPointed) return;
    for (const other of spots) {
      if (other.tensor !== spot?.tensor)
        onReveal(other.tensor, other.element, spot?.tensor ?? null);
    }
  }, [description]);
  const wiring = useWiring(session, layout);
  const { metrics, kind, head, tierGap, hasMaps, tiers } = layout;
  return (
    <div
      class={`stage ${kind} head-${head}${isStale ? " failing" : ""}`}
      ref={box}
      style={{
        gap: `${tierGap}px`,
        "--pitch": `${metrics.pitch}px`,
        "--font": `${metrics.font}px`,
        "--small": `${metrics.small}px`,
        "--label": `${metrics.label}px`,
        "--head": `${HEADS[head]}px`,
        "--top": hasMaps ? `${MINIMAP}px` : "0px",
      }}
    >
      {tiers.map((tier, number) => (
        <div class="tier" key={tier[0]}>
          {layout.bus > 0 && <BusOf tier={number} wiring={wiring} {...props} />}
          {tier.map((position, i) => (
            <Fragment key={layout.lanes[position].name}>
              {i > 0 && <GutterBefore position={position} wiring={wiring} {...props} />}
              <Place lane={layout.lanes[position]} {...props} />
            </Fragment>
          ))}
          {session.verb !== "" && tier.length === 1 && tier[0] === layout.lanes.length - 1 && (
            <span class="verb-above" aria-hidden="true">
              ⇓ {session.verb}
            </span>
          )}
        </div>
      ))}
      <LeftOut session={session} />
    </div>
  );
}

/** A tensor with a frame around its highlighted elements. */
function Place({
  lane,
  session,
  layout,
  windows,
  onText,
}: StageProps & { readonly lane: Lane }): JSX.Element {
  const { corners, onCorner, onReveal } = windows;
  const corner = corners.get(lane.id) ?? ORIGIN;
  return (
    <div class={`lane ${lane.role}`} style={{ width: `${lane.width}px` }}>
      <TensorLane
        {...laneProps(session, lane, layout)}
        corner={corner}
        onCorner={onCorner}
        onReveal={onReveal}
        onText={onText}
      />
      <Frame session={session} layout={layout} lane={lane} corner={corner} />
      <Bubble session={session} layout={layout} lane={lane} corner={corner} />
    </div>
  );
}

/** Returns the lines between tables. A large call draws only the lines of highlighted updates. */
function useWiring(session: Session, layout: Layout): Wiring {
  const { picture, isStale, description, links, rule } = session;
  // The page does not know which updates the other system omits, nor their order.
  const isOther = (rule?.differing.size ?? 0) > 0;
  const isLarge = (links?.count ?? 0) > MOST_WIRES;
  return useMemo(
    () =>
      picture === null || isStale || isOther
        ? NO_WIRING
        : wiringOf(picture, layout, description?.orders ?? []),
    [picture, isStale, isOther, layout, isLarge ? description : null],
  );
}

interface TierProps extends StageProps {
  readonly tier: number;
  readonly wiring: Wiring;
}

/** Returns the highlighted updates, or null. */
const useOrders = ({ description, isStale }: Session): ReadonlySet<number> | null =>
  useMemo(
    () => (description === null || isStale ? null : new Set(description.orders)),
    [description, isStale],
  );

/** Draws the lines between tables in different tiers. */
function BusOf({ tier, session, layout, windows, wiring }: TierProps): JSX.Element {
  const { kind, lanes, tiers } = layout;
  const { step, at } = session;
  const orders = useOrders(session);
  const sideAt = (position: number) => ({
    lane: lanes[position],
    corner: windows.corners.get(lanes[position].id) ?? ORIGIN,
  });
  const lines = crossingsOf(kind, lanes, tiers).map(
    ({ role, tables: [from, to], tiers: across }) => ({
      ...{ from: sideAt(from), to: sideAt(to), tiers: across, wires: wiring.wires.get(role) ?? [] },
    }),
  );
  return (
    <Bus
      layout={layout}
      tier={tier}
      lines={lines}
      orders={orders}
      step={step === null ? Infinity : at}
    />
  );
}

interface GutterProps extends StageProps {
  /** The position of the tensor to the right. */
  readonly position: number;
  readonly wiring: Wiring;
}

function GutterBefore({ position, session, layout, windows, wiring }: GutterProps): JSX.Element {
  const { links, step, at, verb } = session;
  const { metrics, lanes, gutters } = layout;
  const orders = useOrders(session);
  const [left, right] = lanes.slice(position - 1, position + 1);
  const gutter = gutters[position - 1];
  const sideOf = (lane: Lane) => ({ lane, corner: windows.corners.get(lane.id) ?? ORIGIN });
  const common = { metrics, width: metrics.gutters[gutter] };
  if (gutter === "gap") return <div class="gutter" style={{ width: `${common.width}px` }} />;
  if (gutter === "becomes") return <Marks {...common} side={sideOf(right)} marks={wiring.marks} />;
  if (gutter === "chips") {
    const tuples = orders === null || links === null ? null : tuplesOf(orders, links.tupleOf);
    return <Chips {...common} side={sideOf(left)} chips={wiring.chips} tuples={tuples} />;
  }
  const heights = [left, right].map(({ sheet, rows }) => heightOf({ ...sheet, rows }, metrics));
  return (
    <Wires
      {...common}
      left={sideOf(left)}
      right={sideOf(right)}
      wires={wiring.wires.get(left.role) ?? []}
      orders={orders}
      step={step === null ? Infinity : at}
      height={Math.max(...heights)}
      verb={left.role === "updates" ? verb : left.role === "data" ? "⇒" : ""}
    />
  );
}

const tuplesOf = (orders: ReadonlySet<number>, tupleOf: Int32Array): ReadonlySet<number> =>
  new Set([...orders].map((order) => tupleOf[order]));

/**
 * Returns the height of the buttons for omitted inputs, including the gap above them. Small frames have no such
 * buttons.
 */
export const leftOutHeight = ({ inputs }: State, { isNarrow, isFrame }: Room): number =>
  inputs.includes(null) && !(isNarrow && isFrame) ? 44 : 0;

/** Buttons that add omitted optional inputs. */
function LeftOut({
  session: { state, version, act },
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
          <button type="button" key={position} onClick={() => act({ do: "give", input: position })}>
            add {name}
          </button>
        );
      })}
    </p>
  );
}

/** Marks highlighted cells with an attribute that no component sets, so moving the pointer redraws no table. */
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
