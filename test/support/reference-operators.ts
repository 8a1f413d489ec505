/**
 * The operators of ONNX in graphs that `fix` writes for a scatter, element by element, as the Operators document
 * defines them. The module is slow, and supports no more than these graphs need.
 */

import assert from "node:assert/strict";
import { run } from "../../src/core/functions.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { coordinatesOf, stridesOf } from "../../src/core/tensor/shape.ts";
import { reader, writer } from "../../src/core/tensor/scalar.ts";
import { tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { castTensor } from "../../src/models/model/cast.ts";
import { destinationOf } from "../../src/models/model/inline.ts";
import { readConstant, type Graph, type ModelNode } from "../../src/models/model/model.ts";

type Values = ReadonlyMap<string, Tensor>;
type Operator = (
  inputs: readonly Tensor[],
  node: ModelNode,
  around: Values,
  opset: number,
) => readonly Tensor[];

/** The outputs of a graph by name. @param given its inputs, and the values of graphs around it */
export function evaluate(graph: Graph, given: Values, opset: number): Values {
  const values = new Map(given);
  for (const one of graph.constants) values.set(one.name, readConstant(one));
  for (const node of graph.nodes) {
    const { [node.op]: operator } = OPERATORS;
    assert.ok(operator !== undefined, `${node.op} is not one of the words`);
    const inputs = node.inputs.map((name) => {
      const value = values.get(name);
      assert.ok(name === "" || value !== undefined, `nothing makes ${name}`);
      return value as Tensor;
    });
    for (const [at, made] of operator(inputs, node, values, opset).entries()) {
      values.set(node.outputs[at], made);
    }
  }
  return new Map(graph.outputs.map(({ name }) => [name, values.get(name) as Tensor]));
}

const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const numbers = ({ dtype, data, size }: Tensor): number[] => {
  const read = reader(dtype, data);
  return Array.from({ length: size }, (_, at) => Number(read(at)));
};
const int64 = (values: readonly number[], shape: readonly number[] = [values.length]): Tensor =>
  tensor("int64", shape, values.map(BigInt));
const intOf = ({ attributes }: ModelNode, name: string, otherwise: number): number => {
  const one = attributes[name];
  return one?.type === "int" ? Number(one.value) : otherwise;
};

/** The same elements in another shape. */
const shaped = ({ dtype, data }: Tensor, shape: readonly number[]): Tensor =>
  tensor(dtype, shape, data as never) as Tensor;

/** The broadcast shape: shapes are aligned at their ends, and a size of 1 matches any. */
function broadcast(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, axis) => {
    const sizes = shapes.map((one) => one[axis - rank + one.length] ?? 1);
    const size = sizes.find((one) => one !== 1) ?? 1;
    assert.ok(
      sizes.every((one) => one === 1 || one === size),
      "shapes cannot be broadcast",
    );
    return size;
  });
}

/** For each position of `shape`, the position in a tensor of another shape that is broadcast to `shape`. */
function positionsIn(shape: readonly number[], own: readonly number[]): readonly number[] {
  return Array.from({ length: product(shape) }, (_, flat) => {
    let [rest, position, stride] = [flat, 0, 1];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const at = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
      const { [axis - shape.length + own.length]: size = 1 } = own;
      if (size !== 1) position += at * stride;
      stride *= size;
    }
    return position;
  });
}

/** Elements computed one by one from broadcast inputs, which `make` receives as JavaScript values. */
const elementwise =
  (
    dtypeOf: (inputs: readonly Tensor[]) => DType,
    make: (...values: never[]) => unknown,
  ): Operator =>
  (inputs) => {
    const shape = broadcast(inputs.map((one) => one.shape));
    const made = zeros(dtypeOf(inputs), shape) as Tensor;
    const write = writer(made.dtype, made.data);
    const places = inputs.map((one) => positionsIn(shape, one.shape));
    const readers = inputs.map(({ dtype, data }) => reader(dtype, data));
    for (let at = 0; at < made.size; at++) {
      const values = readers.map((read, nth) => read(places[nth][at]));
      assert.ok(write(at, make(...(values as never[])) as never));
    }
    return [made];
  };

