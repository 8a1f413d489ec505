/**
 * The story of a scatter. Its Plan comes from `run`'s rules, which leave no update out: an update's number is its position
 * in the Plan. Values before and after an update are those of an engine that carries out that update alone.
 */

import { allocate, DTYPES, type Step, type Storage } from "../tensor/dtype.ts";
import type { Executor } from "../engines/executor.ts";
import {
  callNow,
  divisorOf,
  execute,
  scatterExecution,
  stepsOf,
  type Reducing,
} from "../call/execute.ts";
import { divide } from "../kernels/divide.ts";
import type { Plan } from "../plan/plan.ts";
import type { PreparedCall } from "../call/prepare.ts";
import { reader } from "../tensor/scalar.ts";
import { coordinatesOf } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import type { ScatterStory, StoryStep, Target, Update } from "./explanation.ts";
import { lazyList, meetingsOf, summaryOf } from "./meetings.ts";
import { elementOf, placesOf } from "./places.ts";

export function scatterStory(
  executor: Executor,
  prepared: PreparedCall,
  plan: Plan,
  updates: Tensor,
  output: Tensor,
): ScatterStory {
  const { call, data } = prepared;
  const { dtype } = data;
  const { settings, fields } = call;
  const { slice } = plan;
  const steps = stepsOf(settings);
  const places = placesOf(prepared, plan);
  const { addressed, sliceShape, offsets } = places;
  const meetings = meetingsOf(offsets, slice);

  /** What an engine makes of `length` elements and as many of updates, from the `source`-th such piece on. */
  const meet = (before: Storage, by: Step, source: number, length: number): Storage => {
    const after = allocate(dtype, length);
    const one = {
      offsets: new Uint32Array(1),
      source: Uint32Array.of(source),
      slice: length,
      count: 1,
      size: length,
      batches: 1,
      span: length,
    };
    executor.begin().scatter(one, dtype, by, before, updates.data, after);
    return after;
  };

  /** The steps of a group's target, of which a part of `length` elements is told from element `within` on. */
  function* tell<V>(
    group: number,
    within: number,
    length: number,
    show: (piece: Storage) => V,
    placeOf: (element: number) => readonly number[],
  ): Iterable<StoryStep<V>> {
    const target = meetings.targetOf(group);
    const coordinates = places.targetAt(target);
    const [begin, end] = [meetings.begin(group), meetings.end(group)];
    let current = pieceOf(data, target * slice + within, length);
    for (let place = begin; place < end; place++) {
      const order = meetings.positionAt(place);
      const element = order * slice + within;
      const by = place === begin ? steps.first : steps.later;
      const next = meet(current, by, element / length, length);
      yield {
        kind: "update",
        by,
        order,
        at: placeOf(element),
        index: places.indexOf(order, coordinates),
        before: show(current),
        update: show(pieceOf(updates, element, length)),
        after: show(next),
      };
      current = next;
    }
    if (steps.divides) {
      const divisor = divisorOf(settings, end - begin);
      const next = current.slice();
      divide(dtype, next, length, new Uint32Array(1), Uint32Array.of(divisor));
      yield { kind: "division", divisor, before: show(current), after: show(next) };
    }
  }

  const asTensor = (piece: Storage): Tensor => new Tensor(dtype, sliceShape, slice, piece);
  const asScalar = (piece: Storage) => reader(dtype, piece)(0);
  const targetOf = (group: number): Target => ({
    coordinates: places.targetAt(meetings.targetOf(group)),
    count: meetings.end(group) - meetings.begin(group),
    steps: () =>
      tell(group, 0, slice, asTensor, (element) => places.sliceAt(element / slice, updates)),
  });

  return {
    kind: "scatter",
    reduction: settings.reduction,
    includeSelf: settings.includeSelf,
    addressed,
    summary: summaryOf(meetings, plan, data.shape, addressed, places.count),
    updates: lazyList(places.count, (order): Update => {
      const target = places.targetAt(offsets[order] / slice);
      const at = places.sliceAt(order, updates);
      return { order, at, index: places.indexOf(order, target), target };
    }),
    targets: lazyList(meetings.targets, targetOf),
    target(coordinates) {
      const number = places.targetOf(coordinates);
      const group = number === null ? -1 : meetings.find(number);
      return group === -1 ? null : targetOf(group);
    },
    cell(coordinates) {
      const element = elementOf(coordinates, output, call);
      const group = meetings.find(Math.floor(element / slice));
      return {
        coordinates,
        value: reader(dtype, output.data)(element),
        count: group === -1 ? 0 : meetings.end(group) - meetings.begin(group),
        steps: () =>
          group === -1
            ? []
            : tell(group, element % slice, 1, asScalar, (at) => coordinatesOf(at, updates.shape)),
      };
    },
    after(count) {
      const isAll = count >= places.count;
      const first = isAll ? places.count : count > 0 ? Math.trunc(count) : 0;
      const { size } = plan;
      const part = { slice, count: first, size, batches: 1, span: size };
      const prefix = { ...part, offsets: offsets.subarray(0, first) };
      const { includeSelf } = settings;
      const reducing: Reducing =
        steps.divides && !isAll ? { reduction: steps.later, includeSelf } : settings;
      return callNow(executor, fields, (session) =>
        execute(session, scatterExecution(executor, prefix, data, updates, reducing, undefined)),
      );
    },
  };
}

/** A copy of `length` elements from the `begin`-th on. */
function pieceOf({ dtype, data }: Tensor, begin: number, length: number): Storage {
  const { lanes } = DTYPES[dtype];
  return data.slice(begin * lanes, (begin + length) * lanes);
}
