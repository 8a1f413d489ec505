/** A Redis of its own for a test: on loopback, in a temporary folder, with nothing on disk. */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ProcessGroup } from "../../../scripts/process-group.js";

export const HAS_REDIS = spawnSync("redis-server", ["--version"]).status === 0;

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

export class RedisServer {
  readonly port: number;
  readonly #group: ProcessGroup;
  readonly #folder: string;

  constructor(port: number, group: ProcessGroup, folder: string) {
    this.port = port;
    this.#group = group;
    this.#folder = folder;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#group.child.pid ?? 0;
  }

  /** Sends one command. @returns the first line of the answer */
  command(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.port, "127.0.0.1", () => {
        socket.write(`${line}\r\n`);
      });
      socket.once("data", (bytes) => {
        resolve(bytes.toString().split("\r\n")[0] ?? "");
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }

  async end(): Promise<void> {
    await this.#group.end();
    fs.rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** @param more settings as in `redis.conf` */
export async function startRedis(
  more: Readonly<Record<string, string>> = {},
): Promise<RedisServer> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-redis-"));
  const port = await freePort();
  const settings = { port, bind: "127.0.0.1", dir: folder, save: "", appendonly: "no", ...more };
  const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const group = new ProcessGroup(["redis-server", ...options, "--maxmemory-policy", "noeviction"]);
  const server = new RedisServer(port, group, folder);
  for (let attempt = 0; ; attempt++) {
    const answer = await server.command("PING").catch(() => "");
    if (answer === "+PONG" || answer.startsWith("-NOAUTH")) return server;
    if (attempt === 100) {
      await server.end();
      throw new Error(`Redis does not start:\n${group.output}`);
    }
    await sleep(50);
  }
}
