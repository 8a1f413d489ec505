/** Runs the programs that the page writes in Python. `PYTHON=/path/to/python` names another Python. */

import { execFileSync } from "node:child_process";
import { DTYPES, run, tensor, type DType, type Tensor } from "ndscatter";
import { resolve } from "ndscatter/operators";
import { readState } from "../../src/document/read-state.ts";
import type { State } from "../../src/values/state.ts";
import { elementsOf } from "../../src/values/tensor-text.ts";

export const PYTHON = process.env["PYTHON"] ?? "/usr/bin/python3";

/** Checks whether Python is there, with a package. */
export function has(name: string): boolean {
  try {
    execFileSync(PYTHON, ["-c", `import ${name}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What a program printed: an array's shape with its bits or texts, or the error that it raised. */
export interface Result {
  readonly shape: readonly number[];
  readonly bits?: string;
  readonly text?: readonly string[];
  readonly error?: string;
}

export interface Program {
  readonly name: string;
  readonly code: string;
  /** The variable that holds the output. */
  readonly output: string;
}

export const programOf = (name: string, state: State, code: string): Program => ({
  ...{ name, code },
  output: resolve(state).outputs[0].name,
});

/** Runs each program of a list on its own. Tensors of PyTorch become arrays; NumPy has no bfloat16. */
const RUN_ALL = `
import json, sys
import numpy as np
np.seterr(all="ignore")
def held(output):
    array = output.detach() if hasattr(output, "detach") else output
    if "torch.bfloat16" in str(getattr(array, "dtype", "")):
        array = array.float()
    array = np.asarray(array)
    is_text = array.dtype.kind in "OU"
    return {"shape": array.shape, **({"text": array.ravel().tolist()} if is_text else {"bits": array.tobytes().hex()})}
results = []
for one in json.load(sys.stdin):
    scope = {"print": lambda *text: None}
    try:
        exec(compile(one["code"], one["name"], "exec"), scope)
        results.append(held(scope[one["output"]]))
    except Exception as error:
        results.append({"error": str(error)[:300]})
print(json.dumps(results))
`;

export const runAll = (programs: readonly Program[]): readonly Result[] =>
  JSON.parse(python(RUN_ALL, programs));

/** Runs Python code with JSON as its input, and returns what it prints. */
export const python = (code: string, input: unknown): string =>
  execFileSync(PYTHON, ["-c", code], {
    input: JSON.stringify(input),
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    stdio: ["pipe", "pipe", "pipe"],
  });

/** The output of a program as a tensor; what went wrong as a sentence. */
export function tensorIn({ shape, bits, text, error }: Result, dtype: DType): Tensor | string {
  if (error !== undefined) return error;
  if (text !== undefined) return tensor("string", shape, text);
  const bytes = Uint8Array.from(Buffer.from(bits ?? "", "hex"));
  const held = dtype === "bfloat16" ? "float32" : dtype;
  const storage = DTYPES[held as Exclude<DType, "string">].storage;
  return tensor(held, shape, new storage(bytes.buffer)) as Tensor;
}

/** Where the output differs in a single bit, as a sentence; null if it does not. */
export function difference(state: State, result: Result): string | null {
  const { node, inputs } = readState(state);
  const [wanted] = run(node, inputs);
  const got = tensorIn(result, wanted.dtype);
  if (typeof got === "string") return got;
  if (String(got.shape) !== String(wanted.shape)) return `shape ${got.shape}, not ${wanted.shape}`;
  const [some, others] = [got, wanted].map((one) => elementsOf(one).flat());
  const at = some.findIndex((value, p) => !Object.is(value, others[p]));
  return at === -1 ? null : `element ${at} is ${String(some[at])}, not ${String(others[at])}`;
}
