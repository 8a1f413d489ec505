/**
 * The operators' versions as data, and the package's way to print scalars and shapes: for tools that list, compare or
 * display operators.
 *
 * @example
 * ```ts
 * import { printShape, resolve, typesOf } from "ndscatter/operators";
 *
 * const version = resolve({ op: "ScatterND", opset: 17 });
 * console.log(version.sinceVersion); // 16
 * console.log(typesOf(version, "T").includes("bfloat16")); // true
 * console.log(printShape([2, "N", null])); // [2, N, ?]
 * ```
 *
 * @module
 */

export type { VersionChange } from "../core/operators/rows.ts";
export { NEWEST_OPSETS } from "../core/operators/operator.ts";
export { operators, resolve } from "../core/operators/registry.ts";
export { compareVersions, roleOf, typesOf } from "../core/operators/rows.ts";
export { printScalar } from "../core/tensor/print.ts";
export { printShape } from "../core/tensor/shape.ts";
