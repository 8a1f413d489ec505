/** results.json: one line per row, and per point of the curve, so that a change is a changed line. */

import fs from "node:fs";

/** @param {string} file @param {object} record */
export function writeRecord(file, record) {
  const entries = Object.entries(record).map(([key, value]) => {
    const isList = Array.isArray(value) && value.length > 0;
    const text = isList
      ? `[\n${value.map((item) => `    ${JSON.stringify(item)}`).join(",\n")}\n  ]`
      : JSON.stringify(value);
    return `  ${JSON.stringify(key)}: ${text}`;
  });
  fs.writeFileSync(file, `{\n${entries.join(",\n")}\n}\n`);
}

/** @throws {Error} if the file cannot be read, or is not such a record */
export function readRecord(file) {
  const record = JSON.parse(fs.readFileSync(file, "utf8"));
  if (record?.machine === undefined) throw new Error(`${file} is no result of the benchmark`);
  return record;
}
