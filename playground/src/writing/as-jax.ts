/** Exports a state as a JAX program. */

import { DTYPES, type DType } from "ndscatter";
import type { State } from "../values/state.ts";
import { along, batchShape, pythonShape, spreadOf, type CallFacts } from "./call-facts.ts";
import { after, openRepeats, printProgram, type Library, type Lines } from "./python-program.ts";

export const asJax = (state: State): string => printProgram(state, JAX);

const KNOWN: ReadonlySet<DType> = new Set([
  ...(["bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"] as const),
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const),
]);

/** The method of `.at[…]` for each reduction. A mean is computed as a sum followed by a division. */
const METHODS = { add: "add", mean: "add", mul: "multiply", max: "max", min: "min" } as const;

/** Applies updates at `at`. */
function combined(facts: CallFacts, at: string): Lines {
  const { names, reduction, isFresh, hasRepeats, data } = facts;
  const { output, updates } = names;
  if (reduction === "none")
    return hasRepeats
      ? openRepeats("JAX")
      : [`${output} = ${names.data}.at[${at}].set(${updates})`];
  if (data.dtype === "bool") return { no: "JAX cannot add booleans by index." };
  if (data.dtype.startsWith("complex") && (reduction === "max" || reduction === "min"))
    return { no: "JAX does not order complex numbers as this call does." };
  if (isFresh) return { no: "JAX reductions cannot start with the first update of a target." };
  if (reduction === "sub") return [`${output} = ${names.data}.at[${at}].add(-${updates})`];
  const line = `${output} = ${names.data}.at[${at}].${METHODS[reduction]}(${updates})`;
  if (reduction !== "mean") return [line];
  const { family } = DTYPES[data.dtype];
  const divided = family.startsWith("int")
    ? `${output} // count.astype(${output}.dtype)`
    : `(${output} / count).astype(${names.data}.dtype)`;
  return [
    line,
    `count = jnp.ones(${names.data}.shape, dtype=jnp.int64).at[${at}].add(1)`,
    `${output} = ${divided}`,
  ];
}

const tuples = ({ names }: CallFacts): string => `jnp.moveaxis(${names.indices}, -1, 0)`;

const scatterTuples = (facts: CallFacts): Lines => {
  const { names, data, indices, updates } = facts;
  const isScalar = indices?.shape.length === 1 && indices.shape[0] === data.shape.length;
  const isRanked = isScalar && (updates?.shape.length ?? 0) > 0;
  return after(
    [
      ...(isRanked ? [`${names.updates} = ${names.updates}.reshape(())`] : []),
      `at = tuple(${tuples(facts)})`,
    ],
    combined(facts, "at"),
  );
};

const scatterElements = (facts: CallFacts): Lines =>
  after(
    [
      `at = list(jnp.indices(${facts.names.indices}.shape, sparse=True))`,
      `at[${facts.axis}] = ${facts.names.indices}`,
    ],
    combined(facts, "tuple(at)"),
  );

const scatterSlices = (facts: CallFacts): Lines =>
  combined(facts, along(facts.axis, `${facts.names.indices}`));

const scatterSequences = (facts: CallFacts): Lines => {
  const { names, axis, isRing, data } = facts;
  const begin = names.indices === null ? "" : `${names.indices}.reshape(${batchShape(facts)}) + `;
  const place = `${begin}at[${axis}]`;
  return after(
    [
      `at = list(jnp.indices(${names.updates}.shape, sparse=True))`,
      `at[${axis}] = ${isRing ? `(${place}) % ${data.shape[axis]}` : place}`,
    ],
    combined(facts, "tuple(at)"),
  );
};

const gatherTuples = (facts: CallFacts): Lines => {
  const { names, batchDims: b, call } = facts;
  const { data, output } = names;
  if (b === 0) return [`${output} = ${data}[tuple(${tuples(facts)})]`];
  return [
    `batches = jnp.indices(${names.indices}.shape[:-1], sparse=True)[:${b}]`,
    `${output} = ${data}[(*batches, *${tuples(facts)})]`,
    ...(call.version.fusesBatches === true
      ? [
          "# Version 5 merges the batch axes into one.",
          `${output} = ${output}.reshape((-1,) + ${output}.shape[${b}:])`,
        ]
      : []),
  ];
};

const gatherElements = ({ names, axis }: CallFacts): Lines => [
  "# Along other axes, indices may be smaller than data.",
  `part = tuple(slice(None) if d == ${axis} else slice(n) for d, n in enumerate(${names.indices}.shape))`,
  `${names.output} = jnp.take_along_axis(${names.data}[part], ${names.indices}, ${axis})`,
];

const gatherSlices = ({ names, axis }: CallFacts): Lines => [
  `${names.output} = jnp.take(${names.data}, ${names.indices}, axis=${axis})`,
];

/** Exports OpenVINO's Gather with batches, which returns 0 for an index out of range. */
const gatherOrZero = (facts: CallFacts): Lines => {
  const { names, axis } = facts;
  const { output: shape, indices: spread, after: behind } = spreadOf(facts);
  return [
    `grid = jnp.indices(${pythonShape(shape)}, sparse=True)`,
    `places = ${names.indices}.reshape(${pythonShape(spread)})`,
    "# An index out of range gives 0.",
    `at = (*grid[:${axis}], places, *grid[${behind}:])`,
    `${names.output} = ${names.data}.at[at].get(mode="fill", fill_value=0)`,
  ];
};

const JAX: Library = {
  name: "JAX",
  imports: [
    "import jax",
    "",
    "# Without this line, JAX converts 64-bit types to 32 bits.",
    'jax.config.update("jax_enable_x64", True)',
    "import jax.numpy as jnp",
  ],
  home: "jnp.",
  numbers: "jnp.",
  tensor: "array",
  // Older versions of JAX lack jnp.bool.
  dtypeOf: (dtype) => (KNOWN.has(dtype) ? `jnp.${dtype === "bool" ? "bool_" : dtype}` : null),
  refuses:
    "JAX skips updates whose index is out of range; in gathers it clips the index or fills the result.",
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