const same = ([{ dtype }]: readonly Tensor[]): DType => dtype;
const bool = (): DType => "bool";
/** Arithmetic of float32 and float64; each result is rounded once, when it is written. */
const arithmetic = (make: (a: number, b: number) => number): Operator => elementwise(same, make);
const comparison = (make: (a: never, b: never) => boolean): Operator => elementwise(bool, make);

/** Scatters and gathers run by this package. */
const ownOperator: Operator = (inputs, { op, attributes }, _, opset) => {
  const own = Object.entries(attributes).map(([name, one]) => [name, "value" in one && one.value]);
  return run({ op, opset, attributes: Object.fromEntries(own) as never }, inputs);
};

const expand: Operator = ([data, shape]) => {
  const own = broadcast([data.shape, numbers(shape)]);
  const made = zeros(data.dtype, own) as Tensor;
  const places = positionsIn(own, data.shape);
  for (const [at, from] of places.entries()) (made.data as unknown[])[at] = data.data[from];
  return [made];
};

const reshape: Operator = ([data, shape], node) => {
  const isZero = intOf(node, "allowzero", 0) === 1;
  const dims = numbers(shape).map((dim, axis) => (dim === 0 && !isZero ? data.shape[axis] : dim));
  const rest = data.size / product(dims.filter((dim) => dim !== -1));
  return [shaped(data, dims.map((dim) => (dim === -1 ? rest : dim)))]; // prettier-ignore
};

const concat: Operator = (inputs, node) => {
  const axis = intOf(node, "axis", 0);
  assert.equal(axis, 0, "the words concatenate along the first axis alone");
  const shape = inputs[0].shape.with(
    0,
    inputs.reduce((sum, one) => sum + one.shape[0], 0),
  );
  const made = zeros(inputs[0].dtype, shape) as Tensor;
  let at = 0;
  for (const { data } of inputs) for (const one of data) (made.data as unknown[])[at++] = one;
  return [made];
};

/** A tensor whose element at each place is the one of `value` at the place that `from` gives. */
function moved(
  value: Tensor,
  shape: readonly number[],
  from: (at: readonly number[]) => readonly number[],
): Tensor {
  const strides = stridesOf(value.shape);
  const elements = Array.from({ length: product(shape) }, (_, position) => {
    const at = from(coordinatesOf(position, shape));
    return value.data[at.reduce((sum, one, axis) => sum + one * strides[axis], 0)];
  });
  return tensor(value.dtype, shape, elements as never);
}

/** Slice with steps of -1 over whole axes. */
function reversed([value, , , axes, steps]: readonly Tensor[]): readonly Tensor[] {
  assert.ok(numbers(steps).every((step) => step === -1));
  const turned = new Set(numbers(axes));
  const { shape } = value;
  const from = (at: readonly number[]): readonly number[] =>
    at.map((one, axis) => (turned.has(axis) ? shape[axis] - 1 - one : one));
  return [moved(value, shape, from)];
}

/** Slice along the first axes, one axis for each start. */
const slice: Operator = ([value, starts, ends]) => {
  const { shape } = value;
  const within = (one: number, size: number): number =>
    Math.max(0, Math.min(size, one < 0 ? one + size : one));
  const bounds = [starts, ends].map((list) =>
    numbers(list).map((one, axis) => within(one, shape[axis])),
  );
  const [from, to] = bounds;
  const sizes = shape.map((size, axis) =>
    axis < from.length ? Math.max(0, to[axis] - from[axis]) : size,
  );
  return [moved(value, sizes, (at) => at.map((one, axis) => one + (from[axis] ?? 0)))];
};

