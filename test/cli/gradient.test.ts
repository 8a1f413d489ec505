/** `ndscatter explain --gradient`: text, JSON and errors. Expected gradients are computed by hand. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { full, tensor, type DType } from "../../src/entries/index.ts";
import { makeCliFolder } from "../support/cli-files.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeCliFolder();
const { json, ndscatter, save } = folder;

save("slopes.npy", tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]));
save("slopes64.npy", tensor("float64", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]));

// Rows 1 and 3 of data are replaced. Updates 0 and 2 both go to row 1, so update 2 is the one that remains.
const NONE_TEXT = `
gradient of output, slopes.npy: float32[4, 2]
  0 |  1  2
  1 |  3  4
  2 |  5  6
  3 |  7  8

gradient of data: float32[4, 2]
  0 |  1  2
  1 |  0  0
  2 |  5  6
  3 |  0  0

gradient of updates: float32[3, 2]
  0 |  0  0
  1 |  7  8
  2 |  3  4

element     gradient  factor * gradient of output
data[1, 0]  0         0 * 3 from output[1, 0] (updates[2, 0] replaces it)
data[1, 1]  0         0 * 4 from output[1, 1] (updates[2, 1] replaces it)
data[3, 0]  0         0 * 7 from output[3, 0] (updates[1, 0] replaces it)
data[3, 1]  0         0 * 8 from output[3, 1] (updates[1, 1] replaces it)

element        gradient  factor * gradient of output
updates[0, 0]  0         0 * 3 from output[1, 0] (a later update, updates[2, 0], replaces it)
updates[0, 1]  0         0 * 4 from output[1, 1] (a later update, updates[2, 1], replaces it)
updates[1, 0]  7         1 * 7 from output[3, 0] (it is the last update of its target)
updates[1, 1]  8         1 * 8 from output[3, 1] (it is the last update of its target)
updates[2, 0]  3         1 * 3 from output[1, 0] (it is the last update of its target)
updates[2, 1]  4         1 * 4 from output[1, 1] (it is the last update of its target)
`;

test("the gradients of a scatter follow its explanation, with the update that replaces an element", async () => {
  const line = "explain ScatterND d.npy twice.npy u3.npy";
  const forward = await ndscatter(line);
  const { stdout, stderr, status } = await ndscatter(
    `${line} --gradient --output-gradient slopes.npy`,
  );
  assert.deepEqual([status, stderr], [0, ""]);
  assert.equal(stdout, forward.stdout + NONE_TEXT);
});

save("three.npy", tensor("float64", [3], [1, 2, 3]));
save("taken.npy", tensor("int64", [3], [2, 0, -1]));
save("powers.npy", tensor("float64", [3], [1, 10, 100]));

test("the gradient of a gather has a line for each read, and none for what is not read", async () => {
  const line = "explain Gather three.npy taken.npy --gradient --output-gradient powers.npy";
  const { stdout } = await ndscatter(line);
  assert.ok(
    stdout.endsWith(`
gradient of data: float64[3]
  0 |   10    0  101

element  gradient  factor * gradient of output
data[0]  10        1 * 10 from output[1], indices[1] = 0
data[2]  101       1 * 1 from output[0], indices[0] = 2
                   1 * 100 from output[2], indices[2] = -1, that is 2
`),
    stdout,
  );
  const unread = await ndscatter(`${line} --cell data[1] --cell data[0]`);
  assert.ok(
    unread.stdout.endsWith(`
element  gradient  factor * gradient of output
data[1]  0         no terms, because the element is not gathered
data[0]  10        1 * 10 from output[1], indices[1] = 0
`),
    unread.stdout,
  );
});

save("many0.npy", full("int64", [25], 0));

test("the terms of an element are cut after 20, and the elements of an input after 50", async () => {
  const { stdout } = await ndscatter("explain Gather three.npy many0.npy --gradient");
  assert.ok(
    stdout.endsWith(`
data[0]  25        ${Array.from(
      { length: 20 },
      (_, read) => `1 * 1 from output[${read}], indices[${read}] = 0`,
    ).join(`\n${" ".repeat(19)}`)}
                   and 5 more
`),
    stdout,
  );
  save("long60.npy", full("float32", [60], 1));
  save(
    "to60.npy",
    tensor(
      "int64",
      [60],
      Array.from({ length: 60 }, (_, at) => at),
    ),
  );
  const long = await ndscatter("explain ScatterElements long60.npy to60.npy long60.npy --gradient");
  assert.match(
    long.stdout,
    /\ndata\[49\] .*\nand 10 more of data; --cell explains any of them\n\n/,
  );
  assert.match(long.stdout, /\nupdates\[49\] .*\nand 10 more of updates; .*\n$/);
});

test("no element of a large gradient is listed, but --cell explains any", async () => {
  const line = "explain ScatterND big.npy none.npy empty.npy --gradient";
  const { stdout } = await ndscatter(line);
  assert.ok(
    stdout.endsWith(`
gradient of output: 1 for each element; --output-gradient gives another

gradient of data: float32[300, 300]
  (too large to draw)

gradient of updates: float32[0, 300]
  (no elements)
`),
    stdout,
  );
  save("row.npy", full("float32", [1, 300], 1));
  const row = await ndscatter("explain ScatterND big.npy i1.npy row.npy --gradient");
  assert.ok(
    row.stdout.endsWith(`
--cell 'data[0, 0]' explains that element of the gradient of data

--cell 'updates[0, 0]' explains that element of the gradient of updates
`),
    row.stdout,
  );
  const cells = await ndscatter(
    "explain ScatterND big.npy i1.npy row.npy --gradient --cell data[1,299] --cell data[2,7]",
  );
  assert.ok(
    cells.stdout.endsWith(`
element       gradient  factor * gradient of output
data[1, 299]  0         0 * 1 from output[1, 299] (updates[0, 299] replaces it)
data[2, 7]    1         1 * 1 from output[2, 7] (no update reaches it)
`),
    cells.stdout,
  );
});

/** The fields of --json that --gradient adds. */
interface Facts {
  readonly gradient?: {
    readonly ties: string;
    readonly outputGradient: object;
    readonly inputs: readonly { readonly name: string; readonly values: unknown }[];
  };
  readonly gradientCells?: readonly {
    readonly input: string;
    readonly coordinates: readonly number[];
    readonly terms: readonly { readonly factor: unknown; readonly reason: string }[];
  }[];
}

