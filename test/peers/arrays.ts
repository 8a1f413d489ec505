/** Compares Zarr arrays with other implementations: reading, writing, and changing their arrays in place. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import * as zlib from "node:zlib";
import { isTensorError, messageOf } from "../../src/core/errors.ts";
import { DTYPES, type DType } from "../../src/core/tensor/dtype.ts";
import { full, tensor, zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { scatterChunked } from "../../src/entries/chunked.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray, openArray, type Codec, type ZarrArray } from "../../src/entries/zarr.ts";
import { boxOf, replaceBox } from "../support/boxes.ts";
import { randomFrom, seedOf, type Random } from "../support/random.ts";
import { ROOT } from "../support/root.ts";
import * as cases from "./array-cases.ts";
import { elementsOf, type ArrayCase, type Box } from "./array-cases.ts";
import * as files from "./array-files.ts";
import { ACCEPTED, ROWS, type Row } from "./array-peers.ts";
import { environment } from "./environments.ts";
import { isError, Peer, type Answer } from "./peer.ts";
import type { Part, Tally } from "./tally.ts";
import { toWire, type WireTensor } from "./tensors.ts";
import { askZarrita } from "./zarrita-peer.ts";

/** Cases of each format and data type that a peer writes, and of each type that it reads, at a factor of 1. */
const DRAWS = 12;

const ATTRIBUTES = '{"unit": "m/s", "scale": [0.5, -7, null, true], "nested": {"ü😀": ""}}';
/** Attributes in an unusual notation, and a field that readers may ignore. */
const ODD = '{"a": 2.0, "b" :[1e2, 18446744073709551616], "c": "m\\/s"}';
const SPARE = '"spare": {"must_understand": false, "name": "spare"}';

/** A case, the peer that is asked, and the folder. */
interface Trial {
  readonly row: Row;
  readonly item: ArrayCase;
  readonly ask: files.Ask;
  readonly tally: Tally;
  readonly folder: string;
  readonly random: Random;
}

function tensorOf(dtype: DType, shape: readonly number[], bytes: ArrayLike<number>): Tensor {
  const values = zeros(dtype, shape);
  elementsOf(values).set(bytes);
  return values;
}

const partOf = ({ dtype, shape, values }: ArrayCase, [start, box]: Box) =>
  tensorOf(dtype, box, boxOf(elementsOf(values), shape, start, box, DTYPES[dtype].bytes));

const filled = (fill: Uint8Array, size: number): Uint8Array =>
  Uint8Array.from({ length: size * fill.length }, (_, at) => fill[at % fill.length]);

/** Fill values, and the boxes that are written. */
function expectedOf(item: ArrayCase, fill: Uint8Array): Tensor {
  const { dtype, shape, values, boxes } = item;
  const bytes = filled(fill, values.size);
  for (const box of boxes) {
    replaceBox(bytes, shape, ...box, elementsOf(partOf(item, box)), fill.length);
  }
  return tensorOf(dtype, shape, bytes);
}

function differ({ row, item, tally }: Trial, step: string, word: string, one: readonly string[]) {
  const { format, dtype, codecs, facets, fill, boxes, metadata } = item;
  const [first, ...after]: readonly Codec[] = codecs.filter(
    ({ name }) => !/transpose|bytes/.test(name),
  );
  const words = [
    dtype.startsWith("complex") && codecs.some(cases.isBig) && "big-endian complex",
    (after.some(({ name }) => name === "blosc") || first?.configuration?.typesize === 3) &&
      "blosc of odd elements",
  ];
  const kind = dtype === "float8e8m0" ? dtype : fill.kind;
  const [expected, got] = one;
  const reason = got.replaceAll(/\d+/g, "#").slice(0, 60).trim();
  const isValues = !word.endsWith("refuse");
  tally.differ({
    peer: row.peer,
    facts: {
      ...{ step, word, format: `Zarr ${format}`, codecs: words.filter(Boolean).join(", ") },
      ...(isValues || kind === dtype ? { fill: kind } : { reason }),
    },
    what: [...facets, JSON.stringify(boxes), metadata.replaceAll(/\s+/g, " ")].join(", "),
    ...{ expected, got },
  });
  return false;
}

/** Compares what somebody reads with the values, bit for bit. */
function isSame(trial: Trial, step: string, who: string, got: Answer<WireTensor>, values: Tensor) {
  if (isError(got)) return differ(trial, step, `${who} refuse`, ["values", got.error]);
  const data = Buffer.from(String(got.data), "base64");
  const bytes = elementsOf(values);
  if (String(got.shape) === String(values.shape) && data.equals(bytes)) return true;
  const print = (all: Uint8Array): string => Buffer.from(all).toString("hex").slice(0, 120);
  return differ(trial, step, `${who} read other values`, [print(bytes), print(data)]);
}

