/** Measures the stage, and computes the call's layout. */

import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { layOut } from "./arrange.ts";
import type { Layout, Placed, Room } from "./layout.ts";
import { SMALLEST } from "./metrics.ts";
import { axisOf, placedOf, roleAt } from "./placed.ts";
import type { State } from "../values/state.ts";
import type { OperatorVersion } from "ndscatter";
import { tabsOf } from "../cells/tabs.ts";
import { tabWidth } from "./sheet.tsx";
import type { Picture } from "../cells/view.ts";

/**
 * The page width, in pixels, below which tables are stacked. An embedded page becomes narrow at a smaller width, and
 * its tables are smaller.
 */
const NARROW = 900;
const NARROW_FRAME = 780;

/** Checks whether the page is embedded in another page; an embedded page shows only the stage and the story. */
export const isEmbedded = (): boolean => new URLSearchParams(location.search).has("embed");

const isNarrowNow = (): boolean => window.innerWidth < (isEmbedded() ? NARROW_FRAME : NARROW);

/** Sets the style of narrow pages. */
export function applyWidth(): void {
  document.documentElement.classList.toggle("small", isNarrowNow());
}

/** Returns the width of a window's scroll bar; 0 if the bar overlays the table, as on a touch screen. */
function barNow(): number {
  const probe = document.createElement("div");
  probe.className = "scroller window";
  probe.style.cssText = "position: absolute; width: 99px; height: 99px; overflow: scroll";
  document.body.append(probe);
  const bar = probe.offsetWidth - probe.clientWidth;
  probe.remove();
  return bar;
}

/** The space around the stage, in pixels. */
const AROUND = { wide: { x: 40, y: 16 }, narrow: { x: 16, y: 8 }, frame: { x: 8, y: 8 } };
/** The stage's minimum height, in pixels; a smaller stage scrolls. */
const LEAST_HEIGHT = 120;

function roomOf({ width, height }: { readonly width: number; readonly height: number }): Room {
  const isNarrow = isNarrowNow();
  const { x, y } = AROUND[!isNarrow ? "wide" : isEmbedded() ? "frame" : "narrow"];
  return {
    width: width - x,
    height: Math.max(height - y, LEAST_HEIGHT),
    isNarrow,
    least: isEmbedded() ? SMALLEST.frame : isNarrow ? SMALLEST.finger : SMALLEST.mouse,
    isFrame: isEmbedded(),
    bar: barNow(),
  };
}

/**
 * Returns the height of all parts above and below the stage on a wide page, as set in `page/bar.css`, `page/title.css`,
 * `story/story.css` and `page/layout.css`. With the exact height, a large call is drawn once instead of twice when a
 * link opens.
 */
function aroundStage(): number {
  const { innerWidth: width, innerHeight: height } = window;
  const isLarge = width >= 1800 && height >= 880;
  const lines = (48 + 56 + 52) * (isLarge ? 1.2 : 1);
  return lines + (isLarge ? 162 : Math.max(120, Math.min(90 + height * 0.06, 180)));
}

export function useRoom(box: RefObject<HTMLElement | null>): Room {
  const [room, setRoom] = useState<Room>(() =>
    roomOf({ width: window.innerWidth, height: Math.round(window.innerHeight - aroundStage()) }),
  );
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return;
    const measure = (): void => {
      applyWidth();
      const next = roomOf({ width: current.clientWidth, height: current.clientHeight });
      setRoom((before) =>
        before.width === next.width &&
        before.height === next.height &&
        before.isNarrow === next.isNarrow &&
        before.bar === next.bar
          ? before
          : next,
      );
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return room;
}

export const useRoomAbove = (room: Room, height: number): Room =>
  useMemo(
    () => ({ ...room, height: Math.max(room.height - height, LEAST_HEIGHT) }),
    [room, height],
  );

/**
 * Cell widths in characters; every int64 value has at most 20. In an embedded page, which is small and seldom edited,
 * cells are as narrow as their values.
 */
const WIDTHS = [2, 3, 4, 6, 9, 12, 20] as const;
const LEAST_WIDTH = { page: 3, frame: 2 };
/** The maximum number of values to measure; larger tensors are only partly visible. */
const MOST_MEASURED = 2000;

const longest = (values: readonly string[]): number =>
  values.slice(0, MOST_MEASURED).reduce((most, { length }) => Math.max(most, length), 1);

const widthFor = (length: number, role: string): number => {
  const least = LEAST_WIDTH[isEmbedded() && role !== "indices" ? "frame" : "page"];
  return WIDTHS.find((width) => Math.max(length, least) <= width) ?? 20;
};

/** Returns the number of characters to reserve for tabs. */
function roomBeside(role: string, picture: Picture | null, shape: readonly number[]): number {
  if (role === "indices") return 2;
  if (picture === null) return 1;
  const tabs = [...tabsOf(picture.links, picture.state.op, role, shape).values()];
  return Math.max(1, ...tabs.map(tabWidth));
}

const digitsFor = (
  texts: readonly string[],
  role: string,
  picture: Picture | null,
  shape: readonly number[],
): number =>
  Math.min(
    isNarrowNow() ? 12 : 24,
    widthFor(longest(texts), role) + roomBeside(role, picture, shape),
  );

interface Shown {
  readonly state: State;
  readonly version: OperatorVersion | null;
  readonly picture: Picture | null;
  readonly outputShape: readonly number[] | null;
  /** A counter that increases when another call is shown. */
  readonly generation: number;
}

/**
 * Returns a state's layout. Cell widths are computed when a shape or data type changes, or when another call is shown.
 * Editing a value does not change the widths, so no table moves.
 */
export function useLayout(
  { state, version, picture, outputShape, generation }: Shown,
  room: Room,
): Layout {
  const kept = useRef<{ readonly key: string; readonly digits: readonly number[] } | null>(null);
  const placed = useMemo((): Placed[] => {
    const shapes = state.inputs.map((text) => `${text?.dtype ?? ""}${String(text?.shape)}`);
    const key = [
      room.isNarrow,
      generation,
      state.op,
      state.opset,
      ...shapes,
      String(outputShape),
    ].join(";");
    if (kept.current?.key !== key) {
      const role = (position: number): string => roleAt(version, position);
      kept.current = {
        key,
        digits: [
          ...state.inputs.map((text, position) =>
            digitsFor(text?.values ?? [], role(position), picture, text?.shape ?? []),
          ),
          digitsFor(picture?.printed.texts ?? [], "output", picture, outputShape ?? []),
        ],
      };
    }
    const { digits } = kept.current;
    return placedOf(state, version, outputShape, digits);
  }, [state, version, picture, String(outputShape), generation, room.isNarrow]);
  const axis = axisOf(state, version);
  const key = JSON.stringify([state.op, axis, placed]);
  return useMemo(() => layOut({ op: state.op, axis, tensors: placed }, room), [key, room]);
}
