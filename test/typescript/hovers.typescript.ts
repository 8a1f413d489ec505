/** The types that an editor shows, asked of the language service of TypeScript 5.9 and 6.0. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { inVersion, makeProject, STRICT, WITHOUT_VERSIONS } from "./project.ts";

const ANY = "Tensor<DType, readonly number[]>";

/** Expressions, and the type that a hover over a constant with each value shows. */
const EXPRESSIONS: readonly (readonly [expression: string, type: string])[] = [
  [`tensor("float32", [2, 2], [[1, 2], [3, 4]])`, `Tensor<"float32", [2, 2]>`],
  [`zeros("int64", [2, 1])`, `Tensor<"int64", [2, 1]>`],
  [`full("float16", [], 1)`, `Tensor<"float16", []>`],
  [`scatterND(data, indices, updates)`, `Tensor<"float32", [4, 3]>`],
  [`scatterND(data, [[1]], [[1, 2, 3]], { reduction: "add" })`, `Tensor<"float32", [4, 3]>`],
  [`scatterElements(data, [[0, 1, 2]], [[1, 2, 3]])`, `Tensor<"float32", [4, 3]>`],
  [`tensorScatter(zeros("float16", [1, 4, 2]), [[[1, 2]]])`, `Tensor<"float16", [1, 4, 2]>`],
  [`gatherND(data, indices)`, `Tensor<"float32", [2, 3]>`],
  [`gather(data, zeros("int64", [5]), { axis: 1 })`, `Tensor<"float32", [4, 5]>`],
  [`gatherElements(data, zeros("int64", [1, 3]))`, `Tensor<"float32", [1, 3]>`],
  [`jsGather(data, indices)`, `Tensor<"float32", [2, 1, 3]>`],
  [`scatterND(unknown, indices, unknown)`, ANY],
  [`run(node, [data, indices, updates])`, `[${ANY}]`],
  [`run(node, [data, indices, updates])[0]`, ANY],
  [`vjp(node, [data, indices, updates], data)`, `(${ANY} | null)[]`],
  [`readNpy(bytes)`, ANY],
  [`runModel(readModel(bytes), { data })`, `Record<string, ${ANY}>`],
  [`data.toArray()`, "number[][]"],
  [`data.shape`, "readonly [4, 3]"],
  [`data.dtype`, `"float32"`],
  [`unknown.dtype`, "DType"],
  [`unknown.data`, "Storage<DType>"],
  [`data.data`, "Float32Array<ArrayBufferLike>"],
  [`error`, "TensorError<ErrorCode>"],
  [`error.code`, "ErrorCode"],
  [`dialects().map(({ id }) => id)`, "DialectId[]"],
  [`diagnose(node, [], data).map(({ id }) => id)`, "(DiagnosisId | DiagnosisPair)[]"],
  [`options.signal`, "AbortSignal | undefined"],
];

/** The functions of a call, and the types of their parameters that a hover must show. */
const CALLS: readonly (readonly [call: string, parameters: readonly string[]])[] = [
  [
    `tensor("float32", [2, 2], [1, 2, 3, 4])`,
    [`dtype: "float32"`, "shape: readonly [2, 2]", `values: Values<"float32">`],
  ],
  [
    `scatterND(data, indices, updates)`,
    [`Tensor<"float32", [4, 3]>`, `Tensor<"int64", [2, 1]>`, `Tensor<"float32", [2, 3]>`],
  ],
  [`gatherND(data, indices)`, [`Tensor<"float32", [4, 3]>`, `Tensor<"int64", [2, 1]>`]],
  [`run(node, [data])`, ["node: NodeSpec", "options?: RunOptions"]],
];

const HEAD = `
import {
  diagnose, dialects, full, gather, gatherElements, gatherND, run, scatterElements, scatterND, tensor, tensorScatter, vjp,
  zeros, type NodeSpec, type Tensor, type TensorError,
} from "ndscatter";
import { gather as jsGather } from "ndscatter/js";
import { readNpy } from "ndscatter/npy";
import { readModel, runModel } from "ndscatter/onnx";
import type { OpenOptions } from "ndscatter/zarr";
declare const data: Tensor<"float32", [4, 3]>;
declare const indices: Tensor<"int64", [2, 1]>;
declare const updates: Tensor<"float32", [2, 3]>;
declare const unknown: Tensor;
declare const node: NodeSpec;
declare const bytes: Uint8Array;
declare const error: TensorError;
declare const options: OpenOptions;
`;

const STATEMENTS = [
  ...EXPRESSIONS.map(([expression], number) => `const hover${number} = ${expression};`),
  ...CALLS.map(([call]) => `${call};`),
];

/** Older versions cut long signatures, and TypeScript 7 has another protocol. */
const ASKED = ["5.9", "6.0"];

/** What a version shows over each statement: the name of the constant, or of the function that is called. */
const shown = new Map<string, readonly string[]>();

interface Message {
  readonly command?: string;
  readonly body?: { readonly displayString?: string };
}

function ask(version: string, file: string): readonly string[] {
  const first = HEAD.split("\n").length;
  const requests: (readonly [command: string, values: object])[] = [
    ["open", { file }],
    ...STATEMENTS.map((statement, number): readonly [string, object] => {
      const offset = statement.startsWith("const ") ? "const ".length + 1 : 1;
      return ["quickinfo", { file, line: first + number, offset }];
    }),
  ];
  const lines = requests.map(([command, values], seq) =>
    JSON.stringify({ seq, type: "request", command, arguments: values }),
  );
  const { stdout } = spawnSync(
    process.execPath,
    [inVersion(version, "lib/tsserver.js"), "--disableAutomaticTypingAcquisition"],
    { input: `${lines.join("\n")}\n`, encoding: "utf8" },
  );
  return stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Message => JSON.parse(line))
    .filter(({ command }) => command === "quickinfo")
    .map(({ body }) => body?.displayString ?? "");
}

let folder = "";
before(() => {
  if (WITHOUT_VERSIONS !== false) return;
  folder = makeProject();
  const file = path.join(folder, "hovers.mts");
  fs.writeFileSync(file, HEAD + STATEMENTS.join("\n"));
  const setting = { target: "es2022", lib: ["es2022", "dom"], types: [], module: "nodenext" };
  const config = { compilerOptions: { ...STRICT, ...setting }, files: ["hovers.mts"] };
  fs.writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
  for (const version of ASKED) shown.set(version, ask(version, file));
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

for (const version of ASKED) {
  for (const [number, [expression, type]] of EXPRESSIONS.entries()) {
    test(`TypeScript ${version} shows ${type} for ${expression}`, { skip: WITHOUT_VERSIONS }, () =>
      assert.equal(shown.get(version)?.[number], `const hover${number}: ${type}`),
    );
  }
  for (const [number, [call, parameters]] of CALLS.entries()) {
    test(
      `TypeScript ${version} shows the parameters of ${call}`,
      { skip: WITHOUT_VERSIONS },
      () => {
        const text = shown.get(version)?.[EXPRESSIONS.length + number] ?? "";
        for (const parameter of parameters) assert.ok(text.includes(parameter), text);
        assert.doesNotMatch(text, /\.\.\. \d+ more \.\.\.|"bool"/);
      },
    );
  }
}
