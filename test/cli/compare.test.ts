/** `ndscatter compare`: where other systems part from a call, and what to write in each. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { tensor } from "../../src/entries/index.ts";
import { makeCliFolder } from "../support/cli-files.ts";
import { testTranscript } from "../support/transcripts.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeCliFolder();
const { save } = folder;

save("zeros-nan.npy", tensor("float32", [2], [NaN, -0]));
save("pair.npy", tensor("int64", [2, 1], [0, 1]));
save("two.npy", tensor("float32", [2], [1, 0]));
save("back.npy", tensor("int64", [2, 1], [-1, 0]));
save("same.npy", tensor("int64", [7, 1], [0, 0, 0, 0, 0, 0, 0]));
save("seven.npy", tensor("float32", [7], [1, 2, 3, 4, 5, 6, 7]));
save("outside.npy", tensor("int64", [2, 1], [5, 0]));
save("far-back.npy", tensor("int64", [2, 1], [-9, 0]));

const ND = newestTitle("ScatterND");

testTranscript(folder, "compare", "ndscatter compare");

/** What a command prints whose status says that a dialect parts. */
async function parted(args: string): Promise<string> {
  const { status, stdout, stderr } = await folder.ndscatter(args);
  assert.equal(stderr, "");
  assert.equal(status, 1);
  return stdout;
}

test("cells that differ are shown with both values, in the words of the table", async () => {
  assert.equal(
    await parted(
      "compare ScatterND --dialect onnxruntime-cpu --attr reduction=max zeros-nan.npy pair.npy two.npy",
    ),
    [
      `${ND} is`,
      "tensor([nan,  0.], dtype=float32)",
      "",
      "onnxruntime-cpu 1.32.0: 1 cell differs (nan-one-operand)",
      "  [0] is 1, not NaN",
      '  y = make_node("ScatterND", ["data", "indices", "updates"], ["y"], reduction="max")',
      "",
    ].join("\n"),
  );
});

test("an error where there is a result, and a result where there is an error", async () => {
  assert.match(
    await parted("compare ScatterND --dialect tensorflow-cpu two.npy back.npy two.npy"),
    /\ntensorflow-cpu 2\.21\.0: an error\n/,
  );
  assert.match(
    await parted("compare ScatterND --dialect jax two.npy outside.npy two.npy"),
    /\njax 0\.10\.2: omits the bad indices \(out-of-range-dropped\)\n/,
  );
  assert.match(
    await parted("compare ScatterND --dialect webnn two.npy far-back.npy two.npy"),
    /\nwebnn 2026: no error; 1 cell not decided \(out-of-range-clipped, any-order\)\n {2}not decided: \[0\]\n/,
  );
});

test("cells that are not decided are counted, and the first are named", async () => {
  assert.match(
    await parted("compare ScatterND --dialect mlx d.npy twice.npy u3.npy"),
    /\nmlx 0\.32\.2: 2 cells not decided \(any-order\)\n {2}not decided: \[1, 0\], \[1, 1\]\n/,
  );
  const text = await parted("compare ScatterND --dialect mlx two.npy same.npy seven.npy");
  assert.match(text, /1 cell not decided \(any-order\)\n {2}not decided: \[0\]\n/);
});

test("--json has all of it as data", async () => {
  const text = await parted(
    "compare ScatterND --json --dialect tensorflow-gpu --dialect webnn two.npy back.npy two.npy",
  );
  assert.deepEqual(JSON.parse(text), {
    operator: ND,
    error: null,
    exact: [0, 1],
    dialects: [
      {
        dialect: "tensorflow-gpu",
        version: "2.21.0",
        agrees: false,
        why: null,
        ids: ["negative-dropped"],
        differing: { count: 1, first: [{ at: [1], exact: 1, here: 0 }] },
        undecided: { count: 0, first: [] },
        code: "y = tf.tensor_scatter_nd_update(data, indices, updates)",
      },
      {
        dialect: "webnn",
        version: "2026",
        agrees: true,
        why: null,
        ids: [],
        differing: { count: 0, first: [] },
        undecided: { count: 0, first: [] },
        code: "y = builder.scatterND(data, indices, updates)",
      },
    ],
  });
});

// `mx.take` and `mx.take_along_axis` take an axis; an array is indexed by a tuple of arrays, one for each axis.
for (const [line, code] of [
  ["GatherND two.npy pair.npy", "y = data[tuple(mx.moveaxis(indices, -1, 0))]"],
  ["GatherElements d.npy i.npy", "y = mx.take_along_axis(data, indices, 0)"],
  ["Gather --attr axis=1 d.npy i.npy", "y = mx.take(data, indices, 1)"],
] as const) {
  test(`what to write in mlx for ${line}`, async () => {
    const { stdout } = await folder.ndscatter(`compare ${line} --dialect mlx --json`);
    const { dialects }: { dialects: { code: string }[] } = JSON.parse(stdout);
    assert.deepEqual(
      dialects.map((one) => one.code),
      [code],
    );
  });
}
