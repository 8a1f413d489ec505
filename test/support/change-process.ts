/** Writes a part of an array repeatedly until the process is killed. Its log says when a change begins and ends. */

import * as fs from "node:fs";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { openArray } from "../../src/entries/zarr.ts";

/** Every element of change n has the value n, so a reader can tell which change wrote it. */
export const COLUMNS = 5;

const [, , file, lines, first] = process.argv;
if (file !== undefined && lines !== undefined) {
  const log = (line: string): void => fs.appendFileSync(lines, `${line}\n`);
  const array = await openArray(file);
  const [rows] = array.shape;
  for (let change = Number(first); ; change++) {
    const values = tensor("int32", [rows, COLUMNS], new Int32Array(rows * COLUMNS).fill(change));
    log(`begin ${change}`);
    await array.slice([0, rows]).write(values);
    log(`end ${change}`);
  }
}
