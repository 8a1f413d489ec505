/**
 * Arrows between cells, over the stage. They are hidden from screen readers, because the story says the same in words.
 * The cells at their ends are marked by an attribute that no component sets, so that moving the pointer redraws no
 * table.
 */

import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { cellId } from "./grid.tsx";
import type { Tuple } from "../model/links.ts";
import type { Arrow, Spot } from "./vocabulary.ts";

interface ArrowsProps {
  readonly arrows: readonly Arrow[];
  readonly tuples: readonly Tuple[];
  /** The cell whose story is shown. */
  readonly spot: Spot | null;
}

export function Arrows({ arrows, tuples, spot }: ArrowsProps): JSX.Element {
  const picture = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = picture;
    if (current === null) return;
    const draw = (): void => place(current, arrows);
    const spots = [
      ...arrows.flatMap(({ from, to }) => [from, to]),
      ...(spot === null ? [] : [spot]),
    ];
    const cells = spots.map(cellOf).filter((cell) => cell !== null);
    for (const cell of cells) cell.dataset["lit"] = "";
    draw();
    // Tables scroll inside the stage, and scroll events do not bubble.
    document.addEventListener("scroll", draw, { capture: true, passive: true });
    window.addEventListener("resize", draw);
    return () => {
      document.removeEventListener("scroll", draw, { capture: true });
      window.removeEventListener("resize", draw);
      for (const cell of cells) delete cell.dataset["lit"];
    };
  });
  // Hints go behind the cells, so that they do not cross out numbers.
  return (
    <div class="arrows" ref={picture} aria-hidden="true">
      {[true, false].map((isBehind) => (
        <svg key={String(isBehind)} class={isBehind ? "behind" : "before"}>
          <defs>
            <marker
              id={isBehind ? "hint-head" : "head"}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path d="M0 0 8 4 0 8z" fill="context-stroke" />
            </marker>
          </defs>
          {arrows.map(({ tuple, isHint }, number) =>
            isHint === isBehind ? (
              <path
                key={number}
                data-arrow={number}
                class={`arrow${isHint ? " hint" : ""}${hueOf(tuples, tuple)}`}
                marker-end={isBehind ? "url(#hint-head)" : "url(#head)"}
              />
            ) : null,
          )}
        </svg>
      ))}
    </div>
  );
}

const hueOf = (tuples: readonly Tuple[], tuple: number | null): string =>
  tuple === null ? "" : ` hue-${tuples[tuple]?.colour ?? 0}`;

const cellOf = ({ tensor, element }: Spot): HTMLElement | null =>
  document.getElementById(cellId(tensor, element));

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function place(picture: HTMLElement, arrows: readonly Arrow[]): void {
  const stage = picture.getBoundingClientRect();
  for (const path of picture.querySelectorAll<SVGPathElement>("path.arrow")) {
    const arrow = arrows[Number(path.dataset["arrow"])];
    const from = arrow === undefined ? null : boxOf(arrow.from);
    const to = arrow === undefined ? null : boxOf(arrow.to);
    const isNowhere = from === null || to === null || cellOf(arrow.from) === cellOf(arrow.to);
    path.setAttribute("d", isNowhere ? "" : curve(from, to, stage));
  }
}

const clamp = (value: number, low: number, high: number): number =>
  Math.max(low, Math.min(high, value));

/** Where a cell appears. A cell that is scrolled out of view counts as being at the border of the view. */
function boxOf(spot: Spot): Box | null {
  const cell = cellOf(spot);
  const view = cell?.closest(".scroller");
  if (cell === null || view === null || view === undefined) return null;
  const [box, frame] = [cell.getBoundingClientRect(), view.getBoundingClientRect()];
  return {
    left: clamp(box.left, frame.left, frame.right),
    right: clamp(box.right, frame.left, frame.right),
    top: clamp(box.top, frame.top, frame.bottom),
    bottom: clamp(box.bottom, frame.top, frame.bottom),
  };
}

/** Pixels between two cells that leave room for a vertical arrow, which crosses fewer cells than a horizontal one. */
const ROOM = 20;
/** How far a level arrow sags at most: 3/4 of so many pixels. */
const MOST_BOW = 70;

/** A curve from the border of one cell to that of another. */
function curve(from: Box, to: Box, stage: DOMRect): string {
  const [fromX, fromY] = centreOf(from);
  const [toX, toY] = centreOf(to);
  const gapY = toY > fromY ? to.top - from.bottom : from.top - to.bottom;
  const isSideways = gapY < ROOM;
  const [x1, y1, x2, y2] = isSideways
    ? [toX > fromX ? from.right : from.left, fromY, toX > fromX ? to.left : to.right, toY]
    : [fromX, toY > fromY ? from.bottom : from.top, toX, toY > fromY ? to.top : to.bottom];
  const [dx, dy] = isSideways ? [(x2 - x1) / 2, 0] : [0, (y2 - y1) / 2];
  // A level line would cross out every number on its way.
  const isLevel = isSideways && Math.abs(y2 - y1) < ROOM;
  const bow = isLevel ? Math.min(MOST_BOW, 0.2 * Math.abs(x2 - x1)) : 0;
  const point = (x: number, y: number): string =>
    `${(x - stage.left).toFixed(1)} ${(y - stage.top).toFixed(1)}`;
  return `M${point(x1, y1)}C${point(x1 + dx, y1 + dy + bow)} ${point(x2 - dx, y2 - dy + bow)} ${point(x2, y2)}`;
}

const centreOf = ({ left, right, top, bottom }: Box): readonly [number, number] => [
  (left + right) / 2,
  (top + bottom) / 2,
];
