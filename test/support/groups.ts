/** Groups of Zarr, as other programs write them. */

import * as fs from "node:fs";
import * as path from "node:path";

type Attributes = Readonly<Record<string, unknown>>;

const textOf = (attributes: Attributes): string =>
  JSON.stringify({ zarr_format: 3, node_type: "group", attributes });

/** The metadata of a group of Zarr v3. */
export const groupMetadata = (attributes: Attributes = {}): Uint8Array =>
  new TextEncoder().encode(textOf(attributes));

/** Writes an empty group of Zarr v3. */
export function writeGroup(place: string, attributes: Attributes = {}): void {
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(path.join(place, "zarr.json"), textOf(attributes));
}

/** Writes the metadata of all members into that of a group, as zarr-python does. */
export function consolidate(place: string): void {
  const read = (file: string): object =>
    JSON.parse(fs.readFileSync(path.join(place, file), "utf8")) as object;
  const files = (fs.readdirSync(place, { recursive: true }) as string[])
    .filter((file) => /(?:^|[\\/])(?:zarr\.json|\.z(?:array|group|attrs))$/.test(file))
    .map((file) => [file.replaceAll("\\", "/"), read(file)] as const);
  if (fs.existsSync(path.join(place, ".zgroup"))) {
    const list = { zarr_consolidated_format: 1, metadata: Object.fromEntries(files) };
    fs.writeFileSync(path.join(place, ".zmetadata"), JSON.stringify(list));
    return;
  }
  const members = files.filter(([file]) => file !== "zarr.json");
  const metadata = Object.fromEntries(
    members.map(([file, json]) => [file.replace(/\/zarr\.json$/, ""), json]),
  );
  const list = { kind: "inline", must_understand: false, metadata };
  const own = { ...read("zarr.json"), consolidated_metadata: list };
  fs.writeFileSync(path.join(place, "zarr.json"), JSON.stringify(own));
}
