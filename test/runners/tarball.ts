/** The packed package, installed in an empty folder, and a program that uses it there. */

import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { ROOT } from "../support/root.ts";

const PROGRAM = `
import { createEngine, gatherND, isTensorError, scatterND, tensor } from "ndscatter";
import { readNpy, writeNpy } from "ndscatter/npy";
import { readTensor, writeTensor } from "ndscatter/onnx";
import { readIR } from "ndscatter/openvino";

const data = tensor("float32", [4], [1, 2, 3, 4]);
const sums = scatterND(data, [[2], [2], [0]], [9, 0.5, -1], { reduction: "add" });
const [npy] = [readNpy(writeNpy(sums))].flat();
const onnx = readTensor(writeTensor(npy));
const large = createEngine({ threads: 2 });
const indices = large.alloc("int64", [100_000, 1]);
indices.data.forEach((_, p) => (indices.data[p] = BigInt(p % 1000)));
const ones = large.alloc("int32", [100_000]);
ones.data.fill(1);
const counts = large.scatterND(large.alloc("int32", [1000]), indices, ones, { reduction: "add" });
const isEven = counts.data.every((count) => count === 100);
large.dispose();
let code = "";
try {
  gatherND(data, [[4]]);
} catch (error) {
  code = isTensorError(error) ? error.code : String(error);
}
const ir = '<net name="n" version="11"><layers></layers><edges></edges></net>';
console.log(JSON.stringify([onnx.toArray(), isEven, code, readIR(ir).graph.nodes.length]));
`;

/** Output of the program. */
export const PRINTED = '[[0,2,12.5,4],true,"index-out-of-range",0]\n';

/** Packs the package, and installs it with the program in a folder, which is empty. @returns the path of the program */
export function installTarball(folder: string): string {
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const tarball = npm(["pack", "--silent", "--pack-destination", folder], ROOT).trim();
  fs.writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  npm(["install", "--prefer-offline", "--no-audit", "--no-fund", `./${tarball}`], folder);
  const program = path.join(folder, "use.js");
  fs.writeFileSync(program, PROGRAM);
  return program;
}
