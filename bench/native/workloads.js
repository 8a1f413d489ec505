/** The workloads of the comparison with native runtimes that are called natively. */

import { elements, gather, nd } from "../workloads.js";

/** @type {readonly import("../workloads.js").Workload[]} */
export const NATIVE_WORKLOADS = [
  nd("ScatterND set 1M scalars", "none", [1_000_000], [1_000_000, 1], { fill: "distinct" }),
  nd("ScatterND add 1M scalars to 10k", "add", [10_000], [1_000_000, 1]),
  nd("ScatterND set 50k rows of 64", "none", [50_000, 64], [50_000, 1], { fill: "distinct" }),
  nd("ScatterND add 50k rows of 64 to 1k", "add", [1000, 64], [50_000, 1]),
  elements("ScatterElements set 1000x1000 axis 0", 0, "none", [1000, 1000], [1000, 1000]),
  elements("ScatterElements add 1000x1000 axis 1", 1, "add", [1000, 1000], [1000, 1000]),
  gather("GatherND 100k rows of 64", [100_000, 64], [100_000, 1]),
  gather("GatherND 1M scalars, k = 2", [1000, 1000], [1_000_000, 2]),
  gather("GatherND batched 64x500 rows of 32", [64, 1000, 32], [64, 500, 1], { batchDims: 1 }),
  gather("Gather 20k rows of 128", [50_000, 128], [20_000], { op: "gather" }),
  gather("GatherElements 1000x1000 axis 1", [1000, 1000], [1000, 1000], {
    op: "gatherElements",
    axis: 1,
  }),
  nd("KV append, cache 8x1024x512, copied", "none", [8, 1024, 512], [8, 2], { fill: "tokens" }),
  nd("float16 add 20k rows of 64 to 1k", "add", [1000, 64], [20_000, 1], { dtype: "float16" }),
  gather("float16 Gather 20k rows of 128", [50_000, 128], [20_000], {
    op: "gather",
    dtype: "float16",
  }),
];
