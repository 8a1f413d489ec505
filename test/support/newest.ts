/** The newest version of an operator, which commands run by default. Tests of the default get the version from here. */

import assert from "node:assert/strict";
import type { Domain, OperatorVersion } from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";

export function newestOf(op: string, domain: Domain = "ai.onnx"): OperatorVersion {
  const newest = operators().findLast((row) => row.name === op && row.domain === domain);
  return newest ?? assert.fail(`${domain} has no ${op}`);
}

/** `ScatterND-18`, the form in results and errors. */
export const newestTitle = (op: string, domain: Domain = "ai.onnx"): string =>
  `${op}-${newestOf(op, domain).sinceVersion}`;
