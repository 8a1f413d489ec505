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
import { elementAt, lazyList, placesOf } from "./places.ts";
import { searchAscending } from "./targets.ts";

export function gatherStory(prepared: PreparedCall, plan: Plan, output: Tensor): GatherStory {
  const { call, data } = prepared;
  const { slice, source } = plan;
  const places = placesOf(prepared, plan);
  const { count, offsets, groups } = places;

  /** Returns the Plan position for an output slice, or -1 if the index is out of range. */
  const positionOf = (at: number): number =>
    source === undefined ? at : searchAscending(source.length, (nth) => source[nth], at);
  const readAt = (at: number): Read => {
    const position = positionOf(at);
    const target = position === -1 ? null : places.targetAt(offsets[position] / slice);
    return { at: places.sliceAt(at, output), index: places.indexOf(at, target), target };
  };
  const targetOf = (group: number): ReadTarget => {
    const size = groups.size(group);
    const nthRead = (nth: number): Read => {
      const position = groups.position(group, nth);
      return readAt(source?.[position] ?? position);
    };
    return {
      coordinates: places.targetAt(groups.target(group)),
      count: size,
      reads: () => lazyList(size, nthRead),
    };
  };
  const unfilled = count - (slice === 0 ? 0 : offsets.length);

  return {
    kind: "gather",
    addressed: places.addressed,
    summary: { ...places.summary, filled: unfilled * slice },
    reads: lazyList(count, readAt),
    ...places.targetsOf(targetOf),
    cell(coordinates) {
      const fields = { ...call.fields, input: "output" };
      const element = elementAt("the output", coordinates, output.shape, fields);
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
