/** `ndscatter inspect` at real size: many nodes, several files and folders, and lines that fit a terminal. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { test } from "node:test";
import { tensor } from "../../src/entries/index.ts";
import { buildModel, writeModel, type Model } from "../../src/entries/onnx.ts";
import { makeCliFolder } from "../support/cli-files.ts";
import { F32, FAULTY, LARGE, RISKY } from "../support/cli-models.ts";
import { TERMINAL, words } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";
import { main } from "../../src/cli/program.ts";

const folder = makeCliFolder();
const { at, json, ndscatter } = folder;

/** Gathers of which each third repeats a target, and one has an index that is too large. */
function manyScatters(count: number, bad: number): Model {
  const index = (number: number): number[] =>
    number === bad ? [1, 4] : number % 3 === 0 ? [1, 1] : [0, 1];
  const numbers = Array.from({ length: count }, (_, number) => number);
  return buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data: F32(4, 2), updates: F32(2, 2) },
    constants: Object.fromEntries(
      numbers.map((number) => [`i${number}`, tensor("int64", [2, 1], index(number))]),
    ),
    nodes: numbers.map((number) => ({
      op: "ScatterND",
      name: `s${number}`,
      inputs: ["data", `i${number}`, "updates"],
      outputs: [`y${number}`],
    })),
    outputs: { y0: null },
  });
}

const save = (name: string, model: Model): void => fs.writeFileSync(at(name), writeModel(model));

save("sixty.onnx", manyScatters(60, 58));
save("seventy.onnx", manyScatters(70, 58));

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^ScatterND-18 {2}(s\d+)$/gm)].map(([, name]) => name);

test("twenty nodes with findings are shown, the wrong one first", async () => {
  // 0, 3, ... 57 are 20 nodes; with the wrong one there are 21, of two kinds.
  const { stdout } = await ndscatter("inspect sixty.onnx");
  assert.deepEqual(namesIn(stdout), ["s58", "s0", "s3", "s6", "s9", "s12"]);
  const end =
    "\n\nand 15 more nodes with risky: repeated-target; --all shows every node\n\n" +
    "ScatterND-18  60 nodes  float32  1 wrong, 20 risky\n" +
    "39 nodes have no finding; --all shows every node\n\n1 wrong, 20 risky\n";
  assert.ok(stdout.endsWith(end), stdout);
  // Up to 20 are all shown.
  save("fewer.onnx", manyScatters(57, 55));
  const fewer = await ndscatter("inspect fewer.onnx");
  assert.deepEqual(namesIn(fewer.stdout).slice(0, 2), ["s55", "s0"]);
  assert.equal(namesIn(fewer.stdout).length, 20);
  assert.ok(!fewer.stdout.includes("more node"));
});

test("--all shows every node in the order of the model", async () => {
  const { stdout, status } = await ndscatter("inspect --all seventy.onnx");
  assert.deepEqual(
    namesIn(stdout),
    Array.from({ length: 70 }, (_, number) => `s${number}`),
  );
  assert.ok(
    stdout.endsWith(
      "\n\nScatterND-18  70 nodes  float32  1 wrong, 24 risky\n\n1 wrong, 24 risky\n",
    ),
  );
  assert.equal(status, 1);
});

// A folder with models in folders, and much that is no model of the user's.
fs.mkdirSync(at("models/b10"), { recursive: true });
for (const name of ["b9", ".hidden", "node_modules/m"]) {
  fs.mkdirSync(at(`models/${name}`), { recursive: true });
}
for (const name of ["b10/a", "b9/a", ".hidden/a", "node_modules/m/a"]) {
  save(`models/${name}.onnx`, LARGE);
}
save("models/b9/UPPER.ONNX", RISKY);
fs.writeFileSync(at("models/other.xml"), "<project></project>");
fs.writeFileSync(at("models/notes.txt"), "text");
fs.copyFileSync(at("ir.xml"), at("models/ir.xml"));
fs.copyFileSync(at("ir.bin"), at("models/ir.bin"));
fs.symlinkSync("..", at("models/b9/up"));
fs.symlinkSync("..", at("models/b9/up.onnx"));
fs.symlinkSync("../../large.onnx", at("models/b9/link.onnx"));
fs.mkdirSync(at("none"));

const LINE = "3 nodes, 1 scatter/gather, nothing found";

testTranscript(folder, "inspect-many", "Several models");

test("a file and standard input go together", async () => {
  const { stdout, status } = await ndscatter("inspect - large.onnx", {
    stdin: writeModel(FAULTY),
  });
  assert.match(stdout, /^standard input: ai\.onnx 16, /);
  assert.match(stdout, /\n2 models, 1 with findings, 3 scatter\/gather nodes: 2 wrong, 1 risky\n$/);
  assert.equal(status, 1);
});

test("names of files in a folder reach the terminal escaped", async () => {
  save("none/\u001b[31m.onnx", LARGE);
  fs.writeFileSync(at("none/\u001b[32m.onnx"), "text");
  const { stdout, stderr } = await ndscatter("inspect none");
  assert.ok(stdout.startsWith("none/\\u001b[31m.onnx: 3 nodes"));
  assert.equal(
    stderr,
    "ndscatter: none/\\u001b[32m.onnx: the file must be an ONNX model, got text; give a model, or download the file again\n",
  );
  fs.rmSync(at("none"), { recursive: true });
});

