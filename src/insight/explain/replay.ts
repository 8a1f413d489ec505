/**
 * Replays the updates to a target, and records the value before and after each update. An engine applies each update
 * separately, so that rounding, wrapping and NaN behave as in a normal run.
 */

import { divisorOf, stepsOf } from "../../core/call/steps.ts";
import type { Executor } from "../../core/engines/executor.ts";
import { divide } from "../../core/kernels/divide.ts";
import type { Settings } from "../../core/operators/operator.ts";
import {
  DTYPES,
  allocate,
  plainStep,
  type DType,
  type Step,
  type Storage,
} from "../../core/tensor/dtype.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { StoryStep } from "./explanation.ts";
import type { Places } from "./places.ts";
import type { TargetGroups } from "./targets.ts";

/** A scatter with validated inputs. */
export interface Scattering {
  readonly executor: Executor;
  readonly settings: Settings;
  readonly data: Tensor;
  readonly updates: Tensor;
  /** Number of elements per update. */
  readonly slice: number;
  readonly places: Places;
  readonly groups: TargetGroups;
}

/** Part of a slice to replay, and how its values are represented. */
export interface SlicePart<V> {
  /** First element of the part within the slice, and number of elements. */
  readonly begin: number;
  readonly length: number;
  show(elements: Storage): V;
  /** Returns the coordinates of the part that begins at `element` in updates. */
  placeOf(element: number): readonly number[];
}

/** Yields the steps for a group's target in update order. The division of a mean is the last step. */
export function* replay<V>(
  { executor, settings, data, updates, slice, places, groups }: Scattering,
  group: number,
  { begin, length, show, placeOf }: SlicePart<V>,
): Iterable<StoryStep<V>> {
  const { dtype } = data;
  const steps = stepsOf(settings, data.dtype);
  const target = groups.target(group);
  const coordinates = places.targetAt(target);
  const size = groups.size(group);
  let current = copyElements(data, target * slice + begin, length);
  for (let nth = 0; nth < size; nth++) {
    const order = groups.position(group, nth);
    const element = order * slice + begin;
    const update = copyElements(updates, element, length);
    const by = nth === 0 ? steps.first : steps.later;
    const next = applied(executor, dtype, by, current, update, length);
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
  if (steps.divides) {
    const divisor = divisorOf(settings, size);
    const next = current.slice();
    divide(dtype, next, length, new Uint32Array(1), Uint32Array.of(divisor));
    yield { kind: "division", divisor, before: show(current), after: show(next) };
  }
}

/** Applies one update to `before` with a scatter of one slice into a one-slice tensor, and returns the result. */
function applied(
  executor: Executor,
  dtype: DType,
  by: Step,
  before: Storage,
  update: Storage,
  length: number,
): Storage {
  const after = allocate(dtype, length);
  const offsets = new Uint32Array(1);
  const plan = { offsets, slice: length, count: 1, size: length, batches: 1, span: length };
  executor.begin().scatter(plan, dtype, by, before, update, after);
  return after;
}

/** Copies `length` elements, starting at element `begin`. */
function copyElements({ dtype, data }: Tensor, begin: number, length: number): Storage {
  const { lanes } = DTYPES[dtype];
  return data.slice(begin * lanes, (begin + length) * lanes);
}
