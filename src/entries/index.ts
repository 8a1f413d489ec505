/**
 * Scatter and gather for tensors, exact to the specifications of ONNX and OpenVINO.
 *
 * @example
 * ```ts
 * import { scatterND, tensor } from "ndscatter";
 *
 * const data = tensor("float32", [4, 2], [0, 0, 0, 0, 0, 0, 0, 0]);
 * const output = scatterND(data, [[1], [3], [1]], [[1, 2], [3, 4], [5, 6]], { reduction: "add" });
 * console.log(output); // rows 1 and 3 hold [6, 8] and [3, 4]
 * ```
 *
 * @module
 */

export {
  createEngine,
  type AsyncFunctions,
  type Engine,
  type EngineOptions,
} from "../core/create-engine.ts";
export {
  gather,
  gatherElements,
  gatherND,
  scatter,
  scatterElements,
  scatterND,
  tensorScatter,
} from "../core/functions.ts";
export {
  planGather,
  planGatherElements,
  planGatherND,
  planScatterElements,
  planScatterND,
} from "../core/plan-functions.ts";
export { run } from "../core/functions.ts";
export { vjp } from "../core/functions.ts";
export * from "../surface.ts";
