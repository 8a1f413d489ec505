import { defineConfig } from "vite";

/** A page that is sent with these headers may share memory with its workers. */
const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export default defineConfig({
  server: { headers },
  preview: { headers },
  worker: { format: "es" },
});
