import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = (name: string) => path.join(root, "node_modules/.bin", name);
const sh = (command: string, args: string[], cwd = root) =>
  execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 100_000,
  });

/** What each entry exports at run time. A name that comes or goes is a decision, not an accident. */
// prettier-ignore
const EXPORTS = {
  "index.js": [
    "DIAGNOSES", "DTYPES", "ERROR_CODES", "REDUCTIONS", "TensorError",
    "compareDialects", "compareVersions", "createEngine", "diagnose", "dialects", "equals", "explain",
    "firstDifference", "full", "gather", "gatherElements", "gatherND", "infer", "isDType",
    "isTensorError", "operators", "planGather", "planGatherElements", "planGatherND", "planScatterElements",
    "planScatterND", "printScalar", "printShape", "resolve", "roleOf", "run", "scatter", "scatterElements",
    "scatterND", "tensor", "tensorScatter", "typesOf", "zeros",
  ],
  "chunked/index.js": [
    "createJob", "diskRate", "gatherChunked", "jobFailure", "openJob", "remainingTasks", "removeJob", "runJob",
    "scatterChunked", "slurmScript", "startPool", "taskRate",
  ],
  "distributed/bullmq.js": ["createWorker", "submitJob"],
  "npy/index.js": ["readNpy", "writeNpy"],
  "onnx/index.js": [
    "FINDINGS", "NodeIndex", "VERDICTS", "buildModel", "captureCalls", "constant", "convertModel", "externalFiles", "extractNode", "inspectModel",
    "listNodes", "nodeCall", "readModel", "readOutline", "readTensor", "runModel", "runNode",
    "unsupportedOperators", "verifyModel", "writeModel", "writeTensor",
  ],
  "openvino/index.js": ["FINDINGS", "convertModel", "inspectModel", "readIR", "runModel", "writeIR"],
  "webgpu/index.js": ["createGpuEngine"],
  "zarr/index.js": ["createArray", "createPending", "openArray", "openPending"],
};

for (const [entry, names] of Object.entries(EXPORTS)) {
  test(`${entry} exports exactly what is listed`, async () => {
    const exported: object = await import(path.join(root, "dist", entry));
    assert.deepEqual(Object.keys(exported).sort(), names);
  });
}

/** The files that importing `file` loads, and the packages. */
function importGraph(
  file: string,
  seen = new Set<string>(),
): { files: Set<string>; packages: Set<string> } {
  const packages = new Set<string>();
  const visit = (current: string) => {
    if (seen.has(current)) return;
    seen.add(current);
    const imports = /^(?:import|export)\s[^"]*?\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/gm;
    for (const [, fixed, dynamic] of fs.readFileSync(current, "utf8").matchAll(imports)) {
      const from = fixed ?? dynamic;
      if (from.startsWith(".")) visit(path.resolve(path.dirname(current), from));
      else packages.add(from);
    }
  };
  visit(file);
  return { files: seen, packages };
}

test("the core, npy and webgpu have no dependency, onnx has protobuf, openvino an XML parser, zarr codecs", () => {
  assert.ok(
    importGraph(path.join(root, "dist/index.js")).files.size > 1,
    "the graph was not walked",
  );
  const packagesOf = (entry: string) => [...importGraph(path.join(root, "dist", entry)).packages];
  assert.deepEqual(packagesOf("index.js"), []);
  assert.deepEqual(packagesOf("npy/index.js"), []);
  assert.deepEqual(packagesOf("webgpu/index.js"), []);
  assert.ok(packagesOf("onnx/index.js").every((name) => name.startsWith("@bufbuild/protobuf")));
  assert.deepEqual(packagesOf("openvino/index.js"), ["fast-xml-parser"]);
  const ofNode = (name: string): boolean => name.startsWith("node:");
  assert.deepEqual(
    packagesOf("zarr/index.js")
      .filter((name) => !ofNode(name))
      .toSorted(),
    ["aws4fetch", "numcodecs/lz4", "numcodecs/zstd"],
  );
  // What a page may not have is loaded when it is needed.
  const text = fs.readFileSync(path.join(root, "dist/zarr/index.js"), "utf8");
  assert.doesNotMatch(text, /^import .* from "(?:node:|numcodecs|aws4fetch)/m);
});

test("bullmq loads its optional packages when it is asked for, and the command loads it then", () => {
  const graph = (entry: string) => importGraph(path.join(root, "dist", entry));
  const { packages } = graph("distributed/bullmq.js");
  assert.ok(!packages.has("bullmq") && !packages.has("ioredis"));
  const main = fs.readFileSync(path.join(root, "dist/cli/main.js"), "utf8");
  assert.doesNotMatch(main, /from "[^"]*distributed/);
});

test("the main entry with all that it loads is at most 60 kB, minified and gzipped", async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(root, "dist/index.js")],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
  });
  const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length;
  assert.ok(bytes <= 60_000, `${bytes} bytes`);
});

