/** Recognizes files of other kinds by their first bytes, for errors that name what was given and what to do. */

/** The number of first bytes that {@link otherKindOf} needs. */
export const HEAD = 128;

/** A kind of files. */
export interface FileKind {
  /** The name with its article, such as `a ZIP archive`. */
  readonly name: string;
  /** Advice for such a file. */
  readonly advice: string;
}

const kind = (name: string, advice: string): FileKind => ({ name, advice });

const AS_ARRAY = "save the array as Zarr or NPY, for example with xarray or np.save";

export const PAGE = kind("an HTML page", "check the URL that it comes from");
const NPZ = kind("an .npz archive", "unpack it and give one of its .npy files");
const ZARR_ZIP = kind("a ZIP archive of a Zarr array", "unpack it and give the folder");
const ZIP = kind("a ZIP archive", "unpack it and give an array in it");

/** The first bytes of files by kind. */
const MAGIC: readonly (readonly [start: string, kind: FileKind])[] = [
  ["\u0093NUMPY", kind("an NPY file", "rename it")],
  ["\u001f\u008b", kind("a gzip file", "decompress it (gunzip)")],
  ["\u0089HDF", kind("an HDF5 file", AS_ARRAY)],
  ["CDF", kind("a NetCDF file", AS_ARRAY)],
  ["PAR1", kind("a Parquet file", AS_ARRAY)],
  ["MATLAB", kind("a MATLAB file", AS_ARRAY)],
  ["\u0080\u0004\u0095", kind("a Python pickle", AS_ARRAY)],
  ["\u0080\u0002", kind("a Python pickle", AS_ARRAY)],
  ["\u0089PNG", kind("a PNG image", AS_ARRAY)],
  ["\u00ff\u00d8\u00ff", kind("a JPEG image", AS_ARRAY)],
  ["version https://git-lfs", kind("a Git LFS pointer", "get the file itself (git lfs pull)")],
];

/** Returns the kind of a file; null if its first bytes do not tell. */
export function otherKindOf(file: Uint8Array): FileKind | null {
  const head = String.fromCharCode(...file.subarray(0, HEAD));
  if (/^(?:\u00ef\u00bb\u00bf)?\s*<(?:!doctype html|html)\b/i.test(head)) return PAGE;
  if (head.startsWith("PK\u0005\u0006")) return ZIP;
  if (head.startsWith("PK\u0003\u0004")) return kindOfArchive(nameInArchive(head));
  return MAGIC.find(([start]) => head.startsWith(start))?.[1] ?? null;
}

/** Returns the name of the first file in a ZIP archive, or its beginning. */
const nameInArchive = (head: string): string =>
  head.slice(30, 30 + head.charCodeAt(26) + 256 * head.charCodeAt(27));

function kindOfArchive(name: string): FileKind {
  if (/\.npy$/i.test(name)) return NPZ;
  return /(?:^|\/)(?:zarr\.json|\.z(?:array|group|attrs|metadata)|c\/\d)/.test(name)
    ? ZARR_ZIP
    : ZIP;
}

/** Returns the kind of a file that cannot be opened by the end of its name; null for other names. */
export const kindOfName = (name: string): FileKind | null =>
  /\.npz$/i.test(name)
    ? NPZ
    : /\.zarr\.zip$/i.test(name)
      ? ZARR_ZIP
      : /\.zip$/i.test(name)
        ? ZIP
        : null;
