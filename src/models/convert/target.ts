/** Conversion targets, and notes about the runtimes that load them. */

import { checkNames, factOf, printValue, readForeign } from "../../core/foreign.ts";
import { unknownDomain } from "../../core/operators/registry.ts";
import { TensorError, type FieldsOf } from "../../core/errors.ts";
import type { Domain } from "../../core/operators/operator.ts";
import { checkOpset, firstIrVersion } from "../model/opset.ts";

/**
 * A conversion target: an ONNX opset, or OpenVINO. The defaults for OpenVINO are the newest operators and version 11 of
 * the file format.
 */
export type ConvertTarget =
  | { readonly domain?: "ai.onnx" | undefined; readonly opset: number }
  | {
      readonly domain: "openvino";
      readonly opset?: number | undefined;
      readonly version?: 10 | 11 | undefined;
    };

export interface CheckedTarget {
  readonly domain: Domain;
  readonly opset: number;
  readonly irVersion: number;
}

/**
 * The newest opsets and IR versions that two runtimes load: the newest onnxruntime-node, according to its error
 * messages, and ONNX Runtime 1.32 for Python.
 */
const RUNTIME = { name: "ONNX Runtime 1.30", opset: 26, irVersion: 13 };
const NEXT = { name: "ONNX Runtime 1.32", opset: 28 };

/** Returns a note if the model is too new for the ONNX Runtime that most users have; null otherwise. */
export function runtimeNote(opset: number, irVersion: number): string | null {
  const { name } = RUNTIME;
  const advice =
    opset > NEXT.opset
      ? `${NEXT.name} loads opsets up to ${NEXT.opset}`
      : `${NEXT.name} loads the model`;
  if (opset > RUNTIME.opset) {
    return `${name} does not load this model: its opset is ${opset}, and ${name} loads opsets up to ${RUNTIME.opset}; ${advice}`;
  }
  if (irVersion <= RUNTIME.irVersion) return null;
  return (
    `${name} does not load this model: its IR version is ${irVersion}, ` +
    `and ${name} loads versions up to ${RUNTIME.irVersion}; ${advice}`
  );
}

/**
 * Operators that ONNX Runtime 1.30 computes with another kernel from some opset on. The other kernel rounds
 * differently.
 */
const OTHER_KERNELS: Readonly<Record<string, number>> = { AveragePool: 19 };

/** Returns a note if the conversion makes ONNX Runtime use another kernel for the operator; null otherwise. */
export function kernelNote(op: string, from: number, to: number): string | null {
  const since = Object.hasOwn(OTHER_KERNELS, op) ? OTHER_KERNELS[op] : null;
  if (since === null || from < since === to < since) return null;
  return `ONNX Runtime has another kernel for ${op} from opset ${since} on, which rounds differently; by the specification, the results are the same`;
}

const TARGET_KEYS = ["domain", "opset", "version"];

export function checkTarget(given: ConvertTarget): CheckedTarget {
  if (typeof given !== "object" || given === null) {
    const sentence = `a target must be an object, such as { opset: 18 } or { domain: "openvino" }, got ${printValue(given)}`;
    throw unknown(sentence, { key: "target", got: factOf(given) });
  }
  const parts = (): { domain?: unknown; opset?: unknown; version?: unknown } => ({ ...given });
  const must = "a target must be an object whose domain and opset can be read";
  const {
    domain = "ai.onnx",
    opset,
    version = 11,
    ...rest
  } = readForeign(parts, "unknown-operator", must, "target");
  checkNames("key of a target", { domain, opset, version, ...rest }, TARGET_KEYS, {});
  if (domain === "openvino") {
    if (version !== 10 && version !== 11) {
      const sentence = `the version of an IR must be 10 or 11, got ${printValue(version)}`;
      throw unknown(sentence, { key: "version", got: factOf(version), allowed: [10, 11] });
    }
    const number = opset === undefined ? Infinity : checkOpset(opset, domain);
    return { domain, opset: number, irVersion: version };
  }
  if (domain !== "ai.onnx") throw unknownDomain(domain);
  const number = checkOpset(opset, domain);
  return { domain, opset: number, irVersion: firstIrVersion(number) };
}

const unknown = (sentence: string, fields: FieldsOf<"unknown-operator">): TensorError =>
  new TensorError("unknown-operator", sentence, fields);

export const printTarget = ({ domain, opset }: CheckedTarget): string =>
  opset === Infinity ? domain : `opset ${opset} of ${domain}`;
