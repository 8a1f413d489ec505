/**
 * Records the story of a scatter: the target of each update, and the values before and after. An engine applies each
 * update separately, so that rounding, wrapping and NaN behave as in a normal run. The function `run` does not skip
 * updates, so the number of an update is its Plan position.
 */

import { callNow, scatterNow } from "../../core/call/steps.ts";
import type { PreparedCall } from "../../core/call/check.ts";
import { divisorOf, stepOf, stepsOf } from "../../core/call/steps.ts";
import type { Executor } from "../../core/engines/executor.ts";
import { divide } from "../../core/kernels/divide.ts";
import { planOf, type Plan } from "../../core/plan/plan.ts";
import {
  allocate,
  DTYPES,
  plainStep,
  type Scalar,
  type Step,
  type Storage,
} from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { ScatterStory, StoryStep, Target, Update } from "./explanation.ts";
import { elementAt, lazyList, placesOf, type Places } from "./places.ts";

/** A scatter with validated inputs. */
interface Scattering {
  readonly executor: Executor;
  readonly prepared: PreparedCall;
  readonly plan: Plan;
  readonly updates: Tensor;
  readonly places: Places;
}

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
  const { count, groups } = places;
  const scattering = { executor, prepared, plan, updates, places };
  const ownStays = stepOf(settings, data.dtype).endsWith(`_${settings.stays}`);

  return {
    kind: "scatter",
    reduction: settings.reduction,
    includeSelf: settings.includeSelf,
    stays: ownStays ? (settings.stays ?? null) : null,
    addressed: places.addressed,
    summary: places.summary,
    updates: lazyList(count, (order) => updateOf(scattering, order)),
    ...places.targetsOf((group) => targetStory(scattering, group)),
    cell(coordinates) {
      const fields = { ...call.fields, input: "output" };
      const element = elementAt("the output", coordinates, output.shape, fields);
      const group = groups.find(Math.floor(element / slice));
      const part: SlicePart<Scalar> = {
        begin: element % slice,
        length: 1,
        show: (elements) => reader(data.dtype, elements)(0),
        placeOf: (position) => coordinatesOf(position, updates.shape),
      };
      return {
        coordinates,
        value: reader(data.dtype, output.data)(element),
        count: group === -1 ? 0 : groups.size(group),
        steps: () => (group === -1 ? [] : replay(scattering, group, part)),
      };
    },
    after: (given) => outputAfter(scattering, given),
  };
}

/** Returns the update at a position among all updates. */
function updateOf({ places, updates }: Scattering, order: number): Update {
  const target = places.targetAt(places.offsets[order] / places.slice);
  const at = places.sliceAt(order, updates);
  return { order, at, index: places.indexOf(order, target), target };
}

/** Returns a target with steps that contain whole slices. */
function targetStory(scattering: Scattering, group: number): Target {
  const { prepared, updates, places } = scattering;
  const { slice, sliceShape, groups } = places;
  const { dtype } = prepared.data;
  const count = groups.size(group);
  return {
    coordinates: places.targetAt(groups.target(group)),
    count,
    updates: lazyList(count, (nth) => updateOf(scattering, groups.position(group, nth))),
    steps: () =>
      replay(scattering, group, {
        begin: 0,
        length: slice,
        show: (elements) => new Tensor(dtype, sliceShape, slice, elements),
        placeOf: (position) => places.sliceAt(position / slice, updates),
      }),
  };
}

/** Part of a slice to replay, and how its values are represented. */
interface SlicePart<V> {
  /** First element of the part within the slice, and number of elements. */
  readonly begin: number;
  readonly length: number;
  show(elements: Storage): V;
  /** Returns the coordinates of the part that begins at an element of updates. */
  placeOf(element: number): readonly number[];
}

/** Yields the steps for a group's target in update order. The division of a mean is the last step. */
function* replay<V>(
  { executor, prepared: { call, data }, updates, places }: Scattering,
  group: number,
  { begin, length, show, placeOf }: SlicePart<V>,
): Iterable<StoryStep<V>> {
  const { settings } = call;
  const { dtype } = data;
  const { slice, groups } = places;
  const steps = stepsOf(settings, dtype);
  const target = groups.target(group);
  const coordinates = places.targetAt(target);
  const size = groups.size(group);
  const offsets = new Uint32Array(1);
  // The part is the whole data of a scatter with a single update.
  const plan = planOf(offsets, length, length);
  const applied = (by: Step, before: Storage, update: Storage): Storage => {
    const after = allocate(dtype, length);
    executor.begin().scatter(plan, dtype, by, before, update, after);
    return after;
  };
  let current = copyElements(data, target * slice + begin, length);
  for (let nth = 0; nth < size; nth++) {
    const order = groups.position(group, nth);
    const element = order * slice + begin;
    const update = copyElements(updates, element, length);
    const by = nth === 0 ? steps.first : steps.later;
    const next = applied(by, current, update);
    yield {
      kind: "update",
      by: by === "none" ? by : plainStep(by),
      order,
      at: placeOf(element),
      index: places.indexOf(order, coordinates),
      before: show(current),
      update: show(update),
      after: show(next),
    };
    current = next;
  }
  if (!steps.divides) return;
  const divisor = divisorOf(settings, size);
  const next = current.slice();
  divide(dtype, next, length, offsets, Uint32Array.of(divisor));
  yield { kind: "division", divisor, before: show(current), after: show(next) };
}

/** Copies `length` elements, starting at element `begin`. */
function copyElements({ dtype, data }: Tensor, begin: number, length: number): Storage {
  const { lanes } = DTYPES[dtype];
  return data.slice(begin * lanes, (begin + length) * lanes);
}

/** Returns the output after the first `given` updates. */
function outputAfter(
  { executor, prepared: { call, data }, plan: { size }, updates, places }: Scattering,
  given: number,
): Tensor {
  const { settings, fields } = call;
  const isAll = given >= places.count;
  const count = isAll ? places.count : given > 0 ? Math.trunc(given) : 0;
  const plan = planOf(places.offsets.subarray(0, count), places.slice, size);
  const isMean = settings.reduction === "mean";
  // Means are computed as sums, which are divided after the last update.
  const reducing = isMean && !isAll ? { ...settings, reduction: "add" as const } : settings;
  return callNow(executor, fields, (session) =>
    scatterNow(session, executor, plan, data, updates, reducing, undefined),
  );
}
