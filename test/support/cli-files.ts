/** The files for the tests of the command: tensors, models, and folders with links to the outside. */

import * as fs from "node:fs";
import { full, tensor, zeros } from "../../src/entries/index.ts";
import { writeModel } from "../../src/entries/onnx.ts";
import { makeFolder, type Folder } from "./cli.ts";
import {
  copyTwo,
  ELEMENTS,
  externalData,
  FAULTY,
  MADE_INDICES,
  manyGathers,
  NO_INPUTS,
  ODD_NAMES,
  TWICE,
  UNNAMED_OUTPUT,
  gatherExternal,
  hugeTensor,
  LARGE,
  NEGATIVE_IR,
  NET,
  RISKY,
  SCATTER_ADD,
  TWO,
} from "./cli-models.ts";
import { placesFile } from "./place-models.ts";

export const DATA = tensor("float32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]);
/** The result of `add.onnx` for d.npy, i.npy and u.npy. */
export const ADDED = tensor("float32", [4, 2], [1, 2, 13, 24, 5, 6, 37, 48]);

/** A float32 tensor of one NaN, by its bits, and one zero. */
const nan = (bits: number) =>
  tensor("float32", [2], new Float32Array(new Uint32Array([bits, 0]).buffer));

function saveTensors({ at, save }: Folder): void {
  save("d.npy", DATA);
  save("i.npy", tensor("int64", [2, 1], [1, 3]));
  save("u.npy", tensor("float32", [2, 2], [10, 20, 30, 40]));
  save("u.pb", tensor("float32", [2, 2], [10, 20, 30, 40]));
  save("y.npy", ADDED);
  save("wrong.npy", tensor("float32", [4, 2], [1, 2, 13, 24, 5, 6, 37.1, 0]));
  save("odd.npy", tensor("float64", [4], [NaN, -Infinity, -0, 0.1]));
  save("odd3.npy", tensor("float64", [2], [NaN, -Infinity]));
  save("nan.npy", nan(0x7fc00001));
  save("nan2.npy", nan(0x7fc00002));
  save("long.npy", tensor("int64", [3], [2n ** 63n - 1n, 0n, -1n]));
  save("big.npy", full("float32", [300, 300], 1));
  save("empty.npy", zeros("float32", [0, 300]));
  save("none2.npy", zeros("float32", [0]));
  save("line.npy", tensor("float32", [3], [1, 2, 3]));
  save("cube.npy", tensor("int32", [2, 1, 3], [1, 2, 3, 4, 5, 6]));
  save("u3.npy", tensor("float32", [3, 2], [10, 20, 30, 40, 0.5, -0]));
  save("text.pb", tensor("string", [2, 1], ["\u001b[31mred", "x".repeat(40)]));
  save(
    "complex.npy",
    tensor(
      "complex64",
      [2],
      [
        [1, 2],
        [3, 4],
      ],
    ),
  );
  save(
    "complex2.npy",
    tensor(
      "complex64",
      [2],
      [
        [1, 2],
        [3, -4],
      ],
    ),
  );
  save("one1.npy", tensor("float32", [], [1]));
  save("one2.npy", tensor("float32", [], [2]));
  save("x=y.npy", tensor("float32", [1], [9]));
  fs.writeFileSync(at("cut.npy"), fs.readFileSync(at("d.npy")).subarray(0, 140));
}

/** Indices, and an axis. */
function saveIndices({ save }: Folder): void {
  save("far.npy", tensor("int64", [2, 1], [1, 9]));
  save("i32.npy", tensor("int32", [2, 1], [1, 3]));
  save("none.npy", zeros("int64", [0, 1]));
  save("none1.npy", zeros("int64", [0]));
  save("one.npy", tensor("int64", [1], [1]));
  save("all.npy", tensor("int64", [4, 1], [0, 1, 2, 3]));
  save("i0.npy", tensor("int64", [1, 1], [0]));
  save("i1.npy", tensor("int64", [1, 1], [1]));
  save("i2.npy", tensor("int64", [2, 1], [0, -1]));
  save("pair.npy", tensor("int64", [1, 2], [1, 3]));
  save("i4.npy", tensor("int64", [2, 2], [1, 7, -1, 9]));
  save("lines.npy", tensor("int64", [3], [1, 1, 2]));
  save("twice.npy", tensor("int64", [3, 1], [1, 3, -3]));
  save("axis.npy", tensor("int64", [], [0]));
  save("both.npy", tensor("int64", [2, 1], [0, 1]));
}

function saveModels({ at }: Folder): void {
  const models = {
    add: SCATTER_ADD,
    large: LARGE,
    faulty: FAULTY,
    risky: RISKY,
    two: TWO,
    copy: copyTwo("float32"),
    "copy-text": copyTwo("string"),
    odd: ODD_NAMES,
    bare: NO_INPUTS,
    many: manyGathers(25),
    made: MADE_INDICES,
    self: TWICE,
    unnamed: UNNAMED_OUTPUT,
    elements: ELEMENTS,
  };
  for (const [name, model] of Object.entries(models)) {
    fs.writeFileSync(at(`${name}.onnx`), writeModel(model));
  }
  fs.writeFileSync(at("places.onnx"), placesFile());
  fs.writeFileSync(at("cut.onnx"), writeModel(SCATTER_ADD).subarray(0, 40));
  for (const name of ["ir.xml", "bare.xml"]) fs.writeFileSync(at(name), NEGATIVE_IR.xml);
  fs.writeFileSync(at("ir.bin"), NEGATIVE_IR.bin);
}

/** Models in `model/` with data in other files, some of them outside that folder. */
function saveExternal({ at }: Folder): void {
  fs.mkdirSync(at("model/inside"), { recursive: true });
  fs.mkdirSync(at("model-other"));
  const weights = new Uint8Array(new Float32Array([1, 2, 3]).buffer);
  for (const name of ["secret.bin", "model-other/secret.bin", "model/weights.bin"]) {
    fs.writeFileSync(at(name), weights);
  }
  fs.symlinkSync("../secret.bin", at("model/link.bin"));
  fs.symlinkSync("../model-other/secret.bin", at("model/sibling.bin"));
  fs.symlinkSync("..", at("model/out"));
  fs.symlinkSync("../weights.bin", at("model/inside/link.bin"));
  const places = {
    good: "weights.bin",
    inside: "inside/link.bin",
    link: "link.bin",
    sibling: "sibling.bin",
    out: "out/secret.bin",
    missing: "missing.bin",
    folder: "inside",
  };
  for (const [name, location] of Object.entries(places)) {
    fs.writeFileSync(at(`model/${name}.onnx`), gatherExternal(location, 4));
  }
  fs.writeFileSync(at("model/short.onnx"), gatherExternal("weights.bin", 8));
  fs.writeFileSync(at("model/dots.pb"), externalData("../secret.bin"));
  fs.writeFileSync(at("model/huge.pb"), hugeTensor("weights.bin"));
  fs.writeFileSync(at("model/good.pb"), externalData("weights.bin"));
  for (const name of ["net", "model/net", "alone", "model/leads-out"]) {
    fs.writeFileSync(at(`${name}.xml`), NET.xml);
  }
  fs.writeFileSync(at("net.bin"), NET.bin);
  fs.writeFileSync(at("model/net.bin"), NET.bin.subarray(1));
  fs.symlinkSync("../net.bin", at("model/leads-out.bin"));
  fs.writeFileSync(at("entity.xml"), `<!DOCTYPE net SYSTEM "net.bin">${NET.xml}`);
}

/** A folder with all of these files. */
export function makeCliFolder(): Folder {
  const folder = makeFolder();
  saveTensors(folder);
  saveIndices(folder);
  saveModels(folder);
  saveExternal(folder);
  return folder;
}
