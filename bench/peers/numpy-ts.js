/**
 * numpy-ts has `take`, integer-array indexing and `put_along_axis`, which writes in place, but neither `add.at` nor
 * `maximum.at`.
 */

export async function load() {
  const np = await import("numpy-ts");
  return [{ name: "numpy-ts", prepare: (row, inputs) => contestant(np, row, inputs) }];
}

function contestant(np, row, { data, indices, updates, shapes }) {
  if (row.dtype !== "float32") return null;
  const array = (values, shape) => np.array(values).reshape([...shape]);
  const run = callOf(np, row, array(data, shapes.data), indices, shapes.indices, () =>
    array(updates, shapes.sequential),
  );
  if (run === null) return null;
  return { call: () => run().dispose?.(), litter: run, output: () => run().data.slice() };
}

function callOf(np, row, data, indices, shape, updatesOf) {
  if (row.name === "gatherND rows") {
    const list = Array.from(indices, Number);
    return () => np.take(data, list, 0);
  }
  if (row.name === "gatherND scalars") {
    const columns = [0, 1].map((axis) =>
      np.array(Int32Array.from({ length: shape[0] }, (_, p) => Number(indices[2 * p + axis]))),
    );
    return () => np.vindex(data, ...columns);
  }
  if (row.op === "scatterElements" && row.reduction === "none") {
    const along = np.array(indices).reshape([...shape]);
    const updates = updatesOf();
    return () => {
      const copy = data.copy();
      np.put_along_axis(copy, along, updates, row.axis);
      return copy;
    };
  }
  return null;
}
