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

const many = (length: number, valueOf: (element: number) => number): string =>
  Array.from({ length }, (_, element) => valueOf(element)).join(",");

export const RANK_4 = `ai.onnx/ScatterND/18;int8:2,2,3,4:0*48;int64:2,3:0,1,2,-1,0,0;int8:2,4:${many(8, (e) => e)}`;

/** Tensors of 64 × 64 elements. */
export const LARGE = [
  "ai.onnx/ScatterElements/18;reduction=add;float32:64,64:0*4096",
  `int64:64,64:${many(4096, (e) => (e * 7) % 64)}`,
  `float32:64,64:${many(4096, (e) => e % 5)}`,
].join(";");
