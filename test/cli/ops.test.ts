/** `ndscatter ops` and `ndscatter infer`, which read no files. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { printChanges } from "../../src/cli/text/schema-text.ts";
import { operators } from "../../src/entries/index.ts";
import {
  fails,
  inOrder,
  makeFolder,
  prints,
  refuses,
  runCommand,
  testRows,
} from "../support/cli.ts";
import { newestTitle } from "../support/newest.ts";

const folder = makeFolder();
const { home, json, ndscatter } = folder;

const versionsOf = (op: string) =>
  operators().filter(({ domain, name }) => domain === "ai.onnx" && name === op);

testRows(folder, [
  prints(
    "ops",
    /^domain +operator +version .*\nai\.onnx +ScatterND +11 [\s\S]*\nopenvino +ScatterNDUpdate +15 .*\n/,
  ),
  prints(
    "ops ScatterND --opset 17",
    inOrder(
      /^ScatterND-16\n\nname +ScatterND\n/,
      /reduction: one of none, add, mul \(default none\)/,
      /indices: tensor\(int64\)/,
      /tensor\(float\)/,
    ),
  ),
  prints(
    "ops ScatterNDUpdate --opset 4",
    /^ScatterNDUpdate-3\n[\s\S]*opset4\n[\s\S]* T: boolean, f16, [\s\S]*Tind: i32, i64\n/,
  ),
  prints(
    "ops ScatterND --diff 13 18",
    inOrder(
      /^ScatterND-13 -> ScatterND-18\n/,
      /\+ attributes\.reduction: one of none, add, mul, max, min \(default none\)\n$/,
    ),
  ),
  refuses("ops ScatterND --diff 13", "--diff takes two opsets, such as --diff 13 18, got 1"),
  prints("ops GatherND", /\n\nopenvino has one too: --domain openvino\n$/),
  prints("ops GatherND --domain openvino", /\n\nai\.onnx has one too: --domain ai\.onnx\n$/),
  // No other domain has it.
  prints("ops TensorScatter", /^ai\.onnx {2}TensorScatter {2}24 .*types\n$/m),
  refuses("ops --opset 13", "--opset needs the name of an operator"),
  refuses("ops --diff 13 18", "--diff needs the name of an operator"),
  refuses("ops --domain tf", '--domain must be ai.onnx or openvino, got "tf"'),
  refuses(
    "ops ScatterND --opset 13 --diff 13 18",
    "--opset cannot be used with --diff; leave one of them out",
  ),
  refuses("ops ScatterND --opset 0", '--opset takes a positive integer, got "0"'),
  refuses("ops ScatterND --diff 13 1.5", '--diff takes a positive integer, got "1.5"'),
  refuses("ops ScatterND --opset 10", /^ScatterND.* 11/),
  // GatherND's version 12 reaches up to opset 12, and its version 13 is the next.
  prints(
    "ops GatherND --diff 11 12",
    /\n\+ attributes\.batch_dims: int of at least 0 \(default 0\)\n/,
  ),
  prints("ops GatherND --diff 13 15", "opsets 13 and 15 both have GatherND-13\n"),
  prints(
    "ops ScatterND --diff 16 18",
    /^ScatterND-16 -> ScatterND-18\n\+ attributes\.reduction\.values: max, min\n~ /,
  ),
]);

test("ops lists one domain, or both", async () => {
  const domainsOf = async (line: string): Promise<string[]> => {
    const { stdout } = await ndscatter(line);
    return [
      ...new Set(
        stdout
          .split("\n")
          .slice(1, -1)
          .map((row) => row.split(" ")[0]),
      ),
    ];
  };
  assert.deepEqual(await domainsOf("ops"), ["ai.onnx", "openvino"]);
  assert.deepEqual(await domainsOf("ops --domain openvino"), ["openvino"]);
  assert.deepEqual(await domainsOf("ops --domain ai.onnx"), ["ai.onnx"]);
  // The other name of ai.onnx.
  const empty = await runCommand(home, ["ops", "--domain", ""]);
  assert.equal(empty.stdout, (await ndscatter("ops --domain ai.onnx")).stdout);
});

test("a table of versions, and the facts of one", async () => {
  const history = await ndscatter("ops ScatterND");
  const table = `
domain   operator   version  attributes  index types  data types
ai.onnx  ScatterND  11       -           int64        15 types
ai.onnx  ScatterND  13       -           int64        16 types
ai.onnx  ScatterND  16       reduction   int64        16 types
ai.onnx  ScatterND  18       reduction   int64        16 types
`;
  assert.ok(history.stdout.includes(table), history.stdout);
  const rows = history.stdout.split("\n").filter((line) => line.startsWith("ai.onnx  ScatterND  "));
  assert.equal(rows.length, versionsOf("ScatterND").length);
  assert.ok(history.stdout.includes(`\n${rows.at(-1)}\n\nversion 13\n`), history.stdout);
  const integers = await ndscatter("ops Gather --domain openvino");
  assert.match(
    integers.stdout,
    /^openvino {2}Gather {4}8 {8}batch_dims {2}8 integers {3}20 types$/m,
  );
  const { stdout } = await ndscatter("ops ScatterND --opset 16");
  const facts = `\
ScatterND-16

name              ScatterND
domain            ai.onnx
since_version     16
function          false
support_level     COMMON
shape inference   true
negative indices  count from the back

Summary
`;
  assert.ok(stdout.startsWith(facts), stdout);
});

test("a constraint that a version adds is a list of types", () => {
  const [from] = operators();
  const added = { name: "Tind", types: ["int32", "int64"], description: "Indices." } as const;
  const to = { ...from, typeConstraints: [...from.typeConstraints, added] };
  assert.equal(printChanges(from, to), "+ typeConstraints.Tind: int32, int64");
  assert.equal(printChanges(to, from), "- typeConstraints.Tind: int32, int64");
});

/** Lines that the text of a version has, in this order. */
const SCHEMAS: readonly (readonly [line: string, lines: readonly string[]])[] = [
  [
    "ops Gather --domain openvino --opset 8",
    [
      "Gather-8",
      "name                  Gather",
      "domain                openvino",
      "since_version         8",
      "negative indices      count from the back",
      "indices out of range  give 0",
      "Attributes",
      "  batch_dims: int (default 0)",
      "Inputs",
      "  indices: Tind",
      "  axis: Taxis",
      "Outputs",
      "Type constraints",
      "  Tind: i8, i16, i32, i64, u8, u16, u32, u64",
    ],
  ],
  ["ops Gather --opset 1", ["negative indices  are out of range"]],
  ["ops Scatter --opset 11", ["deprecated        use ScatterElements"]],
  ["ops GatherND --opset 11", ["Attributes", "  none", "Inputs"]],
  [
    "ops TensorScatter --opset 24",
    [
      "  mode: one of linear, circular (default linear)",
      "  write_indices (optional): tensor(int64)",
    ],
  ],
  ["ops ScatterUpdate --opset 3", ["  axis: Taxis"]],
  ["ops GatherElements --domain openvino --opset 6", ["  axis: int (must be given)"]],
];

