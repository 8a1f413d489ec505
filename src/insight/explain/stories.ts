/**
 * Records the stories of a scatter and a gather. A gather's story reads values from data and from the output. For a
 * scatter's story, an engine applies each update separately, so that rounding, wrapping and NaN behave as in a normal
 * run. The function `run` does not skip updates, so the number of an update is its Plan position.
 */

import type { PreparedCall } from "../../core/call/check.ts";
import { callNow, divisorOf, scatterNow, stepOf, stepsOf } from "../../core/call/steps.ts";
import { Executor } from "../../core/engines/executor.ts";
import { divide } from "../../core/kernels/divide.ts";
import { planOf, type Plan } from "../../core/plan/plan.ts";
import { allocate, DTYPES, plainStep, type Scalar, type Storage } from "../../core/tensor/dtype.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { coordinatesOf } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { GatherStory, Read, ScatterStory, StoryStep, Update } from "./explanation.ts";
import { lazyList, placesOf, searchAscending, type Places } from "./places.ts";

export function gatherStory(prepared: PreparedCall, plan: Plan, output: Tensor): GatherStory {
  const { dtype, shape } = prepared.data;
  const { slice, source } = plan;
  const places = placesOf(prepared, plan);
  const { count, offsets, groups } = places;

  /** Returns the Plan position for an output slice, or -1 if the index is out of range. */
  const positionOf = (at: number): number =>
    source === undefined ? at : searchAscending(source.length, (nth) => source[nth], at);
  const readAt = (at: number): Read => {
    const position = positionOf(at);
    const target = position === -1 ? null : places.targetAt(offsets[position] / slice);
    return places.sliceOf(at, output, target);
  };
  const story = places.storyOf((coordinates, group, size) => {
    const nthRead = (nth: number): Read => {
      const position = groups.position(group, nth);
      return readAt(source?.[position] ?? position);
    };
    return { coordinates, count: size, reads: () => lazyList(size, nthRead) };
  });
  const filled = (count - (slice === 0 ? 0 : offsets.length)) * slice;

  return {
    kind: "gather",
    ...story,
    summary: { ...story.summary, filled },
    reads: lazyList(count, readAt),
    cell(coordinates) {
      const element = places.elementOf(coordinates, output);
      const at = Math.floor(element / slice);
      const position = positionOf(at);
      return {
        coordinates,
        value: reader(dtype, output.data)(element),
        index: readAt(at).index,
        source:
          position === -1 ? null : coordinatesOf(offsets[position] + (element % slice), shape),
      };
    },
  };
}

/** A scatter with validated inputs. */
interface Scattering {
  readonly prepared: PreparedCall;
  readonly updates: Tensor;
  readonly places: Places;
}

export function scatterStory(
  prepared: PreparedCall,
  plan: Plan,
  updates: Tensor,
  output: Tensor,
): ScatterStory {
  const { settings } = prepared.call;
  const { dtype } = prepared.data;
  const places = placesOf(prepared, plan);
  const { count, groups, offsets, slice, sliceShape } = places;
  const scattering = { prepared, updates, places };
  const ownStays = stepOf(settings, dtype).endsWith(`_${settings.stays}`);
  const updateAt = (order: number): Update => ({
    order,
    ...places.sliceOf(order, updates, places.targetAt(offsets[order] / slice)),
  });
  const wholes: SlicePart<Tensor> = {
    begin: 0,
    length: slice,
    axes: sliceShape.length,
    show: (elements) => new Tensor(dtype, sliceShape, slice, elements),
  };

  return {
    kind: "scatter",
    reduction: settings.reduction,
    includeSelf: settings.includeSelf,
    stays: ownStays ? (settings.stays ?? null) : null,
    ...places.storyOf((coordinates, group, size) => ({
      coordinates,
      count: size,
      updates: lazyList(size, (nth) => updateAt(groups.position(group, nth))),
      steps: () => replay(scattering, group, wholes),
    })),
    updates: lazyList(count, updateAt),
    cell(coordinates) {
      const element = places.elementOf(coordinates, output);
      const group = groups.find(Math.floor(element / slice));
      const show = (elements: Storage): Scalar => reader(dtype, elements)(0);
      const part = { begin: element % slice, length: 1, axes: 0, show };
      return {
        coordinates,
        value: reader(dtype, output.data)(element),
        count: group === -1 ? 0 : groups.size(group),
        steps: () => (group === -1 ? [] : replay(scattering, group, part)),
      };
    },
    after: (given) => outputAfter(scattering, given),
  };
}

/** Returns the output after the first `given` updates. */
function outputAfter(
  { prepared: { call, data }, updates, places: { count, offsets, slice } }: Scattering,
  given: number,
): Tensor {
  const { settings, fields } = call;
  const isAll = given >= count;
  const first = isAll ? count : given > 0 ? Math.trunc(given) : 0;
  const executor = new Executor();
  const plan = planOf(offsets.subarray(0, first), slice, data.size);
  // Means are computed as sums, which are divided after the last update.
  const isSum = settings.reduction === "mean" && !isAll;
  const reducing = isSum ? { ...settings, reduction: "add" as const } : settings;
  return callNow(executor, fields, (session) =>
    scatterNow(session, executor, plan, data, updates, reducing, undefined),
  );
}

/** Part of a slice to replay, and how its values are represented. */
interface SlicePart<V> {
  /** First element of the part within the slice, and number of elements. */
  readonly begin: number;
  readonly length: number;
  /** Number of axes of the part, whose coordinates are omitted. */
  readonly axes: number;
  show(elements: Storage): V;
}

/** Yields the steps for a group's target in update order. The division of a mean is the last step. */
function* replay<V>(
  { prepared: { call, data }, updates, places }: Scattering,
  group: number,
  { begin, length, axes, show }: SlicePart<V>,
): Iterable<StoryStep<V>> {
  const { settings } = call;
  const { dtype } = data;
  const { slice, groups } = places;
  const steps = stepsOf(settings, dtype);
  const session = new Executor().begin();
  const target = groups.target(group);
  const coordinates = places.targetAt(target);
  const size = groups.size(group);
  // The part is the whole data of a scatter with a single update.
  const plan = planOf(new Uint32Array(1), length, length);
  let current = copyElements(data, target * slice + begin, length);
  for (let nth = 0; nth < size; nth++) {
    const order = groups.position(group, nth);
    const element = order * slice + begin;
    const update = copyElements(updates, element, length);
    const by = nth === 0 ? steps.first : steps.later;
    const next = allocate(dtype, length);
    session.scatter(plan, dtype, by, current, update, next);
    yield {
      kind: "update",
      by: by === "none" ? by : plainStep(by),
      order,
      at: coordinatesOf(element, updates.shape).slice(0, updates.shape.length - axes),
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
  divide(dtype, next, length, plan.offsets, Uint32Array.of(divisor));
  yield { kind: "division", divisor, before: show(current), after: show(next) };
}

/** Copies `length` elements, starting at element `begin`. */
function copyElements({ dtype, data }: Tensor, begin: number, length: number): Storage {
  const { lanes } = DTYPES[dtype];
  return data.slice(begin * lanes, (begin + length) * lanes);
}
