/** Recognizes files of other kinds by their first bytes, for errors that name what was given instead. */

/** The number of first bytes that {@link otherKindOf} reads. */
export const HEAD = 64;

const LFS = "version https://git-lfs";

/** The first bytes of files, and the names of their kinds. */
const MAGIC: readonly (readonly [start: string, kind: OtherKind])[] = [
  ["PK\u0003\u0004", "a ZIP archive"],
  ["PK\u0005\u0006", "a ZIP archive"],
  ["\u0089HDF", "an HDF5 file"],
  ["\u001f\u008b", "a gzip file"],
  ["\u0089PNG", "a PNG image"],
  ["\u00ff\u00d8\u00ff", "a JPEG image"],
  ["\u0093NUMPY", "an NPY file"],
  ["CDF", "a NetCDF file"],
  ["PAR1", "a Parquet file"],
  ["MATLAB", "a MATLAB file"],
  ["\u0080\u0002", "a Python pickle"],
  ["\u0080\u0004", "a Python pickle"],
  ["\u0080\u0005", "a Python pickle"],
  [LFS, "the text that Git LFS stores in its place"],
];

export type OtherKind =
  | "a ZIP archive"
  | "an HDF5 file"
  | "a gzip file"
  | "a PNG image"
  | "a JPEG image"
  | "an NPY file"
  | "a NetCDF file"
  | "a Parquet file"
  | "a MATLAB file"
  | "a Python pickle"
  | "an HTML page"
  | "the text that Git LFS stores in its place";

/** Returns the kind of a file, such as `a ZIP archive`; null if its first bytes do not tell. */
export function otherKindOf(file: Uint8Array): OtherKind | null {
  const head = String.fromCharCode(...file.subarray(0, HEAD));
  if (/^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype html|html)\b/i.test(head)) return "an HTML page";
  return MAGIC.find(([start]) => head.startsWith(start))?.[1] ?? null;
}
