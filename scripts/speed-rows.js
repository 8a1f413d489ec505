/** The calls that `speed-guard.js` measures, each with its own tensors: a call's time depends on where they are. */

const [ROWS, WIDTH] = [50_000, 64];

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** Numbers below a limit, in an order without a pattern that a processor predicts. */
const scattered = (count, below) =>
  Array.from({ length: count }, (_, p) => (Math.imul(p + 1, 0x9e3779b1) >>> 8) % below);

const floats = ({ tensor }, shape) =>
  tensor(
    "float32",
    shape,
    Float32Array.from({ length: sizeOf(shape) }, (_, p) => p % 97),
  );

const places = ({ tensor }, shape, below) =>
  tensor("int64", shape, BigInt64Array.from(scattered(sizeOf(shape), below), BigInt));

/** The rows of a package: for each name a function that makes the call to measure. */
export const rowsOf = (library) => ({ ...smallRows(library), ...longRows(library) });

function smallRows(library) {
  const { zeros, scatterND, scatterElements, gather, planScatterND, vjp } = library;
  const data = floats(library, [8]);
  const indices = places(library, [4, 1], 8);
  const updates = floats(library, [4]);
  const out = zeros("float32", [8]);
  return {
    "4 updates into 8, new result": () => () => scatterND(data, indices, updates),
    "4 updates into 8, out": () => () => scatterND(data, indices, updates, { out }),
    "4 updates into 8, kept plan": () => {
      const plan = planScatterND(data.shape, indices);
      return () => plan.scatter(data, updates, { out });
    },
    "4 updates into 8, lists": () => () => scatterND(data, [[1], [7], [0], [3]], [1, 2, 3, 4]),
    "4 updates into 8, mean": () => () => scatterND(data, indices, updates, { reduction: "mean" }),
    "4 updates into 8, gradients": () => () => vjp("scatterND", [data, indices, updates], data),
    "4 updates into 8, elements": () => {
      const few = places(library, [4], 8);
      return () => scatterElements(data, few, updates);
    },
    "gather 4 of 8 in a row": () => {
      const run = library.tensor("int64", [4], [2n, 3n, 4n, 5n]);
      return () => gather(data, run);
    },
    "gather 4 of 8": () => {
      const few = places(library, [4], 8);
      return () => gather(data, few);
    },
  };
}

function longRows(library) {
  const { createEngine, scatterND, gather, vjp } = library;
  const make = () => ({
    data: floats(library, [ROWS, WIDTH]),
    tuples: places(library, [ROWS, 1], ROWS),
    indices: places(library, [ROWS], ROWS),
    updates: floats(library, [ROWS, WIDTH]),
  });
  return {
    "50,000 rows, set": () => {
      const { data, tuples, updates } = make();
      return () => scatterND(data, tuples, updates, { out: data });
    },
    "50,000 rows, add": () => {
      const { data, tuples, updates } = make();
      return () => scatterND(data, tuples, updates, { reduction: "add", out: data });
    },
    "50,000 rows, gather": () => {
      const { data, indices, updates } = make();
      return () => gather(data, indices, { out: updates });
    },
    "50,000 rows, gradient of gather": () => {
      const { data, indices, updates } = make();
      return () => vjp({ function: "gather" }, [data, indices], updates);
    },
    "50,000 rows, add, 2 threads": () => {
      const engine = createEngine({ threads: 2 });
      const { data, tuples, updates } = make();
      const [own, at, values] = [data, tuples, updates].map((from) => {
        const copy = engine.alloc(from.dtype, from.shape);
        copy.data.set(from.data);
        return copy;
      });
      return () => engine.scatterND(own, at, values, { reduction: "add", out: own });
    },
  };
}
