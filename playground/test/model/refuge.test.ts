/** What a reload must not lose. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { documentOf } from "../../src/document/document.ts";
import { fromHash, toHash } from "../../src/document/hash.ts";
import { historyOf, pushed } from "../../src/document/history.ts";
import { historyAround, leave, taken } from "../../src/document/refuge.ts";
import { PRESETS } from "../../src/examples/presets.ts";

/** Runs an action with a session storage as a browser has it. */
function withStorage(action: (stored: Map<string, string>) => void): void {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => void stored.set(key, text),
    removeItem: (key: string) => void stored.delete(key),
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage");
  Object.defineProperty(globalThis, "sessionStorage", { value: storage, configurable: true });
  try {
    action(stored);
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, "sessionStorage");
    else Object.defineProperty(globalThis, "sessionStorage", before);
  }
}

const PLACE = { at: "#here", was: "#before", stop: "7" };

test("a reload keeps the undo steps and the row numbers of a part of a larger tensor", () => {
  withStorage((stored) => {
    const [{ id, state: first }] = PRESETS;
    const [text] = first.inputs;
    assert.ok(text !== null);
    const rows = Array.from({ length: text.shape[0] }, (_, row) => 10 * row);
    const part = { ...first, inputs: first.inputs.with(0, { ...text, rows }) };
    const history = pushed(historyOf(documentOf(first, id)), documentOf(part, null));
    leave(history, false, PLACE, { of: "a", text: "Why?" });
    const left = taken();
    assert.ok(left !== null && left.to !== null);
    assert.equal(stored.size, 0);
    assert.deepEqual(left.question, { of: "a", text: "Why?" });
    const found = fromHash(left.to);
    assert.ok("state" in found);
    const back = historyAround(documentOf(found.state, null), left);
    assert.deepEqual(back.present.state, part);
    assert.deepEqual(
      back.past.map(({ state, preset }) => [toHash(state), preset]),
      [[toHash(first), id]],
    );
  });
});

test("what another program stored is not an undo step", () => {
  withStorage((stored) => {
    for (const text of [
      "",
      "null",
      "7",
      "{}",
      "[",
      '{"at":"#x","past":7,"question":{"of":"#x","text":7}}',
    ]) {
      stored.set("ndscatter-left", text);
      const left = taken();
      assert.ok(left === null || left.past.length === 0, text);
      assert.equal(left?.question.text ?? "", "");
    }
  });
});
