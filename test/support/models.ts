/** Random models of one node: any version of any operator, with legal shapes, attributes and indices. */

import { integerRange, type DType } from "../../src/tensor/dtype.ts";
import { reductionsOf } from "../../src/tensor/dtype.ts";
import { buildModel, type AttributeInput, type Model } from "../../src/onnx/index.ts";
import { reductionOf, typesOf } from "../../src/operators/settings.ts";
import { roleOf, type OperatorVersion, type Role } from "../../src/operators/operator.ts";
import { operators } from "../../src/operators/registry.ts";
import { tensor, type Tensor } from "../../src/tensor/tensor.ts";
import { randomTensor, type Random } from "./random.ts";

export interface RandomModel {
  readonly version: OperatorVersion;
  readonly model: Model;
  /** What it has to be given. */
  readonly inputs: Readonly<Record<string, Tensor>>;
}

/** What a kind of operator makes of random numbers: shapes, the size that each index counts along, and attributes. */
interface Sketch {
  readonly data: readonly number[];
  readonly indices: readonly number[] | null;
  readonly updates?: readonly number[];
  readonly dimAt: (position: number) => number;
  readonly axis?: number;
  readonly attributes: Record<string, AttributeInput>;
}

/** The last opset in which a version is in force; the newest of ai.onnx is 28. */
export function lastOpset({ name, domain, sinceVersion }: OperatorVersion): number {
  const next = operators().find(
    (one) => one.name === name && one.domain === domain && one.sinceVersion > sinceVersion,
  );
  return (next?.sinceVersion ?? 29) - 1;
}

/** @param opset of the model, for versions of ai.onnx */
export function randomModel(version: OperatorVersion, opset: number, random: Random): RandomModel {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)];
  const dtype = pick(typesOf(version, version.inputs[0].type)) as DType;
  const sketch = sketchOf(version, random);
  const attributes = { ...sketch.attributes };
  const words = version.attributes.find(({ name }) => name === "reduction")?.values ?? [];
  const defined = words.filter((word) => reductionsOf(dtype).includes(reductionOf(word)));
  if (defined.length > 0 && random(4) > 0) attributes["reduction"] = pick(defined);
  if (version.attributes.some(({ name }) => name === "use_init_val") && random(3) === 0)
    attributes["use_init_val"] = random(2) === 0;
  const tensors = new Map<Role, Tensor>([["data", randomTensor(dtype, sketch.data, random)]]);
  if (sketch.updates) tensors.set("updates", randomTensor(dtype, sketch.updates, random));
  for (const schema of version.inputs) {
    const role = roleOf(schema);
    if (role !== "indices" && role !== "axis") continue;
    const type = pick(typesOf(version, schema.type)) as DType;
    if (role === "axis") {
      const isBack = integerRange(type)?.[0] !== 0n && random(2) === 0;
      const axis = Number(sketch.axis) - (isBack ? sketch.data.length : 0);
      tensors.set(
        role,
        integers(type, random(2) === 0 ? [] : [1], () => axis),
      );
    } else if (sketch.indices !== null) {
      tensors.set(role, randomIndices(version, type, sketch, random));
    }
  }
  const isConstant = new Set<string>();
  for (const schema of version.inputs)
    if (random(roleOf(schema) === "axis" ? 10 : 2) > 0) isConstant.add(schema.name);
  const given = version.inputs.flatMap((schema) => {
    const value = tensors.get(roleOf(schema));
    return value === undefined ? [] : [[schema.name, value] as const];
  });
  const inputs = Object.fromEntries(given.filter(([name]) => !isConstant.has(name)));
  const isOnnx = version.domain === "ai.onnx";
  const output = version.outputs[0].name;
  const model = buildModel({
    opsets: isOnnx ? { "": opset } : {},
    irVersion: isOnnx ? 8 : 11,
    inputs: Object.fromEntries(
      Object.entries(inputs).map(([name, value]) => [
        name,
        { dtype: value.dtype, shape: random(4) > 0 ? value.shape : value.shape.map(() => null) },
      ]),
    ),
    constants: Object.fromEntries(given.filter(([name]) => isConstant.has(name))),
    nodes: [
      {
        op: version.name,
        name: "node",
        domain: version.domain,
        inputs: given.map(([name]) => name),
        outputs: [output],
        attributes,
      },
    ],
    outputs: { [output]: null },
  });
  if (!isOnnx) model.graph.nodes[0].opset = version.opset ?? version.sinceVersion;
  return { version, model, inputs };
}

