/**
 * Checks a story against the output of `run`: replaying its steps, starting from data, must give every element of the
 * output.
 */

import assert from "node:assert/strict";
import { infer } from "../../src/core/call/check.ts";
import type { NodeSpec } from "../../src/core/call/call.ts";
import { run } from "../../src/core/functions.ts";
import type {
  Explanation,
  GatherStory,
  ScatterStory,
  StoryStep,
} from "../../src/insight/explain/explanation.ts";
import { DTYPES } from "../../src/core/tensor/dtype.ts";
import { coordinatesOf, product } from "../../src/core/tensor/shape.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";

/** The elements of a slice or of an element, as bits if the type has bits. */
function piece({ dtype, data }: Tensor, begin: number, length: number): Tensor {
  const { lanes } = DTYPES[dtype];
  return tensor(dtype, [length], data.slice(begin * lanes, (begin + length) * lanes) as never);
}

const flat = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((position, coordinate, d) => position * shape[d] + coordinate, 0);

/** Checks that an explanation and `run` agree. */
export function checkAgreement(
  node: NodeSpec,
  inputs: readonly (Tensor | undefined)[],
  { output, story, shapes, inputs: explained }: Explanation,
): void {
  const [expected] = run(node, inputs);
  assert.ok(output && story);
  assert.ok(equals(output, expected));
  const types = inputs.map((one) => one && { dtype: one.dtype, shape: one.shape });
  const axis = explained.findIndex(({ role }) => role === "axis");
  if (axis !== -1) types[axis] = inputs[axis];
  const [{ shape }] = infer(node, types);
  assert.deepEqual(shapes[shapes.length - 1].expected, shape);
  const data = inputs[0] as Tensor;
  if (story.kind === "scatter") checkScatter(story, data, expected);
  else checkGather(story, data, expected);
}

function checkScatter(story: ScatterStory, data: Tensor, output: Tensor): void {
  const { targets, updates, summary } = story;
  const slice = product(data.shape, story.addressed);
  const touched = new Set<number>();
  const orders: number[] = [];
  for (const target of targets) {
    const begin = flat(target.coordinates, data.shape) * slice;
    let current = piece(data, begin, slice);
    const steps = [...target.steps()];
    for (const step of steps) {
      assert.ok(equals(piece(step.before, 0, slice), current));
      current = piece(step.after, 0, slice);
      if (step.kind === "division") continue;
      orders.push(step.order);
      const update = updates.at(step.order);
      assert.deepEqual(update?.target, target.coordinates);
      assert.deepEqual([update?.at, update?.index], [step.at, step.index]);
    }
    const own = steps.flatMap((step) => (step.kind === "update" ? [step.order] : []));
    assert.deepEqual(
      Array.from(target.updates, ({ order }) => order),
      own,
    );
    assert.equal(own.length, target.count);
    assert.ok(equals(current, piece(output, begin, slice)), `target ${target.coordinates}`);
    assert.deepEqual(story.target(target.coordinates)?.count, target.count);
    for (let element = begin; element < begin + slice; element++) {
      touched.add(element);
      checkCell(story, steps, coordinatesOf(element, data.shape), element - begin);
    }
  }
  assert.deepEqual(
    orders.toSorted((a, b) => a - b),
    Array.from(updates, ({ order }) => order),
  );
  for (let element = 0; element < data.size; element++) {
    if (touched.has(element)) continue;
    assert.ok(equals(piece(data, element, 1), piece(output, element, 1)));
    const cell = story.cell(coordinatesOf(element, data.shape));
    assert.deepEqual([cell.count, [...cell.steps()]], [0, []]);
  }
  assert.deepEqual(
    [summary.count, summary.targets, summary.untouched],
    [updates.length, targets.length, data.size - touched.size],
  );
  assert.equal(summary.repeats, Array.from(targets).filter(({ count }) => count > 1).length);
  assert.ok(equals(story.after(0), data));
  assert.ok(equals(story.after(updates.length), output));
}

/** The steps of a cell are those of its slice. */
function checkCell(
  story: ScatterStory,
  steps: readonly StoryStep<Tensor>[],
  coordinates: readonly number[],
  within: number,
): void {
  const read = (one: Tensor): unknown => piece(one, within, 1).toArray();
  const cell = story.cell(coordinates);
  assert.deepEqual(
    Array.from(cell.steps(), ({ before, after }) => [[before], [after]]),
    steps.map(({ before, after }) => [read(before), read(after)]),
  );
  assert.deepEqual([cell.value], read(steps[steps.length - 1].after));
}

function checkGather(story: GatherStory, data: Tensor, output: Tensor): void {
  const read = new Map<number, number>();
  let filled = 0;
  for (let element = 0; element < output.size; element++) {
    const { source, value } = story.cell(coordinatesOf(element, output.shape));
    const got = piece(output, element, 1);
    assert.deepEqual([value], got.toArray());
    if (source === null) filled++;
    const from =
      source === null ? zeros(data.dtype, [1]) : piece(data, flat(source, data.shape), 1);
    assert.ok(equals(got, from));
    if (source === null) continue;
    const position = flat(source, data.shape);
    read.set(position, (read.get(position) ?? 0) + 1);
  }
  const { summary, targets, reads } = story;
  assert.deepEqual([summary.filled, summary.untouched], [filled, data.size - read.size]);
  const slice = product(data.shape, story.addressed);
  for (const { coordinates, count, reads } of targets) {
    assert.equal(read.get(flat(coordinates, data.shape) * slice), count);
    for (const { target } of reads()) assert.deepEqual(target, coordinates);
    assert.equal([...reads()].length, count);
  }
  assert.equal(summary.count, reads.length);
}
