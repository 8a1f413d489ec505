/** Finds the version of this package. All machines that work on a job must have the same version. */

import { createRequire } from "node:module";

/** Finds package.json by the package name, because build/ and dist/ are at different depths. */
export function packageVersion(): string {
  const manifest: { readonly version: string } = createRequire(import.meta.url)(
    "ndscatter/package.json",
  );
  return manifest.version;
}