const readBack = ({ ask, row, item }: Trial, place: string, format = item.format) =>
  ask({ do: "read", via: row.peer, format, path: place });

/** The peer writes an array, which is read here, changed in place, and copied with its codecs. */
async function theirs(trial: Trial): Promise<boolean> {
  const { row, item, ask, folder, random } = trial;
  const { format, boxes, fill, values } = item;
  const place = path.join(folder, "theirs.zarr");
  const isOdd = random(2) === 0;
  const made = await ask({
    ...{ do: "create", via: row.peer, format, path: place, boxes, empty: random(2) === 0 },
    metadata: item.metadata.replace('"@attributes"', isOdd ? "{}" : ATTRIBUTES),
    data: toWire(values).data,
  });
  const expected = expectedOf(item, fill.bytes);
  if (!isSame(trial, "create", "they", made, expected)) return false;
  if (isOdd) addOddities(place, format, row.program === "zarr_peer");
  const array = (await openArray(place)) as ZarrArray;
  if (!isSame(trial, "read", "we", toWire(await array.read()), expected)) return false;
  try {
    array.checkWritable();
  } catch (error) {
    return isTensorError(error, "attribute") || Promise.reject(error);
  }
  if (!(await change(trial, array, expected))) return false;
  if (random(3) > 0) return true;
  const copy = path.join(folder, "copy.zarr");
  const copied = await createArray(copy, { like: array, shape: values.shape });
  await copied.write(expected);
  return isSame(trial, "copy", "they", await readBack(trial, copy, 3), expected);
}

/** Changes an array that the peer wrote, and compares what the peer then reads, and every byte of the metadata. */
async function change(trial: Trial, array: ZarrArray, before: Tensor): Promise<boolean> {
  const { row, folder, random } = trial;
  const { dtype, shape, size } = before;
  const { bytes: width } = DTYPES[dtype];
  const place = array.location.path;
  const canScatter = size > 0 && shape.length > 0;
  const kind = cases.one(canScatter ? ["write", "scatter"] : ["write"], random);
  const [start, box] = cases.boxIn(shape, random);
  const part = kind === "write" ? box : shape.with(0, 1 + random(shape[0]));
  const own = cases.valuesOf(dtype, part, row.able, random);
  const old = metadataOf(place);
  const after = tensorOf(dtype, shape, elementsOf(before));
  const first = random(shape[0] - part[0] + 1);
  const at = kind === "write" ? start : shape.map((_, axis) => (axis === 0 ? first : 0));
  replaceBox(elementsOf(after), shape, at, part, elementsOf(own), width);
  if (kind === "write") await array.write(own, start);
  else await scatterRows(array, first, own, folder);
  const now = metadataOf(place);
  if (old !== now) return differ(trial, kind, "other metadata", [old, now]);
  return isSame(trial, kind, "they", await readBack(trial, place), after);
}

/** The peer reads an array that is written here. */
async function ours(trial: Trial): Promise<boolean> {
  const { dtype, shape, chunkShape, inner, codecs, boxes, fill } = trial.item;
  const place = path.join(trial.folder, "ours.zarr");
  const fillValue = tensorOf(dtype, [], fill.bytes).toArray() as never;
  const array = await createArray(place, {
    ...{ dtype, shape, chunkShape: inner ?? chunkShape, codecs, fillValue },
    ...{ shards: inner === null ? null : chunkShape, attributes: JSON.parse(ATTRIBUTES) },
  });
  for (const box of boxes) await array.write(partOf(trial.item, box), box[0]);
  const expected = expectedOf(trial.item, elementsOf(full(dtype, [1], fillValue)));
  return isSame(trial, "ours", "they", await readBack(trial, place), expected);
}

/** The text of all metadata files of an array. */
const metadataOf = (place: string): string =>
  ["zarr.json", ".zarray", ".zattrs"]
    .map((name) => path.join(place, name))
    .map((file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : ""))
    .join("\n");

/** Adds unusual attributes, an unknown field, and in Zarr 2 a fill value as text to the metadata of an array. */
function addOddities(place: string, format: 2 | 3, hasTexts: boolean): void {
  const file = path.join(place, format === 3 ? "zarr.json" : ".zarray");
  const text = fs.readFileSync(file, "utf8").replace(/,?\s*"attributes":\s*\{\}/, "");
  const odd = format === 2 ? '"spare" : 2.0' : `"attributes": ${ODD}, ${SPARE}`;
  if (format === 2) fs.writeFileSync(path.join(place, ".zattrs"), ODD);
  const isText = format === 2 && hasTexts;
  const filled = isText ? text.replace(/("fill_value": *)(-?\d[^,}\s]*)/, '$1"$2"') : text;
  fs.writeFileSync(file, filled.replace("{", `{ ${odd}, `));
}

