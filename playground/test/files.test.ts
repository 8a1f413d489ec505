/** Files that the page takes, and what it gives: code, pictures and links. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tensor } from "ndscatter";
import { writeNpy } from "ndscatter/npy";
import { buildModel, readModel, writeTensor } from "ndscatter/onnx";
import { writeIR } from "ndscatter/openvino";
import { asNumPy } from "../src/writing/as-numpy.ts";
import { asPyTorch } from "../src/writing/as-pytorch.ts";
import { asTypeScript } from "../src/writing/as-typescript.ts";
import { fromHash } from "../src/document/hash.ts";
import { drop } from "./support/drop.ts";
import { cellsOf, loaded, REPOSITORY, SUM, useSite } from "./support/page.ts";

const site = useSite();

test("a .npy file that is dropped on an input becomes that input", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const updates = tensor("float32", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await drop(page, '[data-tensor="2"]', [{ name: "updates.npy", bytes: writeNpy(updates) }]);
  await page.waitForFunction(
    () => document.querySelector("#cell-2-8")?.firstChild?.textContent === "9",
  );
  const expected = [0, 0, 0, 9, 11, 13, 2, 2, 2, 7, 8, 9];
  assert.deepEqual(await cellsOf(page, "output"), expected.map(String));
});

test("a .pb file that is dropped beside the inputs asks which one it is for", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const data = tensor(
    "float32",
    [4, 3],
    Array.from({ length: 12 }, () => 100),
  );
  await drop(page, "h1", [{ name: "tensor.pb", bytes: writeTensor(data) }]);
  const dialog = page.locator("dialog[open]");
  await loaded(page);
  assert.match(await dialog.innerText(), /float32 \[4, 3\] is for/);
  await dialog.getByRole("button", { name: "data", exact: true }).click();
  const expected = [100, 100, 100, 180, 200, 220, 100, 100, 100, 140, 150, 160];
  assert.deepEqual(await cellsOf(page, "output"), expected.map(String));
});

test("a node of an .onnx model, and of an .xml with its .bin, is shown", async () => {
  const bytes = fs.readFileSync(path.join(REPOSITORY, "examples/graph-sum.onnx"));
  const node = readModel(bytes).graph.nodes.find(({ op }) => op.startsWith("Scatter"));
  await using opened = await site.open(SUM);
  const { page } = opened;
  const isShown = (operator: string) =>
    page.waitForFunction(
      (name) => document.querySelector<HTMLSelectElement>(".sentence .operator")?.value === name,
      operator,
    );
  await drop(page, "body", [{ name: "graph-sum.onnx", bytes }]);
  await isShown(`ai.onnx/${node?.op}`);
  const names = ["data", "indices", "updates"];
  const { xml, bin } = writeIR(
    buildModel({
      irVersion: 11,
      opsets: { openvino: 4 },
      outputs: { y: { dtype: "float32", shape: [4] } },
      constants: {
        data: tensor("float32", [4], [1, 2, 3, 4]),
        indices: tensor("int64", [2, 1], [0, -1]),
        updates: tensor("float32", [2], [8, 9]),
      },
      nodes: [{ op: "ScatterNDUpdate", domain: "openvino", inputs: names, outputs: ["y"] }],
    }),
  );
  await drop(page, "body", [
    { name: "one.xml", bytes: new TextEncoder().encode(xml) },
    { name: "one.bin", bytes: bin },
  ]);
  await isShown("openvino/ScatterNDUpdate");
  assert.deepEqual(await cellsOf(page, 0), ["1", "2", "3", "4"]);
});

test("a file that cannot be read is refused, and changes nothing", async () => {
  const broken = writeNpy(tensor("float32", [4, 3], Array(12).fill(1))).slice(0, 90);
  const files = [
    { name: "picture.gif", bytes: new Uint8Array(9), says: /must end in one of/ },
    { name: "broken.npy", bytes: broken, says: /NPY|shape|bytes/ },
    { name: "empty.onnx", bytes: new Uint8Array(0), says: /./ },
    { name: "noise.xml", bytes: new TextEncoder().encode("<a><b>"), says: /./ },
  ];
  await using opened = await site.open(SUM);
  const { page } = opened;
  const before = await cellsOf(page, "output");
  const said = page.locator(".said");
  for (const { name, bytes, says } of files) {
    const last = await said.innerText();
    await drop(page, '[data-tensor="0"]', [{ name, bytes }]);
    await page.waitForFunction(
      (text) => document.querySelector<HTMLElement>(".said")?.innerText !== text,
      last,
    );
    assert.match(await said.innerText(), says);
    assert.deepEqual(await cellsOf(page, "output"), before);
  }
});

test("the call is given as code and as a link", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  const found = fromHash(SUM);
  assert.ok("state" in found);
  const { state } = found;
  await page.getByRole("button", { name: "Share" }).click();
  const code = page.locator("dialog[open] textarea");
  const kinds = {
    TypeScript: asTypeScript(state),
    NumPy: asNumPy(state),
    PyTorch: asPyTorch(state),
  };
  for (const [name, text] of Object.entries(kinds)) {
    await page.getByRole("button", { name, exact: true }).click();
    assert.equal(await code.inputValue(), text);
  }
  await page.getByRole("button", { name: "Link", exact: true }).click();
  assert.equal(new URL(await code.inputValue()).hash, `#${SUM}`);
});

test("the picture is saved as SVG and as PNG", async () => {
  await using opened = await site.open(SUM);
  const { page } = opened;
  await page.getByRole("button", { name: "Share" }).click();
  const save = async (name: string): Promise<Buffer> => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name }).click(),
    ]);
    assert.match(file.suggestedFilename(), /^ScatterND-18\.(svg|png)$/);
    return fs.readFileSync(await file.path());
  };
  const svg = (await save("Save as SVG")).toString();
  assert.match(svg, /^<svg /);
  for (const value of ["81", "101", "121", "43"]) assert.ok(svg.includes(`>${value}<`), value);
  const png = await save("Save as PNG");
  assert.deepEqual([...png.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const width = Number(/width="([\d.]+)"/.exec(svg)?.[1]);
  assert.equal(png.readUInt32BE(16), 2 * Math.round(width));
});
