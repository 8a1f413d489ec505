import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = fs.readFileSync(path.join(root, "README.md"), "utf8");

test("the table of operators is the registry's", async () => {
  const { renewed }: { renewed: () => string } = await import(path.join(root, "scripts/readme.js"));
  assert.equal(readme, renewed(), "run node scripts/readme.js");
});

test("the example of the library prints what it says", async () => {
  const [, example] = /```ts\n(import \{ gatherND[^]*?)```/.exec(readme) ?? [];
  assert.ok(example);
  const printed: string[] = [];
  const file = path.join(root, "build", "readme-example.mjs");
  fs.writeFileSync(file, example.replaceAll("console.log", "globalThis.readmeLog"));
  Object.assign(globalThis, {
    readmeLog: (value: unknown) =>
      printed.push(Array.isArray(value) ? JSON.stringify(value) : String(value)),
  });
  await import(file);
  assert.match(printed[0], /\[ 8\., 10\., 12\.\]/);
  assert.equal(printed[1], "[12,4]");
});

test("what it shows of explain is what is told", async () => {
  const { explain, tensor, zeros } = await import("../src/index.ts");
  const inputs = [
    zeros("float32", [4, 3]),
    tensor("int64", [3, 1], [1, 3, 1]),
    zeros("float32", [3, 3]),
  ];
  const { shapes } = explain({ op: "ScatterND", opset: 18 }, inputs);
  assert.ok(readme.includes(`console.log(shapes[0].sentence); // ${shapes[0].sentence}\n`));
});

test("the error it shows is the error that is thrown", async () => {
  const { isTensorError, run, zeros, tensor } = await import("../src/index.ts");
  const inputs = [
    zeros("float32", [8, 3]),
    tensor("int64", [3, 1], [0, 1, 9]),
    zeros("float32", [3, 3]),
  ];
  assert.throws(
    () => run({ op: "ScatterND", opset: 16 }, inputs),
    (error) => isTensorError(error) && readme.includes(`TensorError: ${error.message}\n`),
  );
});
