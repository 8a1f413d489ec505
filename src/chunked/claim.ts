/** An array that a job changes in place belongs to that job: two at once would each find half of the other's changes. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import { isCode } from "../arrays/file.ts";
import { TensorError } from "../errors.ts";
import type { JobSpec } from "./spec.ts";

export interface Claim {
  readonly array: string;
  readonly id: string;
}

export const claimOf = ({ out, id }: JobSpec): Claim => ({ array: out.path, id });

/** In the array's folder for staged chunks, with which it goes. */
const fileOf = ({ array }: Claim): string => path.join(array, ".ndscatter", "job");

/** @throws TensorError `attribute` where another job has the array */
export async function claim(own: Claim): Promise<void> {
  const file = fileOf(own);
  const temporary = `${file}.${own.id}.tmp`;
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(temporary, own.id);
  try {
    await fs.link(temporary, file);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
    if (await isClaimed(own)) return;
    const sentence =
      `another job is changing ${own.array} in place; finish that job first, or give it up ` +
      `by removing its folder and ${path.dirname(file)}`;
    throw new TensorError("attribute", sentence);
  } finally {
    await fs.rm(temporary, { force: true });
  }
}

/** Whether the array is this job's. */
export async function isClaimed(own: Claim): Promise<boolean> {
  try {
    return (await fs.readFile(fileOf(own), "utf8")) === own.id;
  } catch {
    return false;
  }
}
