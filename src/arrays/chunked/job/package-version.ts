/** The version of this package. All machines that work on one job must have the same version. */

import { createRequire } from "node:module";

/** Finds package.json by the package's own name, because build/ and dist/ lie at different depths. */
export function packageVersion(): string {
  const manifest: { readonly version: string } = createRequire(import.meta.url)(
    "ndscatter/package.json",
  );
  return manifest.version;
}
