/** The checks of a GPU call's inputs: the slots that its first kernel reads. The tests need no GPU. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkInputs, NEVER } from "../../src/gpu/kernels/checks.ts";
import { textOf, type Span } from "../../src/gpu/kernels/kernel.ts";
import type { Dispatch, Recording } from "../../src/gpu/kernels/recording.ts";

const status: Span = { buffer: {} as Span["buffer"], bytes: 4 };

/** The kernels and the numbers of the dispatches that check inputs with the given slots. */
function dispatchesOf(inputs: readonly number[]): Dispatch[] {
  const made: Dispatch[] = [];
  const recording: Pick<Recording, "run" | "guard"> = {
    run: (dispatch) => made.push(dispatch),
    guard: { status, slot: 7 },
  };
  checkInputs(recording, { inputs, before: null });
  return made;
}

test("the slots of up to three inputs are read", () => {
  for (const [inputs, expected] of [
    [[], [NEVER, NEVER, NEVER]],
    [[1], [1, NEVER, NEVER]],
    [
      [1, 2],
      [1, 2, NEVER],
    ],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  ]) {
    const [kernel, ...others] = dispatchesOf(inputs);
    assert.equal(others.length, 0);
    const { slot, a, b, c } = kernel.params ?? {};
    assert.deepEqual([slot, a, b, c], [7, ...expected]);
    const { code } = textOf(kernel);
    for (const name of ["a", "b", "c"]) assert.ok(code.includes(`&status[params.${name} + `), name);
  }
});

test("a fourth slot is refused, because it would not be read", () => {
  assert.throws(() => dispatchesOf([1, 2, 3, 4]), /^Error: a call reads 3 slots of inputs, got 4$/);
});
