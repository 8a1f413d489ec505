/** Random models of one node: any version of any operator, with legal shapes, attributes and indices. */

import { integerRange, reductionsOf, type DType } from "../../src/core/tensor/dtype.ts";
import { buildModel, type AttributeInput, type Model } from "../../src/entries/onnx.ts";
import { typesOf } from "../../src/core/operators/rows.ts";
import { reductionOf } from "../../src/core/operators/settings.ts";
import {
  NEWEST_OPSETS,
  roleOf,
  type OperatorVersion,
  type Role,
} from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { randomTensor, type Random } from "./random.ts";

export interface RandomModel {
  readonly version: OperatorVersion;
  readonly model: Model;
  /** The inputs that the model needs. */
  readonly inputs: Readonly<Record<string, Tensor>>;
}

/** The random shapes of an operator's kind, the size that each index counts along, and attributes. */
interface Sketch {
  readonly data: readonly number[];
  readonly indices: readonly number[] | null;
  readonly updates?: readonly number[];
  readonly dimAt: (position: number) => number;
  readonly axis?: number;
  readonly attributes: Record<string, AttributeInput>;
}

/** The last opset in which a version of ai.onnx is in force. */
export function lastOpset({ name, domain, sinceVersion }: OperatorVersion): number {
  const next = operators().find(
    (one) => one.name === name && one.domain === domain && one.sinceVersion > sinceVersion,
  );
  return next === undefined ? NEWEST_OPSETS["ai.onnx"] : next.sinceVersion - 1;
}

/**
 * @param opset the opset of the model, for versions of ai.onnx
 * @param dtype the data type of the data, by default a random one of the version's
 */
export function randomModel(
  version: OperatorVersion,
  opset: number,
  random: Random,
  dtype = pick(typesOf(version, version.inputs[0].type), random) as DType,
): RandomModel {
  const sketch = sketchOf(version, random);
  const attributes = { ...sketch.attributes, ...randomReduction(version, dtype, random) };
  const tensors = randomInputs(version, dtype, sketch, random);
  const given = version.inputs.flatMap((schema) => {
    const value = tensors.get(roleOf(schema));
    if (value === undefined) return [];
    const isConstant = random(roleOf(schema) === "axis" ? 10 : 2) > 0;
    return [{ name: schema.name, value, isConstant }];
  });
  const named = (isConstant: boolean): Record<string, Tensor> =>
    Object.fromEntries(
      given.filter((one) => one.isConstant === isConstant).map((one) => [one.name, one.value]),
    );
  const inputs = named(false);
  const types = Object.entries(inputs).map(([name, { dtype: its, shape }]) => {
    const known = random(4) > 0 ? shape : shape.map(() => null);
    return [name, { dtype: its, shape: known }] as const;
  });
  const isOnnx = version.domain === "ai.onnx";
  const output = version.outputs[0].name;
  const model = buildModel({
    opsets: isOnnx ? { "": opset } : {},
    irVersion: isOnnx ? 8 : 11,
    inputs: Object.fromEntries(types),
    constants: named(true),
    nodes: [
      {
        op: version.name,
        name: "node",
        domain: version.domain,
        inputs: given.map(({ name }) => name),
        outputs: [output],
        attributes,
      },
    ],
    outputs: { [output]: null },
  });
  if (!isOnnx) model.graph.nodes[0].opset = version.opset ?? version.sinceVersion;
  return { version, model, inputs };
}

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)];

/** Usually a reduction that the data type supports, and sometimes whether it starts with the existing value. */
function randomReduction(
  { attributes }: OperatorVersion,
  dtype: DType,
  random: Random,
): Record<string, AttributeInput> {
  const words = attributes.find(({ name }) => name === "reduction")?.values ?? [];
  const defined = words.filter((word) => reductionsOf(dtype).includes(reductionOf(word)));
  const isReduced = defined.length > 0 && random(4) > 0;
  const hasInit = attributes.some(({ name }) => name === "use_init_val") && random(3) === 0;
  return {
    ...(isReduced && { reduction: pick(defined, random) }),
    ...(hasInit && { use_init_val: random(2) === 0 }),
  };
}

function randomInputs(
  version: OperatorVersion,
  dtype: DType,
  sketch: Sketch,
  random: Random,
): ReadonlyMap<Role, Tensor> {
  const tensors = new Map<Role, Tensor>([["data", randomTensor(dtype, sketch.data, random)]]);
  if (sketch.updates) tensors.set("updates", randomTensor(dtype, sketch.updates, random));
  for (const schema of version.inputs) {
    const role = roleOf(schema);
    if (role !== "indices" && role !== "axis") continue;
    const type = pick(typesOf(version, schema.type), random) as DType;
    if (role === "axis") {
      const isBack = integerRange(type)?.[0] !== 0n && random(2) === 0;
      const axis = Number(sketch.axis) - (isBack ? sketch.data.length : 0);
      const shape = random(2) === 0 ? [] : [1];
      tensors.set(
        role,
        integers(type, shape, () => axis),
      );
    } else if (sketch.indices !== null) {
      tensors.set(role, randomIndices(version, type, sketch, random));
    }
  }
  return tensors;
}