test("publint finds nothing", () => {
  assert.match(sh(bin("publint"), ["--strict"]), /All good/);
});

test("the types resolve for every way to import an ES module", () => {
  // It fails with a status of its own when it finds a problem; what it looked at is checked here.
  const report: { analysis: { entrypoints: object } } = JSON.parse(
    sh(bin("attw"), ["--pack", "--profile", "esm-only", "--format", "json"]),
  );
  const entries = Object.keys(report.analysis.entrypoints);
  assert.deepEqual(entries, [
    ".",
    "./bullmq",
    "./chunked",
    "./npy",
    "./onnx",
    "./openvino",
    "./webgpu",
    "./zarr",
    "./package.json",
  ]);
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(
    fs.readFileSync(path.join(root, "package-lock.json"), "utf8"),
    /https?:\/\/(?!opencollective|github|www\.patreon|tidelift)[^"]*\.tgz/,
  );
});

test("the packed tarball installs and runs in an empty folder", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-"));
  try {
    const tarball = sh("npm", ["pack", "--silent", "--pack-destination", folder]).trim();
    fs.writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    sh(
      "npm",
      ["install", "--prefer-offline", "--no-audit", "--no-fund", "--omit=dev", `./${tarball}`],
      folder,
    );
    fs.writeFileSync(
      path.join(folder, "use.js"),
      [
        'import { scatterND, tensor } from "ndscatter";',
        'import { writeNpy } from "ndscatter/npy";',
        'import { writeTensor } from "ndscatter/onnx";',
        'import fs from "node:fs";',
        'const data = tensor("float32", [4], [1, 2, 3, 4]);',
        'fs.writeFileSync("d.npy", writeNpy(data));',
        'fs.writeFileSync("i.npy", writeNpy(tensor("int64", [1, 1], [2])));',
        'fs.writeFileSync("u.pb", writeTensor(tensor("float32", [1], [9])));',
        "console.log(JSON.stringify(scatterND(data, [[2]], [9]).toArray()));",
      ].join("\n"),
    );
    assert.equal(sh(process.execPath, ["use.js"], folder).trim(), "[1,2,9,4]");
    const printed = sh(
      "npx",
      ["--no-install", "ndscatter", "run", "ScatterND", "d.npy", "i.npy", "u.pb"],
      folder,
    );
    assert.match(printed, /1\., 2\., 9\., 4\./);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

test("the example files are what examples/make.js makes, and small", async () => {
  const { files }: { files: Record<string, Uint8Array> } = await import(
    path.join(root, "examples/make.js")
  );
  let total = 0;
  for (const [name, bytes] of Object.entries(files)) {
    assert.ok(Buffer.from(bytes).equals(fs.readFileSync(path.join(root, "examples", name))), name);
    total += bytes.length;
  }
  assert.ok(total < 200_000);
});
