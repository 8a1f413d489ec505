/**
 * Compiles the WebAssembly kernels in assembly/, bundles the worker's code, and writes both as strings into
 * src/core/engines/wasm/bytes.ts, so that bundlers and servers need no further files.
 *
 *     node scripts/kernels.js [--assembly FOLDER] [--out FILE]
 *
 * Kernels whose sources have not changed are kept, which takes 0.3 s instead of 8.
 *
 * AssemblyScript exports functions, not instances of generics, so this script generates the entry module from tables.
 */

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { values: OPTIONS } = parseArgs({
  options: {
    assembly: { type: "string", default: path.join(ROOT, "assembly") },
    out: { type: "string", default: path.join(ROOT, "src/core/engines/wasm/bytes.ts") },
  },
});

/** The arithmetic of each data type: a class of assembly/. */
const ARITHMETIC = {
  float32: "Float<f32>",
  float64: "Float<f64>",
  float16: "Float16",
  bfloat16: "BFloat16",
  int8: "Int<i8>",
  int32: "Int<i32>",
  int64: "Int<i64>",
  uint8: "Int<u8>",
  uint32: "Int<u32>",
  uint64: "Int<u64>",
  bool: "Bool",
};

const REDUCTIONS = ["add", "mul", "max", "min", "sub"];

/** Comparisons of floats that return one operand unchanged. */
const CHOICES = ["max_data", "min_data", "max_update", "min_update"];

/** The type of each width in bytes, for moves. */
const WIDTHS = { 1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "v128" };

/** The widths of updates that are sorted by destination; see `isPartitionable` and `windows.ts`. */
const SORTED = [4, 8];

/** The type of the indices, by their width in bits. */
const INDICES = { 32: "i32", 64: "i64" };

/** The parameters of each generic function; see the comments in assembly/. */
const PARAMETERS = {
  combine: ["out", "updates", "offsets", "count", "slice", "pitch", "span"],
  scatter: ["out", "updates", "offsets", "count", "slice", "pitch", "span"],
  gather: ["data", "out", "offsets", "count", "slice", "pitch", "span"],
  partition: ["offsets", "updates", "count", "low: u32", "span: u32", "targets", "values"],
  distribute: [
    ...["offsets", "updates", "count", "region: u32"],
    ...["ends", "regions", "targets", "values"],
  ],
  tuples: ["indices", "offsets", "count", "k", "table"],
  elements: ["indices", "offsets", "rows", "row", "table"],
  rows: ["indices", "offsets", "count", "row", "table"],
  check: ["indices", "count", "dim: u32"],
  pick: ["indices", "out", "data", "rows", "row", "dim", "isChecked: u32"],
};

/** Gradients, in a separate module: `extremes` and the passes over single elements, for each float type. */
const BACKWARDS = {
  extremes: [
    ...["data", "gradient", "ofData", "updates", "ofUpdates", "targets", "ends", "positions"],
    ...["count", "slice", "dataStep", "updatesStep"],
    ...["flip: u32", "divides: i32", "includesSelf: i32"],
  ],
  begin: ["data", "pairs", "size", "flip: u32"],
  tally: ["pairs", "updates", "offsets", "count", "flip: u32"],
  settle: ["data", "gradient", "pairs", "ofData", "size", "flip: u32", "divides: i32"],
  spread: ["pairs", "updates", "ofUpdates", "offsets", "count", "flip: u32"],
};

const FLOATS = { float32: "f32", float64: "f64" };

/** Returns the source of the module of gradients. */
function backwardsEntry() {
  const names = Object.keys(BACKWARDS);
  const lines = [
    `import { ${names.join(", ")} } from "./backwards";`,
    'export { take } from "./backwards";',
  ];
  for (const [dtype, type] of Object.entries(FLOATS)) {
    lines.push(...names.map((name) => instance(name, dtype, type, "void", [], BACKWARDS)));
  }
  return lines.join("\n");
}

/** Returns the source of the entry module. */
function entry() {
  const lines = [
    'import { Bool, Float, Int } from "./arithmetic";',
    'import { combine } from "./combine";',
    'import { BFloat16, Float16 } from "./half";',
    'export { sum_float16 } from "./half";',
    'import { gather, scatter } from "./move";',
    'import { check, elements, pick, rows, tuples } from "./offsets";',
    'import { ADD, MAX, MIN, MUL, SUB } from "./reduction";',
    'import { MAX_DATA, MAX_UPDATE, MIN_DATA, MIN_UPDATE } from "./reduction";',
    'import { distribute, partition } from "./rearrange";',
    'export { copy_bytes, copy_unmarked, every_nth, mark, run_length } from "./rearrange";',
  ];
  for (const dtype of Object.keys(ARITHMETIC)) {
    for (const reduction of [...REDUCTIONS, ...CHOICES].filter((one) => isCompiled(dtype, one))) {
      lines.push(combination(dtype, reduction));
    }
  }
  for (const [bytes, type] of Object.entries(WIDTHS)) {
    lines.push(...["scatter", "gather"].map((name) => instance(name, bytes, type)));
  }
  for (const bytes of SORTED) {
    lines.push(instance("partition", bytes, WIDTHS[bytes], "u32"));
    lines.push(instance("distribute", bytes, WIDTHS[bytes]));
  }
  for (const [bits, type] of Object.entries(INDICES)) {
    for (const name of ["tuples", "elements", "rows", "check"]) {
      lines.push(instance(name, bits, type, "u32"));
    }
    lines.push(instance("pick", bits, type, "u32"));
  }
  return lines.join("\n");
}

