/**
 * The entries for browsers as a page has them: `docs/browsers.md` in Chromium, from a server of files and without a
 * bundler; and through esbuild and Vite, which must not have to warn of anything.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { build } from "esbuild";
import { writeNpy } from "../../src/entries/npy.ts";
import { buildModel, writeModel } from "../../src/entries/onnx.ts";
import { createArray, type CreateOptions } from "../../src/entries/zarr.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { blocksOf, read, ROOT } from "../support/documents.ts";
import { serveFiles, type Quirk } from "../support/http-server.ts";
import {
  installHere,
  openChromium,
  serveFolder,
  watch,
  WITHOUT_CHROMIUM,
  type FileServer,
} from "../support/pages.ts";

const [HTML] = blocksOf(read("docs/browsers.md"), "html");
const [, SCRIPT = ""] = /<script type="module">\n([^]*?)<\/script>/.exec(HTML) ?? [];

/** The entries that run in a page. */
const ENTRIES = [".", "./js", "./npy", "./onnx", "./openvino", "./operators", "./webgpu", "./zarr"];

/** What the page of the document shows, by the arithmetic of its comments: 2 + 10 and 4 + 20, or 10 and 20 in place. */
const SHOWN = [
  "npy: tensor([1., 2., 3., 4.], dtype=float32)",
  "js: tensor([ 1., 12.,  3., 24.], dtype=float32)",
  "onnx: tensor([ 1., 12.,  3., 24.], dtype=float32)",
  "webgpu: tensor([ 1., 10.,  3., 20.], dtype=float32)",
  "zarr: tensor([[4, 5, 6],\n        [7, 8, 9]], dtype=int16)",
].join("\n");

type Codecs = CreateOptions["codecs"] & {};

/** Codecs of the table. */
const TABLES: readonly (readonly [name: string, codecs: Codecs])[] = [
  ["uncompressed", []],
  ["gzip", ["gzip"]],
  ["zstd", ["zstd"]],
  ["blosc", [{ name: "blosc", configuration: { cname: "zstd", clevel: 5, shuffle: "shuffle" } }]],
];

/** Writes what the page asks for. */
async function writeFiles(folder: string, codecs: Codecs): Promise<void> {
  const write = (name: string, bytes: Uint8Array | string): void =>
    fs.writeFileSync(path.join(folder, name), bytes);
  const data = tensor("float32", [4], [1, 2, 3, 4]);
  const indices = tensor("int64", [2, 1], [0, 0]);
  const updates = tensor("float32", [2], [0, 0]);
  const model = buildModel({
    opsets: { "ai.onnx": 18 },
    inputs: { data, indices, updates },
    nodes: [
      {
        op: "ScatterND",
        inputs: ["data", "indices", "updates"],
        outputs: ["sums"],
        attributes: { reduction: "add" },
      },
    ],
    outputs: { sums: null },
  });
  fs.mkdirSync(folder);
  write("index.html", HTML);
  write("data.npy", writeNpy(data));
  write("model.onnx", writeModel(model));
  const table = await createArray(path.join(folder, "table.zarr"), {
    dtype: "int16",
    shape: [3, 3],
    // Blosc leaves bytes alone that it cannot make fewer.
    chunkShape: [2, 64],
    codecs,
  });
  await table.write(tensor("int16", [3, 3], [1, 2, 3, 4, 5, 6, 7, 8, 9]), [0, 0]);
}

const EXPOSED = { "access-control-expose-headers": "ETag, Content-Range" };

/** Servers of another origin. None answers to OPTIONS, by which a page asks for leave. */
const OTHER_ORIGINS: readonly (readonly [string, Quirk])[] = [
  ["that shows it neither tags nor ranges", () => {}],
  ["that shows it all", ({ answer }) => void Object.assign(answer.headers, EXPOSED)],
  [
    "that forbids HEAD",
    ({ request, answer }) => {
      Object.assign(answer.headers, EXPOSED);
      if (request.method === "HEAD" && answer.status < 400) answer.status = 403;
    },
  ],
  [
    "that cuts the connection once",
    ({ response, before: count }) => {
      if (count > 0) return;
      response.socket?.destroy();
      return true;
    },
  ],
];

let site = "";
before(async () => {
  // Outside the repository, where no package is found that a user would not have.
  site = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-site-"));
  installHere(site);
  for (const [name, codecs] of TABLES) {
    await writeFiles(path.join(site, name), codecs);
  }
});
after(() => fs.rmSync(site, { recursive: true, force: true }));

