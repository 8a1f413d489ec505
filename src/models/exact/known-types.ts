/**
 * The types of a model's values, collected while its sessions are created. The types follow from the model, from the
 * runtime's metadata of session outputs, and from the type rules of nodes between sessions.
 */

import type { TensorType } from "../../core/operators/operator.ts";
import { isDType, type DType } from "../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../core/tensor/shape.ts";
import { findOpset } from "../model/graph.ts";
import { eitherKnown, NOTHING_KNOWN, sameType, unifyTypes, type Known } from "../model/known.ts";
import type { ModelNode, ValueInfo } from "../model/model.ts";
import { outputsOf } from "../model/types/outputs.ts";
import { integers, shapeOf } from "../verify/frames.ts";
import { ownerOf, type BodyStep, type GraphPlan } from "./steps.ts";

export interface OutputMetadata {
  readonly name: string;
  readonly type?: unknown;
  /** The sizes or the names of the dimensions. */
  readonly shape?: unknown;
}

export class KnownTypes {
  readonly #learned = new Map<GraphPlan, Map<string, TensorType>>();

  /** Returns a value's type, from the graph or an enclosing graph; null if the data type is unknown. */
  typeOf(plan: GraphPlan, name: string): TensorType | null {
    const owner = ownerOf(plan, name);
    const { certain, believed } = owner.scope.get(name);
    const learned = this.#learned.get(owner)?.get(name) ?? null;
    if (learned !== null)
      return certain.type === null ? learned : (unifyTypes(certain.type, learned) ?? certain.type);
    // Runtimes do not enforce the declared shape of a value between two nodes.
    return certain.type ?? (believed.type && { dtype: believed.type.dtype, shape: null });
  }

  #learn(plan: GraphPlan, name: string, type: TensorType | null): void {
    if (type === null || name === "") return;
    const known = this.#learned.get(plan) ?? new Map<string, TensorType>();
    const isLess = type.shape === null && known.get(name)?.dtype === type.dtype;
    if (!isLess) this.#learned.set(plan, known.set(name, type));
  }

  /**
   * Records the runtime's metadata of session outputs. In this metadata, scalars and values of unknown rank both have
   * an empty shape. The runtime may have inferred sizes from an outdated declaration of the model, so only certain
   * sizes become input sizes of later sessions.
   */
  learnOutputs(
    plan: GraphPlan,
    metadata: readonly OutputMetadata[],
    outputs: readonly ValueInfo[],
  ): void {
    const isSure = outputs.every(
      ({ name, type }) => type === null || sameType(type, plan.scope.get(name).certain.type),
    );
    for (const { name, type, shape } of metadata) {
      if (typeof type !== "string" || !isDType(type)) continue;
      const dims = shapeFrom(shape);
      this.#learn(plan, name, {
        dtype: type,
        shape: isSure ? dims : (dims?.map(() => null) ?? null),
      });
    }
  }

  learnNode(plan: GraphPlan, node: ModelNode): void {
    const opset = findOpset(plan.opsets, node);
    const inputs = node.inputs.map((name): Known => {
      if (name === "") return NOTHING_KNOWN;
      const { certain } = ownerOf(plan, name).scope.get(name);
      return certain.constant === null ? { ...certain, type: this.typeOf(plan, name) } : certain;
    });
    for (const [at, { type }] of outputsOf(node, opset, inputs).entries()) {
      this.#learn(plan, node.outputs[at] ?? "", type);
    }
  }

  learnInputs(plan: GraphPlan, { node, bodies }: BodyStep): void {
    const scanned = node.op === "Scan" ? Number(integers(node, "num_scan_inputs")[0] ?? 0) : 0;
    const axes = integers(node, "scan_input_axes");
    const first = node.inputs.length - scanned;
    for (const body of bodies) {
      for (const [at, info] of body.graph.inputs.entries()) {
        const { name } = info;
        if (node.op === "Loop" && at < LOOP_OWN.length) {
          this.#learn(body, name, { dtype: LOOP_OWN[at], shape: shapeOf(info) });
          continue;
        }
        const type = (node.inputs[at] ?? "") === "" ? null : this.typeOf(plan, node.inputs[at]);
        if (type === null) continue;
        const { dtype, shape } = type;
        // The shape of a Loop's state may change in each iteration.
        const own =
          node.op === "Loop" ? null : at < first ? shape : without(shape, axes[at - first]);
        this.#learn(body, name, { dtype, shape: own });
      }
    }
  }

  /** Returns the number of iterations of a Scan; null if unknown, and for other nodes. */
  #scanLength(plan: GraphPlan, node: ModelNode): Dim {
    if (node.op !== "Scan") return null;
    const first = node.inputs.length - Number(integers(node, "num_scan_inputs")[0] ?? 0);
    const shape = this.typeOf(plan, node.inputs[first] ?? "")?.shape ?? null;
    return shape?.at(Number(integers(node, "scan_input_axes")[0] ?? 0)) ?? null;
  }

  /** Records the output types of a node from the types of its bodies. */
  learnBodies(plan: GraphPlan, { node, bodies }: BodyStep): void {
    const skipped = node.op === "Loop" ? 1 : 0;
    const isLooping = node.op === "Loop" || node.op === "Scan";
    const length = this.#scanLength(plan, node);
    const scanned = node.op === "Scan" ? Number(integers(node, "num_scan_inputs")[0] ?? 0) : 0;
    const states =
      node.op === "Loop" ? node.inputs.length - LOOP_OWN.length : node.inputs.length - scanned;
    const axes = integers(node, "scan_output_axes");
    for (const [at, name] of node.outputs.entries()) {
      const types = bodies.map((body) => {
        const output = body.graph.outputs[at + skipped];
        return output === undefined ? null : this.typeOf(body, output.name);
      });
      const known = types.map((type): Known => ({ ...NOTHING_KNOWN, type }));
      const { type } = known.length === 1 ? known[0] : eitherKnown(known[0], known[1]);
      if (type === null) continue;
      const { dtype, shape } = type;
      const isCollected = isLooping && at >= states;
      const own = isCollected
        ? within(shape, length, axes[at - states])
        : node.op === "Loop"
          ? null
          : shape;
      this.#learn(plan, name, { dtype, shape: own });
    }
  }
}

/** The data types of a Loop body's first inputs: the iteration number and the condition. */
const LOOP_OWN: readonly DType[] = ["int64", "bool"];

/** Converts a shape from onnxruntime, in which scalars and values of unknown rank both have no dimensions. */
const shapeFrom = (given: unknown): PartialShape =>
  Array.isArray(given) && given.length > 0
    ? given.map((dim: unknown): Dim => {
        if (typeof dim === "string") return dim === "" ? null : dim;
        return typeof dim === "number" && dim >= 0 ? dim : null;
      })
    : null;

const without = (shape: PartialShape, axis: number | bigint = 0): PartialShape =>
  shape && shape.toSpliced(Number(axis), 1);

const within = (shape: PartialShape, size: Dim, axis: number | bigint = 0): PartialShape => {
  const at = Number(axis);
  return shape && shape.toSpliced(at < 0 ? at + shape.length + 1 : at, 0, size);
};