/**
 * Returns true if a reduction of one of these data types has a kernel. JavaScript handles cases that are rare in
 * models: some reductions here, and all reductions of complex numbers and 16-bit integers. Their kernels would take 0.9
 * of the 60 kB, compressed, that the main entry may have; the choices of float64 and bfloat16 would take another 0.2.
 */
const isCompiled = (dtype, reduction) =>
  !(CHOICES.includes(reduction) && !/^float(32|16)$/.test(dtype)) &&
  !(dtype.endsWith("int8") && /mul|sub/.test(reduction)) &&
  !(reduction === "sub" && /float64|bool/.test(dtype));

/** Returns the export of a reduction of a data type, or an alias if another data type has the same code. */
function combination(dtype, reduction) {
  const twin = twinOf(dtype, reduction);
  if (twin !== undefined) return `export { ${twin} as ${dtype}_${reduction} };`;
  const constants = [reduction.toUpperCase()];
  return instance("combine", reduction, ARITHMETIC[dtype], "void", constants, PARAMETERS, dtype);
}

function twinOf(dtype, reduction) {
  if (dtype === "bool" && reduction === "max") return "bool_add";
  if (dtype === "bool" && reduction === "min") return "bool_mul";
  const isOrdered = reduction === "max" || reduction === "min";
  return dtype.startsWith("uint") && !isOrdered ? `${dtype.slice(1)}_${reduction}` : undefined;
}

/** Returns an exported function that is one instance of a generic one; constants come before its parameters. */
function instance(
  name,
  suffix,
  type,
  result = "void",
  constants = [],
  parameters = PARAMETERS,
  prefix = name,
) {
  const typed = parameters[name].map((one) => (one.includes(":") ? one : `${one}: usize`));
  const names = parameters[name].map((one) => one.split(":")[0]);
  const call = `${name}<${type}>(${[...constants, ...names].join(", ")})`;
  const body = result === "void" ? call : `return ${call}`;
  return `export function ${prefix}_${suffix}(${typed.join(", ")}): ${result} { ${body}; }`;
}

// Without `--shrinkLevel`, functions with loops are inlined, which is as fast and 0.8 kB larger, compressed.
// Workers share the memory. For a memory that is not shared, the host changes one flag of the import. 65536 pages are 4 GiB.
const FLAGS = [
  ...["--runtime", "stub", "--noAssert", "-O3", "--shrinkLevel", "1", "--converge"],
  ...["--importMemory", "--noExportMemory", "--sharedMemory"],
  ...["--initialMemory", "1", "--maximumMemory", "65536"],
  ...["--enable", "simd", "--enable", "bulk-memory", "--enable", "threads"],
];

