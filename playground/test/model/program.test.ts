/** Pasted programs: what the page exports, and what people write with NumPy, torch, JAX, TensorFlow and ONNX. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { resolve, roleOf } from "ndscatter/operators";
import { fromHash } from "../../src/document/hash.ts";
import { readProgram } from "../../src/reading/program/program.ts";
import { readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { asNumPy } from "../../src/writing/as-numpy.ts";
import { asOnnxPython } from "../../src/writing/as-onnx-python.ts";
import { asTypeScript } from "../../src/writing/as-typescript.ts";
import { SUM } from "../support/states.ts";
import { CALLS } from "./calls.ts";

const found = fromHash(SUM);
assert.ok("state" in found);
const BASE = found.state;

/**
 * A state as its tensors hold it: a text may write `1.0` for `1`.
 * @param isPython whether the axis is a plain number, which has no data type and no shape
 */
function meaning(state: State, isPython: boolean) {
  const version = resolve(state);
  const { inputs, node } = readState(state);
  // A typed -0 is 0, and so is an attribute that is left out.
  const attributes = version.attributes.map(({ name, default: otherwise }) => {
    const value = node.attributes?.[name] ?? otherwise;
    return `${name} = ${value === 0 ? 0 : String(value)}`;
  });
  return {
    op: `${version.domain}/${version.name}/${version.sinceVersion}`,
    attributes,
    inputs: inputs.map((one, position) => {
      const isNumber = isPython && roleOf(version.inputs[position]) === "axis";
      if (one === undefined) return null;
      return isNumber ? String(one.toArray()) : [one.dtype, one.shape, String(one.toArray())];
    }),
  };
}

for (const [name, write] of Object.entries({ asNumPy, asOnnxPython, asTypeScript })) {
  test(`what ${name} writes is read as the same call`, () => {
    let count = 0;
    for (const [title, state] of CALLS) {
      const text = write(state);
      // ONNX has no operators of OpenVINO.
      if (/ is not an ONNX operator/.test(text)) continue;
      const { calls, marks } = readProgram(text, BASE);
      assert.deepEqual(marks, [], `${title}\n${text}`);
      assert.equal(calls.length, 1, `${title}\n${text}`);
      const [read, written] = [calls[0].state, state].map((one) => meaning(one, write === asNumPy));
      assert.deepEqual(read, written, `${title}\n${text}`);
      count++;
    }
    assert.ok(count > 1000, `${count}`);
  });
}
