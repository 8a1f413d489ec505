/**
 * Records the story of a gather, which lists the source slice for each output slice. Values are read from data and from
 * the output. No value is computed again.
 */

import type { Plan } from "../../core/plan/plan.ts";
import type { PreparedCall } from "../../core/call/check.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { GatherStory, Read, ReadTarget } from "./explanation.ts";
import { lazyList } from "./lazy-list.ts";
import { outputElement, placesOf } from "./places.ts";
import { summaryOf } from "./summary.ts";
import { groupByTarget } from "./targets.ts";

export function gatherStory(prepared: PreparedCall, plan: Plan, output: Tensor): GatherStory {
  const { call, data } = prepared;
  const { slice, source } = plan;
  const places = placesOf(prepared, plan);
  const { addressed, count, offsets } = places;
  const groups = groupByTarget(offsets, slice);

  /** Returns the output slice for a Plan position. */
  const sliceOf = (position: number): number => source?.[position] ?? position;
  /** Returns the Plan position for an output slice, or -1 if the index is out of range. */
  const positionOf = (at: number): number => (source === undefined ? at : search(source, at));
  const readAt = (at: number): Read => {
    const position = positionOf(at);
    const target = position === -1 ? null : places.targetAt(offsets[position] / slice);
    return { at: places.sliceAt(at, output), index: places.indexOf(at, target), target };
  };
  const targetOf = (group: number): ReadTarget => {
    const size = groups.size(group);
    return {
      coordinates: places.targetAt(groups.target(group)),
      count: size,
      reads: () => lazyList(size, (nth) => readAt(sliceOf(groups.position(group, nth)))),
    };
  };
  const unfilled = count - (slice === 0 ? 0 : offsets.length);

  return {
    kind: "gather",
    addressed,
    summary: {
      ...summaryOf(groups, plan, data.shape, addressed, count),
      filled: unfilled * slice,
    },
    reads: lazyList(count, readAt),
    targets: lazyList(groups.count, targetOf),
    target(coordinates) {
      const number = places.targetOf(coordinates);
      const group = number === null ? -1 : groups.find(number);
      return group === -1 ? null : targetOf(group);
    },
    cell(coordinates) {
      const element = outputElement(coordinates, output, call);
      const at = Math.floor(element / slice);
      const position = positionOf(at);
      return {
        coordinates,
        value: reader(data.dtype, output.data)(element),
        index: readAt(at).index,
        source:
          position === -1 ? null : coordinatesOf(offsets[position] + (element % slice), data.shape),
      };
    },
  };
}

/** Returns the position of a number in an ascending list, or -1 if the number is not in the list. */
function search(list: Uint32Array, number: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle] < number) low = middle + 1;
    else high = middle;
  }
  return list[low] === number ? low : -1;
}
