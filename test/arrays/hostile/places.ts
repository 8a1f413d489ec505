/** Where mutants live, and what they may want to read and to write. */

import * as fs from "node:fs";
import * as path from "node:path";
import type { Random } from "../../support/random.ts";
import { mutateJson } from "./mutate.ts";

/** Where mutants live: `home` is a root, and of what lies outside nothing may change. */
export interface Places {
  readonly home: string;
  readonly outside: string;
  /** Paths that lead out, and some that do not. */
  readonly targets: readonly string[];
  readonly pipe: string;
}

/** Makes a mutant and reads it. @returns how that ended, where no error was thrown */
export type Kind = (random: Random) => Promise<string>;

export function makeOutside(around: string): Places {
  const [home, outside] = ["home", "outside"].map((name) => path.join(around, name));
  for (const folder of [home, outside, path.join(outside, "folder")]) fs.mkdirSync(folder);
  for (const name of ["text", "folder/0", "folder/job", "job.json", "done"])
    fs.writeFileSync(path.join(outside, name), `${name} is precious\n`);
  const pipe = path.join(outside, "pipe");
  const targets = [
    ...["text", "folder", "new", "job.json", "folder/0", "data.zarr", "array.npy"].map((name) =>
      path.join(outside, name),
    ),
    "../outside/text",
    `${home}/../outside/data.zarr`,
    path.join(home, "data.zarr"),
    "s3://bucket/x.zarr",
    "file:///etc/passwd",
    "http://127.0.0.1:1/x.zarr",
    "x.zarr",
  ];
  return { home, outside, targets, pipe };
}

export const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

export const json =
  ({ targets }: Places) =>
  (bytes: Uint8Array, random: Random): Uint8Array =>
    encode(mutateJson(decode(bytes), targets, random));