const factsOf = async (line: string): Promise<Facts> =>
  (await json(`explain ${line} --gradient`)) as Facts;

/** The gradients of inputs by name. */
const gradientsOf = async (line: string): Promise<object> => {
  const { gradient } = await factsOf(line);
  return Object.fromEntries(gradient?.inputs.map(({ name, values }) => [name, values]) ?? []);
};

test("--json has the gradients, and the terms of each element", async () => {
  const facts = await factsOf(
    "Gather three.npy taken.npy --output-gradient powers.npy --cell data[2]",
  );
  const type = { dtype: "float64", shape: [3] };
  assert.deepEqual(facts.gradient, {
    ties: "even",
    outputGradient: { ...type, values: [1, 10, 100] },
    inputs: [{ name: "data", ...type, values: [10, 0, 101] }],
  });
  const [reason, factor] = ["it is gathered", 1];
  assert.deepEqual(facts.gradientCells, [
    {
      input: "data",
      coordinates: [2],
      value: 101,
      terms: [
        { output: [0], outputGradient: 1, factor, reason },
        { output: [2], outputGradient: 100, factor, reason },
      ],
    },
  ]);
  const { gradientCells = [] } = await factsOf("ScatterND d.npy twice.npy u3.npy");
  const listed = gradientCells.map(({ input, coordinates }) => `${input}[${coordinates.join()}]`);
  assert.deepEqual(listed, [
    ...["data[1,0]", "data[1,1]", "data[3,0]", "data[3,1]"],
    ...["updates[0,0]", "updates[0,1]", "updates[1,0]", "updates[1,1]"],
    ...["updates[2,0]", "updates[2,1]"],
  ]);
});

