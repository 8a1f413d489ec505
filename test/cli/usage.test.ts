/** The command `ndscatter` before any of its commands runs: help, version, and what is typed wrong. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as fs from "node:fs";
import * as path from "node:path";
import { makeCliFolder } from "../support/cli-files.ts";
import { main } from "../../src/cli/program.ts";
import { inFolder, ndscatter as inRoot, ROOT } from "../support/documents.ts";
import { commandsIn, examplesIn, TERMINAL, type Result } from "../support/cli.ts";
import { testTranscript } from "../support/transcripts.ts";

const folder = makeCliFolder();
const { ndscatter } = folder;

/** What each command takes behind its options; a test asks for every command but `version`. */
const USAGES = [
  ["run", "<target> [inputs...]"],
  ["explain", "<target> [inputs...]"],
  ["compare", "<target> [inputs...]"],
  ["ops", "[operator]"],
  ["infer", "<operator> [types...]"],
  ["inspect", "<file...>"],
  ["convert", "<model>"],
  ["capture", "<model>"],
  ["verify", "<model>"],
  ["fix", "<model>"],
  ["array", "<array>"],
  ["conformance", "<dir>"],
  ["job", "[command]"],
  ["job status", "<folder>"],
  ["job list", "[folder]"],
  ["job resume", "<folder>"],
  ["job remove", "<folder>"],
  ["job task", "<folder> <stage> <tasks>"],
  ["job worker", ""],
] as const;

testTranscript(folder, "usage", "Help and wrong usage");

/** A command whose help has no examples: `job` leaves them to its own commands. */
const WITHOUT_EXAMPLES = new Set<string>(["job"]);

test("every command is listed, and its help has examples", async () => {
  const commands = commandsIn((await ndscatter("--help")).stdout);
  const ofJob = commandsIn((await ndscatter("job --help")).stdout);
  assert.deepEqual(
    [...commands, ...ofJob.map((name) => `job ${name}`)].toSorted(),
    [...USAGES.map(([command]) => command), "version"].toSorted(),
  );
  for (const [command] of USAGES) {
    // oxlint-disable-next-line no-await-in-loop
    const help = await ndscatter(`${command} --help`);
    assert.equal(help.status, 0);
    if (WITHOUT_EXAMPLES.has(command)) continue;
    assert.match(help.stdout, new RegExp(`\\nExamples:\\n {2}ndscatter ${command} ?`));
  }
});

// `test/nightly/cli-feeds.test.ts` runs those of capture, verify and fix, which need ONNX Runtime.
for (const command of [
  "run",
  "explain",
  "compare",
  "inspect",
  "convert",
  "array",
  "infer",
  "ops",
]) {
  test(`the examples of ${command} --help with files of a clone, at least two, work`, () =>
    inFolder(async (clone) => {
      fs.symlinkSync(path.join(ROOT, "examples"), path.join(clone, "examples"));
      const { stdout } = await ndscatter(`${command} --help`, { isTTY: true, columns: 300 });
      const lines = examplesIn(stdout);
      const inClone = lines.filter((line, nth) => nth < 2 || line.includes(" examples/"));
      for (const line of inClone) {
        // oxlint-disable-next-line no-await-in-loop
        const { status, stderr } = await inRoot(line, clone);
        assert.deepEqual([status, stderr], [0, ""], line);
      }
    }));
}

test("help begins with what a command takes", async () => {
  for (const [command, takes] of USAGES) {
    const { stdout } = await ndscatter(`${command} --help`);
    const [first] = stdout.split("\n");
    assert.equal(first, `Usage: ndscatter ${command} [options] ${takes}`.trimEnd());
  }
});

