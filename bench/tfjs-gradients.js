/**
 * TensorFlow.js with gradients. `@tensorflow/tfjs-core` has the gradients of its kernels in modules that only a bundler
 * can load, so esbuild bundles them with the backends, as the package `@tensorflow/tfjs` does.
 */

import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";

const PARTS = `
  import "@tensorflow/tfjs-core/dist/register_all_gradients";
  import "@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops";
  import "@tensorflow/tfjs-backend-cpu";
  export { setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
  export * from "@tensorflow/tfjs-core";
`;

const modules = path.join(import.meta.dirname, "node_modules", "@tensorflow");

export const IS_INSTALLED = fs.existsSync(path.join(modules, "tfjs-backend-cpu"));

/** TensorFlow.js; `setBackend` selects `cpu` or `wasm`. */
export async function loadTfjs() {
  const { build } = await import("esbuild");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-tfjs-"));
  const outfile = path.join(folder, "tfjs.cjs");
  try {
    await build({
      stdin: { contents: PARTS, resolveDir: import.meta.dirname },
      outfile,
      bundle: true,
      format: "cjs",
      platform: "node",
      mainFields: ["module", "main"],
      logLevel: "error",
    });
    const tf = createRequire(outfile)(outfile);
    // Otherwise the first call prints an advertisement.
    tf.enableProdMode();
    tf.setWasmPaths(`${path.join(modules, "tfjs-backend-wasm", "dist")}/`);
    return tf;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}
