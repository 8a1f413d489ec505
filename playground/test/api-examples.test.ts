/**
 * The examples of the API reference: each value that the package exports has one, and each is run as the page shows it,
 * with its imports. A line `expression; // value` and a line `console.log(…); // text` promise what they say.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { buildModel, convertModel, writeModel } from "ndscatter/onnx";
import { writeIR } from "ndscatter/openvino";
import { createArray } from "ndscatter/zarr";
import { parseSync } from "oxc-parser";
import { docstringOf } from "../src/site/api/docstring.ts";
import { apiOf } from "../src/site/api/exports.ts";
import { codeOf, namesFor, programOf } from "../src/site/api/program.ts";
import { REPOSITORY } from "./support/built.ts";

const read = (file: string): string => fs.readFileSync(path.join(REPOSITORY, file), "utf8");

interface Manifest {
  readonly exports: Readonly<
    Record<string, { readonly types: string; readonly default: string } | string>
  >;
}

const MANIFEST: Manifest = JSON.parse(read("package.json"));

const ENTRIES = apiOf(
  Object.fromEntries(
    Object.entries(MANIFEST.exports).flatMap(([name, target]) =>
      typeof target === "string"
        ? []
        : [[`ndscatter${name.slice(1)}`, target.types.replace("./dist/", "")]],
    ),
  ),
  (file) => read(`dist/${file}`),
  (file, source) => parseSync(file, source),
);

/** Exports whose examples need what is not installed here. They are compiled, not run. */
const COMPILED: Readonly<Record<string, string>> = {
  captureCalls: "ONNX Runtime",
  createExactSession: "ONNX Runtime",
  fixModel: "ONNX Runtime",
  verifyModel: "ONNX Runtime",
  createGpuEngine: "WebGPU",
  createWorker: "Redis",
  submitJob: "Redis",
};

interface Example {
  readonly name: string;
  readonly entry: string;
  readonly code: string;
  readonly program: string;
}

const docs = ENTRIES.flatMap(({ exports }) => exports);

/**
 * Completes an example whose comment says that a value is one of another export's example, as in `// the request of
 * createJob`: that example's lines up to the value come first.
 */
function completed(code: string): string {
  const [, value, owner] = /\/\/ the (\w+) of (\w+)$/m.exec(code) ?? [];
  if (owner === undefined) return code;
  const doc = docs.find(({ name }) => name === owner)?.doc ?? "";
  const [whole] = docstringOf(doc).examples.map(codeOf);
  const end = whole.indexOf(";\n", whole.indexOf(`const ${value} = `));
  assert.ok(end >= 0, `the example of ${owner} has no ${value}`);
  const before = `${whole.slice(0, end)};\n`;
  const repeated = new Set(before.split("\n").filter((line) => line.startsWith("import ")));
  const own = code.split("\n").filter((line) => !repeated.has(line));
  return before + own.join("\n");
}

/** The examples of each export, on the page of the first entry that has the export. */
const EXAMPLES: readonly Example[] = ENTRIES.flatMap((entry) =>
  entry.exports
    .filter(({ home }) => home === entry.name)
    .flatMap(({ name, doc }) =>
      docstringOf(doc).examples.map((example) => {
        const code = completed(codeOf(example));
        const program = programOf(code, namesFor(ENTRIES, entry.name));
        return { name, entry: entry.name, code, program };
      }),
    ),
);

/** The names that are values at run time; the other names are types. */
const VALUES: ReadonlySet<string> = new Set(
  (
    await Promise.all(
      Object.values(MANIFEST.exports).map(async (target) =>
        typeof target === "string"
          ? []
          : Object.keys(await import(pathToFileURL(path.join(REPOSITORY, target.default)).href)),
      ),
    )
  ).flat(),
);

test("every value that the package exports has a sentence and an example, and every type a sentence", () => {
  const withExample = new Set(EXAMPLES.map(({ name }) => name));
  const lacking = ENTRIES.flatMap(({ name: entry, exports }) =>
    exports.flatMap(({ name, doc }) => {
      const hasText = docstringOf(doc).text !== "";
      return hasText && (!VALUES.has(name) || withExample.has(name)) ? [] : [`${entry}: ${name}`];
    }),
  );
  assert.deepEqual(lacking, []);
});

