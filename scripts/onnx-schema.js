/**
 * Makes src/models/onnx/schema_pb.ts from src/models/onnx/schema.proto. Run it by hand after a change to the schema; it needs the
 * network, because npx fetches the two tools. 2.11 is the last plugin that runs on Node 20; its output works with every
 * later 2.x of the library.
 */

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const BUF = "@bufbuild/buf@1.75.0";
const PLUGIN = "@bufbuild/protoc-gen-es@2.11.0";

const template = {
  version: "v2",
  plugins: [{ local: "protoc-gen-es", out: ".", opt: ["target=ts"] }],
};

execFileSync(
  "npx",
  ["--yes", "-p", BUF, "-p", PLUGIN, "buf", "generate", "--template", JSON.stringify(template)],
  { cwd: fileURLToPath(new URL("../src/models/onnx", import.meta.url)), stdio: "inherit" },
);
