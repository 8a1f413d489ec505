/** Opsets that callers specify, and the matching versions of ONNX's file format (IR versions). */

import { factOf } from "../../core/foreign.ts";
import { TensorError } from "../../core/errors.ts";
import { NEWEST_OPSETS, type Domain } from "../../core/operators/operator.ts";
import { wrongOpset } from "../../core/operators/registry.ts";

export function checkOpset(opset: unknown, domain: Domain): number {
  if (!Number.isSafeInteger(opset) || Number(opset) < 1) throw wrongOpset(opset);
  const newest = NEWEST_OPSETS[domain];
  if (Number(opset) <= newest) return Number(opset);
  throw new TensorError(
    "unknown-operator",
    `opset ${String(opset)} of ${domain} is unknown to this package; the newest known opset is ${newest}`,
    { key: "opset", got: factOf(opset), expected: [1, newest] },
  );
}

/** The IR version of ONNX 1.10 to 1.13. All runtimes in use can read files of this version. */
export const IR_VERSION = 8;

/** The first opset of each IR version. ONNX: Versioning, Released Versions. */
const IR_VERSIONS: readonly (readonly [opset: number, irVersion: number])[] = [
  [1, 3],
  [9, 4],
  [10, 5],
  [11, 6],
  [12, 7],
  [15, 8],
  [19, 9],
  [21, 10],
  [23, 11],
  [24, 12],
  [25, 13],
  [28, 14],
];

/** Returns the first IR version whose ONNX release includes an ai.onnx opset. */
export const firstIrVersion = (opset: number): number =>
  (IR_VERSIONS.findLast(([first]) => first <= opset) ?? IR_VERSIONS[0])[1];
