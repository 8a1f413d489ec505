/** `ndscatter ops` and `ndscatter infer`, which read no files. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { printChanges } from "../../src/cli/commands/ops.ts";
import { operators } from "../../src/entries/index.ts";
import { makeFolder, runCommand } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeFolder();
const { home, json, ndscatter } = folder;

const versionsOf = (op: string) =>
  operators().filter(({ domain, name }) => domain === "ai.onnx" && name === op);

testTranscript(folder, "ops", "Lists and versions");

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
    /^openvino {2}Gather {4}8 {8}batch_dims {2}8 integers {3}21 types$/m,
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
      "name              Gather",
      "domain            openvino",
      "since_version     8",
      "negative indices  count from the back",
      "out of range      indices give 0",
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

testTranscript(folder, "ops", "The shape of a call");

testTranscript(folder, "ops", "The axis where it is an input: a value, or a type");

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
