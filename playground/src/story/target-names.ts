/** Names targets in sentences, such as `row 1`, `element [1, 2]` and `slice [1, :, :]`. */

import { printShape } from "ndscatter/operators";

/** Returns the word for a target: row in a matrix, element if every axis is addressed, otherwise slice. */
export function unitOf(addressed: number, { length: rank }: readonly number[]): string {
  if (addressed === rank) return "element";
  return addressed === 1 && rank === 2 ? "row" : "slice";
}

/** Returns a target's name, such as `row 1`, `element [1, 2]` or `slice [1, :, :]`. */
export function nameOf(
  coordinates: readonly number[],
  shape: readonly number[],
  addressed: number,
): string {
  const unit = unitOf(addressed, shape);
  if (unit === "row") return `row ${coordinates[0]}`;
  if (unit === "element") return `element ${printShape(coordinates)}`;
  const rest = Array<string>(shape.length - addressed).fill(":");
  return `slice [${[...coordinates, ...rest].join(", ")}]`;
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
export const inWords = (count: number): string => NUMBERS[count - 2] ?? String(count);

/** Returns an index's target if the index alone determines it, otherwise the position on its axis. */
export function placeOf(
  axes: readonly number[],
  places: readonly number[],
  shape: readonly number[],
  addressed: number,
): string {
  const isWhole = axes.length === addressed && axes.every((axis, number) => axis === number);
  return isWhole ? nameOf(places, shape, addressed) : positionsOf(axes, places);
}

export const positionsOf = (axes: readonly number[], places: readonly number[]): string =>
  places.map((place, number) => `position ${place} on axis ${axes[number]}`).join(", ");
