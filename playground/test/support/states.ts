/** States of the page, written as links. */

import assert from "node:assert/strict";
import { fromHash } from "../../src/document/hash.ts";
import type { State } from "../../src/values/state.ts";

/** The state that a link holds. */
export function stateOf(hash: string): State {
  const found = fromHash(hash);
  assert.ok("state" in found, hash);
  return found.state;
}

/** Two rows are added to row 1 of data, and one to the last row. */
export const SUM = [
  "ai.onnx/ScatterND/18",
  "reduction=add",
  "float32:4,3:0*3,1*3,2*3,3*3",
  "int64:3,1:1,-1,1",
  "float32:3,3:10,20,30,40,50,60,70,80,90",
].join(";");
