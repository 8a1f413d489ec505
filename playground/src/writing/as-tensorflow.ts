/** Exports a state as a TensorFlow program. */

import type { DType } from "ndscatter";
import type { State } from "../values/state.ts";
import { batchShape, pythonShape, spreadOf, type CallFacts } from "./call-facts.ts";
import { after, openRepeats, printProgram, type Library, type Lines } from "./python-program.ts";

export const asTensorFlow = (state: State): string => printProgram(state, TENSORFLOW);

const KNOWN: ReadonlySet<DType> = new Set([
  ...(["bool", "string", "float16", "bfloat16", "float32", "float64"] as const),
  ...(["complex64", "complex128", "int8", "int16", "int32", "int64"] as const),
  ...(["uint8", "uint16", "uint32", "uint64"] as const),
]);

const FUNCTIONS = {
  none: "tensor_scatter_nd_update",
  add: "tensor_scatter_nd_add",
  sub: "tensor_scatter_nd_sub",
  max: "tensor_scatter_nd_max",
  min: "tensor_scatter_nd_min",
} as const;

/** Returns the line that applies updates, or a reason if TensorFlow lacks the operation. */
function applied(facts: CallFacts, data: string, at: string, updates: string): Lines {
  const { names, reduction, isFresh, hasRepeats, data: given } = facts;
  if (reduction === "none" && hasRepeats) return openRepeats("TensorFlow");
  if (given.dtype === "string" && hasRepeats)
    return { no: "TensorFlow may concatenate the strings of a target in any order." };
  if (reduction === "mul" || reduction === "mean") {
    const what = reduction === "mul" ? "product" : "mean";
    return { no: `TensorFlow has no tensor_scatter_nd function for a ${what}.` };
  }
  if (isFresh && reduction !== "none")
    return {
      no: "TensorFlow's reductions always include the value in data; they cannot start with the first update of a target.",
    };
  if (reduction !== "none" && (given.dtype === "bool" || given.dtype.startsWith("complex")))
    return { no: `TensorFlow's ${FUNCTIONS[reduction]} does not support ${given.dtype}.` };
  return [`${names.output} = tf.${FUNCTIONS[reduction]}(${data}, ${at}, ${updates})`];
}

/** Converts negative indices to positive indices, because TensorFlow does not accept negative indices. */
const wrapped = ({ names }: CallFacts, size: string): string[] => [
  `index = tf.cast(${names.indices}, tf.int64)`,
  `index = tf.where(index < 0, index + ${size}, index)`,
];

const meshOf = (shape: string): string =>
  `list(tf.meshgrid(*[tf.range(n, dtype=tf.int64) for n in ${shape}], indexing="ij"))`;

/** Returns the sizes of the axes that index tuples address. */
const addressed = ({ data, indices, batchDims }: CallFacts): string => {
  const dims = data.shape.slice(batchDims, batchDims + (indices?.shape.at(-1) ?? 0));
  return `tf.constant([${dims.join(", ")}], dtype=tf.int64)`;
};

/** Puts a single tuple into a list, because indices must have at least two axes. */
const asList = (updates: string): string[] => [
  "index = tf.expand_dims(index, 0)",
  `${updates} = tf.expand_dims(${updates}, 0)`,
];

const scatterTuples = (facts: CallFacts): Lines => {
  const { names, data, indices, updates } = facts;
  const isScalar = indices?.shape.length === 1 && indices.shape[0] === data.shape.length;
  const isRanked = isScalar && (updates?.shape.length ?? 0) > 0;
  return after(
    [
      ...wrapped(facts, addressed(facts)),
      ...(isRanked ? [`${names.updates} = tf.reshape(${names.updates}, [])`] : []),
      ...(indices?.shape.length === 1 ? asList(names.updates) : []),
    ],
    applied(facts, names.data, "index", names.updates),
  );
};

const scatterElements = (facts: CallFacts): Lines => {
  const { names, axis, data } = facts;
  return after(
    [
      ...wrapped(facts, String(data.shape[axis])),
      `at = ${meshOf(`${names.indices}.shape`)}`,
      `at[${axis}] = index`,
    ],
    applied(facts, names.data, "tf.stack(at, axis=-1)", names.updates),
  );
};

const upTo = (count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, d) => d + from);