for (const [line, lines] of SCHEMAS) {
  test(`${line} has ${lines.length} lines that count`, async () => {
    const { stdout } = await ndscatter(line);
    const all = stdout.split("\n");
    let from = 0;
    for (const wanted of lines) {
      const at = all.indexOf(wanted, from);
      assert.notEqual(at, -1, `${wanted} in ${stdout}`);
      from = at + 1;
    }
    // Text is wrapped; a table of facts and a list of types may be wider in their first column only.
    assert.ok(all.every((one) => one.length <= 80));
  });
}

test("a history has a section for each version after the first, where something changed", async () => {
  const { stdout } = await ndscatter("ops ScatterND");
  const heads = stdout.split("\n").filter((line) => line.startsWith("version "));
  const [, ...later] = versionsOf("ScatterND").map(({ sinceVersion }) => `version ${sinceVersion}`);
  assert.deepEqual(later.slice(0, 3), ["version 13", "version 16", "version 18"]);
  assert.deepEqual(heads, later);
  assert.match(stdout, /^ScatterND \(ai\.onnx\)\n {2}\S/);
  assert.match(stdout, /\nversion 13\n\+ typeConstraints\.T\.types: bfloat16\n/);
  assert.match(stdout, /\nversion 18\n(.*\n)*\+ attributes\.reduction\.values: max, min\n/);
  const openvino = await ndscatter("ops ScatterNDUpdate");
  assert.match(openvino.stdout, /\nversion 15\n/);
  assert.match(openvino.stdout, /^openvino {2}ScatterNDUpdate {2}3 \(opset4\) /m);
});