test("every function has its parameters described", () => {
  const lacking = ENTRIES.flatMap(({ exports }) =>
    exports.flatMap(({ name, kind, signature, doc }) => {
      if (kind !== "function" || signature.includes("typeof ")) return [];
      const described = new Set(docstringOf(doc).params.map((one) => one.name));
      return parametersOf(signature)
        .filter((one) => !described.has(one))
        .map((one) => `${name}: ${one}`);
    }),
  );
  assert.deepEqual(lacking, []);
});

/** The names of a signature's parameters. A parameter that is taken apart in the signature has none. */
function parametersOf(signature: string): string[] {
  const { program } = parseSync("signature.d.ts", `declare ${signature}`);
  const [declared] = program.body;
  if (declared.type === "TSDeclareFunction") return declared.params.map(nameOf);
  assert.ok(declared.type === "VariableDeclaration");
  const { id } = declared.declarations[0];
  const type = "typeAnnotation" in id ? id.typeAnnotation?.typeAnnotation : undefined;
  return type?.type === "TSFunctionType" ? type.params.map(nameOf) : [];
}

type Parameter = { readonly type: string; readonly name?: string; readonly argument?: object };

function nameOf(parameter: object): string {
  const { type, name, argument } = parameter as Parameter;
  if (type === "RestElement" && argument !== undefined) return nameOf(argument);
  assert.ok(name !== undefined, `a parameter that is a ${type} has no name`);
  return name;
}

/** A line that is an expression with its value in a comment. Declarations and parts of statements do not match. */
const VALUE =
  /^( *)(?!(?:const|let|import|await|for|if|return|throw|try|export)\b|[)\]}/ ])(.+); \/\/ (.+)$/;
