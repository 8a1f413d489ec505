/** `npm start`: runs the example models on the example tensors, and prints every input, operator and output. */

import fs from "node:fs";
import { readNpy } from "ndscatter/npy";
import { readModel, runModel } from "ndscatter/onnx";

const EXAMPLES = [
  {
    name: "kv-cache",
    story: "Append the key of one token to each head of a KV cache, at position 3.",
  },
  {
    name: "graph-sum",
    story: "Sum the messages along the edges of a graph into the nodes that the edges point to.",
  },
  { name: "batched-lookup", story: "Look up rows in the table of each batch; -1 is the last row." },
];

for (const { name, story } of EXAMPLES) {
  const model = readModel(read(`${name}.onnx`));
  const [{ op, attributes }] = model.graph.nodes;
  const settings = Object.entries(attributes).map(([key, { value }]) => ` ${key}=${value}`);
  const inputs = Object.fromEntries(
    model.graph.inputs.map((input) => [input.name, readNpy(read(`${name}.${input.name}.npy`))]),
  );
  console.log(`\n${name}.onnx: ${story}`);
  for (const [input, value] of Object.entries(inputs)) show(`read ${name}.${input}.npy`, value);
  console.log(`  run  ${op}${settings.join("")}, opset ${model.opsets["ai.onnx"]}`);
  for (const [output, value] of Object.entries(runModel(model, inputs)))
    show(`made ${output}`, value);
}

const args = ["cache", "where", "key"].map((input) => `${input}=examples/kv-cache.${input}.npy`);
console.log(`
The same from the command line:
  node dist/cli/main.js run examples/kv-cache.onnx ${args.join(" ")}`);

function read(name) {
  return fs.readFileSync(new URL(name, import.meta.url));
}

function show(title, value) {
  console.log(`  ${title}\n${String(value).replace(/^(?=.)/gm, "    ")}`);
}