testRows(folder, [
  prints("infer ScatterND --opset 18 float32[N,4,5] int64[M,2] float32[M,5]", "float32[N, 4, 5]\n"),
  prints("infer GatherND float32[?,4] int64[...]", "float32[...]\n"),
  prints("infer GatherND float32 int64[2,1]", "float32[...]\n"),
  prints("infer GatherND float32[...] int64[2,1]", "float32[...]\n"),
  prints("infer GatherND float32[5] int64[1]", "float32[]\n"),
  prints("infer ScatterND float32[N_1,é] int64[?,1] float32[?,é]", "float32[N_1, é]\n"),
  prints("infer TensorScatter float32[2,8,4] float32[2,1,4] int64[2]", "float32[2, 8, 4]\n"),
  prints("infer TensorScatter float32[2,8,4] float32[2,1,4]", "float32[2, 8, 4]\n"),
  refuses(
    "infer TensorScatter float32[2,8,4]",
    `${newestTitle("TensorScatter")} needs 2 to 3 types (past_cache, update, write_indices), got 1`,
  ),
  refuses(
    "infer TensorScatter float32 float32 int64 int64",
    `${newestTitle("TensorScatter")} needs 2 to 3 types (past_cache, update, write_indices), got 4`,
  ),
  refuses(
    "infer GatherND float32[5 int64[1]",
    /^a type must look like 'float32\[N,4\]', got "float32\[5"$/,
  ),
  refuses("infer GatherND [5] int64[1]", /^a type must look like .*, got "\[5\]"/),
  refuses(
    "infer GatherND float[5] int64[1]",
    /^the data type "float" is unknown; the data types are .*float32, float64.*$/,
  ),
  refuses(
    "infer GatherND float32[1.5] int64[1]",
    /^a dimension must be a size, a name, or \?.*, got "1\.5" in "float32\[1\.5\]"$/,
  ),
  refuses(
    "infer GatherND float32[2,] int64[1]",
    /^a dimension must be .*, got "" in "float32\[2,\]"$/,
  ),
  refuses(
    "infer GatherND float32[9007199254740993] int64[1]",
    /^a dimension must be .*, got "9007199254740993" in /,
  ),
  fails("infer GatherND float32[5] int64[1,2]", new RegExp(`^${newestTitle("GatherND")}: `)),
  refuses(
    "infer GatherND --attr batch_dims=1 --attr batch_dims=1",
    "--attr gives batch_dims twice; leave one of them out",
  ),
  refuses("infer GatherND --attr =1", /^--attr takes NAME=VALUE, such as reduction=add, got "=1"$/),
  refuses("infer GatherND --attr batch_dims=", '--attr batch_dims must be an integer, got ""'),
  prints("infer GatherND --attr batch_dims=+1 float32[2,3] int64[2,1]", "float32[2]\n"),
  prints("infer GatherElements --attr axis=-1 float32[2,3] int64[2,7]", "float32[2, 7]\n"),
  refuses(
    "infer ScatterElementsUpdate --opset 12 --attr use_init_val=1",
    '--attr use_init_val must be true or false, got "1"',
  ),
  prints(
    "infer ScatterElementsUpdate --attr use_init_val=false float16[2] int32[2] float16[2] int32[1]",
    "float16[2]\n",
  ),
  prints(
    "infer ScatterElementsUpdate --attr use_init_val=true float16[2] int32[2] float16[2] int32[1]",
    "float16[2]\n",
  ),
  refuses(
    "infer ScatterND float32[4] int64[1] float32[-1]",
    /^a dimension must be .*, got "-1" in "float32\[-1\]"$/,
  ),
]);

const GATHER = "infer Gather --domain openvino";

// The axis where it is an input: a value, or a type.
testRows(folder, [
  prints(`${GATHER} --attr axis=1 float32[2,N,3] int32[4]`, "float32[2, 4, 3]\n"),
  prints(`${GATHER} float32[2,N,3] int32[4] int64[]`, "float32[?, ?, ?]\n"),
  fails(
    `${GATHER} --attr axis=3 float32[2,N,3] int32[4]`,
    new RegExp(`^${newestTitle("Gather", "openvino")}: axis is 3, but data of rank 3`),
  ),
  refuses(`${GATHER} --attr axis=x`, '--attr axis must be an integer, got "x"'),
  refuses(
    `${GATHER} --attr axis=1 float32[2] int32[4] int64[]`,
    `${newestTitle("Gather", "openvino")} needs 2 types (data, indices), got 3`,
  ),
]);

const JSON_ROWS: readonly (readonly [line: string, expected: unknown])[] = [
  ["ops", JSON.parse(JSON.stringify(operators()))],
  [
    "ops ScatterND --diff 11 13",
    {
      from: "ScatterND-11",
      to: "ScatterND-13",
      changes: [
        { kind: "changed", path: "sinceVersion", from: 11, to: 13 },
        { kind: "added", path: "typeConstraints.T.types.bfloat16", value: "bfloat16" },
      ],
    },
  ],
  [
    "infer GatherND float32[N,?] int64[1]",
    { outputs: [{ name: "output", dtype: "float32", shape: [null] }] },
  ],
];

test("JSON is indented, but a list of scalars takes one line", async () => {
  const { stdout } = await ndscatter("infer GatherND --json float32[N,?,2] int64[3,1]");
  assert.equal(
    stdout,
    `{
  "outputs": [
    {
      "name": "output",
      "dtype": "float32",
      "shape": [3, null, 2]
    }
  ]
}
`,
  );
});

for (const [line, expected] of JSON_ROWS) {
  test(`ndscatter ${line} --json`, async () => assert.deepEqual(await json(line), expected));
}
