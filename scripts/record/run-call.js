/** Runs a call in a package, and returns its lines of the record: hashes of results, or an error. */

import { bytesOf, hashTensors } from "./hash.js";

/** The code, fields and sentence of anything that was thrown. */
export function describeError(error) {
  if (!(error instanceof Error)) return { code: "not an error", sentence: String(error) };
  const { code = error.constructor.name, name: _, ...fields } = error;
  return { code, ...(Object.keys(fields).length > 0 && { fields }), sentence: error.message };
}

/** Fills the memory of a tensor with the elements of another package's tensor. */
function fill(to, from) {
  if (from.dtype === "string") for (const [p, text] of from.data.entries()) to.data[p] = text;
  else bytesOf(to.data).set(bytesOf(from.data));
  return to;
}

/** A tensor with a pattern, for results to be written over. */
function patterned(tensor) {
  if (tensor.dtype === "string") tensor.data.fill("before");
  else bytesOf(tensor.data).fill(0x5a);
  return tensor;
}

/**
 * @param {object} library the exports of the package's main entry
 * @param {object} engine an engine of it
 * @param {import("./draw.js").Call} call
 */
export async function runCall(library, engine, call) {
  const { out: type, result, isResident, given } = call;
  const made = [];
  const make = (dtype, shape) => {
    const tensor = isResident ? engine.alloc(dtype, shape) : library.zeros(dtype, shape);
    made.push(tensor);
    return tensor;
  };
  const copy = (from) => from && fill(make(from.dtype, from.shape), from);
  const tensors = call.inputs.map(copy);
  const inputs = tensors.map((one, position) => {
    if (given[position] === "list") return one?.toArray();
    if (given[position] === "null") return null;
    if (given[position] === "disposed") one?.dispose();
    return one;
  });
  const gradient = call.gradient && copy(call.gradient);
  const isNew = result === "new" || call.gradient !== null;
  const out = isNew
    ? undefined
    : result === "out"
      ? patterned(make(type.dtype, type.shape))
      : tensors[0];
  const alive = () => made.filter((one) => !one.isDisposed);
  try {
    const results = [await perform(library, engine, call, inputs, gradient, out)].flat();
    // Inputs too, because none but `out` may change.
    const values = hashTensors([...results, ...alive()]);
    for (const one of results) one?.dispose();
    return { values };
  } catch (error) {
    return { ...describeError(error), values: hashTensors(alive()) };
  } finally {
    for (const one of alive()) one.dispose();
  }
}

/** Makes the call itself. */
function perform(library, engine, call, inputs, gradient, out) {
  const { by, name, node, options, chosen, isAsync } = call;
  if (by === "plan") return performPlan(engine, call, inputs, gradient, out);
  if (gradient !== null) {
    const what = by === "node" ? node : { function: name, options };
    return isAsync
      ? engine.async.vjp(what, inputs, gradient, chosen)
      : library.vjp(what, inputs, gradient, { ...chosen, engine });
  }
  if (by === "node") return library.run(node, inputs, { engine });
  return (isAsync ? engine.async : engine)[name](...inputs, { ...options, out });
}

function performPlan(
  engine,
  { name, options, chosen, inputs: [{ shape }] },
  inputs,
  gradient,
  out,
) {
  const [data, indices, updates] = inputs;
  const { reduction, ...settings } = options;
  const planner = `plan${name[0].toUpperCase()}${name.slice(1)}`;
  const plan = engine[planner](shape, indices, settings);
  if (!name.startsWith("scatter")) {
    return gradient === null ? plan.gather(data, { out }) : plan.gatherVjp(gradient);
  }
  if (gradient !== null) return plan.scatterVjp(data, updates, gradient, { ...chosen, reduction });
  return plan.scatter(data, updates, { reduction, out });
}
