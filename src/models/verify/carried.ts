/**
 * Opens sessions of models, also with data types that a runtime's JavaScript interface cannot transfer. For these data
 * types, a copy of the model has a Cast after each input and before each output. The Cast converts between the data
 * type and a wider one, which keeps every value. onnxruntime-node 1.30.0 refuses outputs of bfloat16 and float8, and an
 * output of int4 ends the process.
 */

import { DTYPES, type DType } from "../../core/tensor/dtype.ts";
import { OPEN } from "../../core/resources.ts";
import { asTensor, Tensor } from "../../core/tensor/tensor.ts";
import { castTensor } from "../model/cast.ts";
import type { Graph, Model, ModelNode, ValueInfo } from "../model/model.ts";
import { bodiesIn } from "../model/uses.ts";
import { writeModel } from "../onnx/write-model.ts";
import { inferTypes } from "../split/types.ts";
import { orFailure, sessionTensor, type CreateSession } from "./session.ts";

/**
 * Returns the wider data type that a value is converted to; null for a data type that needs no conversion, or that has
 * no wider type.
 */
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

const computesCarried = ({ inputs, outputs, constants, nodes, values = [] }: Graph): boolean =>
  [...inputs, ...outputs, ...values].some(({ type }) => type !== null && CARRIED.has(type.dtype)) ||
  constants.some(({ dtype }) => CARRIED.has(dtype)) ||
  nodes.some(makesCarried);

const makesCarried = (node: ModelNode): boolean =>
  bodiesIn(node).some(computesCarried) ||
  Object.entries(node.attributes).some(([key, one]) => {
    if (one.type === "int") return /^to$|dtype$/.test(key) && CARRIED.has(one.value);
    return one.type === "tensor" && CARRIED.has(one.value.dtype);
  });

/** An opset that has a Cast of float8, for models without ONNX operators. Older models have no float8. */
const CAST_SINCE = 19;

interface CarriedModel {
  readonly model: Model;
  /** The original data types of changed inputs, by name. */
  readonly inputs: ReadonlyMap<string, DType>;
  /** The original data types of changed outputs, by name. */
  readonly outputs: ReadonlyMap<string, DType>;
}

const inner = (name: string): string => `ndscatter: input ${name}`;
const outer = (name: string): string => `ndscatter: output ${name}`;

/** Returns a copy of the model that the runtime's interface can run; null if the model needs no copy. */
function carriedModel(model: Model): CarriedModel | null {
  const { graph, functions = [] } = model;
  if (![graph, ...functions.map((one) => one.graph)].some(computesCarried)) return null;
  const types = inferTypes(model);
  /** The values that need a wider data type, with their own data type. */
  const changed = (all: readonly ValueInfo[]): Map<string, DType> =>
    new Map(
      all.flatMap(({ name, type }) => {
        const dtype = type?.dtype ?? types.get(name)?.dtype;
        return dtype === undefined || carrierOf(dtype) === null ? [] : [[name, dtype] as const];
      }),
    );
  // An input with a default uses the default, and the caller supplies no value.
  const defaults = new Set(graph.constants.map(({ name }) => name));
  const inputs = changed(graph.inputs.filter(({ name }) => !defaults.has(name)));
  const outputs = changed(graph.outputs);
  if (inputs.size + outputs.size === 0) return null;
  const wide = (dtypes: ReadonlyMap<string, DType>, rename: typeof inner) => (one: ValueInfo) => {
    const dtype = dtypes.get(one.name);
    if (dtype === undefined) return one;
    const type = { dtype: carrierOf(dtype) as DType, shape: one.type?.shape ?? null };
    return { name: rename(one.name), type };
  };
  const copy = {
    ...graph,
    inputs: graph.inputs.map(wide(inputs, inner)),
    outputs: graph.outputs.map(wide(outputs, outer)),
    nodes: [
      ...[...inputs].map(([name, dtype]) => castNode(inner(name), name, dtype)),
      ...graph.nodes,
      ...[...outputs].map(([name, dtype]) =>
        castNode(name, outer(name), carrierOf(dtype) as DType),
      ),
    ],
  };
  const opsets = { "ai.onnx": CAST_SINCE, ...model.opsets };
  return { model: { ...model, opsets, graph: copy }, inputs, outputs };
}

/** Returns a Cast that keeps every value. A saturating Cast would replace the infinities of float8e5m2. */
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
 * Converts a tensor to or from its wider data type. A bfloat16 is the upper half of a float32, so NaN bits are copied
 * here. onnxruntime's Cast of an input to bfloat16 would make all NaNs equal.
 */
function converted(value: Tensor, dtype: DType): Tensor {
  const { data, shape, size } = value;
  if (value.dtype === "float32" && dtype === "bfloat16") {
    // Copying numbers instead of bytes would turn signaling NaNs into quiet NaNs.
    const words = new Uint32Array((data as Float32Array).slice().buffer);
    const halves = Uint16Array.from(words, (word) => word >>> 16);
    return new Tensor(dtype, shape, size, halves);
  }
  if (value.dtype === "bfloat16" && dtype === "float32") {
    const words = Uint32Array.from(data as Uint16Array, (half) => half << 16);
    return new Tensor(dtype, shape, size, new Float32Array(words.buffer));
  }
  return castTensor(value, dtype, {});
}

/** A session that can run a model several times. */
export interface OpenSession {
  /**
   * Returns the outputs with the given names. Feeds that are not inputs of the model are ignored. Throws RuntimeFailure
   * if the runtime cannot run the model, or if an output is not a tensor, such as a sequence.
   */
  run(
    feeds: ReadonlyMap<string, Tensor>,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, Tensor>>;
  /** Releases the session. Errors are ignored, because the results already exist. */
  release(): Promise<void>;
}

/**
 * Opens a session of a model, or of a copy whose data types the runtime's interface can transfer. If the model was read
 * from a file, `bytes` are its bytes. Throws RuntimeFailure if the runtime cannot load the model.
 */
export async function openModel(
  create: CreateSession,
  model: Model,
  bytes?: Uint8Array,
): Promise<OpenSession> {
  const copy = carriedModel(model);
  const file = copy === null ? (bytes ?? writeModel(model)) : writeModel(copy.model);
  const session = await orFailure(() => create(file), true);
  OPEN.sessions++;
  return {
    run: (feeds, names) =>
      orFailure(async () => {
        const own = model.graph.inputs.flatMap(({ name }) => {
          const value = feeds.get(name);
          const dtype = copy?.inputs.get(name);
          if (value === undefined) return [];
          return dtype === undefined
            ? [[name, sessionTensor(value)] as const]
            : [[inner(name), sessionTensor(converted(value, carrierOf(dtype) as DType))] as const];
        });
        const made = await session.run(Object.fromEntries(own) as never);
        const results = names.map((name): [string, Tensor] => {
          const dtype = copy?.outputs.get(name);
          if (dtype === undefined) return [name, asTensor(made[name], {}, name)];
          // The returned data type may differ from the declared data type.
          return [name, converted(asTensor(made[outer(name)], {}, name), dtype)];
        });
        return new Map(results);
      }),
    async release() {
      OPEN.sessions--;
      await orFailure(async () => session.release?.()).catch(() => {});
    },
  };
}

/** Opens a session of a model for one action. The errors are those of `openModel` and of the action. */
export async function withModel<T>(
  create: CreateSession,
  model: Model,
  action: (session: OpenSession) => Promise<T>,
  bytes?: Uint8Array,
): Promise<T> {
  const session = await openModel(create, model, bytes);
  try {
    return await action(session);
  } finally {
    await session.release();
  }
}
