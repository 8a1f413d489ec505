/** Finds the version of this package. All machines that work on a job must run the same version. */

import { createRequire } from "node:module";

/** Searches for the package.json with the package's name, because build/ and dist/ have different depths. */
export function packageVersion(): string {
  const manifest: { readonly version: string } = createRequire(import.meta.url)(
    "ndscatter/package.json",
  );
  return manifest.version;
}
