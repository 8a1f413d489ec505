/** The library as contestants, one for each way to call it. A way that this build of the library lacks is skipped. */

import { isScatter, optionsOf } from "./workloads.js";

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {() => unknown} call one call, which is timed; a promise is awaited
 * @property {() => unknown} output the elements of one call's result on fresh inputs; a promise is awaited
 * @property {() => unknown} [litter] of a peer: `call` that leaves its result to the garbage collector; `call` if
 * absent
 * @property {number} [atLeast] the least number of calls per sample
 * @property {number} [cooldown] milliseconds to wait after a sample, because threads continue to spin
 * @property {() => unknown} [release]
 */

/** The contestants with resident tensors, by number of threads: the keys of `threads` in results.json. */
export const THREADS = { 1: "resident", 2: "resident 2" };

/** The contestants that also have a kept plan: the keys of `kept` in results.json. */
export const KEPT = { 1: "kept", 2: "kept 2" };

/** Heap tensors on the engine with two threads, which both gather. */
export const HEAP_THREADS = "new 2";

/**
 * The least number of calls per sample whose results are left to the garbage collector, so that the sample includes the
 * collection.
 */
export const LITTERING = 4;

/**
 * @param {any} lib the library's main entry
 * @param {string} kind of engine for heap tensors: auto, js or wasm
 * @param {readonly number[]} threads of the engines with resident tensors
 */
export function createOurs(lib, kind, threads = [1, 2]) {
  /** @type {string[]} */
  const missing = [];
  const make = () => (lib.createEngine === undefined ? lib : lib.createEngine({ kind }));
  const heap = make();
  const plain = lib.createEngine === undefined ? lib : lib.createEngine({ kind: "js" });
  // A separate engine, because results that are never disposed would use up the pool of `new`.
  const littering = make();
  const shared = threads.map((count) => residentEngine(lib, count, missing));
  const disposes = typeof lib.zeros("float32", [1]).dispose === "function";
  if (!disposes) missing.push("`new`: Tensor has no dispose");
  return {
    heap,
    /** Modes that cannot be measured, each with the reason. */
    missing,
    /** The elements of a row's result on the JavaScript engine. */
    expected: (row, inputs) => plain[row.op](...heapTensors(lib, row, inputs), optionsOf(row)).data,
    /** The running engines, as text. */
    about: [heap, ...shared]
      .filter((engine) => engine !== null)
      .map(({ kind = "functions", threads = 1 }) => `${kind} ${threads}`)
      .join(", "),
    /**
     * @param {import("./workloads.js").Workload} row
     * @param {import("./workloads.js").Inputs} inputs
     * @param {(name: string) => boolean} wanted
     * @returns {Contestant[]}
     */
    contestants(row, inputs, wanted = () => true) {
      const modes = heapModes(lib, heap, littering, row, inputs);
      if (!disposes) delete modes.new;
      for (const engine of shared) {
        if (engine === null) continue;
        modes[THREADS[engine.threads]] = () => resident(engine, row, inputs);
        if (engine.threads === 2 && !isScatter(row)) {
          modes[HEAP_THREADS] = heapModes(lib, engine, engine, row, inputs).new;
        }
        if (engine.planScatterND === undefined) continue;
        modes[KEPT[engine.threads]] = () => resident(engine, row, inputs, true);
      }
      return Object.entries(modes).flatMap(([name, make]) =>
        wanted(name) ? [{ name, ...make() }] : [],
      );
    },
    close() {
      for (const engine of [heap, plain, littering, ...shared]) engine?.dispose?.();
    },
  };
}

/** Returns an engine with its own memory; or null, with the reason in `missing`. */
function residentEngine(lib, threads, missing) {
  const name = `\`${THREADS[threads]}\``;
  const why = (reason) => {
    missing.push(`${name}: ${reason}`);
    return null;
  };
  if (lib.createEngine === undefined) return why("there is no createEngine");
  try {
    const engine = lib.createEngine({ kind: "wasm", threads });
    if (typeof engine.alloc !== "function") return why("the engine has no alloc");
    if (engine.threads !== threads) return why(`the engine runs ${engine.threads} thread(s)`);
    return engine;
  } catch (error) {
    return why(error.message);
  }
}

/** Returns the tensors of a row on the heap. They share the memory of `inputs`. */
export function heapTensors(lib, row, { data, indices, updates, shapes }) {
  return [
    lib.tensor(row.dtype, shapes.data, data),
    lib.tensor("int64", shapes.indices, indices),
    ...(updates === null ? [] : [lib.tensor(row.dtype, shapes.sequential, updates)]),
  ];
}

/**
 * Ways to call with tensors on the heap, by name.
 * @returns {Record<string, () => Omit<Contestant, "name">>}
 */
function heapModes(lib, engine, littering, row, inputs) {
  const tensors = heapTensors(lib, row, inputs);
  const options = optionsOf(row);
  const run = engine[row.op];
  const output = () => run(...tensors, options).data;
  const modes = {
    undisposed: () => ({
      atLeast: LITTERING,
      call: () => littering[row.op](...tensors, options),
      output: () => littering[row.op](...tensors, options).data,
    }),
    new: () => ({ call: () => run(...tensors, options).dispose(), output }),
    into() {
      const into = { ...options, out: lib.zeros(row.dtype, inputs.shapes.output) };
      return { call: () => run(...tensors, into), output: () => run(...tensors, into).data };
    },
  };
  if (!isScatter(row)) return modes;
  modes.inplace = () => {
    const target = lib.tensor(row.dtype, inputs.shapes.data, inputs.data.slice());
    const others = tensors.slice(1);
    const inPlace = { ...options, out: target };
    const call = () => run(target, ...others, inPlace);
    return { call, output: () => (target.data.set(inputs.data), call().data.slice()) };
  };
  return modes;
}

/**
 * Returns a call with all tensors in the engine's memory. A row that is judged in place writes in place here too.
 * @param {boolean} [keepsPlan] true if a kept plan has read the indices before
 * @returns {Omit<Contestant, "name">}
 */
function resident(engine, row, { data, indices, updates, shapes }, keepsPlan = false) {
  const alloc = (dtype, shape, values) => {
    const tensor = engine.alloc(dtype, shape);
    if (values !== undefined) tensor.data.set(values);
    return tensor;
  };
  const target = alloc(row.dtype, shapes.data, data);
  const places = alloc("int64", shapes.indices, indices);
  const others = updates === null ? [] : [alloc(row.dtype, shapes.sequential, updates)];
  const out = row.inPlace ? target : alloc(row.dtype, shapes.output);
  const run = engine[row.op];
  const into = { ...optionsOf(row), out };
  const call = keepsPlan
    ? callOfPlan(engine, row, places, [target, ...others], out)
    : () => run(target, places, ...others, into);
  return {
    call,
    output() {
      if (row.inPlace) target.data.set(data);
      return call().data.slice();
    },
    release() {
      for (const tensor of new Set([target, places, ...others, out])) tensor.dispose();
    },
  };
}

/** The functions that make plans, by operator. */
const PLANS = {
  scatterND: "planScatterND",
  scatterElements: "planScatterElements",
  gatherND: "planGatherND",
};

function callOfPlan(engine, row, indices, tensors, out) {
  const { reduction, ...options } = optionsOf(row);
  const plan = engine[PLANS[row.op]](tensors[0].shape, indices, options);
  if (!isScatter(row)) return () => plan.gather(...tensors, { out });
  return () => plan.scatter(...tensors, { reduction, out });
}
