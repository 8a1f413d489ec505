/**
 * Compiles the WebAssembly kernels in assembly/ and writes them into src/engines/wasm/bytes.ts, as text, so that no
 * bundler and no server needs to be told of them.
 *
 * AssemblyScript exports functions, not instances of generics, so the entry module is made here, from these tables.
 */

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BYTES = path.join(ROOT, "src/engines/wasm/bytes.ts");

/** The arithmetic of each data type: a class of assembly/. */
const ARITHMETIC = {
  float32: "Float<f32>",
  float64: "Float<f64>",
  float16: "Float16",
  bfloat16: "BFloat16",
  int8: "Int<i8>",
  int16: "Int<i16>",
  int32: "Int<i32>",
  int64: "Int<i64>",
  uint8: "Int<u8>",
  uint16: "Int<u16>",
  uint32: "Int<u32>",
  uint64: "Int<u64>",
  bool: "Bool",
  complex64: "Complex<f32>",
  complex128: "Complex<f64>",
};

const REDUCTIONS = ["add", "mul", "max", "min", "sub"];

/** The type of each width in bytes, for moves. */
const WIDTHS = { 1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "v128" };

/** The type of the indices, by their width in bits. */
const INDICES = { 32: "i32", 64: "i64" };

/** The parameters of each generic function; see the comments in assembly/. */
const PARAMETERS = {
  combine: ["out", "updates", "offsets", "count", "slice", "pitch", "span"],
  scatter: ["out", "updates", "offsets", "count", "slice", "pitch", "span"],
  gather: ["data", "out", "offsets", "count", "slice", "pitch", "span"],
  deal: ["offsets", "updates", "count", "low: u32", "span: u32", "targets", "values"],
  tuples: ["indices", "offsets", "count", "k", "table"],
  elements: ["indices", "offsets", "rows", "row", "table"],
  uniform: ["indices", "offsets", "rows", "row", "table"],
};

/** The source of the entry module. */
function entry() {
  const lines = [
    'import { Bool, Float, Int } from "./arithmetic";',
    'import { combine } from "./combine";',
    'import { Complex } from "./complex";',
    'import { BFloat16, Float16 } from "./half";',
    'import { gather, scatter } from "./move";',
    'import { elements, tuples, uniform } from "./offsets";',
    'import { ADD, MAX, MIN, MUL, SUB } from "./reduction";',
    'import { deal } from "./runs";',
    'export { copy_bytes, every, run_length } from "./runs";',
  ];
  for (const dtype of Object.keys(ARITHMETIC)) {
    for (const reduction of REDUCTIONS) lines.push(combination(dtype, reduction));
  }
  for (const [bytes, type] of Object.entries(WIDTHS)) {
    lines.push(...["scatter", "gather"].map((name) => instance(name, bytes, type)));
    lines.push(instance("deal", bytes, type, "u32"));
  }
  for (const [bits, type] of Object.entries(INDICES)) {
    for (const name of ["tuples", "elements", "uniform"]) {
      lines.push(instance(name, bits, type, "u32"));
    }
  }
  return lines.join("\n");
}

/** The export of one reduction of one data type, or a second name for the code of another that does the same. */
function combination(dtype, reduction) {
  const twin = twinOf(dtype, reduction);
  if (twin !== undefined) return `export { combine_${twin} as combine_${dtype}_${reduction} };`;
  const suffix = `${dtype}_${reduction}`;
  return instance("combine", suffix, ARITHMETIC[dtype], "void", [reduction.toUpperCase()]);
}

function twinOf(dtype, reduction) {
  if (dtype === "bool" && reduction === "max") return "bool_add";
  if (dtype === "bool" && reduction === "min") return "bool_mul";
  const isOrdered = reduction === "max" || reduction === "min";
  return dtype.startsWith("uint") && !isOrdered ? `${dtype.slice(1)}_${reduction}` : undefined;
}

/** An exported function that is one instance of a generic one; constants come before its parameters. */
function instance(name, suffix, type, result = "void", constants = []) {
  const typed = PARAMETERS[name].map((one) => (one.includes(":") ? one : `${one}: usize`));
  const names = PARAMETERS[name].map((one) => one.split(":")[0]);
  const call = `${name}<${type}>(${[...constants, ...names].join(", ")})`;
  const body = result === "void" ? call : `return ${call}`;
  return `export function ${name}_${suffix}(${typed.join(", ")}): ${result} { ${body}; }`;
}

// Threads share the memory; where there is one thread, the host clears that flag of the import. 65536 pages are 4 GiB.
const FLAGS = [
  ...["--runtime", "stub", "--noAssert", "-O3", "--converge"],
  ...["--importMemory", "--noExportMemory", "--sharedMemory"],
  ...["--initialMemory", "1", "--maximumMemory", "65536"],
  ...["--enable", "simd", "--enable", "bulk-memory", "--enable", "threads"],
];

/** The compiled module. */
async function compile() {
  let binary;
  const { error, stderr } = await asc.main(["entry.ts", "--outFile", "kernels.wasm", ...FLAGS], {
    readFile: (name) => {
      if (name === "entry.ts") return entry();
      const file = path.join(ROOT, "assembly", name);
      return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : null;
    },
    writeFile: (_, contents) => void (binary = contents),
    listFiles: () => [],
  });
  if (error !== null) throw new Error(stderr.toString(), { cause: error });
  return binary;
}

const binary = await compile();
fs.mkdirSync(path.dirname(BYTES), { recursive: true });
fs.writeFileSync(
  BYTES,
  "/** The kernels of assembly/, compiled; written by scripts/kernels.js. */\n" +
    `export const KERNELS =\n  "${Buffer.from(binary).toString("base64")}";\n`,
);
console.log(`kernels: ${binary.length} bytes`);
