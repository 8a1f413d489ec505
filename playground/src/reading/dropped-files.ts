/** Collects dropped files, including files in dropped folders. This module is loaded with the first drop. */

/**
 * The limits for a dropped test case. A drop with more files or deeper folders is probably a folder dropped by mistake.
 */
const MOST_FILES = 100;
const DEEPEST = 2;

/**
 * Returns dropped files, followed by files in dropped folders, sorted by name. Unreadable entries are skipped. `plain`
 * holds the files of a drop, and `entries` its files and folders.
 */
export async function droppedFiles(
  plain: File[],
  entries: readonly (FileSystemEntry | null)[],
): Promise<File[]> {
  if (!entries.some((entry) => entry?.isDirectory === true)) return plain;
  const found = await Promise.all(
    entries.map((entry) => (entry === null ? [] : filesOf(entry, DEEPEST))),
  );
  return found.flat().slice(0, MOST_FILES);
}

async function filesOf(entry: FileSystemEntry, depth: number): Promise<File[]> {
  if (isFile(entry)) {
    return new Promise((resolve) => {
      entry.file(
        (file) => resolve([file]),
        () => resolve([]),
      );
    });
  }
  if (!isFolder(entry) || depth === 0) return [];
  const entries = await entriesOf(entry.createReader());
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const found = await Promise.all(sorted.map((one) => filesOf(one, depth - 1)));
  return found.flat();
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

/**
 * Returns a folder's entries, up to the limit. The reader returns a few entries per call, and an empty list at the end.
 */
async function entriesOf(
  reader: FileSystemDirectoryReader,
  before: readonly FileSystemEntry[] = [],
): Promise<readonly FileSystemEntry[]> {
  const some = await new Promise<FileSystemEntry[]>((resolve) => {
    reader.readEntries(resolve, () => resolve([]));
  });
  const all = [...before, ...some];
  return some.length === 0 || all.length >= MOST_FILES ? all : entriesOf(reader, all);
}
