/** What an edit keeps of the picture before it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { withDType, withShape, withValue } from "../../src/document/edit.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { coordinatesOf, sizeOf } from "../../src/values/shape.ts";
import type { State, TensorText } from "../../src/values/state.ts";
import { viewOf } from "../../src/cells/view.ts";

const number = fc.nat(1000);
/** Numbers that choose a kind of edit, an input, and an element or a value. */
const edit = fc.tuple(number, number, number, fc.integer({ min: -3, max: 3 }));

function edited(
  state: State,
  [kind, chosen, where, value]: readonly [number, number, number, number],
): State {
  const input = chosen % state.inputs.length;
  const text = state.inputs[input];
  if (kind % 8 === 0) return { ...state, attributes: { ...state.attributes, axis: String(value) } };
  if (text === null) return state;
  const put = (next: TensorText): State => ({ ...state, inputs: state.inputs.with(input, next) });
  const size = sizeOf(text.shape);
  if (kind % 8 === 1) return put(withDType(text, where % 2 === 0 ? "float32" : "int64"));
  if (kind % 8 === 2 && text.shape.length > 0) {
    const found = withShape(text, text.shape.with(where % text.shape.length, Math.abs(value)));
    return "error" in found ? state : put(found.input);
  }
  return size === 0
    ? state
    : put(withValue(text, coordinatesOf(where % size, text.shape), String(value)));
}

test("the picture after any edits is the picture of the call alone", () => {
  const start = fc.constantFrom(...PRESETS.map(({ state }) => state));
  fc.assert(
    fc.property(start, fc.array(edit, { maxLength: 12 }), (first, edits) => {
      let [state, view] = [first, viewOf(first)];
      for (const one of edits) {
        state = edited(state, one);
        view = viewOf(state, view);
        const alone = viewOf(state).picture;
        assert.equal(view.picture === null, alone === null);
        if (view.picture === null || alone === null) continue;
        const { links, targets, printed } = view.picture;
        assert.deepEqual(links, alone.links);
        assert.deepEqual(printed, alone.printed);
        assert.deepEqual(targets.sliceOf, alone.targets.sliceOf);
        assert.deepEqual(targets.ofTuple, alone.targets.ofTuple);
      }
    }),
    { numRuns: 300 },
  );
});
