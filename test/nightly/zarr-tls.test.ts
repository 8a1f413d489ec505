/** Arrays on a server of https whose certificate the user trusts by Node's own variable, and on one that nobody trusts. */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { after, before, test } from "node:test";
import * as tls from "node:tls";
import { writeNpy } from "../../src/entries/npy.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createArray } from "../../src/entries/zarr.ts";
import { MAIN } from "../support/cli.ts";
import { serveFiles, type HttpServer } from "../support/http-server.ts";
import { makeHome } from "../support/job-files.ts";

const skip = spawnSync("openssl", ["version"]).status === 0 ? false : "there is no openssl";

const home = makeHome();
const at = (name: string): string => path.join(home, name);
const VALUES = tensor("int16", [4], [3, 1, 4, 1]);
let files: HttpServer;
let server: tls.Server;
let address: string;

before(async () => {
  if (skip !== false) return;
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const key = ["-newkey", "rsa:2048", "-nodes", "-keyout", at("key.pem"), "-out", at("cert.pem")];
  const made = spawnSync("openssl", ["req", "-x509", "-days", "2", ...key, ...names]);
  assert.equal(made.status, 0, String(made.stderr));
  fs.mkdirSync(at("files"));
  fs.writeFileSync(at("files/x.npy"), writeNpy(VALUES));
  const options = { dtype: "int16", shape: [4], chunkShape: [3] } as const;
  await (await createArray(at("files/x.zarr"), options)).write(VALUES);
  files = await serveFiles(at("files"));
  const [own, cert] = ["key.pem", "cert.pem"].map((name) => fs.readFileSync(at(name)));
  // TLS ends here, and the server of files answers.
  server = tls.createServer({ key: own, cert }, (socket) => {
    const inner = net.connect(files.port, "127.0.0.1");
    socket.pipe(inner).pipe(socket);
    for (const one of [socket, inner]) one.on("error", () => socket.destroy());
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `https://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
});
after(() => {
  server?.close();
  files?.close();
});

/** Runs the command in a process of its own, because Node reads the variable when it starts. */
const run = (
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly status: number | string | null | undefined; readonly text: string }> =>
  new Promise((resolve) => {
    const options = { cwd: home, env: { ...process.env, ...env } };
    execFile(process.execPath, [MAIN, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : error.code, text: stdout + stderr });
    });
  });

for (const name of ["x.npy", "x.zarr"]) {
  test(`https with a certificate of its own: ${name}`, { skip }, async () => {
    const trusted = { NODE_EXTRA_CA_CERTS: at("cert.pem") };
    const copy = await run(["array", `${address}/${name}`, "-o", `copy-${name}.npy`], trusted);
    assert.deepEqual([copy.status, copy.text], [0, `copy-${name}.npy: int16 [4], 1 chunk\n`]);
    assert.deepEqual(fs.readFileSync(at(`copy-${name}.npy`)), Buffer.from(writeNpy(VALUES)));
  });

  test(`https with a certificate that nobody trusts: ${name}`, { skip }, async () => {
    const { status, text } = await run(["array", `${address}/${name}`]);
    assert.equal(status, 1);
    assert.match(
      text,
      /cannot be reached \(DEPTH_ZERO_SELF_SIGNED_CERT\); .* NODE_EXTRA_CA_CERTS to a file/,
    );
  });
}