/** Returns the compiled module of an entry's source. */
async function compile(source) {
  const { default: asc } = await import("assemblyscript/asc");
  let binary;
  const { error, stderr } = await asc.main(["entry.ts", "--outFile", "kernels.wasm", ...FLAGS], {
    readFile: (name) => {
      if (name === "entry.ts") return source;
      const file = path.join(OPTIONS.assembly, name);
      return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : null;
    },
    writeFile: (_, contents) => void (binary = contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(stderr.toString(), { cause: error });
  return binary;
}

/** Returns the compiled module in an existing file. */
function keptKernels(file) {
  const [, text] = /KERNELS =\s+"([^"]+)"/.exec(fs.readFileSync(file, "utf8")) ?? [];
  if (text === undefined) throw new Error(`${file} has no kernels to keep`);
  const bytes = Array.from({ length: 256 }, (_, byte) => [characters(byte), byte]);
  const byteOf = new Map(bytes);
  return Uint8Array.from(text.match(/[yz{]?./g), (one) => byteOf.get(one));
}

/** Encodes a byte as text for `platform.ts`. The bytes from 253 to 81, the most frequent ones, take one character. */
function characters(byte) {
  const turned = (byte + 3) % 256;
  const code = 35 + (turned % 85);
  const page = ["", "y", "z", "{"][Math.floor(turned / 85)];
  return page + String.fromCharCode(code < 92 ? code : code + 1);
}

/**
 * Returns the position of the flags of the import `env.memory` in the module: the host changes them there. The kernels
 * use no atomics, so nothing else must change.
 */
function memoryFlagsAt(binary) {
  const named = (name) => [name.length, ...Buffer.from(name)];
  const pattern = Buffer.from([...named("env"), ...named("memory"), 2]);
  const found = Buffer.from(binary);
  const at = found.indexOf(pattern) + pattern.length;
  const isOnly = found.indexOf(pattern, at) === -1;
  // 3: shared, with a maximum.
  if (at < pattern.length || !isOnly || found[at] !== 3) {
    throw new Error("the import of the memory is not where it is expected to be");
  }
  return at;
}

/** Returns the worker's code: a script that defines `ndscatterWork`. */
async function workerText() {
  const { outputFiles } = await build({
    // A separate module instead of `globalName`, which would add helpers for exports.
    stdin: {
      contents: 'import { work } from "./worker.ts"; globalThis.ndscatterWork = work;',
      resolveDir: path.join(ROOT, "src/core/engines/wasm"),
    },
    bundle: true,
    write: false,
    format: "iife",
    minify: true,
    target: "es2022",
    charset: "utf8",
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

/** Returns a hash of the kernels' sources: this script and all files of assembly/. */
function fingerprint() {
  const hash = createHash("sha256").update(fs.readFileSync(fileURLToPath(import.meta.url)));
  for (const name of fs.readdirSync(OPTIONS.assembly).sort()) {
    hash.update(name).update(fs.readFileSync(path.join(OPTIONS.assembly, name)));
  }
  return hash.digest("hex");
}

/**
 * The compiled kernels in a file, as text, and the lines that declare them; compiled again only if a source has changed.
 *
 * Gzip compresses the 63 kB of kernels to 7.6 kB in this encoding, 8.5 kB as hexadecimal digits, and 14 kB as base64,
 * which hides repeats.
 */
async function kernelLines(file, source) {
  const isSame = fs.existsSync(file) && fs.readFileSync(file, "utf8").includes(fingerprint());
  const binary = isSame ? keptKernels(file) : await compile(source);
  console.log(`${path.basename(file)}: ${binary.length} bytes`);
  return [
    `// Made from sources whose hash is ${fingerprint()}.`,
    `export const KERNELS =\n  "${Array.from(binary, characters).join("")}";`,
    `export const MEMORY_FLAGS_AT = ${memoryFlagsAt(binary)};`,
  ];
}

/**
 * libzstd as a deflated WebAssembly module, from the package @bokuweb/zstd-wasm, whose build shortens the names of
 * functions. Deflated, the module takes 107 kB of base64 instead of 336; webpack warns of files above 250 kB.
 */
function libzstdLines() {
  const folder = path.join(ROOT, "node_modules/@bokuweb/zstd-wasm/dist/esm");
  const binary = fs.readFileSync(path.join(folder, "zstd.wasm"));
  const glue = fs.readFileSync(path.join(folder, "zstd.js"), "utf8");
  const pairs = (pattern) => [...glue.matchAll(pattern)].map((match) => match.slice(1, 3));
  const functions = {
    start: /addOnInit\(wasmExports\['(\w+)'\]\)/.exec(glue)[1],
    ...Object.fromEntries(pairs(/Module\['_(\w+)'\] = wasmExports\['(\w+)'\]/g)),
  };
  const [memory] = /(?<=wasmMemory = wasmExports\[')\w+/.exec(glue);
  const imports = pairs(/^ {4}(\w+): _+(?:emscripten_)?(\w+),$/gm).map(([short, name]) => [
    name,
    short,
  ]);
  return [
    "/** libzstd, deflated and as base64, and the short names of its functions; written by scripts/kernels.js. */",
    `export const LIBZSTD = "${deflateSync(binary, { level: 9 }).toString("base64")}";`,
    `export const SIZE = ${binary.length};`,
    `export const NAMES = ${JSON.stringify({ memory, functions, imports })} as const;`,
  ];
}

const writeLines = (file, lines) => fs.writeFileSync(file, `${lines.join("\n")}\n`);

fs.mkdirSync(path.dirname(OPTIONS.out), { recursive: true });
writeLines(OPTIONS.out, [
  "/** The kernels of assembly/, compiled, and worker.ts, bundled; written by scripts/kernels.js. */",
  ...(await kernelLines(OPTIONS.out, entry())),
  `export const WORKER = ${JSON.stringify(await workerText())};`,
]);
writeLines(path.join(ROOT, "src/arrays/zarr/codecs/libzstd-bytes.ts"), libzstdLines());
const backwards = path.join(path.dirname(OPTIONS.out), "backwards-bytes.ts");
writeLines(backwards, [
  "/** The kernels of gradients, compiled; written by scripts/kernels.js. */",
  ...(await kernelLines(backwards, backwardsEntry())),
]);
