/** What must not be lost: cut-off elements, the tensors of other operators, one's own call, and every former document. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DTYPES, operators, type DType } from "ndscatter";
import { resolve } from "ndscatter/operators";
import {
  documentOf,
  withExample,
  withOpened,
  withOwn,
  type Document,
} from "../../src/document/document.ts";
import {
  grownShape,
  withInputGiven,
  withInputShape,
  withInputText,
  withState,
} from "../../src/document/inputs.ts";
import { withChoice } from "../../src/document/choose.ts";
import { withDType, withInput, withValue } from "../../src/document/edit.ts";
import {
  historyOf,
  MOST_STEPS,
  pushed,
  redone,
  undone,
  type History,
} from "../../src/document/history.ts";
import { withPaste } from "../../src/reading/paste.ts";
import { PRESETS } from "../../src/examples/presets.ts";
import { coordinatesOf, sizeOf } from "../../src/values/shape.ts";
import type { TensorText } from "../../src/values/state.ts";
import { explainState } from "../../src/document/read-state.ts";
import { stateOf } from "../support/states.ts";
import { f32 } from "../support/values.ts";

const numbers = (text: string): string[] => (text === "" ? [] : text.split(" "));

const BASE = stateOf(
  "ai.onnx/ScatterND/18;reduction=add;float32:4,3:1,2,3,4,5,6,7,8,9,10,11,12;int64:2,1:0,1;" +
    "float32:2,3:10,20,30,40,50,60",
);

const START = documentOf(BASE, null);

/** The document with another shape of an input. */
function shaped(document: Document, input: number, shape: readonly number[]): Document {
  const found = withInputShape(document, input, shape);
  assert.ok("document" in found);
  return found.document;
}

/** The document with another input. */
const put = (document: Document, input: number, text: TensorText | null): Document =>
  withState(document, withInput(document.state, input, text));

/** Data in one shape after the other; `+` adds an axis as the button does, `at=text` sets an element. */
function dataAfter(steps: readonly string[]): TensorText {
  let document = START;
  for (const step of steps) {
    const data = document.state.inputs[0];
    assert.ok(data !== null);
    const [at, text] = step.split("=");
    if (text !== undefined) {
      document = put(document, 0, withValue(data, at.split(",").map(Number), text));
    } else {
      const shape = step === "+" ? grownShape(document, 0) : numbers(step).map(Number);
      document = shaped(document, 0, shape);
    }
  }
  const data = document.state.inputs[0];
  assert.ok(data !== null);
  return data;
}

type Way = readonly [steps: readonly string[], shape: string, values: string];