test("help says what each argument and each option is", async () => {
  for (const [command, takes] of USAGES) {
    const { stdout } = await ndscatter(`${command} --help`, { isTTY: true, columns: 200 });
    for (const [, name] of takes.matchAll(/[<[](\w+)/g)) {
      if (command === "job") continue;
      assert.match(stdout, new RegExp(`\\n {2}${name} {2,}\\S`), `${command}: ${name}`);
    }
    const options = stdout.split("\n").filter((line) => /^ {2}-/.test(line));
    assert.ok(options.length > 2);
    for (const option of options) assert.match(option, /^ {2}-\S.*\S {2,}\S/, command);
  }
});

test("help is as wide as the terminal", async () => {
  const widest = async (columns: number): Promise<number> => {
    const { stdout } = await ndscatter("run --help", { isTTY: true, columns });
    const options = stdout.slice(stdout.indexOf("Options:"), stdout.indexOf("Files end in"));
    return Math.max(...options.split("\n").map((line) => line.length));
  };
  assert.ok((await widest(75)) <= 75);
  assert.ok((await widest(120)) > 80);
});

/** Runs `ndscatter ops` with a standard output that throws. */
async function withBroken(thrown: unknown, ...args: readonly string[]): Promise<Result> {
  let stderr = "";
  const output = { isTTY: false, columns: 80 };
  const status = await main([...args, "ops"], {
    cwd: folder.home,
    env: {},
    stdin: TERMINAL,
    stdout: { ...output, write: () => Promise.reject(thrown as Error) },
    stderr: {
      ...output,
      write(text) {
        stderr += text;
      },
    },
    onSignal: () => () => {},
    onInterrupt: () => () => {},
  });
  return { status, stdout: "", stderr };
}

const systemError = Object.assign(new Error("EIO: i/o error, write"), {
  errno: -5,
  path: "/somewhere",
});

const BROKEN: readonly (readonly [thrown: unknown, sentence: string])[] = [
  [new TypeError("boom"), "internal error: boom; --debug prints the stack trace"],
  ["text", "internal error: text; --debug prints the stack trace"],
  [
    new RangeError("Array buffer allocation failed"),
    "it does not fit in memory (Array buffer allocation failed); use a smaller array, or run the command with --memory 1G",
  ],
  [systemError, "/somewhere: i/o error"],
  [Object.assign(new Error("odd"), { errno: 12_345 }), "odd"],
];

for (const [thrown, sentence] of BROKEN) {
  test(`an error that no command expects: ${sentence}`, async () => {
    const result = await withBroken(thrown);
    assert.deepEqual(result, { status: 1, stdout: "", stderr: `ndscatter: ${sentence}\n` });
  });
}

for (const option of [
  "--memory 1G",
  "--job job",
  "--in-place",
  "--codec zstd",
  "--chunks 2",
  "--shards 2",
  "--threads 2",
  "--redis",
  "--queue q",
  "--plan",
  "--slurm",
  "--tasks-per-element 2",
]) {
  test(`run --with refuses ${option}, which only runs chunk by chunk have`, async () => {
    const { status, stderr } = await ndscatter(
      `run m.onnx --with onnxruntime-node x=x.npy ${option}`,
    );
    const [name] = option.split(" ");
    assert.equal(status, 2);
    assert.ok(
      stderr.includes(` ${name}, which runs an operator chunk by chunk; leave ${name} out`),
    );
  });
}

test("help prints the help of a command of job, like --help behind the command", async () => {
  assert.deepEqual(await ndscatter("help job worker"), await ndscatter("job worker --help"));
  const { status, stderr } = await ndscatter("help job bogus");
  assert.deepEqual(
    [status, stderr],
    [2, "ndscatter: unknown command 'bogus'; --help lists the commands\n"],
  );
});

/** Helpers of the package that are not public; the command uses them too. */
const SHARED =
  /core\/(?:foreign|limits|resources)|boxes\/urls|onnx\/light-model|model\/uses|tensor\/(?:dtype|shape)/;

test("the command uses only what users have, whichever file it imports", async () => {
  const names = ["index", "npy", "onnx", "openvino", "operators"];
  const entries = await Promise.all(
    names.map((name): Promise<object> => import(`../../src/entries/${name}.js`)),
  );
  const folder = path.join(ROOT, "src/cli");
  const files = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".ts"))) {
    const text = fs.readFileSync(path.join(folder, file), "utf8");
    for (const [, list, from] of text.matchAll(/^import \{([^}]+)\} from "([^"]+)";$/gm)) {
      if (!/\.\.\/(?:core|models|arrays|insight|gpu)\//.test(from) || SHARED.test(from)) continue;
      for (const name of list.split(",").map((one) => one.trim())) {
        const isPublic =
          name === "" || name.startsWith("type ") || entries.some((one) => name in one);
        assert.ok(isPublic, `${file} imports ${name} of ${from}`);
      }
    }
  }
});

