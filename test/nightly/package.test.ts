import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const bin = (name: string) => path.join(root, "node_modules/.bin", name);
const sh = (command: string, args: string[], cwd = root) =>
  execFileSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 100_000,
  });

/** The files that importing `file` loads, and the packages. */
function importGraph(
  file: string,
  seen = new Set<string>(),
): { files: Set<string>; packages: Set<string> } {
  const packages = new Set<string>();
  const visit = (current: string) => {
    if (seen.has(current)) return;
    seen.add(current);
    const imports = /(?:^|;)(?:import|export)\b[^"();]*?\bfrom ?"([^"]+)"|\bimport\("([^"]+)"\)/gm;
    for (const [, fixed, dynamic] of fs.readFileSync(current, "utf8").matchAll(imports)) {
      const from = fixed ?? dynamic;
      // Declarations name each other by the sources they were made from.
      const file = from.replace(/\.ts$/, ".d.ts");
      if (from.startsWith(".")) visit(path.resolve(path.dirname(current), file));
      else packages.add(from);
    }
  };
  visit(file);
  return { files: seen, packages };
}

test("no entry imports a package, and zarr imports modules of Node only when they are needed", () => {
  const graph = importGraph(path.join(root, "dist/entries/index.js"));
  assert.ok(graph.files.size > 1, "the graph was not walked");
  const packagesOf = (entry: string) => [...importGraph(path.join(root, "dist", entry)).packages];
  for (const name of ["index", "npy", "webgpu", "onnx", "openvino", "operators"]) {
    assert.deepEqual(packagesOf(`entries/${name}.js`), [], name);
  }
  for (const entry of ["entries/zarr.js", "cli/main.js"]) {
    const others = packagesOf(entry).filter((name) => !name.startsWith("node:"));
    assert.deepEqual(others, [], entry);
  }
  // What a page may not have is loaded when it is needed.
  const text = fs.readFileSync(path.join(root, "dist/entries/zarr.js"), "utf8");
  assert.doesNotMatch(text, /(?:^|;)import[^"();]* ?from ?"node:/m);
});

test("the licences of packages that are part of the bundle are in it, and no type names such a package", () => {
  const notices = fs.readFileSync(path.join(root, "dist/NOTICES.md"), "utf8");
  const bundled = ["@bokuweb/zstd-wasm", "@rgrove/parse-xml", "aws4fetch", "commander"];
  const titles = [...notices.matchAll(/^# (\S+) \d+\.\d+\.\d+\n\n(\S.*), https?:/gm)];
  assert.deepEqual(
    titles.map(([, name]) => name),
    bundled,
  );
  assert.ok(notices.includes("Permission is hereby granted"));
  const entries = fs.readdirSync(path.join(root, "dist/entries"));
  for (const entry of entries.filter((name) => name.endsWith(".d.ts"))) {
    const { packages } = importGraph(path.join(root, "dist/entries", entry));
    const others = [...packages].filter((name) => !/^(ndscatter|node:)/.test(name));
    assert.deepEqual(others, [], entry);
  }
});

test("bullmq loads its optional packages when it is asked for, and the command loads it then", () => {
  const graph = (entry: string) => importGraph(path.join(root, "dist", entry));
  const { packages } = graph("entries/bullmq.js");
  assert.ok(!packages.has("bullmq") && !packages.has("ioredis"));
  const main = fs.readFileSync(path.join(root, "dist/cli/main.js"), "utf8");
  assert.doesNotMatch(main, /from ?"[^"]*(?:distributed|bullmq)/);
});

test("the functions of a first call are compiled with their files", () => {
  const parts = path.join(root, "dist/parts");
  const text = fs.readdirSync(parts).map((name) => fs.readFileSync(path.join(parts, name), "utf8"));
  // About a hundred functions in parentheses, without their names, which are minified.
  const early = [...text.join("\n").matchAll(/\w=\((?:async )?function\(/g)];
  assert.ok(early.length > 60, `${early.length} functions`);
});

/**
 * Maximum size of one import in a user's bundle, minified and gzipped, in bytes: a kilobyte above the present size, so
 * that a few bytes do not fail the test. `Infinity` where nothing is promised.
 */
const IMPORTS = [
  // `Symbol.dispose`, for results declared by `using`, takes 22 bytes. A view of the bytes of tensors that are used often
  // takes 80, and a repeated call 0.93 of its time.
  ["entries/index.js", "tensor", 10_700],
  // Calls that were made before, and short lists, take 0.8 kB: a call takes 0.4 to 0.8 of its time, one with lists 0.3.
  // Functions in parentheses, which V8 compiles with their file, take 0.2 kB: the first call takes 0.8 ms instead of 1.8.
  // The fields of errors take 0.4 kB.
  // The comparisons of OpenVINO's max and min take 0.5 kB, of which 0.3 are kernels.
  // Sums of float16 with copies, gathers by checked indices, and scatters that do not copy replaced rows take 2.2 kB: such
  // calls take 0.4 to 0.8 of their time.
  ["entries/index.js", "scatterND", 41_500],
  ["entries/js.js", "scatterND", 24_700],
  ["entries/index.js", "explain", Infinity],
  ["entries/index.js", "diagnose", Infinity],
] as const;

/** Maximum size of the packed tarball, in bytes. 82,000 are libzstd, which is deflated already. */
const MOST_PACKED = 720_000;

for (const [entry, name, most] of IMPORTS) {
  test(`to import ${name} of ${entry} takes at most ${most} bytes`, async (t) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export { ${name} } from "./${entry}";`,
        resolveDir: path.join(root, "dist"),
      },
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
    });
    const bytes = gzipSync(outputFiles[0].contents, { level: 9 }).length;
    t.diagnostic(`${bytes} bytes`);
    assert.ok(bytes > 1000 && bytes <= most, `${bytes} bytes`);
  });
}

test("`using` ends the use of a tensor, also where the runtime has no Symbol.dispose", async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { tensor } from "./entries/index.js";
        export const outer = tensor("int8", [1], [1]);
        { using inner = tensor("int8", [1], [2]); seen.push(inner.isDisposed, inner); }
        seen.push(seen[1].isDisposed, outer.isDisposed);`,
      resolveDir: path.join(root, "dist"),
    },
    bundle: true,
    format: "iife",
    target: "es2022",
    write: false,
  });
  for (const source of [
    "",
    "Symbol = new Proxy(Symbol, { get: (of, key) => key === 'dispose' ? undefined : of[key] });",
  ]) {
    const seen: unknown[] = [];
    vm.runInNewContext(source + outputFiles[0].text, { seen });
    assert.deepEqual([seen[0], ...seen.slice(2)], [false, true, false]);
  }
});

/** What the README's table of entries says of sizes: `36 kB (\`scatterND\`)`. */
const SAID = [
  ...fs
    .readFileSync(path.join(root, "README.md"), "utf8")
    .matchAll(/^\| `ndscatter\/?(\w*)` .*\| (\d+) kB \(`(\w+)`\)/gm),
];

for (const [, entry, said, name] of SAID) {
  test(`${name} of ndscatter/${entry} takes ${said} kB, as the README says`, async () => {
    const { outputFiles, metafile } = await build({
      stdin: {
        contents: `export { ${name} } from "./entries/${entry === "" ? "index" : entry}.js";`,
        resolveDir: path.join(root, "dist"),
      },
      bundle: true,
      minify: true,
      format: "esm",
      splitting: true,
      outdir: path.join(root, "build"),
      write: false,
      metafile: true,
      absWorkingDir: root,
    });
    // The files that load at once: the entry, and what it imports statically.
    const loaded = new Set(["build/stdin.js"]);
    for (const file of loaded) {
      for (const { path: to, kind } of metafile.outputs[file]?.imports ?? []) {
        if (kind === "import-statement") loaded.add(to);
      }
    }
    const files = outputFiles.filter((file) => loaded.has(path.relative(root, file.path)));
    assert.equal(files.length, loaded.size);
    const bytes = files
      .map(({ contents }) => gzipSync(contents, { level: 9 }).length)
      .reduce((sum, length) => sum + length, 0);
    assert.ok(Math.abs(bytes - Number(said) * 1000) < 1000, `${bytes} bytes`);
  });
}

test("the README says the sizes of eight entries", () => assert.equal(SAID.length, 8));

test("ndscatter/js brings no WebAssembly, whatever is imported of it", async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(root, "dist/entries/js.js")],
    bundle: true,
    format: "esm",
    write: false,
  });
  assert.doesNotMatch(outputFiles[0].text, /"WebAssembly"|src\/core\/engines\/wasm/);
});

