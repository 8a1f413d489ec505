/**
 * Changes an array repeatedly until the process is killed: `append`, `resize` or `part`. Its log has a line when a
 * change begins, and one when it ends.
 */

import * as fs from "node:fs";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { append, openArray, resize } from "../../src/entries/zarr.ts";

/** Every row of change n has the value n, so a reader can tell which change wrote a row. */
export const COLUMNS = 5;

const [, , way, file, lines, first] = process.argv;
if (way !== undefined && file !== undefined && lines !== undefined) {
  const log = (line: string): void => fs.appendFileSync(lines, `${line}\n`);
  let array = await openArray(file);
  for (let change = Number(first); ; change++) {
    const [length] = array.shape;
    const count = 1 + (change % 7);
    const rows = way === "part" ? length : count;
    const values = tensor("int32", [rows, COLUMNS], new Int32Array(rows * COLUMNS).fill(change));
    const next =
      way === "part" ? length : way === "append" ? length + count : (length + count) % 23;
    log(`begin ${change} ${length} ${next}`);
    if (way === "append") array = await append(array, values);
    else if (way === "resize") array = await resize(array, [next, COLUMNS]);
    else await array.slice([0, length]).write(values);
    log(`end ${change}`);
  }
}
