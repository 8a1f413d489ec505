/** The sender's question in a link: any text comes back, and the output beside it stays. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromHash, suffixIn, toHash } from "../../src/document/hash.ts";
import { readCompared } from "../../src/why/compared-link.ts";
import {
  LONGEST_QUESTION,
  questionIn,
  withoutQuestion,
  withQuestion,
} from "../../src/document/suffix.ts";

const STATE = "ai.onnx/Gather/13;float32:2:1,2;int64:1:0";
const OTHER = "!float32:1:2;digits=3;beside=jax";

test("any question comes back, alone or behind an output", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom("", OTHER), (text, before) => {
      const suffix = withQuestion(before, text);
      const found = suffixIn(STATE + suffix);
      assert.equal(found, suffix);
      const kept = text
        .trim()
        .slice(0, LONGEST_QUESTION)
        .replaceAll(/\p{Cs}/gu, "");
      assert.equal(questionIn(found), kept.trim());
      assert.equal(withoutQuestion(found), before);
      assert.deepEqual(readCompared(found), readCompared(before));
      const state = fromHash(STATE + suffix);
      assert.ok("state" in state && toHash(state.state) === STATE);
    }),
  );
});

test("a damaged question is left out", () => {
  assert.equal(questionIn("!ask=%E4%A"), "");
  assert.equal(questionIn("!float32:1:2"), "");
  assert.equal(questionIn(`!ask=${"a".repeat(159)}${encodeURIComponent("🙂")}`), "a".repeat(159));
  assert.equal(withQuestion(withQuestion(OTHER, "a;b!"), ""), OTHER);
});