/** Moves the axis to the front, because TensorFlow's functions index data from the first axis. */
const scatterSlices = (facts: CallFacts): Lines => {
  const { names, axis, data, indices } = facts;
  const rank = data.shape.length;
  const own = indices?.shape.length ?? 0;
  const front = [axis, ...upTo(rank).filter((d) => d !== axis)];
  const back = upTo(rank).map((d) => front.indexOf(d));
  const moved = [...upTo(own, axis), ...upTo(axis), ...upTo(rank - 1 - axis, axis + own)];
  const isFirst = axis === 0;
  const single = own === 0 ? asList(names.updates) : [];
  const places = [...wrapped(facts, String(data.shape[axis])), "index = tf.expand_dims(index, -1)"];
  return isFirst
    ? after([...places, ...single], applied(facts, names.data, "index", names.updates))
    : after(
        [
          ...places,
          `${names.data} = tf.transpose(${names.data}, [${front.join(", ")}])`,
          `${names.updates} = tf.transpose(${names.updates}, [${moved.join(", ")}])`,
          ...single,
        ],
        after(applied(facts, names.data, "index", names.updates), [
          `${names.output} = tf.transpose(${names.output}, [${back.join(", ")}])`,
        ]),
      );
};

const scatterSequences = (facts: CallFacts): Lines => {
  const { names, axis, isRing, data } = facts;
  const begin =
    names.indices === null
      ? ""
      : `tf.reshape(tf.cast(${names.indices}, tf.int64), ${batchShape(facts)}) + `;
  const place = `${begin}at[${axis}]`;
  return after(
    [
      `at = ${meshOf(`${names.updates}.shape`)}`,
      `at[${axis}] = ${isRing ? `(${place}) % ${data.shape[axis]}` : place}`,
    ],
    applied(facts, names.data, "tf.stack(at, axis=-1)", names.updates),
  );
};

const gatherTuples = (facts: CallFacts): Lines => {
  const { names, batchDims: b, call } = facts;
  const { data, output } = names;
  return [
    ...wrapped(facts, addressed(facts)),
    `${output} = tf.gather_nd(${data}, index, batch_dims=${b})`,
    ...(call.version.fusesBatches === true && b > 0
      ? [
          "# Version 5 merges the batch axes into one.",
          `${output} = tf.reshape(${output}, (-1,) + tuple(${output}.shape[${b}:]))`,
        ]
      : []),
  ];
};

const gatherElements = (facts: CallFacts): Lines => {
  const { names, axis, data } = facts;
  return [
    ...wrapped(facts, String(data.shape[axis])),
    `at = ${meshOf(`${names.indices}.shape`)}`,
    `at[${axis}] = index`,
    `${names.output} = tf.gather_nd(${names.data}, tf.stack(at, axis=-1))`,
  ];
};

const gatherSlices = (facts: CallFacts): Lines => [
  ...wrapped(facts, String(facts.data.shape[facts.axis])),
  `${facts.names.output} = tf.gather(${facts.names.data}, index, axis=${facts.axis})`,
];

/** Exports OpenVINO's Gather with batches, which returns 0 for an index out of range. */
const gatherOrZero = (facts: CallFacts): Lines => {
  const { names, axis, batchDims } = facts;
  const { output: shape, indices: spread, size } = spreadOf(facts);
  if (size === 0 || shape.includes(0))
    return [`${names.output} = tf.zeros(${pythonShape(shape)}, dtype=${names.data}.dtype)`];
  return [
    ...wrapped(facts, String(size)),
    `inside = (index >= 0) & (index < ${size})`,
    `found = tf.gather(${names.data}, tf.where(inside, index, 0), axis=${axis}, batch_dims=${batchDims})`,
    `inside = tf.reshape(inside, ${pythonShape(spread)})`,
    "# An index out of range gives 0.",
    `${names.output} = tf.where(inside, found, tf.zeros_like(found))`,
  ];
};

const TENSORFLOW: Library = {
  name: "TensorFlow",
  imports: ["import numpy as np", "import tensorflow as tf"],
  home: "tf.",
  numbers: "np.",
  tensor: "constant",
  dtypeOf: (dtype) => (KNOWN.has(dtype) ? `tf.${dtype}` : null),
  refuses:
    "For an index out of range, TensorFlow raises an error on a CPU and skips the update on a GPU.",
  bodies: {
    "scatter-tuples": scatterTuples,
    "scatter-elements": scatterElements,
    "scatter-slices": scatterSlices,
    "scatter-sequences": scatterSequences,
    "gather-tuples": gatherTuples,
    "gather-elements": gatherElements,
    "gather-slices": gatherSlices,
    "gather-or-zero": gatherOrZero,
  },
};
