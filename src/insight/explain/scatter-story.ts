/**
 * Records the story of a scatter: the target of each update, and the values before and after. The function `run` does
 * not skip updates, so the number of an update is its Plan position.
 */

import type { Executor } from "../../core/engines/executor.ts";
import { callNow, scatterNow } from "../../core/call/run.ts";
import { stepOf } from "../../core/call/steps.ts";
import type { Plan } from "../../core/plan/plan.ts";
import type { PreparedCall } from "../../core/call/prepare.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { CellStory, ScatterStory, Target, Update } from "./explanation.ts";
import { lazyList } from "./lazy-list.ts";
import { outputElement, placesOf } from "./places.ts";
import { replay, type Scattering } from "./replay.ts";
import { summaryOf } from "./summary.ts";
import { groupByTarget } from "./targets.ts";

export function scatterStory(
  executor: Executor,
  prepared: PreparedCall,
  plan: Plan,
  updates: Tensor,
  output: Tensor,
): ScatterStory {
  const { call, data } = prepared;
  const { settings } = call;
  const { slice } = plan;
  const places = placesOf(prepared, plan);
  const { addressed, count } = places;
  const groups = groupByTarget(places.offsets, slice);
  const scattering = { executor, settings, data, updates, slice, places, groups };
  const groupOf = (target: number | null): number => (target === null ? -1 : groups.find(target));

  return {
    kind: "scatter",
    reduction: settings.reduction,
    includeSelf: settings.includeSelf,
    stays: stepOf(settings, data.dtype).endsWith(`_${settings.stays}`)
      ? (settings.stays ?? null)
      : null,
    addressed,
    summary: summaryOf(groups, plan, data.shape, addressed, count),
    updates: lazyList(count, (order) => updateOf(scattering, order)),
    targets: lazyList(groups.count, (group) => targetStory(scattering, group)),
    target(coordinates) {
      const group = groupOf(places.targetOf(coordinates));
      return group === -1 ? null : targetStory(scattering, group);
    },
    cell(coordinates) {
      const element = outputElement(coordinates, output, call);
      const value = reader(data.dtype, output.data)(element);
      const group = groupOf(Math.floor(element / slice));
      const steps = cellSteps(scattering, group, element % slice);
      return { coordinates, value, count: group === -1 ? 0 : groups.size(group), steps };
    },
    after: (updates) => outputAfter(scattering, plan, prepared, updates),
  };
}

/** Returns the update at a position among all updates. */
function updateOf({ places, slice, updates }: Scattering, order: number): Update {
  const target = places.targetAt(places.offsets[order] / slice);
  const at = places.sliceAt(order, updates);
  return { order, at, index: places.indexOf(order, target), target };
}

/** Returns a target with steps that contain whole slices. */
function targetStory(scattering: Scattering, group: number): Target {
  const { data, updates, slice, places, groups } = scattering;
  const { dtype } = data;
  return {
    coordinates: places.targetAt(groups.target(group)),
    count: groups.size(group),
    updates: lazyList(groups.size(group), (nth) =>
      updateOf(scattering, groups.position(group, nth)),
    ),
    steps: () =>
      replay(scattering, group, {
        begin: 0,
        length: slice,
        show: (elements) => new Tensor(dtype, places.sliceShape, slice, elements),
        placeOf: (element) => places.sliceAt(element / slice, updates),
      }),
  };
}

/**
 * Returns the steps for the element at position `begin` in its slice. The list is empty if no update changes the slice.
 */
const cellSteps = (scattering: Scattering, group: number, begin: number): CellStory["steps"] => {
  const { data, updates } = scattering;
  return () =>
    group === -1
      ? []
      : replay(scattering, group, {
          begin,
          length: 1,
          show: (elements) => reader(data.dtype, elements)(0),
          placeOf: (element) => coordinatesOf(element, updates.shape),
        });
};

/** Returns the output after the first `given` updates. */
function outputAfter(
  { executor, settings, data, updates, slice, places }: Scattering,
  { size }: Plan,
  { call }: PreparedCall,
  given: number,
): Tensor {
  const isAll = given >= places.count;
  const count = isAll ? places.count : given > 0 ? Math.trunc(given) : 0;
  const offsets = places.offsets.subarray(0, count);
  const plan = { offsets, slice, count, size, batches: 1, span: size };
  const isMean = settings.reduction === "mean";
  // Means are computed as sums, which are divided after the last update.
  const reducing = isMean && !isAll ? { ...settings, reduction: "add" as const } : settings;
  return callNow(
    executor,
    call.fields,
    (session) => scatterNow(session, executor, plan, data, updates, reducing, undefined),
    undefined,
  );
}
