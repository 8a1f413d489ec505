/**
 * ONNX Runtime and models of npm packages, for comparisons in tests. The package `test/nightly/onnxruntime` contains
 * them and is installed separately: `npm ci --prefix test/nightly/onnxruntime --ignore-scripts`.
 */

import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { ROOT } from "./root.ts";

const folder = path.join(ROOT, "test/nightly/onnxruntime");
const here = createRequire(path.join(folder, "package.json"));

/** The part of onnxruntime-node that the tests use. */
interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: Uint8Array, options: object): Promise<Session>;
  };
  readonly Tensor: new (type: string, data: ArrayLike<unknown>, dims: readonly number[]) => Value;
}

interface Session {
  run(feeds: Readonly<Record<string, Value>>): Promise<Readonly<Record<string, Value>>>;
  release(): Promise<void>;
}

export interface Value {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: ArrayLike<unknown> & ArrayBufferView;
}

/** The folder of the installed packages. */
export const MODULES = path.join(folder, "node_modules");

export const IS_INSTALLED = fs.existsSync(path.join(MODULES, "onnxruntime-node"));

/** The reason to skip a test; false for none. */
export const WITHOUT_RUNTIME = IS_INSTALLED ? false : "test/nightly/onnxruntime is not installed";

const runtime = (): OnnxRuntime => here("onnxruntime-node") as OnnxRuntime;

/** A file of an installed package. */
export const packageFile = (name: string): Uint8Array => fs.readFileSync(path.join(MODULES, name));

export const makeValue = (type: DType, data: ArrayLike<unknown>, dims: readonly number[]): Value =>
  new (runtime().Tensor)(type, data, dims);

/** One thread and no optimizer, so that only the nodes determine the bits. */
const PLAIN = {
  graphOptimizationLevel: "disabled",
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  logSeverityLevel: 4,
};

/** Makes sessions for the package's functions that take a runtime. */
export const createSession = (model: Uint8Array): Promise<Session> => makeSession(model, {});

/** A session with other options than {@link PLAIN}. */
export const makeSession = (model: Uint8Array, options: object): Promise<Session> =>
  runtime().InferenceSession.create(model, { ...PLAIN, ...options });

/** Runs a model once. */
export async function runSession(
  model: Uint8Array,
  feeds: Readonly<Record<string, Value>>,
): Promise<Readonly<Record<string, Value>>> {
  const session = await createSession(model);
  try {
    return await session.run(feeds);
  } finally {
    await session.release();
  }
}

/** The bytes of a value with its type and dimensions, as one text. */
export function printValue({ type, dims, data }: Value): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return `${type}[${dims.join(", ")}] ${bytes.toString("hex")}`;
}