/** Whole numbers of any integer type. */
function integers(
  dtype: DType,
  shape: readonly number[],
  make: (position: number) => number,
): Tensor {
  const size = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: size }, (_, position) => make(position));
  return tensor(dtype as "int64", shape, values.map(BigInt));
}

function randomIndices(
  version: OperatorVersion,
  dtype: DType,
  { indices, dimAt }: Sketch,
  random: Random,
): Tensor {
  const isSigned = integerRange(dtype)?.[0] !== 0n;
  const isOutside = version.outOfRange === "fill" && random(3) === 0;
  const isNegative = version.negativeIndices && isSigned && random(3) > 0;
  return integers(dtype, indices ?? [], (position) => {
    const dim = dimAt(position);
    if (isOutside && random(3) === 0) return dim + random(3);
    const index = random(dim);
    return isNegative && random(2) === 0 && version.name !== "TensorScatter" ? index - dim : index;
  });
}

const some = (random: Random, least: number, most: number): number[] =>
  Array.from({ length: least + random(most - least + 1) }, () => 1 + random(3));

function sketchOf({ name, attributes }: OperatorVersion, random: Random): Sketch {
  const has = (attribute: string): boolean => attributes.some((one) => one.name === attribute);
  const isGiven = attributes.some((one) => one.name === "axis" && one.default === undefined);
  switch (name) {
    case "ScatterND":
    case "ScatterNDUpdate": {
      const data = some(random, 1, 3);
      const k = random(data.length + 1);
      const lead = some(random, 0, 2);
      const updates = [...lead, ...data.slice(k)];
      return { data, indices: [...lead, k], updates, dimAt: (p) => data[p % k], attributes: {} };
    }
    case "GatherND": {
      const batch = has("batch_dims") ? some(random, 0, 2) : [];
      const rest = some(random, 1, 2);
      const k = 1 + random(rest.length);
      const indices = [...batch, ...some(random, 0, 2), k];
      const given = batch.length > 0 || (has("batch_dims") && random(2) === 0);
      return {
        data: [...batch, ...rest],
        indices,
        dimAt: (p) => rest[p % k],
        attributes: given ? { batch_dims: batch.length } : {},
      };
    }
    case "Gather": {
      const batch = has("batch_dims") && random(3) === 0 ? some(random, 1, 2) : [];
      const rest = some(random, 1, 3);
      const data = [...batch, ...rest];
      const axis = batch.length + random(rest.length);
      const indices = [...batch, ...some(random, 0, 2)];
      const given: Record<string, AttributeInput> = {};
      // A count from the back is negative, so that there is none for all of them.
      const back = batch.length - indices.length;
      if (batch.length > 0) given["batch_dims"] = back < 0 && random(2) === 0 ? back : batch.length;
      return {
        data,
        indices,
        dimAt: () => data[axis],
        axis,
        attributes: { ...given, ...axisOf(axis, data) },
      };
    }
    case "ScatterUpdate": {
      const data = some(random, 1, 3);
      const axis = random(data.length);
      const indices = some(random, 0, 2);
      const updates = [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)];
      return { data, indices, updates, dimAt: () => data[axis], axis, attributes: {} };
    }
    case "TensorScatter": {
      const data = some(random, 2, 4);
      const axis = 1 + random(data.length - 1);
      const length = 1 + random(data[axis]);
      const updates = data.map((dim, d) => (d === axis ? length : dim));
      const circular = random(2) === 0;
      const mode: Record<string, AttributeInput> = circular ? { mode: "circular" } : {};
      return {
        data,
        indices: random(4) === 0 ? null : [data[0]],
        updates,
        dimAt: () => (circular ? data[axis] : data[axis] - length + 1),
        attributes: { ...mode, axis },
      };
    }
    default: {
      const data = some(random, 1, 3);
      const axis = random(data.length);
      const indices = data.map((dim, d) => (d === axis ? random(4) : 1 + random(dim)));
      const updates = name === "GatherElements" ? {} : { updates: indices };
      return {
        data,
        indices,
        ...updates,
        dimAt: () => data[axis],
        axis,
        attributes: axisOf(axis, data),
      };
    }
  }

  function axisOf(axis: number, data: readonly number[]): Record<string, AttributeInput> {
    if (!has("axis") || (!isGiven && axis === 0 && random(2) === 0)) return {};
    return { axis: random(2) === 0 ? axis : axis - data.length };
  }
}
