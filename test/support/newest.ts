/** The newest version of an operator, which commands run where no opset is given. Tests that mean it ask here for it. */

import assert from "node:assert/strict";
import type { Domain, OperatorVersion } from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";

export function newestOf(op: string, domain: Domain = "ai.onnx"): OperatorVersion {
  const newest = operators().findLast((row) => row.name === op && row.domain === domain);
  return newest ?? assert.fail(`${domain} has no ${op}`);
}

/** `ScatterND-18`, as results and errors name it. */
export const newestTitle = (op: string, domain: Domain = "ai.onnx"): string =>
  `${op}-${newestOf(op, domain).sinceVersion}`;
