/** Exports a state as a PyTorch program. */

import type { DType } from "ndscatter";
import type { State } from "../values/state.ts";
import { along, batchShape, pythonShape, spreadOf, type CallFacts } from "./call-facts.ts";
import { after, openRepeats, printProgram, type Library, type Lines } from "./python-program.ts";

export const asPyTorch = (state: State): string => printProgram(state, PYTORCH);

const KNOWN: ReadonlySet<DType> = new Set([
  ...(["bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"] as const),
  ...(["int8", "int16", "int32", "int64", "uint8"] as const),
]);

const meshOf = (shape: string): string =>
  `list(torch.meshgrid(*[torch.arange(n) for n in ${shape}], indexing="ij"))`;

const whole = ({ names }: CallFacts): string => `${names.indices}.long()`;

/** Converts negative indices to positive indices, because these functions do not accept negative indices. */
const wrapped = (facts: CallFacts, size: number): string[] => [
  `index = ${whole(facts)}`,
  `index = torch.where(index < 0, index + ${size}, index)`,
];

const tuples = (facts: CallFacts): string => `tuple(${whole(facts)}.unbind(-1))`;

/** Reduction names for `scatter_reduce`. */
const WORDS = { mul: "prod", max: "amax", min: "amin", mean: "mean" } as const;

/** Applies updates at `at`, which selects elements of data by advanced indexing. */
function combined(facts: CallFacts): Lines {
  const { names, reduction, isFresh, hasRepeats, data } = facts;
  const { output, updates } = names;
  if (reduction === "none") {
    if (hasRepeats) return openRepeats("PyTorch");
    return [`${output} = ${names.data}.clone()`, `${output}[at] = ${updates}`];
  }
  const { dtype } = data;
  const isSum = reduction === "add" || reduction === "sub";
  if (dtype === "bool") return { no: "PyTorch cannot reduce booleans by index." };
  if (isSum && !isFresh) {
    const given = reduction === "sub" ? `-${updates}` : updates;
    return [
      `${output} = ${names.data}.clone()`,
      `${output}.index_put_(at, ${given}, accumulate=True)`,
    ];
  }
  if (dtype.startsWith("complex"))
    return { no: "PyTorch's scatter_reduce does not support complex numbers." };
  if (isSum && reduction === "sub")
    return { no: "PyTorch's scatter_reduce cannot subtract starting from the first update." };
  const word = isSum ? "sum" : WORDS[reduction as keyof typeof WORDS];
  const self = isFresh ? ", include_self=False" : "";
  return [
    `flat = torch.arange(${names.data}.numel()).reshape(${names.data}.shape)[at].reshape(-1)`,
    `${output} = ${names.data}.reshape(-1).scatter_reduce(0, flat, ${updates}.reshape(-1), "${word}"${self})`,
    `${output} = ${output}.reshape(${names.data}.shape)`,
  ];
}

const scatterTuples = (facts: CallFacts): Lines => {
  const { names, data, indices, updates } = facts;
  const isScalar = indices?.shape.length === 1 && indices.shape[0] === data.shape.length;
  const isRanked = isScalar && (updates?.shape.length ?? 0) > 0;
  return after(
    [
      ...(isRanked ? [`${names.updates} = ${names.updates}.reshape(())`] : []),
      `at = ${tuples(facts)}`,
    ],
    combined(facts),
  );
};

const scatterElements = (facts: CallFacts): Lines =>
  after(
    [
      `at = ${meshOf(`${facts.names.indices}.shape`)}`,
      `at[${facts.axis}] = ${whole(facts)}`,
      "at = tuple(at)",
    ],
    combined(facts),
  );

const scatterSlices = (facts: CallFacts): Lines =>
  facts.hasRepeats
    ? openRepeats("PyTorch")
    : [
        `${facts.names.output} = ${facts.names.data}.clone()`,
        `${facts.names.output}[${along(facts.axis, whole(facts))}] = ${facts.names.updates}`,
      ];

const scatterSequences = (facts: CallFacts): Lines => {
  const { names, axis, isRing, data } = facts;
  const begin = names.indices === null ? "" : `${whole(facts)}.reshape(${batchShape(facts)}) + `;
  return after(
    [
      `at = ${meshOf(`${names.updates}.shape`)}`,
      `at[${axis}] = ${isRing ? `(${begin}at[${axis}]) % ${data.shape[axis]}` : `${begin}at[${axis}]`}`,
      "at = tuple(at)",
    ],
    combined(facts),
  );
};

const gatherTuples = (facts: CallFacts): Lines => {
  const { names, batchDims: b, call } = facts;
  const { data, output } = names;
  if (b === 0) return [`${output} = ${data}[${tuples(facts)}]`];
  return [
    `batches = ${meshOf(`${names.indices}.shape[:-1]`)}[:${b}]`,
    `${output} = ${data}[(*batches, *${whole(facts)}.unbind(-1))]`,
    ...(call.version.fusesBatches === true
      ? [
          "# Version 5 merges the batch axes into one.",
          `${output} = ${output}.flatten(0, ${b - 1})`,
        ]
      : []),
  ];
};

const gatherElements = (facts: CallFacts): Lines => [
  ...wrapped(facts, facts.data.shape[facts.axis]),
  `${facts.names.output} = torch.gather(${facts.names.data}, ${facts.axis}, index)`,
];

const gatherSlices = (facts: CallFacts): Lines => [
  `${facts.names.output} = ${facts.names.data}[${along(facts.axis, whole(facts))}]`,
];

/** Exports OpenVINO's Gather with batches, which returns 0 for an index out of range. */
const gatherOrZero = (facts: CallFacts): Lines => {
  const { names, axis } = facts;
  const { output: shape, indices: spread, after: behind, size } = spreadOf(facts);
  if (size === 0 || shape.includes(0))
    return [`${names.output} = torch.zeros(${pythonShape(shape)}, dtype=${names.data}.dtype)`];
  return [
    ...wrapped(facts, size),
    `index = index.reshape(${pythonShape(spread)})`,
    `inside = (index >= 0) & (index < ${size})`,
    `grid = ${meshOf(pythonShape(shape))}`,
    `found = ${names.data}[(*grid[:${axis}], torch.where(inside, index, torch.zeros_like(index)), *grid[${behind}:])]`,
    "# An index out of range gives 0.",
    `${names.output} = torch.where(inside, found, torch.zeros_like(found))`,
  ];
};

const PYTORCH: Library = {
  name: "PyTorch",
  imports: ["import torch"],
  home: "torch.",
  numbers: "torch.",
  tensor: "tensor",
  dtypeOf: (dtype) => (KNOWN.has(dtype) ? `torch.${dtype}` : null),
  refuses: "PyTorch raises an IndexError for an index out of range.",
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