/** Opens an address, and waits until its script has run to its end. @returns what the page shows */
async function visit(page: Page, address: string): Promise<string> {
  await page.goto(address);
  const shown = page.locator("pre[data-state=done]");
  await shown.waitFor({ timeout: 60_000, state: "attached" });
  return ((await shown.textContent()) ?? "").trim();
}

describe("a page without a bundler", () => {
  const needs = { skip: WITHOUT_CHROMIUM };
  let browser: Browser | undefined;
  let server: FileServer;
  let page: Page;
  let wrongs: string[] = [];
  before(async () => {
    if (WITHOUT_CHROMIUM === false) browser = await openChromium();
    server = await serveFolder(site);
  });
  after(async () => {
    await browser?.close();
    server.close();
  });

  /** A page of its own, so that nothing is in its cache. */
  async function newPage(): Promise<Page> {
    assert.ok(browser);
    const context = await browser.newContext();
    page = await context.newPage();
    wrongs = watch(page);
    server.asked.clear();
    return page;
  }

  for (const [name] of TABLES) {
    test(
      `the page of the document does what it says, with a table of ${name} chunks`,
      needs,
      async () => {
        const shown = await visit(await newPage(), `${server.address}${name}/`);
        assert.equal(shown, SHOWN);
        assert.deepEqual(wrongs, []);
      },
    );
  }

  test("every entry for browsers loads by its address", needs, async () => {
    await visit(await newPage(), `${server.address}uncompressed/`);
    const { exports }: { exports: Record<string, { default: string }> } = JSON.parse(
      read("package.json"),
    );
    for (const name of ENTRIES) {
      const address = `${server.address}node_modules/ndscatter/${exports[name].default}`;
      const count = await page.evaluate(
        `import("${address}").then((one) => Object.keys(one).length)`,
      );
      assert.ok(Number(count) > 0, name);
    }
  });

  test("a path is refused with a sentence, for folders and for files", needs, async () => {
    await visit(await newPage(), `${server.address}uncompressed/`);
    const said = await page.evaluate(async () => {
      const { openArray, createPending } = await import("ndscatter/zarr");
      const refusal = (call: Promise<unknown>): Promise<unknown> =>
        call.catch(({ code, message }: { code: string; message: string }) => `${code}: ${message}`);
      return Promise.all([
        refusal(openArray("table.zarr")),
        refusal(openArray("data.npy")),
        refusal(createPending("new.npy", { dtype: "int8", shape: [1], chunkShape: [1] })),
      ]);
    });
    const advice = "is a path, which a page cannot read; give a URL of https:// or s3://";
    assert.deepEqual(
      said,
      ["table.zarr", "data.npy", "new.npy"].map((name) => `attribute: ${name} ${advice}`),
    );
  });

  test("an array on another origin needs one header there", needs, async () => {
    await visit(await newPage(), `${server.address}uncompressed/`);
    const open = (address: string): Promise<string> =>
      page.evaluate(async (from) => {
        const { openArray } = await import("ndscatter/zarr");
        return openArray(from)
          .then((array) => array.read([2, 0], [1, 3]))
          .then(String, ({ code }: { code: string }) => code);
      }, `${address}zstd/table.zarr`);
    const [closed, other] = await Promise.all([
      serveFolder(site),
      serveFolder(site, { "Access-Control-Allow-Origin": "*" }),
    ]);
    try {
      assert.equal(await open(closed.address), "engine");
      assert.equal(await open(other.address), "tensor([[7, 8, 9]], dtype=int16)");
    } finally {
      closed.close();
      other.close();
    }
  });

  for (const [name, quirk] of OTHER_ORIGINS) {
    test(`a page reads arrays by ranges from another origin ${name}`, needs, async () => {
      await visit(await newPage(), `${server.address}uncompressed/`);
      const other = await serveFiles(site);
      other.quirk = (exchange) => {
        exchange.answer.headers["access-control-allow-origin"] = "*";
        return quirk(exchange);
      };
      try {
        const shown = await page.evaluate(async (address) => {
          const { openArray } = await import("ndscatter/zarr");
          const table = await openArray(`${address}/zstd/table.zarr`);
          const data = await openArray(`${address}/zstd/data.npy?token=1#part`);
          const tensors = [await table.read([1, 0], [2, 3]), await data.read([1], [2])];
          return tensors.map(String).join("\n");
        }, other.address);
        assert.equal(
          shown,
          "tensor([[4, 5, 6],\n        [7, 8, 9]], dtype=int16)\ntensor([2., 3.], dtype=float32)",
        );
        // Which ranges, its cache decides.
        const gets = other.asked.filter((one) => one.startsWith("GET /zstd/data.npy?token=1"));
        assert.ok(gets.length > 0 && gets.every((one) => / bytes=\d+-\d+$/.test(one)));
        assert.ok(!other.asked.some((one) => one.startsWith("OPTIONS")), "a page asked for leave");
      } finally {
        other.close();
      }
    });
  }

  test("the script of the document does the same from the bundle of esbuild", needs, async () => {
    const folder = path.join(site, "bundled");
    fs.cpSync(path.join(site, "zstd"), folder, { recursive: true });
    const { outputFiles } = await bundle(SCRIPT);
    fs.writeFileSync(path.join(folder, "page.js"), outputFiles[0].contents);
    const html = '<!doctype html><meta charset="utf-8"><pre></pre>';
    fs.writeFileSync(
      path.join(folder, "index.html"),
      `${html}<script type="module" src="page.js"></script>`,
    );
    const shown = await visit(await newPage(), `${server.address}bundled/`);
    assert.equal(shown, SHOWN);
    assert.deepEqual(wrongs, []);
    assert.deepEqual(
      [...server.asked].filter((one) => one.endsWith(".js")),
      ["/bundled/page.js"],
    );
  });
});