test("--json without --gradient has no gradients, and a call that fails has none either", async () => {
  const plain = (await json("explain ScatterND d.npy i.npy u.npy")) as Facts;
  const failed = await factsOf("ScatterND d.npy far.npy u.npy");
  for (const facts of [plain, failed]) {
    assert.ok(!("gradient" in facts) && !("gradientCells" in facts));
  }
});

save("fives.npy", tensor("float32", [2], [5, 5]));
save("zeros2.npy", tensor("int64", [2], [0, 0]));
save("five3.npy", tensor("float32", [2], [5, 3]));
save("eight.npy", tensor("float32", [2], [8, 2]));

// The greatest value of cell 0, 5, is both that of data and that of update 0; nothing reaches cell 1.
for (const [ties, data, updates] of [
  ["even", [4, 2], [4, 0]],
  ["first", [8, 2], [0, 0]],
  ["last", [0, 2], [8, 0]],
  ["all", [8, 2], [8, 0]],
] as const) {
  test(`equal values of a maximum, --ties ${ties}`, async () => {
    const call = "ScatterElements --attr reduction=max fives.npy zeros2.npy five3.npy";
    const line = `${call} --output-gradient eight.npy --ties ${ties}`;
    assert.deepEqual(await gradientsOf(line), { data, updates });
    assert.equal((await factsOf(line)).gradient?.ties, ties);
    if (ties === "even") assert.deepEqual(await gradientsOf(line.slice(0, -12)), { data, updates });
  });
}

save("kv.npy", tensor("float32", [1, 3, 1], [1, 2, 3]));
save("kv-new.npy", tensor("float32", [1, 2, 1], [4, 5]));
save("kv-at.npy", tensor("int64", [1], [1]));

test("TensorScatter: an entry of the cache that is replaced has gradient 0", async () => {
  const line = "TensorScatter kv.npy kv-new.npy write_indices=kv-at.npy --output-gradient kv.npy";
  assert.deepEqual(await gradientsOf(line), {
    past_cache: [[[1], [0], [0]]],
    update: [[[2], [3]]],
  });
  const { gradientCells = [] } = await factsOf(`${line} --cell past_cache[0,2,0]`);
  assert.deepEqual(
    gradientCells.map(({ terms }) => terms[0].reason),
    ["update[0, 1, 0] replaces it"],
  );
});

/** Data 3 and update 0.5 of each type; with `mul`, each has the other as its gradient. */
for (const [dtype, ending] of [
  ["float16", "npy"],
  ["bfloat16", "pb"],
  ["float32", "npy"],
  ["float64", "npy"],
] as const satisfies readonly (readonly [DType, string])[]) {
  test(`gradients of ${dtype}, from ones by default`, async () => {
    save(`a-${dtype}.${ending}`, tensor(dtype, [1], [3]));
    save(`b-${dtype}.${ending}`, tensor(dtype, [1], [0.5]));
    const files = `a-${dtype}.${ending} one0.npy b-${dtype}.${ending}`;
    save("one0.npy", tensor("int64", [1], [0]));
    const line = `ScatterElements --attr reduction=mul ${files}`;
    assert.deepEqual(await gradientsOf(line), { data: [0.5], updates: [3] });
  });
}

test("gradients of complex numbers are conjugates", async () => {
  save("c1.npy", tensor("complex64", [1], [[1, 2]]));
  save("c2.npy", tensor("complex64", [1], [[3, 4]]));
  save("one0.npy", tensor("int64", [1], [0]));
  const line = "ScatterElements --attr reduction=mul c1.npy one0.npy c2.npy";
  assert.deepEqual(await gradientsOf(line), { data: [[3, -4]], updates: [[1, -2]] });
  const { stdout } = await ndscatter(`explain ${line} --gradient --cell updates[0]`);
  assert.ok(
    stdout.endsWith(
      "\nupdates[0]  [1, -2]   [1, -2] * [1, 0] from output[0] (the product of the other values)\n",
    ),
    stdout,
  );
});

testTranscript(folder, "gradient", "explain --gradient");
