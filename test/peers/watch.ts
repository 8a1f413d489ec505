/**
 * `npm run watch [-- --cached]` compares the package's tables with the newest versions of ONNX, OpenVINO, ONNX Runtime and
 * zarr-python, and prints facts that only one side has. Known differences are rows with their reasons in
 * `watch-known.ts`. The command fails for any other difference, and for a row that no longer applies. With `--cached` it
 * uses the versions that an earlier run installed.
 */

import { compareDialects } from "../../src/insight/diagnose/compare-dialects.ts";
import { NEWEST_OPSETS, roleOf, type OperatorVersion } from "../../src/core/operators/operator.ts";
import { operators } from "../../src/core/operators/registry.ts";
import { DTYPE_NAMES, rowOf, type DType } from "../../src/core/tensor/dtype.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { firstIrVersion } from "../../src/models/model/opset.ts";
import { makePipeline } from "../../src/arrays/zarr/chunks/pipeline.ts";
import { parseDataType } from "../../src/arrays/zarr/data-types.ts";
import { isTensorError } from "../../src/core/errors.ts";
import { printCount } from "../../src/core/foreign.ts";
import { randomTensor } from "../support/random.ts";
import { environment } from "./environments.ts";
import { isError, Peer } from "./peer.ts";
import { KNOWN } from "./watch-known.ts";

/** Returns the package's facts, as lines in the form of `watch_peer.py`. */
type Lines = (theirs: readonly string[]) => readonly string[];

const onnxType = (dtype: DType): string => `tensor(${rowOf(dtype).onnx.name ?? dtype})`;
const titleOf = ({ name, sinceVersion }: OperatorVersion): string => `${name}-${sinceVersion}`;
const versionsOf = (domain: OperatorVersion["domain"]): readonly OperatorVersion[] =>
  operators().filter((version) => version.domain === domain);

function onnxVersion(version: OperatorVersion): string[] {
  const at = titleOf(version);
  const isConstraint = (type: string): boolean =>
    version.typeConstraints.some(({ name }) => name === type);
  return [
    version.deprecated === undefined ? at : `${at} is deprecated`,
    ...version.attributes.map(({ name, type }) => `${at} attribute ${name}: ${type}`),
    ...[...version.inputs, ...version.outputs].map(({ name, type, ...more }) => {
      const given = isConstraint(type) ? type : onnxType(type as DType);
      return `${at} ${name}: ${given}${"optional" in more ? " or nothing" : ""}`;
    }),
    ...version.typeConstraints.flatMap(({ name, types }) =>
      types.map((dtype) => `${at} ${name} ${onnxType(dtype)}`),
    ),
  ];
}

const onnx: Lines = () => [
  ...[`opset ${NEWEST_OPSETS["ai.onnx"]}`, `IR ${firstIrVersion(NEWEST_OPSETS["ai.onnx"])}`],
  ...DTYPE_NAMES.map((dtype) => {
    const { name = dtype, number } = rowOf(dtype).onnx;
    return `data type ${name.toUpperCase()} = ${number}`;
  }),
  ...versionsOf("ai.onnx").flatMap(onnxVersion),
];

const openvino: Lines = () => [
  ...Array.from({ length: NEWEST_OPSETS.openvino }, (_, at) => `opset ${at + 1}`),
  ...versionsOf("openvino").flatMap((version) => {
    const at = `${version.name} of opset${version.opset ?? version.sinceVersion}`;
    return [at, ...version.attributes.map(({ name }) => `${at} attribute ${name}`)];
  }),
];

/** The data types that the runtime's dialect supports, of the versions for which the runtime has a kernel. */
const onnxruntime: Lines = (theirs) => {
  const kernels = new Set(theirs.map((line) => line.split(" ")[0]));
  return versionsOf("ai.onnx").flatMap((version) => {
    if (!kernels.has(titleOf(version))) return [];
    const types = version.typeConstraints.find(({ name }) => name === "T")?.types ?? [];
    return types
      .filter((dtype) => hasKernel(version, dtype))
      .map((dtype) => `${titleOf(version)} ${onnxType(dtype)}`);
  });
};

const STARTS = { tuples: [1, 1], slices: [1], sequences: [1], elements: [1, 1, 1] } as const;

function hasKernel(version: OperatorVersion, dtype: DType): boolean {
  const { name: op, sinceVersion: opset, indexForm, inputs } = version;
  const tensors = inputs.map((input) =>
    roleOf(input) === "indices"
      ? tensor("int64", STARTS[indexForm], [0n])
      : randomTensor(dtype, [1, 1, 1], () => 0),
  );
  const said = compareDialects({ op, opset }, tensors);
  return said.find(({ dialect }) => dialect === "onnxruntime-cpu")?.why !== "missing";
}

/** The peer's data types and codecs that the package reads. */
const zarr: Lines = (theirs) =>
  theirs.filter((line) => {
    const name = line.split(" ").at(-1) ?? "";
    const codecs = [
      { name: "bytes", configuration: {} },
      { name, configuration: {} },
    ];
    return line.startsWith("codec ")
      ? isRead(() => makePipeline("uint8", [1], codecs as never, "watch"))
      : isRead(() => parseDataType(name, "watch"));
  });

/** True unless the package says that it does not support a data type or a codec. */
function isRead(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    return !(
      isTensorError(error) && ["unsupported-codec", "unsupported-dtype"].includes(error.code)
    );
  }
}

const SYSTEMS: Readonly<Record<string, Lines>> = { onnx, openvino, onnxruntime, zarr };

const { python, versions, missing } = environment("newest", !process.argv.includes("--cached"));
for (const [name, why] of Object.entries(missing)) console.log(`skipped: ${name}: ${why}`);
const peer = new Peer<{ version: string; lines: readonly string[] }>(
  python ?? "python3",
  "watch_peer",
);
let [failed, unknown] = [0, 0];
const seen = new Set<string>();
for (const [system, ownLines] of Object.entries(SYSTEMS)) {
  // oxlint-disable-next-line no-await-in-loop
  const answer = await peer.ask({ system });
  if (isError(answer)) {
    console.log(`${system}: not compared: ${answer.error}`);
    unknown++;
    continue;
  }
  const { lines, version } = answer;
  const own = new Set(ownLines(lines));
  const theirs = new Set(lines);
  console.log(`== ${system} ${version}: ${theirs.size} facts, ${own.size} of the package`);
  const differences = [
    ...lines.filter((line) => !own.has(line)).map((line) => `${system} has ${line}`),
    ...[...own].filter((line) => !theirs.has(line)).map((line) => `${system} lacks ${line}`),
  ];
  for (const difference of differences) {
    const row = KNOWN.find(({ pattern }) => pattern.test(difference));
    if (row !== undefined) {
      seen.add(row.reason);
      continue;
    }
    failed++;
    console.log(`new: ${difference}`);
  }
}
await peer.close();
// A row may belong to a system that was not compared.
const ended = unknown > 0 ? [] : KNOWN.filter((row) => !seen.has(row.reason));
for (const { pattern, reason } of ended) {
  failed++;
  console.log(`no longer applies; remove its row: ${pattern}: ${reason}`);
}
console.log(`known: ${KNOWN.map(({ reason }) => reason).join("; ")}`);
console.log(`versions: ${JSON.stringify(versions)}`);
const isGood = failed === 0 && unknown === 0;
console.log(
  `${isGood ? "passed" : "failed"}: watch: ${KNOWN.length} known differences, ${failed} new or outdated, ${printCount(unknown, "system")} not compared`,
);
process.exitCode = isGood ? 0 : 1;