/** What a user of esbuild writes for a page. */
const bundle = (contents: string) =>
  build({
    stdin: { contents, resolveDir: site },
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "silent",
  });

const importing = (name: string): string =>
  `import * as all from "ndscatter${name.slice(1)}"; console.log(all);`;

for (const name of ENTRIES) {
  test(`esbuild bundles ${name} for a page without a warning, and without a module of Node`, async () => {
    const { warnings, errors, outputFiles, metafile } = await bundle(importing(name));
    assert.deepEqual([...warnings, ...errors], []);
    assert.ok(outputFiles[0].contents.length > 10_000);
    const [{ imports }] = Object.values(metafile.outputs);
    assert.deepEqual(imports, []);
  });
}

const VITE = path.join(ROOT, "playground/node_modules/vite/dist/node/index.js");

interface VitePart {
  readonly fileName: string;
  readonly moduleIds?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

/** As much of Vite as is used here. */
interface Vite {
  build(config: object): Promise<{ readonly output: readonly VitePart[] }>;
  createLogger(level: string): Record<"info" | "warn" | "warnOnce" | "error", unknown>;
}

test(
  "Vite bundles every entry for a page without a warning, and without a module of Node",
  { skip: !fs.existsSync(VITE) && "there is no Vite: npm ci --prefix playground" },
  async () => {
    const { build: buildPage, createLogger }: Vite = await import(pathToFileURL(VITE).href);
    const said: unknown[] = [];
    const say = (message: unknown): void => void said.push(message);
    const lines = ENTRIES.map((name, at) => `import * as e${at} from "ndscatter${name.slice(1)}";`);
    const used = ENTRIES.map((_, at) => `e${at}`).join(", ");
    fs.writeFileSync(path.join(site, "vite.js"), `${lines.join("\n")}\nconsole.log(${used});`);
    const html = '<!doctype html><script type="module" src="vite.js"></script>';
    fs.writeFileSync(path.join(site, "index.html"), html);
    const { output } = await buildPage({
      root: site,
      configFile: false,
      customLogger: { ...createLogger("warn"), warn: say, warnOnce: say, error: say },
      build: { write: false, chunkSizeWarningLimit: 10_000 },
    });
    assert.deepEqual(said, []);
    const modules = output.flatMap(({ moduleIds = [] }) => moduleIds);
    assert.ok(modules.some((one) => one.endsWith("dist/entries/zarr.js")));
    // What Vite puts in the place of a module that a page cannot have.
    assert.deepEqual(
      modules.filter((one) => one.includes("browser-external")),
      [],
    );
    const own = new Set(output.map(({ fileName }) => fileName));
    const imported = output.flatMap(({ imports = [], dynamicImports = [] }) => [
      ...imports,
      ...dynamicImports,
    ]);
    assert.deepEqual(
      imported.filter((one) => !own.has(one)),
      [],
    );
  },
);
