import { defineConfig } from "vite";
import { ENTRIES, ROOT } from "./scripts/entries.js";

/** What the page may load: its own files, and pictures that it makes itself. It sends nothing anywhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Only what is built has the policy: while it is served, Vite reloads the page through a socket. */
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
  // Relative, so that the files work from any path.
  base: "./",
  plugins: [policy],
  resolve: {
    alias: Object.entries(ENTRIES).map(([name, file]) => ({
      find: new RegExp(`^${name}$`),
      replacement: file,
    })),
  },
  server: { host: "127.0.0.1", fs: { allow: [ROOT] } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
});