test("a link in a folder that leads nowhere has a sentence, and the rest is read", async () => {
  fs.mkdirSync(at("links"));
  fs.symlinkSync("nowhere", at("links/a.onnx"));
  save("links/b.onnx", LARGE);
  const { stdout, stderr, status } = await ndscatter("inspect links");
  assert.equal(
    stderr,
    "ndscatter: links/a.onnx: no such file or directory; the file is a link whose target is missing; repair the link\n",
  );
  assert.ok(stdout.startsWith(`links/b.onnx: ${LINE}\n`));
  assert.equal(status, 1);
});

test("--json of one file is an object, of several files and of a folder a list", async () => {
  const files = async (line: string): Promise<unknown> => {
    const report = (await json(`inspect ${line}`)) as { file: string }[];
    return Array.isArray(report) ? report.map(({ file }) => file) : report;
  };
  assert.equal(((await json("inspect large.onnx")) as { file: string }).file, "large.onnx");
  assert.deepEqual(await files("large.onnx risky.onnx"), ["large.onnx", "risky.onnx"]);
  assert.deepEqual(await files("models/b10"), ["models/b10/a.onnx"]);
  const [good, bad] = (await json("inspect large.onnx cut.onnx")) as Record<string, unknown>[];
  assert.deepEqual(Object.keys(good), [
    "file",
    "opsets",
    "nodeCount",
    "findings",
    "counts",
    "nodes",
  ]);
  assert.deepEqual(Object.keys(bad), ["file", "error"]);
  const { code, message } = bad["error"] as Record<string, string>;
  assert.equal(code, "malformed-file");
  assert.match(message, /^cut\.onnx: the file is truncated/);
});

test("--json has the values of small constants, and no field where there is none", async () => {
  const { nodes } = (await json("inspect large.onnx")) as {
    nodes: { inputs: Record<string, unknown>[] }[];
  };
  const [data, indices] = nodes[0].inputs;
  assert.ok(!("value" in data));
  assert.deepEqual(indices["value"], [["1"], ["3"]]);
});

const VALUES = {
  scalar: tensor("int64", [], [-1n]),
  half: tensor("float16", [2], [0.1, NaN]),
  long: tensor("int64", [4], Array<bigint>(4).fill(-(2n ** 63n))),
  pairs: tensor("complex64", [1], [[1, 2]]),
};

test("values are printed as numbers of their data type, long ones with dots", async () => {
  save(
    "values.onnx",
    buildModel({
      opsets: { "ai.onnx": 13 },
      inputs: { i: { dtype: "int64", shape: [1] } },
      constants: VALUES,
      nodes: Object.keys(VALUES).map((name) => ({
        op: "Gather",
        inputs: [name, "i"],
        outputs: [`of ${name}`],
      })),
      outputs: {},
    }),
  );
  const { stdout } = await ndscatter("inspect --all values.onnx");
  const shown = [...stdout.matchAll(/^ {2}data .* {2}constant (.*)$/gm)].map(([, value]) => value);
  assert.deepEqual(shown, [
    "-1",
    "[0.1, NaN]",
    // 48 characters: 23, dots, 22.
    "[-9223372036854775808, ... -9223372036854775808]",
    "[[1, 2]]",
  ]);
});

const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

test("on a terminal every line fits, and nothing is lost but what dots stand for", async () => {
  const whole = await ndscatter("inspect faulty.onnx risky.onnx");
  const flat = (text: string): string => text.replaceAll(/\s+/g, " ");
  for (const columns of [40, 60, 80, 120]) {
    // oxlint-disable-next-line no-await-in-loop
    const { stdout } = await ndscatter("inspect faulty.onnx risky.onnx", { isTTY: true, columns });
    assert.ok(longest(stdout) <= columns, stdout);
    if (columns >= 80) assert.equal(flat(stdout), flat(whole.stdout));
    assert.equal(stdout.includes("..."), columns < 80);
  }
  // A line of a file or a pipe is whole, so that it can be searched.
  assert.ok(longest(whole.stdout) > 120);
});

test("the place of a long folder is shown on a terminal of stderr, and cleared", async () => {
  let now = 0;
  const clock = performance.now.bind(performance);
  performance.now = () => (now += 1100);
  const written: string[] = [];
  const output = { isTTY: true, columns: 40, write: (text: string) => void written.push(text) };
  try {
    const args = words("inspect large.onnx large.onnx large.onnx");
    const out = { ...output, isTTY: false, write: () => {} };
    const onSignal = (): (() => void) => () => {};
    await main(args, {
      cwd: folder.home,
      env: {},
      stdin: TERMINAL,
      stdout: out,
      stderr: output,
      onSignal,
      onInterrupt: onSignal,
    });
  } finally {
    performance.now = clock;
  }
  const places = written.flatMap(
    (text) => /^\r(\d models? inspected); large\.onnx *$/.exec(text)?.[1] ?? [],
  );
  assert.deepEqual(places, ["0 models inspected", "1 model inspected", "2 models inspected"]);
  assert.equal(written.at(-1), "\r\u001b[K");
});
