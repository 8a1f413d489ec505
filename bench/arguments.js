/** The command line of the benchmark. */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { KINDS, QUICK_ELEMENTS, QUICK_SIZES, SIZES, SLICES } from "./curve.js";
import { readRecord } from "./record.js";
import { WORKLOADS } from "./workloads.js";

export const HELP = `npm run bench -- [options], or without building: node bench/main.js [options]

  --quick           about 3 minutes: 5 samples, the peers onnxruntime-node and
                    tfjs, half of the curve, and neither cpp, memory nor the
                    mode undisposed
  --only TEXT       only rows whose name contains TEXT; may be repeated
  --peers A,B       only peers whose name starts with A or B, or "none"   (all)
  --parts A,B       only these of times, curve, first, cpp, native,
                    scaling, memory                                       (all)
  --curve           the same as --parts curve,first
  --sizes A,B       numbers of updates of the curve           (1, 4, 16 ... 10^7)
  --slices A,B      its elements an update                            (1,16,128)
  --kinds A,B       its operations                             (none,add,gather)
  --samples N       samples of each contestant of a row                   (15)
  --scale X         shrinks the first axes, for a trial: --scale 0.01     (1)
  --python FILE     Python with onnx, onnxruntime and openvino, for the part
                    native                                          (python3)
  --kind KIND       engine for heap tensors: auto, js or wasm             (auto)
  --processes N     processes of C++ and of the library in the part cpp   (5)
  --compare FILE    also says what changed since the run of FILE, for example
                    an earlier results.json
  --from FILE       measures nothing: prints and compares what is in FILE
  --publish         draws docs/curve.svg and writes the table of docs/performance.md, as
                    a full run does
  --out FILE        where the results go: bench/results.json for a full
                    run, bench/results.partial.json for any other
  --help

What a call costs beside hand-written JavaScript, in 20 seconds, from dist/:
  node bench/main.js --curve --peers none --sizes 4,64,256,4096 --slices 1
`;

const PARTS = ["times", "curve", "first", "cpp", "native", "scaling", "memory"];
/**
 * The parts of a quick run; parts that start processes for each row are left out, because that takes longer than the
 * samples.
 */
const QUICK_PARTS = ["times", "curve", "first", "scaling"];
/** The best peer of nearly every row is one of these. */
const QUICK_PEERS = "onnxruntime-node,tfjs";
/** Milliseconds: see Pace. */
const QUICK = { sample: 2, warmUp: 15, brief: true };

/** Null for --help. Ends the process with status 2 if an argument is wrong. */
export function readArguments() {
  const string = (/** @type {string | undefined} */ value) => ({ type: "string", default: value });
  const flag = { type: "boolean", default: false };
  const { values } = parseArgs({
    options: {
      quick: flag,
      only: { type: "string", multiple: true },
      peers: { type: "string" },
      parts: { type: "string" },
      curve: flag,
      sizes: { type: "string" },
      slices: { type: "string" },
      kinds: { type: "string" },
      samples: { type: "string" },
      scale: string("1"),
      python: string("python3"),
      kind: string("auto"),
      processes: { type: "string" },
      compare: { type: "string" },
      from: { type: "string" },
      publish: flag,
      out: { type: "string" },
      help: flag,
    },
  });
  if (values.help) return null;
  const { quick, kind, only = [""] } = values;
  const positive = (name, value) => {
    const number = Number(value);
    if (number > 0 && (name === "scale" || Number.isInteger(number))) return number;
    return fail(`--${name} must be a positive number, got ${value}`);
  };
  const rows = WORKLOADS.filter(({ name }) => only.some((text) => name.includes(text)));
  if (rows.length === 0) fail(`no row has ${only.join(" or ")} in its name`);
  const parts = oneOf(
    "parts",
    values.parts ?? (values.curve ? "curve,first" : (quick ? QUICK_PARTS : PARTS).join()),
    PARTS,
  );
  const scale = positive("scale", values.scale);
  const numbers = (name) => values[name]?.split(",").map((text) => positive(name, text));
  const curve = {
    sizes: (numbers("sizes") ?? (quick ? QUICK_SIZES : SIZES)).filter(
      (size) => size <= 1e7 * scale || size <= 1024,
    ),
    slices: numbers("slices") ?? SLICES,
    most: quick ? QUICK_ELEMENTS : undefined,
    kinds: oneOf("kinds", values.kinds ?? KINDS.join(), KINDS),
  };
  const limits = ["from", "only", "peers", "parts", "curve", "sizes", "slices", "kinds"];
  const recordOf = (name) => (values[name] === undefined ? null : read(values[name]));
  const isFull = scale === 1 && !quick && !limits.some((name) => values[name]);
  const from = recordOf("from");
  // Older files can be compared with, but they lack values that the report prints.
  if (from !== null && from.curve === undefined) fail(`${values.from} is of an older benchmark`);
  const file = isFull ? "results.json" : "results.partial.json";
  return {
    rows,
    parts,
    curve,
    scale,
    kind,
    python: values.python,
    peers: (values.peers ?? (quick ? QUICK_PEERS : undefined))?.split(","),
    pace: {
      ...(quick ? QUICK : {}),
      samples: positive("samples", values.samples ?? (quick ? 5 : 15)),
    },
    processes: positive("processes", values.processes ?? (quick ? 2 : 5)),
    before: recordOf("compare"),
    from,
    publishes: values.publish || isFull,
    out: values.out ?? beside(file),
  };
}

const beside = (file) => fileURLToPath(new URL(file, import.meta.url));

function read(file) {
  try {
    return readRecord(file);
  } catch (error) {
    return fail(error.message);
  }
}

function oneOf(name, text, known) {
  const list = text.split(",");
  const odd = list.find((part) => !known.includes(part));
  if (odd !== undefined) fail(`--${name} takes ${known.join(", ")}, not ${odd}`);
  return list;
}

/** @returns {never} */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
