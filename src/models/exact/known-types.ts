/**
 * The types of a model's values, collected while its sessions are created. The types follow from the model, from the
 * runtime's metadata of session outputs, and from the type rules of nodes between sessions.
 */

import type { TensorType } from "../../core/operators/operator.ts";
import { isDType } from "../../core/tensor/dtype.ts";
import type { Dim, PartialShape } from "../../core/tensor/shape.ts";
import { layoutOf, LOOP_OWN, loopShape, slicingOf } from "../control-flow/iterations.ts";
import { findOpset } from "../model/graph.ts";
import { eitherKnown, NOTHING_KNOWN, sameType, unifyTypes, type Known } from "../model/known.ts";
import type { ModelNode, ValueInfo } from "../model/model.ts";
import { outputsOf } from "../model/types/table.ts";
import type { OutputMetadata } from "./runtime.ts";
import { ownerOf, type BodyStep, type GraphPlan } from "./steps.ts";

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
    const { end } = layoutOf(node);
    const isLoop = node.op === "Loop";
    for (const body of bodies) {
      for (const [at, info] of body.graph.inputs.entries()) {
        const isOwn = isLoop && at < LOOP_OWN.length;
        const type = isOwn
          ? { dtype: LOOP_OWN[at], shape: loopShape(info) }
          : this.#argumentOf(plan, node, at);
        if (type === null) continue;
        const { axis } = slicingOf(node, "input", at - end);
        const slice = at < end ? type.shape : (type.shape?.toSpliced(axis, 1) ?? null);
        // The shape of a Loop's state may change in each iteration.
        this.#learn(body, info.name, { ...type, shape: isLoop && !isOwn ? null : slice });
      }
    }
  }

  #argumentOf(plan: GraphPlan, { inputs }: ModelNode, at: number): TensorType | null {
    const { [at]: name = "" } = inputs;
    return name === "" ? null : this.typeOf(plan, name);
  }

  /** Records the output types of a node from the types of its bodies. */
  learnBodies(plan: GraphPlan, { node, bodies }: BodyStep): void {
    const { end, skipped, collected } = layoutOf(node);
    // The number of iterations of a Scan is the length of its first scanned input.
    const scanned = node.op === "Scan" ? this.#argumentOf(plan, node, end) : null;
    const length = scanned?.shape?.at(slicingOf(node, "input", 0).axis) ?? null;
    for (const [at, name] of node.outputs.entries()) {
      const known = bodies.map((body): Known => {
        const output = body.graph.outputs[at + skipped];
        return { ...NOTHING_KNOWN, type: output ? this.typeOf(body, output.name) : null };
      });
      const { type } = known.length === 1 ? known[0] : eitherKnown(known[0], known[1]);
      if (type === null) continue;
      const { axis } = slicingOf(node, "output", at - collected);
      const isState = at < collected;
      const stacked = isState ? type.shape : within(type.shape, length, axis);
      this.#learn(plan, name, { ...type, shape: isState && node.op === "Loop" ? null : stacked });
    }
  }
}

/** Converts a shape from onnxruntime, in which scalars and values of unknown rank both have no dimensions. */
const shapeFrom = (given: unknown): PartialShape =>
  Array.isArray(given) && given.length > 0
    ? given.map((dim: unknown): Dim => {
        if (typeof dim === "string") return dim === "" ? null : dim;
        return typeof dim === "number" && dim >= 0 ? dim : null;
      })
    : null;

const within = (shape: PartialShape, size: Dim, axis: number): PartialShape =>
  shape && shape.toSpliced(axis < 0 ? axis + shape.length + 1 : axis, 0, size);