/** Integers of any integer type. */
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
  const promises = version.promisesRange === true;
  const isOutside = version.outOfRange === "fill" && !promises && random(3) === 0;
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

const has = ({ attributes }: OperatorVersion, attribute: string): boolean =>
  attributes.some((one) => one.name === attribute);

/** The attribute `axis`, counted from the front or the back; sometimes omitted if the default means the same axis. */
function axisAttribute(
  version: OperatorVersion,
  axis: number,
  rank: number,
  random: Random,
): Record<string, AttributeInput> {
  const schema = version.attributes.find(({ name }) => name === "axis");
  const mayGo = schema?.default === 0 && axis === 0;
  if (schema === undefined || (mayGo && random(2) === 0)) return {};
  return { axis: random(2) === 0 ? axis : axis - rank };
}

type SketchMaker = (version: OperatorVersion, random: Random) => Sketch;

const scatterTuples: SketchMaker = (_version, random) => {
  const data = some(random, 1, 3);
  const k = random(data.length + 1);
  const lead = some(random, 0, 2);
  const updates = [...lead, ...data.slice(k)];
  return { data, indices: [...lead, k], updates, dimAt: (p) => data[p % k], attributes: {} };
};

const gatherTuples: SketchMaker = (version, random) => {
  const hasBatches = has(version, "batch_dims");
  const batch = hasBatches ? some(random, 0, 2) : [];
  const rest = some(random, 1, 2);
  const k = 1 + random(rest.length);
  const isGiven = batch.length > 0 || (hasBatches && random(2) === 0);
  return {
    data: [...batch, ...rest],
    indices: [...batch, ...some(random, 0, 2), k],
    dimAt: (p) => rest[p % k],
    attributes: { ...(isGiven && { batch_dims: batch.length }) },
  };
};

const gatherSlices: SketchMaker = (version, random) => {
  const batch = has(version, "batch_dims") && random(3) === 0 ? some(random, 1, 2) : [];
  const rest = some(random, 1, 3);
  const data = [...batch, ...rest];
  const axis = batch.length + random(rest.length);
  const indices = [...batch, ...some(random, 0, 2)];
  // A count from the back is negative, so it cannot express a count of all axes.
  const back = batch.length - indices.length;
  const count = back < 0 && random(2) === 0 ? back : batch.length;
  const attributes = {
    ...(batch.length > 0 && { batch_dims: count }),
    ...axisAttribute(version, axis, data.length, random),
  };
  return { data, indices, dimAt: () => data[axis], axis, attributes };
};

const scatterSlices: SketchMaker = (_version, random) => {
  const data = some(random, 1, 3);
  const axis = random(data.length);
  const indices = some(random, 0, 2);
  const updates = [...data.slice(0, axis), ...indices, ...data.slice(axis + 1)];
  return { data, indices, updates, dimAt: () => data[axis], axis, attributes: {} };
};

const sequences: SketchMaker = (_version, random) => {
  const data = some(random, 2, 4);
  const axis = 1 + random(data.length - 1);
  const length = 1 + random(data[axis]);
  const isCircular = random(2) === 0;
  return {
    data,
    indices: random(4) === 0 ? null : [data[0]],
    updates: data.map((dim, d) => (d === axis ? length : dim)),
    dimAt: () => (isCircular ? data[axis] : data[axis] - length + 1),
    attributes: { ...(isCircular && { mode: "circular" }), axis },
  };
};

const elements: SketchMaker = (version, random) => {
  const data = some(random, 1, 3);
  const axis = random(data.length);
  const { needsEqualAxes = false } = version;
  const indices = data.map((dim, d) =>
    d === axis ? random(4) : needsEqualAxes ? dim : 1 + random(dim),
  );
  const isScatter = version.inputs.some((input) => roleOf(input) === "updates");
  return {
    data,
    indices,
    ...(isScatter && { updates: indices }),
    dimAt: () => data[axis],
    axis,
    attributes: axisAttribute(version, axis, data.length, random),
  };
};

const SKETCHES: Readonly<Record<string, SketchMaker>> = {
  ScatterND: scatterTuples,
  ScatterNDUpdate: scatterTuples,
  GatherND: gatherTuples,
  Gather: gatherSlices,
  ScatterUpdate: scatterSlices,
  TensorScatter: sequences,
};

const sketchOf: SketchMaker = (version, random) =>
  (SKETCHES[version.name] ?? elements)(version, random);
