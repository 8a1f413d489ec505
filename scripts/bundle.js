/**
 * Bundles the sources into the files of the package: one for each entry, and parts that entries share. Node takes 22 ms
 * to load forty small modules and 6 ms to load these.
 *
 * A bundler omits files that a page does not use, but never a part of a file. Sources that many pages do not need, such
 * as the conversion of models or the diagnosis of results, are therefore entries, so that each gets a file of its own.
 * `explain` is an entry as well: otherwise it would share a file with the diagnosis, and pages would load both.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { writeDeclarations } from "./declarations.js";
import { compileEarly } from "./eager.js";
import { minify } from "./minify.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = path.join(ROOT, "src");
const TARGET = path.join(ROOT, "dist");
/** The declarations of all sources, which `tsc` has written. */
const TYPES = path.join(ROOT, "build/types");

// The name of a part changes with its contents, so parts of an earlier build would remain.
fs.rmSync(TARGET, { recursive: true, force: true });

/**
 * `commander` is CommonJS and loads Node's modules by `require`, which ES modules lack; this plugin gives it the result
 * of an import.
 */
const requiresOfNode = {
  name: "requires-of-node",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path: name, kind }) =>
      kind === "require-call" ? { path: name, namespace: "node" } : { path: name, external: true },
    );
    onLoad({ filter: /.*/, namespace: "node" }, ({ path: name }) => ({
      contents: `import it from ${JSON.stringify(name)}; module.exports = it;`,
    }));
  },
};

const WORKER = "arrays/chunked/run/worker";
const BYTES = "core/engines/wasm/bytes";

const { metafile } = await build({
  entryPoints: [
    // The separate file comes first in a user's bundle. In the middle, its 45 kB of text would push preceding code out
    // of gzip's window of 32 kB, which cost 500 bytes.
    BYTES,
    "entries/index",
    "entries/js",
    "entries/npy",
    "entries/onnx",
    "entries/openvino",
    "entries/operators",
    "entries/zarr",
    "entries/webgpu",
    "entries/chunked",
    WORKER,
    "entries/bullmq",
    "cli/main",
    "core/call/vjp",
    "models/convert/convert-model",
    "models/inspect/inspect-model",
    "models/verify/verify",
    "insight/diagnose/diagnose",
    "insight/diagnose/compare-dialects",
    "insight/explain/explain",
  ].map((file) => ({
    in: path.join(SOURCE, `${file}.ts`),
    // Job threads are started from a file beside the file that starts them, which becomes one of the parts.
    out: file === WORKER ? "parts/worker" : file,
  })),
  outbase: SOURCE,
  outdir: TARGET,
  bundle: true,
  splitting: true,
  chunkNames: "parts/[hash]",
  // Packages not listed here become part of the bundle: see `docs/dependencies.md`.
  external: ["bullmq", "ioredis", "onnxruntime-*"],
  mainFields: ["module", "main"],
  plugins: [requiresOfNode],
  metafile: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  charset: "utf8",
  logLevel: "warning",
});

// A generated source contains the code of this package.
writeNotices([...Object.keys(metafile.inputs), "node_modules/@bokuweb/zstd-wasm/"]);
const { exports } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
const entries = Object.values(exports).flatMap(({ types }) => types ?? []);
writeDeclarations(
  TYPES,
  TARGET,
  entries.map((file) => path.basename(file, ".d.ts")),
);

const texts = new Map(
  fs
    .readdirSync(TARGET, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".js"))
    // Nothing here has side effects, so an import without names would only cause warnings of bundlers.
    .map((name) => path.join(TARGET, name))
    .map((file) => [file, fs.readFileSync(file, "utf8").replaceAll(/^import ".*\n/gm, "")]),
);
for (const [file, text] of texts) fs.writeFileSync(file, text);
await compileEarly(TARGET);
const minified = await minify(
  TARGET,
  [...texts.keys()].filter((file) => !isPart(file)),
);
for (const [file, text] of kernelsFirst(minified)) fs.writeFileSync(file, text);

/** True for a file that entries share, whose name is not fixed. */
function isPart(file) {
  const [folder, name] = path.relative(TARGET, file).split(path.sep);
  return folder === "parts" && name !== "worker.js";
}

/**
 * Returns the files with imports reordered so that the kernels' text is imported first, by the shortest path. A user's
 * bundle has modules in import order, so it then begins with this text.
 */
function kernelsFirst(files) {
  const importsOf = (file, text) =>
    [...text.matchAll(/(?<=^|;)import\{[^}]*\}from"(\.[^"]*)";/gm)].map(([statement, from]) => ({
      statement,
      target: path.join(path.dirname(file), from),
    }));
  const far = new Map();
  const bytes = path.join(TARGET, `${BYTES}.js`);
  let reached = importsOf(bytes, files.get(bytes)).map(({ target }) => target);
  for (let steps = 0; reached.length > 0; steps++) {
    const last = new Set(reached);
    for (const file of last) far.set(file, steps);
    reached = [...files.keys()].filter(
      (file) =>
        !far.has(file) && importsOf(file, files.get(file)).some(({ target }) => last.has(target)),
    );
  }
  const distance = ({ target }) => far.get(target) ?? Infinity;
  return [...files].map(([file, text]) => {
    const imports = importsOf(file, text);
    const sorted = imports.toSorted((a, b) =>
      distance(a) < distance(b) ? -1 : distance(a) > distance(b) ? 1 : 0,
    );
    const rest = imports.reduce((left, { statement }) => left.replace(statement, ""), text);
    const [start] = /^(?:#!.*\n)?/.exec(rest);
    const lines = sorted.map(({ statement }) => statement).join("");
    return [file, start + lines + rest.slice(start.length)];
  });
}

/** Writes the licences of the packages that are part of the bundle, found by the files in the bundle. */
function writeNotices(inputs) {
  const folders = inputs.flatMap((file) => file.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
  const notices = [...new Set(folders)].toSorted().map((folder) => {
    const at = (name) => path.join(ROOT, folder, name);
    const { name, version, license, homepage, repository } = JSON.parse(
      fs.readFileSync(at("package.json"), "utf8"),
    );
    const from = (homepage ?? repository.url ?? repository).replace(
      /^(?:git\+)?ssh:\/\/git@|^git\+https:\/\//,
      "https://",
    );
    return `# ${name} ${version}\n\n${license}, ${from}\n\n${licenceOf(at, name)}`;
  });
  fs.writeFileSync(path.join(TARGET, "NOTICES.md"), notices.join("\n"));
}

/** The licences of the package `@bokuweb/zstd-wasm`, which ships no licence file, are named in its readme. */
function licenceOf(at, name) {
  if (name === "@bokuweb/zstd-wasm") {
    return fs.readFileSync(path.join(ROOT, "scripts/libzstd-licence.txt"), "utf8");
  }
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].map(at).find((one) => fs.existsSync(one));
  if (file === undefined) throw new Error(`${name} has no file of its licence`);
  return fs.readFileSync(file, "utf8");
}
