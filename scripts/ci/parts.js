/** The parts of a CI run, and what they install, as rows. */

const npm = (...args) => ["npm", ...args];
const silent = (script) => npm("run", "--silent", script);
/** Builds the page, and runs one of its scripts. */
const page = (script) => [
  "sh",
  "-c",
  `npm run --silent --prefix playground build && npm run --silent --prefix playground ${script} -- "$@"`,
  "sh",
];
const clean = (folder) =>
  npm("ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
const debian = (...packages) => [
  "sh",
  "-c",
  'if [ "$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; ' +
    '$as apt-get update -q && $as apt-get install -y -q --no-install-recommends "$@"',
  "sh",
  ...packages,
];

/**
 * The installations that parts need, in order. They run beside the first parts. A failed installation is reported, and
 * the parts then name what they skip.
 * @typedef {{ name: string, command: string[], limit: number }} Install
 * @type {Install[]}
 */
export const INSTALLS = [
  {
    name: "page",
    command: npm("ci", "--prefix", "playground", "--ignore-scripts", "--no-audit", "--no-fund"),
    limit: 180,
  },
  { name: "webgpu", command: clean("test/gpu"), limit: 180 },
  {
    name: "browsers",
    // Mesa's llvmpipe and lavapipe are drivers for WebGPU beside the SwiftShader that Chromium brings.
    command: debian(
      ...["chromium", "firefox-esr", "xvfb", "libwebkit2gtk-4.1-0"],
      ...["libegl1", "libgles2", "libegl-mesa0", "libgl1-mesa-dri", "mesa-vulkan-drivers"],
    ),
    limit: 420,
  },
  { name: "typescript", command: clean("test/typescript"), limit: 300 },
  // ONNX Runtime and real models, with which slow tests compare.
  { name: "onnxruntime", command: clean("test/nightly/onnxruntime"), limit: 300 },
  {
    // A queue and a scheduler, which run jobs on several workers and nodes.
    name: "queue",
    // `npm ci` wants packages of other systems in the lock file, which npm itself does not write there.
    command: npm(
      ...["install", "--no-save", "--prefix", "test/nightly/distributed"],
      ...["--ignore-scripts", "--no-audit", "--no-fund"],
    ),
    limit: 300,
  },
  // A server of object storage, and another implementation of Zarr.
  { name: "s3", command: clean("test/nightly/s3"), limit: 300 },
  // TensorFlow.js, whose gradients slow tests compare, and onnxruntime-web, which pages with WebGPU use.
  { name: "bench", command: clean("bench"), limit: 300 },
  {
    // Servers and libraries with which slow tests compare.
    name: "servers",
    command: debian("redis-server", "slurm-wlm", "munge", "parallel", "python3-zarr"),
    limit: 420,
  },
  // The parts `peers` and `watch` create Python environments, in the user's cache.
  { name: "python", command: debian("python3", "python3-venv"), limit: 300 },
];

/**
 * The parts in order. `limits` has the seconds after which a part is stopped, several times its usual duration, for each
 * tier with the part. `all` has words that `nightly` adds to the command. At every commit the lane `side` runs beside the
 * others: the page's tests mostly wait for the browser, and both lanes take about the same time.
 * @typedef {{
 *   name: string, what: string, command: string[], limits: { commit?: number, nightly?: number }, all?: string[],
 *   needs?: string[], env?: Record<string, string>, nightlyEnv?: Record<string, string>, lane?: "side", isVital?: boolean
 * }} Part
 * @type {Part[]}
 */
export const PARTS = [
  {
    name: "build",
    what: "the kernels, the package and the compiled tests",
    command: ["node", "scripts/built.js"],
    limits: { commit: 300, nightly: 300 },
    isVital: true,
  },
  {
    name: "lint",
    what: "lint and format",
    command: silent("lint"),
    limits: { commit: 120, nightly: 120 },
  },
  {
    name: "test",
    what: "all tests in the Node that is here",
    command: npm("test"),
    limits: { commit: 900, nightly: 900 },
  },
  {
    name: "runtimes",
    what: "tests in other runtimes: a sample in Node 24, Bun and Deno; nightly all, in Node 22 as well",
    command: ["node", "build/test/runners/others.js"],
    all: ["--all"],
    limits: { commit: 900, nightly: 3600 },
  },
  {
    name: "browsers",
    what: "tests in Chromium, Firefox and WebKit: a sample; nightly all, in every place for code",
    needs: ["browsers"],
    command: ["node", "build/test/runners/browser/main.js"],
    all: ["--all"],
    limits: { commit: 900, nightly: 3600 },
  },
  {
    name: "webgpu",
    what: "the WebGPU engine: all tests on one driver and a sample on the others; nightly all on each",
    needs: ["webgpu", "browsers"],
    lane: "side",
    command: ["node", "build/test/gpu/main.js"],
    all: ["--all"],
    limits: { commit: 900, nightly: 3600 },
  },
  {
    name: "page",
    what: "the page, driven in Chromium: some examples and pages, which change with the commit; nightly all",
    needs: ["page", "browsers"],
    lane: "side",
    command: page("test"),
    nightlyEnv: { CASES: "all" },
    limits: { commit: 900, nightly: 1800 },
  },
  {
    name: "visits",
    what: "the page without a driver: a visit in Firefox and WebKit; nightly all, in Chromium as well",
    needs: ["page", "browsers"],
    lane: "side",
    command: page("test:browsers"),
    all: ["--all"],
    limits: { commit: 480, nightly: 900 },
  },
  {
    name: "typescript",
    what: "a user's project in the oldest and the newest TypeScript; nightly in every version, in all settings",
    needs: ["typescript"],
    command: ["sh", "-c", "node --test build/test/typescript/*.typescript.js"],
    nightlyEnv: { CASES: "all" },
    limits: { commit: 300, nightly: 1800 },
  },
  {
    name: "slow",
    what: "kills, power loss, sizes, memory and other people's systems",
    needs: ["onnxruntime", "queue", "s3", "bench", "servers", "browsers"],
    command: ["node", "build/test/runners/main.js", "--slow"],
    env: { RESULTS: "10000" },
    limits: { nightly: 5400 },
  },
  {
    name: "webgpu-pages",
    what: "the example and the benchmark on WebGPU in Chromium",
    needs: ["bench", "browsers"],
    command: ["sh", "-c", "node --test build/test/gpu/*.gpu-page.js"],
    limits: { nightly: 600 },
  },
  {
    name: "projects",
    what: "a small project for each bundler, test runner and runtime, with the packed package",
    needs: ["browsers"],
    command: ["node", "build/test/projects/main.js"],
    limits: { nightly: 1800 },
  },
  {
    name: "examples",
    what: "the examples, run",
    command: ["node", "examples/run.js"],
    limits: { nightly: 300 },
  },
  {
    name: "peers",
    what: "random cases compared with OpenVINO, ONNX Runtime, PyTorch, JAX, TensorFlow, zarr-python and others",
    needs: ["python", "onnxruntime", "bench"],
    command: ["node", "build/test/peers/main.js"],
    limits: { nightly: 7200 },
  },
  {
    name: "watch",
    what: "the tables compared with the newest versions of other systems",
    needs: ["python"],
    command: ["node", "build/test/peers/watch.js"],
    limits: { nightly: 900 },
  },
  {
    name: "seeds",
    what: "random cases with new seeds for ten minutes",
    command: ["node", "build/test/runners/seeds.js", "--seconds", "600"],
    limits: { nightly: 900 },
  },
];
