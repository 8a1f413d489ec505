/**
 * Every way to make one call: the memory of its tensors, the destination of its result, kept or plain, awaited or not.
 * A case is a row of data; the ways are the same for all rows.
 */

import assert from "node:assert/strict";
import type { Engine } from "../../src/core/create-engine.ts";
import { isTensorError, type TensorError } from "../../src/core/errors.ts";
import {
  isNumericStorage,
  viewOf,
  type DType,
  type NumericStorage,
} from "../../src/core/tensor/dtype.ts";
import { bytesOf, copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { Tensor } from "../../src/core/tensor/tensor.ts";

export type Name =
  | "scatterND"
  | "scatterElements"
  | "gatherND"
  | "gatherElements"
  | "gather"
  | "tensorScatter";

/** A call and its result; for a refused call, its result if the indices were valid. */
export interface Case {
  readonly name: string;
  readonly operator: Name;
  /** Data, indices and, for a scatter, updates, in the order of the function's parameters. */
  readonly inputs: readonly Tensor[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly expected: Tensor;
  /** The error of a call that changes nothing. */
  readonly refusal?: { readonly code: TensorError["code"]; readonly at: readonly number[] };
}

/**
 * The memory of a tensor: the heap, the heap at an address that is not a multiple of a vector, or the engine's own
 * memory.
 */
type Place = "heap" | "odd" | "engine";

export interface Way {
  readonly name: string;
  /** The memory of the inputs, one for each or one for all; the last one is repeated. */
  readonly places: readonly Place[];
  /** The destination of the result: a new tensor, a given one, or data itself. */
  readonly result: "new" | "out" | "in place";
  readonly by: "call" | "plan" | "promise";
}

const SOURCES = {
  heap: ["heap"],
  "odd addresses": ["odd"],
  engine: ["engine"],
  "engine but data": ["heap", "engine"],
  "engine but indices": ["engine", "heap", "engine"],
  "engine but updates": ["engine", "engine", "heap"],
} as const satisfies Readonly<Record<string, readonly Place[]>>;

const ALL = Object.keys(SOURCES) as (keyof typeof SOURCES)[];

const waysOf = (
  by: Way["by"],
  results: readonly Way["result"][],
  sources: readonly (keyof typeof SOURCES)[],
): readonly Way[] =>
  sources.flatMap((source) =>
    results.map((result) => {
      const name = `${source}, ${result}, ${by}`;
      return { name, places: SOURCES[source], result, by };
    }),
  );

export const WAYS: readonly Way[] = [
  ...waysOf("call", ["new", "out", "in place"], ALL),
  ...waysOf("plan", ["out", "in place"], ["heap", "engine"]),
  ...waysOf("promise", ["new", "in place"], ALL),
];

/** True if a case supports a way: gathers have no data to write to, and plans have no policies. */
export const canGo = ({ operator, options }: Case, { result, by }: Way): boolean =>
  (result !== "in place" || operator.includes("catter")) &&
  (by !== "plan" ||
    (operator in PLANNERS && Object.keys(options).every((name) => !POLICIES.has(name))));

const POLICIES = new Set(["bounds", "negative", "duplicates", "includeSelf"]);

const PLANNERS = {
  scatterND: "planScatterND",
  scatterElements: "planScatterElements",
  gatherND: "planGatherND",
  gatherElements: "planGatherElements",
  gather: "planGather",
} as const;

/** Makes the call of a case one way, and checks its result and that nothing else changed. */
export async function go(engine: Engine, one: Case, way: Way): Promise<void> {
  const what = `${one.name}, ${way.name}`;
  const inputs = one.inputs.map((input, position) =>
    placed(engine, input, way.places[Math.min(position, way.places.length - 1)]),
  );
  const data = inputs[0];
  const { expected, refusal } = one;
  const out =
    way.result === "new"
      ? undefined
      : way.result === "in place"
        ? data
        : filled(engine, expected, way.places[0]);
  const before = inputs.map((tensor, position) => ({ tensor, was: one.inputs[position] }));
  if (out !== undefined && out !== data) before.push({ tensor: out, was: copyOf(out) });
  const isChanged = (tensor: Tensor): boolean => refusal === undefined && tensor === out;
  try {
    const result = await call(engine, one, way, inputs, out);
    assert.ok(refusal === undefined, `${what}: was not refused`);
    if (out !== undefined) assert.equal(result, out, what);
    assert.ok(equals(result, expected), `${what}: another result`);
    if (out === undefined) result.dispose();
  } catch (error) {
    if (refusal === undefined || !isTensorError(error, refusal.code)) throw error;
    assert.deepEqual(error.at, refusal.at, what);
  }
  for (const { tensor, was } of before) {
    const isRight = isChanged(tensor) || equals(tensor, was);
    assert.ok(isRight, `${what}: an input, or out of a refused call, changed`);
    tensor.dispose();
  }
}

async function call(
  engine: Engine,
  { operator, options }: Case,
  { by }: Way,
  inputs: readonly Tensor[],
  out: Tensor | undefined,
): Promise<Tensor> {
  const full = { ...options, out };
  if (by === "call") return Reflect.apply(engine[operator], engine, [...inputs, full]);
  if (by === "promise") return Reflect.apply(engine.async[operator], engine, [...inputs, full]);
  const [data, indices, updates] = inputs;
  const { reduction, ...settings } = options;
  const planner = engine[PLANNERS[operator as keyof typeof PLANNERS]];
  const plan = planner(data.shape, indices, settings as never);
  return updates === undefined
    ? plan.gather(data, { out })
    : plan.scatter(data, updates, { reduction: reduction as "add", out });
}

/** A copy of a tensor in the given memory. */
export function placed(engine: Engine, tensor: Tensor, place: Place): Tensor {
  const { dtype, shape, size, data } = tensor;
  if (place === "engine") {
    const resident: Tensor = engine.alloc<DType, readonly number[]>(dtype, shape);
    copy(data, resident.data);
    return resident;
  }
  if (place === "odd" && isNumericStorage(data)) {
    // The copy starts one element after the start of its buffer, which is aligned to at least 8 bytes.
    const buffer = new ArrayBuffer(data.byteLength + 2 * data.BYTES_PER_ELEMENT);
    const odd = viewOf(dtype, buffer, data.BYTES_PER_ELEMENT, data.length) as NumericStorage;
    bytesOf(odd).set(bytesOf(data));
    return new Tensor(dtype, shape, size, odd);
  }
  return copyOf(tensor);
}

/** A tensor like another one, filled with other elements. */
function filled(engine: Engine, like: Tensor, place: Place): Tensor {
  const tensor = placed(engine, like, place);
  if (isNumericStorage(tensor.data)) bytesOf(tensor.data).fill(0x5a);
  return tensor;
}

const copyOf = ({ dtype, shape, size, data }: Tensor): Tensor =>
  new Tensor(dtype, shape, size, data.slice());