const [major, minor] = process.versions.node.split(".").map(Number);
const requires = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);

test(
  "CommonJS requires every entry",
  { skip: !requires && "this Node has no require of ES modules" },
  () => {
    const { exports }: { exports: object } = JSON.parse(
      fs.readFileSync(path.join(root, "package.json"), "utf8"),
    );
    const names = Object.keys(exports).filter((name) => name !== "./package.json");
    const code = names.map((name) => `Object.keys(require("ndscatter${name.slice(1)}")).length`);
    const counts = sh(process.execPath, ["--no-warnings", "-p", `[${code.join()}].join()`]);
    assert.match(counts, /^[1-9]\d*(,[1-9]\d*)*\n$/);
    assert.equal(counts.split(",").length, names.length);
  },
);

test("publint finds nothing", () => {
  assert.match(sh(bin("publint"), ["--strict"]), /All good/);
});

test("the types resolve for every way to import an ES module", () => {
  // It fails with a status of its own when it finds a problem; what it looked at is checked here.
  const report: { analysis: { entrypoints: object } } = JSON.parse(
    sh(bin("attw"), ["--pack", "--profile", "esm-only", "--format", "json"]),
  );
  const entries = Object.keys(report.analysis.entrypoints);
  assert.deepEqual(entries, [
    ".",
    "./bullmq",
    "./chunked",
    "./js",
    "./npy",
    "./onnx",
    "./openvino",
    "./operators",
    "./webgpu",
    "./zarr",
    "./package.json",
  ]);
});