const squeeze: Operator = ([data, axes]) => {
  const own =
    axes === undefined
      ? null
      : numbers(axes).map((axis) => (axis + data.shape.length) % data.shape.length);
  return [shaped(data, data.shape.filter((dim, axis) => (own === null ? dim !== 1 : !own.includes(axis))))]; // prettier-ignore
};

const unsqueeze: Operator = ([data, axes]) => {
  const rank = data.shape.length + axes.size;
  const own = new Set(numbers(axes).map((axis) => (axis + rank) % rank));
  const rest = [...data.shape];
  const shape = Array.from({ length: rank }, (_, axis) =>
    own.has(axis) ? 1 : Number(rest.shift()),
  );
  return [shaped(data, shape)];
};

const compress: Operator = ([data, condition]) => {
  const kept = numbers(condition).flatMap((one, at) => (one === 1 ? [at] : []));
  return run({ op: "Gather", opset: 13 }, [data, int64(kept)]);
};

/** A Loop without an iteration count, which ends when its condition is false. */
const loop: Operator = ([, condition, ...initial], node, around, opset) => {
  const { body } = node.attributes;
  assert.ok(body.type === "other" && body.graphs);
  const [graph] = body.graphs;
  let [goesOn, states] = [condition, initial];
  for (let at = 0; numbers(goesOn)[0] === 1; at++) {
    const inputs = [int64([at], []), goesOn, ...states];
    const given = graph.inputs.map(({ name }, nth) => [name, inputs[nth]] as const);
    [goesOn, ...states] = evaluate(graph, new Map([...around, ...given]), opset).values();
  }
  return states;
};

const OPERATORS: Readonly<Record<string, Operator | undefined>> = {
  Constant: (_, { attributes: { value } }) =>
    value?.type === "tensor" ? [readConstant(value.value)] : [],
  ConstantOfShape: ([shape], { attributes: { value } }) => {
    assert.ok(value?.type === "tensor");
    return expand([readConstant(value.value), shape], {} as never, new Map(), 18);
  },
  Identity: ([value]) => [value],
  Cast: ([value], node) => [castTensor(value, destinationOf(node) as DType, {})],
  Shape: ([{ shape }]) => [int64(shape)],
  Size: ([{ size }]) => [int64([size], [])],
  Range: ([start, limit, delta]) => {
    const [from, to, step] = [start, limit, delta].map((one) => numbers(one)[0]);
    return [int64(Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, at) => from + at * step))]; // prettier-ignore
  },
  ReduceProd: ([list]) => [int64([product(numbers(list))])],
  Slice: (inputs, ...more) => (inputs.length === 5 ? reversed(inputs) : slice(inputs, ...more)),
  Transpose: ([value], { attributes: { perm } }) => {
    const axes = perm.type === "ints" ? perm.value.map(Number) : [];
    const shape = axes.map((axis) => value.shape[axis]);
    return [moved(value, shape, (at) => value.shape.map((_, axis) => at[axes.indexOf(axis)]))];
  },
  Concat: concat,
  Reshape: reshape,
  Expand: expand,
  Squeeze: squeeze,
  Unsqueeze: unsqueeze,
  Compress: compress,
  Loop: loop,
  Where: elementwise(
    ([, { dtype }]) => dtype,
    (mask: boolean, yes: unknown, no: unknown) => (mask ? yes : no),
  ),
  IsNaN: elementwise(bool, (one: number) => Number.isNaN(one)),
  Not: elementwise(bool, (one: boolean) => !one),
  And: comparison((a: boolean, b: boolean) => a && b),
  Or: comparison((a: boolean, b: boolean) => a || b),
  Equal: comparison((a: number, b: number) => a === b),
  Greater: comparison((a: number, b: number) => a > b),
  Less: comparison((a: number, b: number) => a < b),
  Add: arithmetic((a, b) => a + b),
  Mul: arithmetic((a, b) => a * b),
  Div: arithmetic((a, b) => a / b),
  Gather: ownOperator,
  GatherElements: ownOperator,
  GatherND: ownOperator,
  ScatterElements: ownOperator,
  ScatterND: ownOperator,
};
