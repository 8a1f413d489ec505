/**
 * Runs models whose inputs or outputs have data types that a runtime's JavaScript interface does not carry. In a copy
 * of such a model, a Cast before the input or after the output changes the data type to a wider one, which keeps every
 * value. onnxruntime-node 1.30.0 refuses outputs of bfloat16 and float8, and ends the process at an output of int4.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import { castTensor } from "../model/cast.ts";
import type { Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";
import { bodiesOf } from "../model/uses.ts";
import { writeModel } from "../onnx/write-model.ts";
import { inferTypes } from "../split/types.ts";
import { openSession, orFailure, type CreateSession, type OpenSession } from "./session.ts";

/** Returns the data type that carries values of another one; null for a type that needs no other, or has none. */
export function carrierOf(dtype: DType): DType | null {
  const row = DTYPES[dtype];
  if (row.family === "minifloat" || dtype === "bfloat16") return "float32";
  if (!("bits" in row)) return null;
  return dtype.startsWith("u") ? "uint8" : "int8";
}

const CARRIED: ReadonlySet<unknown> = new Set(
  Object.entries(DTYPES).flatMap(([name, { onnx }]) =>
    carrierOf(name as DType) === null ? [] : [name, onnx.number],
  ),
);

/** Returns true if a graph may compute values that need another type, so that the types of its outputs matter. */
const computesCarried = ({ inputs, outputs, constants, nodes, values = [] }: Graph): boolean =>
  [...inputs, ...outputs, ...values].some(({ type }) => type !== null && CARRIED.has(type.dtype)) ||
  constants.some(({ dtype }) => CARRIED.has(dtype)) ||
  nodes.some(makesCarried);

const makesCarried = ({ attributes }: ModelNode): boolean =>
  Object.entries(attributes).some(([key, one]) => {
    if (one.type === "int") return /^to$|dtype$/.test(key) && CARRIED.has(one.value);
    if (one.type === "tensor") return CARRIED.has(one.value.dtype);
    return one.type === "other" && bodiesOf(one.graphs).some(computesCarried);
  });

/** An opset with a Cast of float8, for models without an operator of ONNX. Older models have no float8. */
const CAST_SINCE = 19;

interface CarriedModel {
  readonly model: Model;
  /** The names and carriers of changed inputs. */
  readonly inputs: ReadonlyMap<string, DType>;
  /** The names and own types of changed outputs. */
  readonly outputs: ReadonlyMap<string, DType>;
}

const inner = (name: string): string => `ndscatter: input ${name}`;
const outer = (name: string): string => `ndscatter: output ${name}`;

/** Returns the copy of a model that a runtime's interface can run; null if the model needs no copy. */
function carriedModel(model: Model): CarriedModel | null {
  const { graph, functions = [] } = model;
  if (![graph, ...functions.map((one) => one.graph)].some(computesCarried)) return null;
  const types = inferTypes(model);
  const changed = (all: readonly ValueInfo[]): Map<string, DType> =>
    new Map(
      all.flatMap(({ name, type }) => {
        const dtype = type?.dtype ?? types.get(name)?.dtype;
        return dtype === undefined || carrierOf(dtype) === null ? [] : [[name, dtype] as const];
      }),
    );
  // An input with a default keeps the default, and is not fed.
  const defaults = new Set(graph.constants.map(({ name }) => name));
  const [fed, outputs] = [
    changed(graph.inputs.filter(({ name }) => !defaults.has(name))),
    changed(graph.outputs),
  ];
  if (fed.size + outputs.size === 0) return null;
  const inputs = new Map([...fed].map(([name, dtype]) => [name, carrierOf(dtype) as DType]));
  const wide = (dtypes: ReadonlyMap<string, DType>, rename: typeof inner) => (one: ValueInfo) => {
    const dtype = dtypes.get(one.name);
    if (dtype === undefined) return one;
    const type = { dtype: carrierOf(dtype) as DType, shape: one.type?.shape ?? null };
    return { name: rename(one.name), type };
  };
  const copy = {
    ...graph,
    inputs: graph.inputs.map(wide(fed, inner)),
    outputs: graph.outputs.map(wide(outputs, outer)),
    nodes: [
      ...[...fed].map(([name, dtype]) => castNode(inner(name), name, dtype)),
      ...graph.nodes,
      ...[...outputs].map(([name, dtype]) =>
        castNode(name, outer(name), carrierOf(dtype) as DType),
      ),
    ],
  };
  const opsets = { "ai.onnx": CAST_SINCE, ...model.opsets };
  return { model: { ...model, opsets, graph: copy }, inputs, outputs };
}

/** Returns a Cast that keeps every value: one that saturates would replace the infinities of float8e5m2. */
function castNode(from: string, to: string, dtype: DType): ModelNode {
  const { onnx, family } = DTYPES[dtype];
  return {
    ...{ name: to, op: "Cast", domain: "ai.onnx", inputs: [from], outputs: [to] },
    attributes: {
      to: { type: "int", value: onnx.number },
      ...(family === "minifloat" && { saturate: { type: "int", value: 0 } }),
    },
  };
}

/**
 * Converts a tensor to or from the type that carries it. bfloat16 is half of float32, so the bits of NaNs are kept
 * here; onnxruntime's Cast of an input to bfloat16 makes all NaNs the same.
 */
function converted(value: Tensor, dtype: DType): Tensor {
  const { data, shape, size } = value;
  if (value.dtype === "float32" && dtype === "bfloat16") {
    // Copying numbers instead of bytes would turn signaling NaNs into quiet NaNs.
    const words = new Uint32Array((data as Float32Array).slice().buffer);
    return new Tensor(
      dtype,
      shape,
      size,
      Uint16Array.from(words, (word) => word >>> 16),
    );
  }
  if (value.dtype === "bfloat16" && dtype === "float32") {
    const words = Uint32Array.from(data as Uint16Array, (half) => half << 16);
    return new Tensor(dtype, shape, size, new Float32Array(words.buffer));
  }
  return castTensor(value, dtype, {});
}

/**
 * Opens a session of a model, or of a copy with the same values in types that the runtime's interface carries.
 * @param bytes the file of the model, if it was read from one
 * @throws RuntimeFailure if the runtime cannot load the model
 */
export async function openModel(
  create: CreateSession,
  model: Model,
  bytes?: Uint8Array,
): Promise<OpenSession> {
  const copy = carriedModel(model);
  if (copy === null) return await openSession(create, bytes ?? writeModel(model));
  const session = await openSession(create, writeModel(copy.model));
  const { inputs, outputs } = copy;
  const nameOf = (name: string): string => (outputs.has(name) ? outer(name) : name);
  return {
    async run(feeds, names) {
      const own = [...feeds].map(([name, value]): [string, Tensor] => {
        const dtype = inputs.get(name);
        return dtype === undefined ? [name, value] : [inner(name), converted(value, dtype)];
      });
      const made = await session.run(new Map(own), names.map(nameOf));
      // A runtime may return another data type than it declares.
      return await orFailure(async () => {
        const results = names.map((name): [string, Tensor] => {
          const value = made.get(nameOf(name)) as Tensor;
          const dtype = outputs.get(name);
          return [name, dtype === undefined ? value : converted(value, dtype)];
        });
        return new Map(results);
      });
    },
    release: () => session.release(),
  };
}