// prettier-ignore
const WAYS: readonly Way[] = [
  [["2 3"], "2 3", "1 2 3 4 5 6"],
  [["2 3", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["2 3", "1,2=x", "4 3"], "4 3", "1 2 3 4 5 x 7 8 9 10 11 12"],
  [["2 3", "2 2", "4 2", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["3 3", "2 3", "4 4"], "4 4", "1 2 3 0 4 5 6 0 7 8 9 0 10 11 12 0"],
  [["999 3", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["0 3", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  // However many steps an axis shrinks, all of it comes back.
  [[...Array.from({ length: 20 }, (_, step) => `${24 - step} 1`), "3 3", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["1 3", "4 1", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["4"], "4", "1 4 7 10"],
  [["4", "+"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["4", "1=x", "+"], "4 3", "1 2 3 x 5 6 7 8 9 10 11 12"],
  // What is edited last wins, at whatever rank it was.
  [["4", "3=x", "2", "+", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 x 11 12"],
  [["2 3", "2", "4"], "4", "1 4 7 10"],
  [["4", "2", "4", "+"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["4", "", "+", "+"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["+"], "4 3 1", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["4 1", "4", "+"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["4 1", "4", "+", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  // As many elements at another rank keep their order.
  [["12", "4 3"], "4 3", "1 2 3 4 5 6 7 8 9 10 11 12"],
  [["5 4 3", "2 3"], "2 3", "1 2 3 4 5 6"],
];

for (const [steps, shape, values] of WAYS) {
  test(`[4, 3] by way of ${steps.map((step) => (/^[\d ]*$/.test(step) ? `[${step}]` : step)).join(", ")}`, () => {
    const data = dataAfter(steps);
    assert.deepEqual(data.shape, numbers(shape).map(Number));
    assert.deepEqual(data.values, numbers(values));
  });
}

test("a shape that is refused changes nothing", () => {
  assert.ok("error" in withInputShape(START, 0, [200, 200]));
});

test("what was cut off from a tensor does not come back in another one", () => {
  const pasted = withInputText(shaped(START, 0, [2, 3]), 0, f32([[9]]));
  assert.deepEqual(shaped(pasted, 0, [2, 2]).state.inputs[0]?.values, numbers("9 0 0 0"));
});

test("what was cut off has the data type that is chosen meanwhile", () => {
  const start = put(START, 0, { dtype: "bool", shape: [2], values: ["true", "true"] });
  const text = { dtype: "int32", shape: [1], values: ["1"] } as const;
  const number = put(shaped(start, 0, [1]), 0, text);
  const expected = { dtype: "int32", shape: [2], values: ["1", "1"] };
  assert.deepEqual(shaped(number, 0, [2]).state.inputs[0], expected);
});

const ELEMENTS = { domain: "ai.onnx", op: "ScatterElements", opset: 18 } as const;

test("ScatterND, ScatterElements and back: its tensors are as they were left", () => {
  const there = withChoice(START, ELEMENTS);
  assert.equal(there.document.state.op, "ScatterElements");
  assert.deepEqual(there.document.state.inputs[0], BASE.inputs[0]);
  assert.match(there.remarks[0], /updates is reshaped; undo restores the call$/);
  const { state } = there.document;
  const edited = withState(there.document, { ...state, attributes: { axis: "1" } });
  const back = withChoice(edited, { domain: "ai.onnx", op: "ScatterND", opset: 18 });
  assert.deepEqual(back.document.state, BASE);
  assert.deepEqual(back.remarks, ["the ScatterND tensors are as you left them"]);
  const again = withChoice(back.document, ELEMENTS);
  assert.deepEqual(again.document.state, edited.state);
});

test("an operator comes back in the version chosen, and what that lacks comes back later", () => {
  const there = withChoice(START, ELEMENTS).document;
  const old = withChoice(there, { domain: "ai.onnx", op: "ScatterND", opset: 13 });
  assert.deepEqual([old.document.state.opset, old.document.state.attributes], [13, {}]);
  assert.equal(old.remarks.length, 2);
  const newest = withChoice(old.document, { domain: "ai.onnx", op: "ScatterND", opset: 18 });
  assert.deepEqual(newest.document.state, BASE);
  assert.deepEqual(newest.remarks, ["reduction = add is back"]);
});

test("an attribute that was left out does not replace one that is chosen since", () => {
  const max = documentOf({ ...BASE, attributes: { reduction: "max" } }, null);
  const version = { domain: "ai.onnx", op: "ScatterND" } as const;
  const old = withChoice(max, { ...version, opset: 16 }).document;
  assert.deepEqual(old.state.attributes, {});
  const edited = withState(old, { ...old.state, attributes: { reduction: "mul" } });
  const newest = withChoice(edited, { ...version, opset: 18 });
  assert.deepEqual(newest.document.state.attributes, { reduction: "mul" });
});

test("what was cut off comes back under another operator too", () => {
  const gather = { domain: "ai.onnx", op: "GatherND", opset: 13 } as const;
  const other = withChoice(shaped(START, 0, [2, 3]), gather).document;
  assert.deepEqual(shaped(other, 0, [4, 3]).state.inputs[0], BASE.inputs[0]);
});

test("one's own call stays beside the examples, with everything that belongs to it", () => {
  const mine = shaped(withChoice(START, ELEMENTS).document, 0, [1, 1]);
  const [first, second] = PRESETS;
  const example = withExample(mine, first);
  assert.deepEqual([example.state, example.preset], [first.state, first.id]);
  const next = withExample(example, second);
  const back = withOwn(next);
  assert.deepEqual({ ...back, own: null }, mine);
  // An example that is edited is the user's own as well: the two change places.
  const edited = withState(next, { ...next.state, attributes: { axis: "7" } });
  const swapped = withOwn(edited);
  assert.deepEqual(swapped.state, mine.state);
  assert.deepEqual(withOwn(swapped).state, edited.state);
});

test("an example alone is nobody's own", () => {
  const [first, second] = PRESETS;
  const document = withExample(documentOf(first.state, first.id), second);
  assert.equal(document.own, null);
  assert.equal(withOwn(document), document);
});

test("the address of one's own call brings all of it back; another address keeps it", () => {
  const [first] = PRESETS;
  const example = withExample(START, first);
  assert.deepEqual(withOpened(example, structuredClone(BASE), null).state, BASE);
  assert.equal(withOpened(example, structuredClone(first.state), null), example);
  const other = withOpened(START, { ...BASE, attributes: {} }, null);
  assert.deepEqual(other.own?.state, BASE);
});

test("an input that was left out comes back as it was", () => {
  const lengths: TensorText = { dtype: "int64", shape: [2], values: ["1", "0"] };
  const preset = PRESETS.find(({ state }) => state.op === "TensorScatter");
  assert.ok(preset !== undefined);
  const full = put(documentOf(preset.state, null), 2, lengths);
  const out = put(full, 2, null);
  assert.equal(out.state.inputs[2], null);
  assert.deepEqual(withInputGiven(out, 2).state, full.state);
});

const PASTES = [
  "[[1, 2], [3, 4]]",
  "np.arange(6).reshape(2, 3)",
  "7",
  "1,2",
  "array([], dtype=int32)",
  "x",
];

/** One random change of everything that a user can change. */
function changed(document: Document, below: (count: number) => number): Document {
  const { state } = document;
  const input = below(state.inputs.length);
  const text = state.inputs[input];
  const version = resolve({ domain: state.domain, op: state.op, opset: state.opset });
  switch (below(11)) {
    case 0:
    case 1:
    case 2: {
      if (text === null || sizeOf(text.shape) === 0) return document;
      const at = coordinatesOf(below(sizeOf(text.shape)), text.shape);
      return put(document, input, withValue(text, at, String(below(9) - 2)));
    }
    case 3:
    case 4: {
      const shape = text?.shape ?? [];
      const shapes = [
        shape.slice(0, -1),
        grownShape(document, input),
        shape.map((length) => Math.max(0, length + below(3) - 1)),
        Array.from({ length: below(4) }, () => below(4)),
      ];
      const next = withInputShape(document, input, shapes[below(shapes.length)]);
      return "document" in next ? next.document : document;
    }
    case 5: {
      const dtypes = Object.keys(DTYPES) as DType[];
      if (text === null) return document;
      return put(document, input, withDType(text, dtypes[below(dtypes.length)]));
    }
    case 6: {
      const all = operators();
      const { domain, name: op, sinceVersion: opset } = all[below(all.length)];
      return withChoice(document, { domain, op, opset }).document;
    }
    case 7: {
      const schema = version.attributes[below(version.attributes.length)];
      if (schema === undefined) return document;
      const words = ["0", "1", "-1", "x", "true", ...(schema.values ?? [])];
      const attributes = { ...state.attributes, [schema.name]: words[below(words.length)] };
      return withState(document, { ...state, attributes });
    }
    case 8:
      return below(3) === 0
        ? withOwn(document)
        : withExample(document, PRESETS[below(PRESETS.length)]);
    case 9: {
      const element = below(2) === 0 || text === null ? null : below(text.values.length);
      const edited = withPaste(
        text ?? { dtype: "float32", shape: [], values: ["0"] },
        element,
        PASTES[below(PASTES.length)],
      );
      return "input" in edited ? withInputText(document, input, edited.input) : document;
    }
    default:
      return text === null ? withInputGiven(document, input) : put(document, input, null);
  }
}

test(`${MOST_STEPS} random edits, walked back to the start and forward again`, () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const below = (count: number): number => draw(fc.nat, { max: Math.max(0, count - 1) });
      const documents: Document[] = [documentOf(PRESETS[0].state, PRESETS[0].id)];
      let history = historyOf(documents[0]);
      while (documents.length <= MOST_STEPS) {
        const next = changed(history.present, below);
        if (next === history.present) continue;
        history = pushed(history, next);
        // The page shows any of these states, so it must be possible to explain them.
        if (documents.length % 50 === 0) explainState(next.state);
        documents.push(structuredClone(next));
      }
      for (const document of documents.slice(1).toReversed()) {
        assert.deepEqual(history.present, document, "on the way back");
        history = undone(history);
      }
      assert.deepEqual(history.present, documents[0]);
      assert.equal(undone(history), history);
      for (const document of documents.slice(1)) {
        history = redone(history);
        assert.deepEqual(history.present, document, "on the way forward");
      }
      assert.equal(redone(history), history);
    }),
    // Shrinking thousands of draws would take longer than reading the first failure.
    { numRuns: 5, endOnFailure: true },
  );
});

test(`an edit after an undo forgets what was undone, and ${MOST_STEPS} steps are kept`, () => {
  const valued = (text: string): Document =>
    withState(START, { ...BASE, attributes: { reduction: text } });
  let history: History = historyOf(START);
  for (let step = 0; step < MOST_STEPS + 100; step++) {
    history = pushed(history, valued(String(step)));
  }
  assert.equal(history.past.length, MOST_STEPS);
  history = pushed(undone(history), valued("new"));
  assert.deepEqual(history.future, []);
  assert.deepEqual(undone(history).present, valued(String(MOST_STEPS + 98)));
});

test("an edit of a large tensor shares every text but the one that it changes", () => {
  const large: TensorText = {
    dtype: "float32",
    shape: [100, 200],
    values: Array<string>(20_000).fill("0"),
  };
  const start = documentOf({ ...BASE, inputs: BASE.inputs.with(0, large) }, null);
  const history = pushed(historyOf(start), put(start, 0, withValue(large, [7, 7], "1")));
  assert.equal(history.past[0], start);
  assert.equal(history.present.state.inputs[1], start.state.inputs[1]);
});
