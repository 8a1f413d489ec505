/**
 * Names the files of tasks. The files of a stage's first tasks are in the stage's folder, and those of later tasks in
 * folders of as many tasks each, because a folder of very many files is slow:
 *
 *     shuffle/17   shuffle/4k/4100   shuffle/4k/4882k/5000000
 *
 * Each folder has at most as many folders as tasks, and a task has up to three files at once.
 */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CHUNKED } from "../../../core/limits.ts";
import { isCode, placeError } from "../../boxes/file.ts";
import type { Stage, StageName } from "../job/spec.ts";

/** The folder with the files of each stage. */
export const FOLDERS = {
  partition: "shuffle",
  merge: "merged",
  check: "checked",
  apply: "applied",
  place: "placed",
} as const satisfies Record<Exclude<StageName, "finish">, string>;

/** The folder of a job. */
export interface TaskFolder {
  readonly folder: string;
  /** True for a job of an earlier version, whose stages have a single folder each. */
  readonly isFlat?: boolean;
}

const tasksPerFolder = (): number => Math.floor(CHUNKED.folder / 4);

/** Returns the folder of a task's files, in the stage's folder. */
function groupOf(task: number): string {
  const group = Math.floor(task / tasksPerFolder());
  return group === 0 ? "" : path.join(groupOf(group), `${group}k`);
}

/** The names of folders with the files of later tasks. */
const GROUP = /^\d+k$/;

export const taskFile = ({ folder, isFlat }: TaskFolder, stage: string, task: number): string =>
  path.join(folder, stage, isFlat === true ? "" : groupOf(task), String(task));

/** Paths of a job's files. */
export const fileOf = {
  done: (folder: string): string => path.join(folder, "done"),
  stage: (folder: string, stage: string): string => path.join(folder, stage),
  task: taskFile,
} as const;

/** Returns the folder of the job to which a task's file belongs. */
export function jobFolderOf(file: string): string {
  const folder = path.dirname(file);
  return GROUP.test(path.basename(folder)) ? jobFolderOf(folder) : path.dirname(folder);
}

/** Lists the files of tasks in a stage's folder. */
export async function taskFilesIn(place: string): Promise<string[]> {
  const found: string[] = [];
  const below: Promise<string[]>[] = [];
  for (const name of await fs.readdir(place)) {
    const file = path.join(place, name);
    found.push(file);
    if (GROUP.test(name)) below.push(taskFilesIn(file));
  }
  return below.length === 0 ? found : [...found, ...(await Promise.all(below)).flat()];
}

/** Lists the folders of the later tasks of all stages. A folder precedes those in it. */
export function groupsOf(folder: string, stages: readonly Stage[]): string[] {
  const per = tasksPerFolder();
  return stages.flatMap(({ name, tasks }) => {
    if (name === "finish") return [];
    const groups = Array.from({ length: Math.ceil(tasks / per) }, (_, group) => group).slice(1);
    return groups.map((group) => path.join(folder, FOLDERS[name], groupOf(group * per)));
  });
}

/** Returns true if a stage that should have such folders has none. A stage is moved as a whole when its job ends. */
export async function areMissing([first]: readonly string[]): Promise<boolean> {
  if (first === undefined) return false;
  const names = await fs.readdir(path.dirname(first)).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return null;
    throw placeError(error);
  });
  return names !== null && !names.some((name) => GROUP.test(name));
}