const PRINT = /^ *(?:.*[ (])?console\.log\(.*\);(?: \/\/ (.*))?$/;

/** The code with its values printed, and the text that it promises to print. */
function printing(code: string): { readonly code: string; readonly promised: string } {
  const promised: string[] = [];
  const lines = code.split("\n");
  const printed = lines.map((line, number) => {
    const print = PRINT.exec(line);
    if (print !== null) {
      const below = lines.slice(number + 1).findIndex((next) => !/^ *\/\/ /.test(next));
      const comments = lines.slice(number + 1, below < 0 ? lines.length : number + 1 + below);
      promised.push(
        ...(print[1] === undefined
          ? comments.map((text) => text.replace(/^ *\/\/ /, ""))
          : [print[1]]),
      );
      return line;
    }
    const [, indent, expression, value] = VALUE.exec(line) ?? [];
    if (expression === undefined) return line;
    promised.push(value);
    return `${indent}console.dir(${expression});`;
  });
  return { code: printed.join("\n"), promised: promised.join("\n") };
}

/** Texts are compared without white space and with one kind of quotation mark, because the console breaks lines. */
const plain = (text: string): string => text.replaceAll(/\s+/g, "").replaceAll("'", '"');

/** Runs each program in its own folder, and writes what each has printed. */
const RUNNER = `
import { writeFileSync } from "node:fs";
import { format, inspect } from "node:util";
const printed = {};
for (const folder of process.argv.slice(2)) {
  const lines = [];
  console.log = (...values) => lines.push(format(...values));
  console.dir = (value) => lines.push(inspect(value, { depth: 9 }));
  process.chdir(folder);
  try {
    await import(folder + "/program.js");
  } catch (error) {
    lines.push(String(error?.stack ?? error));
  }
  printed[folder] = lines.join("\\n");
}
writeFileSync(new URL("printed.json", import.meta.url), JSON.stringify(printed));
`;

/** Everything that is compiled: the examples, and with `ndscatter/js` those that need no other entry. */
const PROGRAMS = EXAMPLES.flatMap((example) => {
  const { name, entry, program } = example;
  const { exports } = ENTRIES.find((one) => one.name === "ndscatter/js") ?? { exports: [] };
  const isInJs = entry === "ndscatter" && exports.some((one) => one.name === name);
  const own = { ...example, title: `${entry}: ${name}` };
  if (!isInJs) return [own];
  const other = program.replaceAll('from "ndscatter"', 'from "ndscatter/js"');
  return [own, { ...own, title: `ndscatter/js: ${name}`, program: other }];
});

const F32 = (...shape: readonly (number | string)[]) => ({ dtype: "float32", shape }) as const;

/** The model of the examples: rows are added into a table, and one row of the result is taken. */
const MODEL = buildModel({
  opsets: { "ai.onnx": 18 },
  inputs: {
    table: F32(4, 2),
    ids: { dtype: "int64", shape: ["N", 1] },
    rows: F32("N", 2),
  },
  constants: { first: tensor("int64", [1], [1]) },
  nodes: [
    {
      op: "ScatterND",
      name: "sums",
      inputs: ["table", "ids", "rows"],
      outputs: ["sums"],
      attributes: { reduction: "add" },
    },
    { op: "Gather", name: "row", inputs: ["sums", "first"], outputs: ["row"] },
  ],
  outputs: { row: F32(1, 2) },
});

/** Writes the files that the examples read, which are the reader's own. */
async function writeFiles(into: string): Promise<void> {
  const write = (name: string, bytes: Uint8Array | string): void =>
    fs.writeFileSync(path.join(into, name), bytes);
  write("ids.npy", writeNpy(tensor("int64", [3, 1], [1, 3, 1])));
  write("rows.npy", writeNpy(tensor("float32", [3, 2], [1, 2, 3, 4, 5, 6])));
  write("model.onnx", writeModel(MODEL));
  const { xml, bin } = writeIR(convertModel(MODEL, { domain: "openvino" }).model);
  write("model.xml", xml);
  write("model.bin", bin);
  const options = { dtype: "float32", shape: [4, 2], chunkShape: [2, 2] } as const;
  await createArray(path.join(into, "table.zarr"), options);
}

/** As much of ONNX Runtime's types as the examples use. The runtime itself is not installed here. */
const RUNTIME_TYPES = `
import type { RuntimeSession } from "ndscatter/onnx";
export const InferenceSession: {
  create(model: Uint8Array, settings?: object): Promise<RuntimeSession>;
};
`;

let folder = "";
let printed: Readonly<Record<string, string>> = {};
let messages = "";
const folderOf = (number: number): string => path.join(folder, String(number));

before(async () => {
  // Inside build/, so that the package is found by its own name.
  fs.mkdirSync(path.join(REPOSITORY, "build"), { recursive: true });
  folder = fs.mkdtempSync(path.join(REPOSITORY, "build", "api-examples-"));
  for (const [number, { program }] of PROGRAMS.entries()) {
    fs.mkdirSync(folderOf(number));
    fs.writeFileSync(path.join(folderOf(number), "program.ts"), printing(program).code);
  }
  await Promise.all(PROGRAMS.map((_, number) => writeFiles(folderOf(number))));
  const runtime = path.join(folder, "node_modules/onnxruntime-node");
  fs.mkdirSync(runtime, { recursive: true });
  fs.writeFileSync(path.join(runtime, "package.json"), '{ "types": "index.d.ts" }');
  fs.writeFileSync(path.join(runtime, "index.d.ts"), RUNTIME_TYPES);
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: {
      rootDir: ".",
      outDir: ".",
      tsBuildInfoFile: "./.tsbuildinfo",
      // Readers may have this option set, which makes the result of an index possibly undefined.
      noUncheckedIndexedAccess: true,
      typeRoots: [path.join(REPOSITORY, "node_modules/@types")],
    },
    files: PROGRAMS.map((_, number) => `${number}/program.ts`),
    include: [],
  };
  fs.writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = path.join(REPOSITORY, "node_modules/typescript/bin/tsc");
  messages = node([tsc, "-p", ".", "--pretty", "false"]).stdout;
  assert.doesNotMatch(messages, /^(?!\d+\/| |$)/m);
  fs.writeFileSync(path.join(folder, "run.js"), RUNNER);
  const run = PROGRAMS.flatMap(({ name }, number) => (name in COMPILED ? [] : [folderOf(number)]));
  const { stderr } = node(["run.js", ...run]);
  assert.equal(stderr, "");
  printed = JSON.parse(fs.readFileSync(path.join(folder, "printed.json"), "utf8"));
});
after(() => fs.rmSync(folder, { recursive: true }));

function node(args: readonly string[]): { readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 300_000 });
}

for (const [number, { title, name, program }] of PROGRAMS.entries()) {
  test(`the example of ${title} compiles, and prints what it says`, () => {
    const own = messages.split("\n").filter((line) => line.startsWith(`${number}/`));
    assert.deepEqual(own, []);
    if (name in COMPILED) return;
    const { promised } = printing(program);
    assert.notEqual(promised, "", "the example promises nothing");
    assert.equal(
      plain(printed[folderOf(number)] ?? ""),
      plain(promised),
      printed[folderOf(number)],
    );
  });
}
