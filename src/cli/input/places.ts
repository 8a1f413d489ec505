/** Where arrays are: paths in the command's folder, and URLs of object storage. */

import * as path from "node:path";
import type { Io } from "../io.ts";

export const isUrl = (name: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(name);

/** The absolute path of a name that was typed; a URL stays as it is. */
export const placeOf = ({ cwd }: Io, name: string): string =>
  isUrl(name) ? name : path.resolve(cwd, name);