/** Replaces rows of an array with a chunked job. */
async function scatterRows(array: ZarrArray, first: number, updates: Tensor, folder: string) {
  const rows = updates.shape.slice(0, 1).flatMap((dim) => [...Array(dim).keys()]);
  const indices = tensor(
    "int32",
    [rows.length, 1],
    rows.map((row) => first + row),
  );
  fs.writeFileSync(path.join(folder, "indices.npy"), writeNpy(indices));
  const { dtype, shape } = updates;
  const place = path.join(folder, "updates.zarr");
  const source = await createArray(place, { dtype, shape, chunkShape: shape });
  await source.write(updates);
  const opened = await openArray(path.join(folder, "indices.npy"));
  await scatterChunked(array, opened, source, { out: array, threads: 0 });
}

/** Compares random cases of every format and data type, and prints the properties that no case had. */
async function compare(row: Row, ask: files.Ask, tally: Tally, factor: number, home: string) {
  const random = randomFrom(seedOf(row.peer));
  const [hit, all] = [new Set<string>(), new Set<string>()];
  const able = { ...row.able, ...row.reads };
  // Only Node's own zstd, which zlib has since 22.15, writes checksums.
  const written = {
    ...able,
    cnames: able.cnames.filter((cname) => !/blosclz|snappy/.test(cname)),
    codecs: able.codecs.filter((name) => "zstdCompress" in zlib || !name.includes("checksum")),
  };
  const types = ([3, 2] as const).flatMap((format) =>
    row.able.types[format].map((dtype) => ({ format, dtype })),
  );
  for (const { format, dtype } of types) {
    for (let draw = 0; draw < 3 * DRAWS; draw++) {
      for (const facet of cases.arrayCase(row.able, format, dtype, random).facets) all.add(facet);
    }
    for (let draw = 0; draw < DRAWS * factor * (format - 1); draw++) {
      const isOurs = draw % 2 === 1 && format === 3;
      const item = cases.arrayCase(isOurs ? written : row.able, format, dtype, random);
      const folder = fs.mkdtempSync(path.join(home, "case-"));
      const trial = { row, item, ask, tally, folder, random };
      const isEqual = await (isOurs ? ours : theirs)(trial).catch((error) =>
        differ(trial, isOurs ? "ours" : "theirs", "we refuse", ["values", messageOf(error)]),
      );
      if (isEqual) tally.agree(row.peer);
      for (const facet of item.facets) hit.add(facet);
      fs.rmSync(folder, { recursive: true });
    }
  }
  const missed = [...all].filter((facet) => !hit.has(facet)).join(", ") || "none";
  tally.note(`${row.peer}: ${all.size} properties, of which were not drawn: ${missed}`);
}

const NUMPY = { peer: "numpy", program: "numpy_peer", able: null };

/** Runs all comparisons with a peer, or skips it, with the reason. */
async function compareAll(row: Row | typeof NUMPY, tally: Tally, factor: number, home: string) {
  const { peer, program } = row;
  const { python, missing, versions } = environment("arrays");
  if (program !== undefined && (python === null || peer in missing)) {
    return tally.skip(`${peer}: ${missing[peer] ?? "no Python"}`);
  }
  const { devDependencies } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  tally.note(`${peer} ${versions[peer] ?? devDependencies[peer]}`);
  const process = new Peer<WireTensor>(python ?? "", program ?? "");
  const problem = program === undefined ? null : await process.start();
  if (problem !== null) return tally.skip(`${peer}: ${problem}`);
  const ask: files.Ask = program === undefined ? askZarrita : (request) => process.ask(request);
  if (row.able === null) {
    await files.compareNpy(tally, ask, DRAWS * factor, home);
    await files.compareParts(tally, ask, home);
  } else {
    await compare(row, ask, tally, factor, home);
    await files.compareRefusals(tally, peer, ask, row.refused ?? [], home);
  }
  if (peer === "zarr") await files.compareGroups(tally, ask, home);
  await process.close();
}

export const arrays: Part = {
  name: "arrays",
  what: "arrays of other systems are read and changed in place, and they read ours, bit for bit",
  accepted: ACCEPTED,
  async run(tally, factor) {
    const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-arrays-"));
    try {
      for (const row of [...ROWS, NUMPY]) await compareAll(row, tally, factor, home);
    } finally {
      fs.rmSync(home, { recursive: true });
    }
  },
};
