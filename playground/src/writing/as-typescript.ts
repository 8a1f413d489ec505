/** Exports a state as an ndscatter program, which runs the operator version that the state names. */

import { DTYPES, type Scalar, type Tensor } from "ndscatter";
import { printScalar } from "ndscatter/operators";
import { writableCall, camelCase, oneLine, printNested } from "./source-text.ts";
import type { State } from "../values/state.ts";
import { elementsOf } from "../values/tensor-text.ts";

export function asTypeScript(state: State): string {
  const call = writableCall(state, "//");
  if (typeof call === "string") return call;
  const { version, node, inputs, refusal } = call;
  const names = version.inputs.map(({ name }) => camelCase(name));
  const made = inputs.flatMap((input, position) =>
    input === undefined ? [] : [`const ${names[position]} = ${tensorLiteral(input)};`],
  );
  const passed = names.map((name, position) =>
    inputs[position] === undefined ? "undefined" : name,
  );
  while (passed[passed.length - 1] === "undefined") passed.pop();
  const output = camelCase(version.outputs[0].name);
  const attributes = Object.entries(node.attributes ?? {}).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  );
  const settings = [
    ...(version.domain === "ai.onnx" ? [] : [`domain: ${JSON.stringify(version.domain)}`]),
    `op: ${JSON.stringify(version.name)}`,
    `opset: ${version.sinceVersion}`,
    ...(attributes.length === 0 ? [] : [`attributes: { ${attributes.join(", ")} }`]),
  ];
  return [
    'import { run, tensor } from "ndscatter";',
    "",
    ...made,
    "",
    ...(refusal === null ? [] : [`// It throws: ${oneLine(refusal)}`]),
    `const node = { ${settings.join(", ")} };`,
    `const [${output}] = run(node, [${passed.join(", ")}]);`,
    `console.log(${output});`,
    "",
  ].join("\n");
}

function tensorLiteral(input: Tensor): string {
  const { dtype, shape } = input;
  const words = elementsOf(input).map((value) => printLiteral(input, value));
  const values = printNested(shape, words);
  return `tensor("${dtype}", [${shape.join(", ")}], ${values})`;
}

/** Prints an element as a JavaScript literal; an unsafe integer becomes a bigint. */
function printLiteral({ dtype }: Tensor, value: Scalar): string {
  const text = printScalar(dtype, value);
  const isLong = DTYPES[dtype].family === "int64" && !Number.isSafeInteger(Number(value));
  return isLong ? `${text}n` : text;
}
