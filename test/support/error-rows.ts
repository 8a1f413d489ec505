/** Calls that must fail, as rows, and the test of a row on every engine. */

import { test } from "node:test";
import { run } from "../../src/core/functions.ts";
import type { ErrorCode, ErrorFields } from "../../src/core/errors.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "./engines.ts";
import { assertRefused } from "./refusal.ts";

/** A call that must fail, with the code and the fields of its error; its sentence is in `test/fixtures/sentences.txt`. */
export interface ErrorRow {
  readonly name: string;
  readonly node: Parameters<typeof run>[0];
  readonly inputs: () => unknown[];
  readonly options?: (inputs: readonly unknown[]) => Parameters<typeof run>[2];
  readonly code: ErrorCode;
  readonly fields?: ErrorFields;
}

export const f32 = (...shape: number[]) => zeros("float32", shape);
export const i64 = (shape: number[], ...values: (number | bigint)[]) =>
  tensor("int64", shape, values);
export const i32 = (shape: number[], ...values: number[]) => tensor("int32", shape, values);

export const nd = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "ScatterND",
  opset,
  attributes,
});
export const elements = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "ScatterElements",
  opset,
  attributes,
});
export const gather = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "GatherND",
  opset,
  attributes,
});
export const gatherElements = (opset: number, attributes?: Record<string, unknown>) => ({
  op: "GatherElements",
  opset,
  attributes,
});
export const update = (opset: number, attributes?: Record<string, unknown>) => ({
  domain: "openvino",
  op: "ScatterNDUpdate",
  opset,
  attributes,
});

export const openvino = (op: string, opset: number, attributes?: Record<string, unknown>) => ({
  domain: "openvino",
  op,
  opset,
  attributes,
});
export const withAxis = () => [f32(2), i64([1], 0), f32(1), i64([], 0)];
export const cache = () => [f32(1, 2, 3), f32(1, 1, 3), i64([1], 0)];

export const ok = () => [f32(8), i64([2, 1], 0, 1), f32(2)];
export const withMemoryGone = (value: Tensor): Tensor => {
  if (ArrayBuffer.isView(value.data)) {
    structuredClone(value.data.buffer, { transfer: [value.data.buffer as ArrayBuffer] });
  }
  return value;
};

/** A test of each row on each engine. */
export function testErrors(rows: readonly ErrorRow[]): void {
  for (const { name, node, inputs: make, options, code, fields } of rows) {
    for (const [engineName, engine] of Object.entries(ENGINES)) {
      test(`${name}: ${code}, on ${engineName}`, () => {
        const inputs = make();
        const given = options?.(inputs);
        assertRefused(code, { op: node.op, ...fields }, () =>
          run(node, inputs, { ...given, engine }),
        );
      });
    }
  }
}
