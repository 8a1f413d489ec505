/** What a model can be converted to, and what each opset of ai.onnx brought: IR versions and data types. */

import type { DType } from "../tensor/dtype.ts";
import { printValue, readForeign, TensorError } from "../errors.ts";
import type { Domain } from "../operators/operator.ts";

/** An opset of ONNX, or OpenVINO; by default with its newest operators and in version 11 of its files. */
export type ConvertTarget =
  | { readonly domain?: "ai.onnx"; readonly opset: number }
  | { readonly domain: "openvino"; readonly opset?: number; readonly version?: 10 | 11 };

/** A target with all defaults filled in. */
export interface CheckedTarget {
  readonly domain: Domain;
  /** Infinity for the newest. */
  readonly opset: number;
  /** The first version of the file format that has the opset. */
  readonly irVersion: number;
}

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

/** The opset from which on Constant, Identity and Cast take a data type; it is 1 for the others. */
const BROUGHT: Partial<Record<DType, number>> = {
  bfloat16: 13,
  float8e4m3fn: 19,
  float8e4m3fnuz: 19,
  float8e5m2: 19,
  float8e5m2fnuz: 19,
  uint4: 21,
  int4: 21,
  float4e2m1: 23,
  float8e8m0: 24,
};

export const opsetOfDType = (dtype: DType): number => BROUGHT[dtype] ?? 1;

const NEWEST = IR_VERSIONS[IR_VERSIONS.length - 1][0];

/** @throws TensorError `unknown-operator` for a target that does not exist */
export function checkTarget(given: ConvertTarget): CheckedTarget {
  if (typeof given !== "object" || given === null) {
    throw unknown(`a target must be an object with a domain or an opset, got ${printValue(given)}`);
  }
  const parts = (): { domain?: unknown; opset?: unknown; version?: unknown } => ({ ...given });
  const must = "a target must be an object whose domain and opset can be read";
  const { domain = "ai.onnx", opset, version = 11 } = readForeign(parts, "unknown-operator", must);
  if (domain === "openvino") {
    if (version !== 10 && version !== 11) {
      throw unknown(`an IR is of version 10 or 11, got ${printValue(version)}`);
    }
    const number = opset === undefined ? Infinity : checkOpset(opset);
    return { domain, opset: number, irVersion: version };
  }
  if (domain !== "ai.onnx") {
    throw unknown(`there is no domain ${printValue(domain)}; there are ai.onnx and openvino`);
  }
  const number = checkOpset(opset);
  if (number > NEWEST) {
    throw unknown(`opset ${number} of ai.onnx is not known here; the newest is ${NEWEST}`);
  }
  const [, irVersion] = IR_VERSIONS.findLast(([first]) => first <= number) ?? IR_VERSIONS[0];
  return { domain, opset: number, irVersion };
}

function checkOpset(opset: unknown): number {
  if (Number.isSafeInteger(opset) && Number(opset) >= 1) return Number(opset);
  throw unknown(`the opset must be a positive integer, got ${printValue(opset)}`);
}

const unknown = (sentence: string): TensorError => new TensorError("unknown-operator", sentence);

export const printTarget = ({ domain, opset }: CheckedTarget): string =>
  opset === Infinity ? domain : `opset ${opset} of ${domain}`;