/** Failures of every command, with the code of the error that `--json` prints. */
for (const [line, status, code] of [
  ["run none.onnx", 1, "ENOENT"],
  ["run ScatterND d.npy far.npy u.npy", 1, "index-out-of-range"],
  ["explain none.onnx", 1, "ENOENT"],
  ["compare ScatterND d.npy absent.npy u.npy", 1, "ENOENT"],
  ["ops Scater", 2, "unknown-operator"],
  ["infer ScatterND float32[2]", 2, undefined],
  ["inspect d.npy", 1, "unsupported-file"],
  ["convert none.onnx -o m.onnx", 2, undefined],
  ["convert d.npy --opset 18 -o m.onnx", 1, "unsupported-file"],
  ["verify d.npy", 1, "unsupported-file"],
  ["fix d.npy", 1, "unsupported-file"],
  ["array none.zarr", 1, "malformed-file"],
  ["conformance none", 1, "ENOENT"],
  ["job status none", 1, "malformed-file"],
  ["job list none", 1, "ENOENT"],
  ["none", 2, undefined],
] as const) {
  test(`--json prints the error of ${line}`, async () => {
    const [plain, data] = [await ndscatter(line), await ndscatter(`${line} --json`)];
    assert.deepEqual([plain.status, plain.stdout], [status, ""]);
    assert.equal(data.status, status);
    const { error } = JSON.parse(data.stdout) as { error: Record<string, unknown> };
    assert.equal(error["code"], code);
    assert.ok(data.stderr.startsWith(`ndscatter: ${String(error["message"])}`));
  });
}

/** Lines with a text of 100 kB; each error says what it is, and quotes the beginning. */
for (const [line, sentence] of [
  ["run ScatterND --attr reduction=%", /reduction must be one of none, add.*, got "a{200}"\.\.\./],
  ["run ScatterND --attr %=1", /unknown attribute "a{200}"\.\.\.; its attributes are reduction$/],
  ["run ScatterND --attr %", /--attr takes NAME=VALUE, .* got "a{200}"\.\.\.$/],
  ["run GatherND --attr batch_dims=%", /batch_dims must be an integer, got "a{200}"\.\.\.$/],
  ["run ScatterND --opset %", /--opset must be a positive integer, got "a{200}"\.\.\.$/],
  ["run ScatterND --domain %", /the domain must be ai.onnx or openvino, got "a{200}"\.\.\./],
  ["run ScatterND --memory %", /--memory must be an amount .* got "a{200}"\.\.\.$/],
  ["run ScatterND % % %", /^a{200}\.\.\. must end in \.npy or \.pb/],
  ["run ScatterND % % % %", /a{200}\.\.\. is one file too many/],
  ["run ScatterND --%", /^unknown option '--a{197}\.\.\.'; --help lists the options$/],
  ["%", /^unknown command 'a{199}\.\.\.'; --help lists the commands$/],
  ["ops --domain %", /--domain must be ai.onnx or openvino, got "a{200}"\.\.\./],
  ["infer ScatterND % % %", /^the data type "a{200}"\.\.\. is unknown; the data types are .*$/],
  ["compare ScatterND --dialect %", /^--dialect "a{200}"\.\.\. is unknown; the dialects are .*$/],
  ["array d.npy -o e.zarr --chunks %", /positive integers, .* got "a{200}"\.\.\.$/],
  ["array d.npy -o e.zarr --codec %!", /got "a{200}"\.\.\.$/],
  ["array d.npy -o e.zarr --codec %", /the codec "a{200}"\.\.\. of e\.zarr/],
] as const) {
  test(`a text of 100 kB is cut: ${line}`, async () => {
    const { status, stderr } = await ndscatter(line.replaceAll("%", "a".repeat(100_000)));
    assert.match(stderr.replace(/^ndscatter: /, "").trimEnd(), sentence);
    assert.ok(stderr.length < 1500, `${stderr.length} characters`);
    assert.ok(status === 1 || status === 2);
  });
}

test("--debug shows where an error comes from, before the command too", async () => {
  const { stderr } = await withBroken(new TypeError("boom"), "--debug");
  assert.match(stderr, /^ndscatter: internal error: boom; .*\nTypeError: boom\n {4}at /);
});
