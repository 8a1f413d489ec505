/** The story of a gather: nothing is computed, only looked up. */

import type { Plan } from "../plan/plan.ts";
import type { PreparedCall } from "../call/prepare.ts";
import { reader } from "../tensor/scalar.ts";
import { coordinatesOf } from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { GatherStory, Read, ReadTarget } from "./explanation.ts";
import { lazyList, meetingsOf, summaryOf } from "./meetings.ts";
import { elementOf, placesOf } from "./places.ts";

export function gatherStory(prepared: PreparedCall, plan: Plan, output: Tensor): GatherStory {
  const { call, data } = prepared;
  const { slice, source } = plan;
  const places = placesOf(prepared, plan);
  const { addressed, count, offsets } = places;
  const meetings = meetingsOf(offsets, slice);

  const sourceOf = (position: number): number => source?.[position] ?? position;
  /** The position in the Plan of a slice of the output; -1 where none fills it. */
  const positionOf = (at: number): number => (source === undefined ? at : search(source, at));
  const readAt = (at: number): Read => {
    const position = positionOf(at);
    const target = position === -1 ? null : places.targetAt(offsets[position] / slice);
    return { at: places.sliceAt(at, output), index: places.indexOf(at, target), target };
  };
  const targetOf = (group: number): ReadTarget => {
    const [begin, end] = [meetings.begin(group), meetings.end(group)];
    return {
      coordinates: places.targetAt(meetings.targetOf(group)),
      count: end - begin,
      reads: () => lazyList(end - begin, (i) => readAt(sourceOf(meetings.positionAt(begin + i)))),
    };
  };
  const left = count - (slice === 0 ? 0 : offsets.length);

  return {
    kind: "gather",
    addressed,
    summary: {
      ...summaryOf(meetings, plan, data.shape, addressed, count),
      filled: left * slice,
    },
    reads: lazyList(count, readAt),
    targets: lazyList(meetings.targets, targetOf),
    target(coordinates) {
      const number = places.targetOf(coordinates);
      const group = number === null ? -1 : meetings.find(number);
      return group === -1 ? null : targetOf(group);
    },
    cell(coordinates) {
      const element = elementOf(coordinates, output, call);
      const at = Math.floor(element / slice);
      const position = positionOf(at);
      const { index } = readAt(at);
      return {
        coordinates,
        value: reader(data.dtype, output.data)(element),
        index,
        source:
          position === -1 ? null : coordinatesOf(offsets[position] + (element % slice), data.shape),
      };
    },
  };
}

/** The place of a number in an ascending list; -1 where it is not in it. */
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