/** A project of a user who looks at the types of the package, and has these switches on. */
const STRICT = {
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  module: "nodenext",
  target: "es2022",
  noEmit: true,
};

const PROJECTS = {
  "of Node": { lib: ["es2022"], types: ["node"] },
  "of a browser": { lib: ["es2022", "dom"], types: [] },
  "of no platform": { lib: ["es2022"], types: [] },
} as const;

for (const [where, options] of Object.entries(PROJECTS)) {
  test(`the declarations compile without skipLibCheck in a strict project ${where}`, () => {
    const manifest: { exports: object } = JSON.parse(
      fs.readFileSync(path.join(root, "package.json"), "utf8"),
    );
    const entries = Object.keys(manifest.exports).filter((name) => name !== "./package.json");
    // Inside build/, so that the package is found by its own name.
    const folder = fs.mkdtempSync(path.join(root, "build", "strict-"));
    try {
      const lines = entries.map(
        (name, at) => `export * as e${at} from "ndscatter${name.slice(1)}";`,
      );
      fs.writeFileSync(path.join(folder, "use.ts"), lines.join("\n"));
      const config = { compilerOptions: { ...STRICT, ...options }, files: ["use.ts"] };
      fs.writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(config));
      const files = sh(bin("tsc"), ["-p", folder, "--pretty", "false", "--listFiles"]);
      for (const name of ["entries/types.d.ts", "entries/webgpu.d.ts", "entries/npy.d.ts"]) {
        assert.ok(files.includes(path.join(root, "dist", name)), name);
      }
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
}

test("the declarations have no typed array with a parameter, which TypeScript before 5.7 does not know", () => {
  const declarations = fs
    .readdirSync(path.join(root, "dist"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".d.ts"));
  assert.ok(declarations.length > 9);
  for (const name of declarations) {
    const text = fs.readFileSync(path.join(root, "dist", name), "utf8");
    assert.doesNotMatch(text.replaceAll(/^\s*\/?\*.*$/gm, ""), /\b\w+\d(?:Clamped)?Array</, name);
  }
});

test("the lock file names no registry", () => {
  assert.doesNotMatch(
    fs.readFileSync(path.join(root, "package-lock.json"), "utf8"),
    /https?:\/\/(?!opencollective|github|www\.patreon|tidelift)[^"]*\.tgz/,
  );
});

/** Packed documents may link to files that only a clone has in a paragraph that says so, and show its pictures. */
const inPackage = (text: string): string[] => {
  const paragraphs = text.split(/\n(?=\n|- )/).filter((one) => !/\bin a clone\b/i.test(one));
  return [...paragraphs.join("\n").matchAll(/(?<!!\[[^\]]*)\]\(([^)#\s]+)[^)]*\)/g)].map(
    ([, target]) => target,
  );
};

test("the package is small, and every relative link of a packed document leads to a packed file", (t) => {
  const [{ files, size }]: [{ files: { path: string }[]; size: number }] = JSON.parse(
    sh("npm", ["pack", "--dry-run", "--json", "--silent"]),
  );
  t.diagnostic(`${size} bytes in ${files.length} files`);
  assert.ok(size <= MOST_PACKED, `${size} bytes`);
  const packed = new Set(files.map((file) => file.path));
  const documents = [...packed].filter((file) => file.endsWith(".md"));
  assert.ok(documents.includes("README.md") && documents.includes("docs/arrays/zarr.md"));
  const links = documents.flatMap((file) =>
    inPackage(fs.readFileSync(path.join(root, file), "utf8"))
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => path.join(path.dirname(file), target)),
  );
  assert.ok(links.length > 50);
  assert.deepEqual(
    [...new Set(links)].filter((link) => !packed.has(link)),
    [],
  );
});

test("the packed tarball installs and runs in an empty folder", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-"));
  try {
    const tarball = sh("npm", ["pack", "--silent", "--pack-destination", folder]).trim();
    fs.writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    sh(
      "npm",
      ["install", "--prefer-offline", "--no-audit", "--no-fund", "--omit=dev", `./${tarball}`],
      folder,
    );
    fs.writeFileSync(
      path.join(folder, "use.js"),
      [
        'import { scatterND, tensor } from "ndscatter";',
        'import { writeNpy } from "ndscatter/npy";',
        'import { writeTensor } from "ndscatter/onnx";',
        'import fs from "node:fs";',
        'const data = tensor("float32", [4], [1, 2, 3, 4]);',
        'fs.writeFileSync("d.npy", writeNpy(data));',
        'fs.writeFileSync("i.npy", writeNpy(tensor("int64", [1, 1], [2])));',
        'const updates = tensor("float32", [1], [9]);',
        'fs.writeFileSync("u.pb", writeTensor(updates));',
        'fs.writeFileSync("u.npy", writeNpy(updates));',
        "console.log(JSON.stringify(scatterND(data, [[2]], [9]).toArray()));",
      ].join("\n"),
    );
    assert.equal(sh(process.execPath, ["use.js"], folder).trim(), "[1,2,9,4]");
    const { exports }: { exports: object } = JSON.parse(
      fs.readFileSync(path.join(root, "package.json"), "utf8"),
    );
    for (const name of Object.keys(exports).filter((one) => one !== "./package.json")) {
      const code = `import("ndscatter${name.slice(1)}").then((entry) => console.log(Object.keys(entry).length > 0))`;
      assert.equal(sh(process.execPath, ["-e", code], folder).trim(), "true", name);
    }
    const runs = (...args: string[]): string =>
      sh("npx", ["--no-install", "ndscatter", "run", "ScatterND", ...args], folder);
    assert.match(runs("d.npy", "i.npy", "u.pb"), /1\., 2\., 9\., 4\./);
    // Threads find the file that they run.
    const chunked = runs("d.npy", "i.npy", "u.npy", "-o", "o.npy", "--memory", "300M");
    assert.match(chunked, /written to o\.npy/);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

test("the example files are what examples/make.js makes, and small", async () => {
  const { files }: { files: Record<string, Uint8Array> } = await import(
    path.join(root, "examples/make.js")
  );
  let total = 0;
  for (const [name, bytes] of Object.entries(files)) {
    assert.ok(Buffer.from(bytes).equals(fs.readFileSync(path.join(root, "examples", name))), name);
    total += bytes.length;
  }
  assert.ok(total < 200_000);
});
