import path from "node:path";
import { defineConfig } from "vite";
import { ENTRIES, REPOSITORY, ROOT, VERSION } from "./scripts/entries.js";
import { siteAround } from "./scripts/site.js";

/** The page may load its own files and pictures that it makes itself. It may send nothing anywhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Only the build has the policy: while Vite serves the page, it reloads the page through a socket. */
const policy = {
  name: "policy",
  apply: "build",
  transformIndexHtml: () => [
    {
      tag: "meta",
      attrs: { "http-equiv": "Content-Security-Policy", content: POLICY },
      injectTo: "head-prepend",
    },
  ],
};

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses, so that the files work from any path.
  base: "./",
  plugins: [policy, siteAround],
  define: { REPOSITORY: JSON.stringify(REPOSITORY), VERSION: JSON.stringify(VERSION) },
  resolve: {
    alias: Object.entries(ENTRIES).map(([name, file]) => ({
      find: new RegExp(`^${name}$`),
      replacement: file,
    })),
  },
  server: { host: "127.0.0.1", fs: { allow: [ROOT] } },
  build: {
    target: "es2022",
    // The parts of the page's own script are loaded with it. Readers of files are loaded when one is dropped; to preload
    // their parts would cost more code than time.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, parts, { hostType }) => (hostType === "html" ? parts : []),
    },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ["index.html", "gpu.html"].map((file) => path.join(import.meta.dirname, file)),
    },
  },
});
