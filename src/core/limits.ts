/**
 * Internal limits: sizes at which the package switches to another method, and amounts that it processes at once or
 * keeps. A limit changes the speed and memory use of a call, never the result, and users cannot set limits. Tests lower
 * the limits (`test/support/limits.ts` has the extreme value of each), so that tensors of a hundred elements reach
 * every path. Code must therefore read a limit at run time, outside loops: a module constant would keep the value that
 * tests replace.
 *
 * Each part of the package has its own record, so that bundlers keep only the records a page uses. The limits are plain
 * numbers, because esbuild keeps every record that contains an expression such as `2 ** 18`.
 */

/** Sizes above which WebAssembly and threads pay off. */
export const WASM = {
  /** Size of a window, in bytes. A window should stay in the cache until it is used. */
  window: 262_144,
  /** Size of a window of halves to sum, in bytes, which is larger because each piece copies its targets. */
  halves: 2_097_152,
  /** Minimum elements to move or combine in a kernel; a kernel call costs more than it saves for fewer elements. */
  work: 128,
  /** Minimum elements of an asynchronous call on workers; waking them for fewer elements costs more than it saves. */
  submit: 4096,
  /** Minimum number of indices to read in a kernel; JavaScript reads fewer indices equally fast. */
  indices: 256,
  /** Longest slice, in bytes, that moves faster in WebAssembly even if both tensors must be copied. */
  slice: 1024,
  /** Time that WebAssembly saves per moved element, as bytes that can be copied meanwhile; twice this if combined. */
  element: 32,
  /** Fixed cost of a reduction on copies, as bytes that can be copied meanwhile; a move costs three times as much. */
  call: 12_288,
  /** Minimum size of heap data, in bytes, for sorting single-element updates by region. */
  regions: 16_777_216,
  /** Minimum bytes of moves or indices for which waking the workers pays off. */
  share: 262_144,
  /** Minimum bytes of a heap result to gather on several threads: 16 MB of rows are 1.2 to 1.4 times faster. */
  heap: 8_388_608,
  /** Size of a window in memory shared with threads, in bytes. The threads are woken for each window. */
  shared: 2_097_152,
  /** Minimum bytes of targets to partition single-element updates by destination; caches hold less than this. */
  partition: 67_108_864,
  /** Minimum slice length and size of data, in bytes, for copying only the slices of data that a scatter keeps. */
  kept: 256,
  whole: 4_194_304,
  /** Minimum row length, in indices, for which a kernel checks whether all indices in a row are equal. */
  row: 8,
};

/** Maximum cached calls per plain function, and tensor forms per call. Comparing an entry takes about 10 ns. */
export const CALLS = { kept: 4 };

/** Limits for nested lists as inputs. */
export const LISTS = {
  /** Maximum length of a list that is first read as its most common kind, because people type short lists. */
  numbers: 4096,
};

export type WasmLimits = Readonly<typeof WASM>;

/** Limits for calls on a GPU. */
export const GPU = {
  /** Maximum bytes of free GPU memory kept for later calls. Buffers beyond this limit are destroyed. */
  kept: 268_435_456,
  /** Maximum bytes by which a reused buffer may exceed four times the requested size. */
  spare: 65_536,
  /** Size of the buffer for dispatch parameters, in bytes. A full buffer submits the recorded dispatches. */
  params: 65_536,
  /** Initial number of slots for call status. The number of slots doubles when all slots are in use. */
  slots: 64,
  /** Maximum number of pending calls before the engine requests their outcomes without being asked. */
  pending: 256,
  /** Maximum number of workgroups in a dispatch, which every device supports. */
  workgroups: 65_535,
  /** Maximum invocations in a dispatch of atomic updates. One word may take all in turn, each within 1 µs. */
  atomics: 1_048_576,
  /** Maximum table entries per position to clear the whole table: clearing 16 entries costs one random access. */
  sparse: 16,
  /** Maximum number of indices that a single workgroup checks in one dispatch. */
  alone: 256,
  /** Sorted positions in a block. Drivers kill long dispatches; llvmpipe silently ends loops after 65,535 rounds. */
  block: 15_360,
  /** Maximum blocks of one target in a command buffer. One invocation applies all their updates, two per loop round. */
  blocks: 8,
  /** Positions that one invocation of the GPU sort places in a pass. */
  run: 32,
  /** Maximum bits in a digit of the GPU sort; workgroup memory has space for the counts of a 10-bit digit. */
  bits: 10,
};

/** Sizes at which WebAssembly kernels switch to another method. The host writes the sizes into the kernels' memory. */
export const KERNELS = {
  /** Bytes to prefetch at once, which must stay in the L1 cache until they are used. */
  ahead: 16_384,
  /** Minimum bytes of targets or data for prefetching: adding 1,000,000 float32 takes 8.4 instead of 10 ms in 16 MB. */
  far: 8_388_608,
  /** Minimum slice bytes for `memory.copy`: 512 bytes take 22 ns, and 25 ns in a loop; 256 take 30 and 25. */
  long: 512,
  /** Minimum slice bytes for prefetching in a gather: slices of 128 bytes take 1.3 times as long with it. */
  prefetched: 256,
  /** Maximum number of halves to copy as float32 for a sum, so that the copies stay in a cache. */
  copied: 1_048_576,
  /** Maximum axis size for reading indices in 32-bit SIMD lanes, which cannot hold larger values. */
  narrow: 2_147_483_647,
};

/** Sizes at which JavaScript moves switch to another method. */
export const MOVE = {
  /**
   * Maximum number of elements to move without creating views of their bits. Views take 0.2 µs, and accessing the
   * buffer of a new array of up to 64 bytes moves the array out of the heap, which takes 0.3 µs. Moving 128 elements in
   * place takes 0.5 µs instead of 1 µs.
   */
  few: 512,
  /** Minimum slice length, in units, for `set`, which takes 37 ns for 32 or 64 units; a loop takes 28 ns and 52 ns. */
  long: 48,
  /** Minimum size of the randomly accessed side, in bytes, for prefetching: more than the caches and the TLB cover. */
  far: 8_388_608,
  /**
   * Maximum slice length, in bytes, for prefetching; the processor prefetches longer slices itself. In 25 MB, 512 bytes
   * take 154 ns without and 83 ns with prefetching in words; 2048 bytes are as fast without.
   */
  followed: 512,
  /** Number of slices to prefetch at once, which must stay in a cache; 16 to 64 slices are equally fast. */
  ahead: 32,
  /** Longest slice, in bytes, that V8 copies faster as words than with `set`: 128 cached bytes take 17, not 27 ns. */
  words: 192,
  /** Minimum bytes to move as words, because creating bigints takes 50 ns until the loop is compiled. */
  large: 262_144,
};

/** Limits for offsets. */
export const OFFSETS = {
  /** Maximum number of offsets in a reused array: creating an array of 64 takes 0.2 µs, and one of 256 takes 0.5 µs. */
  scratch: 1024,
  /** Maximum bytes per offset of a bit set that finds repeated targets; a larger bit set is replaced by a Set. */
  bits: 64,
  /** Bytes that a bit set may take in addition to `bits` bytes per offset, for any number of offsets. */
  leastBits: 1024,
};

/**
 * Limits for gradients. `dense`: data elements per update element above which targets are packed, because a table of
 * targets then takes less time than a copy of data. `kernels`: minimum update elements to call kernels. `scratch`:
 * maximum bytes that kernels copy. `group`: bytes of data and updates that kernels copy at once, which stay in the
 * cache.
 */
export const GRADIENTS = { dense: 4, kernels: 1024, scratch: 268_435_456, group: 131_072 };

/** Limits for WebAssembly memory. */
export const SCRATCH = {
  /** Size of the block that all calls use, one at a time, in bytes. */
  block: 1_048_576,
  /** Initial scratch memory for heap tensors, in pages of 64 KiB: 64 MiB, until a call needs more. */
  pages: 1024,
  /** Maximum memory of an engine, and maximum scratch memory, in pages: 4 GiB, the limit of 32-bit addresses. */
  mostPages: 65_536,
  /** Minimum useful memory, in pages: 16 MiB. WebAssembly is not used on a platform that refuses this memory. */
  leastPages: 256,
};

/** Limits for worker threads. */
export const THREADS = {
  /** Number of updates to partition at once, which stay in the cache; more if `blocks` blocks are not enough. */
  partitioned: 16_384,
  blocks: 256,
  /** Number of checks for work before a thread sleeps, because sleeping costs more than a short wait. */
  spins: 2000,
  /** Maximum time without progress in a round, in ms. A kernel runs for at most a second. */
  patience: 5000,
  /** Maximum time, in ms, within which at least one more worker must start. */
  start: 5000,
};

/** Limits for chunked jobs. */
export const CHUNKED = {
  /** For combining updates early: maximum entries per repeated target, and in a chunk's row table (16 MB). */
  share: 8,
  rows: 4_194_304,
  /** Number of indices to read at once if they are only checked, because no position uses them. */
  indices: 1_048_576,
  /** Maximum fragments of a scatter before blocks are partitioned in two levels; finding one takes 0.1 to 0.4 ms. */
  pairs: 4_194_304,
  /** Maximum starts and checksums that are read at once; 1000 left 100 MB of garbage. */
  fragments: 100,
  /** Number of files that are examined or read concurrently, and most bytes of more than two chunks of a gather. */
  reads: 8,
  together: 33_554_432,
  /** Maximum bytes of a data chunk that shares a task: a task takes about 2 ms in addition to its chunks. */
  small: 65_536,
  /** Maximum memory, in bytes, of updates that threads keep, and of their chunks if no thread (0.2 s) is started. */
  few: 67_108_864,
  alone: 268_435_456,
  /** Bytes of updates to read at once for the small chunks of a task. */
  ahead: 4_194_304,
  /** Maximum number of chunks in a task, and minimum number of such tasks, so that all threads have work. */
  group: 64,
  groups: 16,
  /**
   * A gather reads whole chunks if every span of so many bytes has a wanted row (`sparse` for encoded chunks, as the
   * lists of a row take up to 200 bytes), and the bytes between two rows if they are fewer than `gap`. 2,000 rows of 1 kB
   * of 409 MB take 4 ms from memory and 144 ms from a disk; with 65,536, 6 and 203 ms; with 0, 4 and 228 ms.
   */
  gap: 16_384,
  sparse: 4096,
  /** Maximum entries of a folder of task files. A job can be resumed only with the value with which it began. */
  folder: 4096,
  /** Maximum number of files whose times give the speed of a stage, and of jobs that a thread keeps open. */
  rated: 500,
  jobs: 4,
  /** Interval, in ms, at which a process that works on a job records its presence; older records are ignored. */
  record: 5000,
  stale: 60_000,
  /** Time, in ms, after which a network file system must list the files of other machines: NFS takes up to a minute. */
  unlisted: 64_000,
};

/** Limits for result memory that is kept for later results. */
export const POOL = {
  /** Maximum total bytes of kept buffers. The garbage collector frees all other buffers. */
  most: 536_870_912,
  /** Minimum bytes of a kept buffer: Node 20 creates a shorter buffer in 0.6 µs, and transfers one in 0.8 µs. */
  least: 4096,
};

/**
 * Limits for memory prepared for the next large result. `least` and `most`: bytes (the allocator reuses pages up to 32
 * MB, so 28 MB take 2.5 ms and 51 MB take 25 ms). `idle`: ms until the worker ends. `wait`: ms for which a call waits
 * for the worker, which takes 0.1 ms on a free core.
 */
export const RESERVE = { least: 33_554_433, most: 536_870_912, idle: 1000, wait: 1 };

/** Limits for a model's external tensor data. */
export const EXTERNAL = {
  /** Bytes to read at once. Parts of 16 MiB halve the memory of a 2.7 GB read, which takes equally long. */
  part: 16_777_216,
  /** Bytes that are read in the time that it takes to find and read another slice, about 30 µs. */
  slice: 65_536,
};

/** Limits for a diagnosis. */
export const DIAGNOSE = {
  /** Maximum cells of an output without sampling; otherwise, a fault is first tried on a sample of differing cells. */
  whole: 2e4,
  /** Number of cells in the sample. */
  sampled: 1000,
  /** Maximum cells and indices for trying all pairs of faults, each on all cells, which takes at most 0.3 s. */
  allPairs: 2e4,
  /** Number of faults to try in pairs in larger calls: the faults that individually explain the most cells. */
  partners: 10,
  /** Maximum number of pairs to try in larger calls. Trying a pair takes 30 ms for 10^6 cells. */
  pairs: 40,
  /** Maximum number of values that a cell with lost updates may have. Many values would match nearly any result. */
  values: 262_144,
  /** Maximum number of values that all cells with lost updates may have together, which takes 1 s. */
  steps: 3e7,
};

/** Limits for rerunning a single node that may have a race. */
export const VERIFY = {
  /** Maximum number of runs: of 100, 53 differ for a graph network's node, and a third for 40,000 rows added into 8. */
  reruns: 200,
  /** Time, in ms, after which no new run begins; 100 runs of a graph network's node take 1.1 s. */
  rerunTime: 2000,
  /** Maximum number of runs with one thread. Threads cause the differences if all runs with one thread are exact. */
  oneThreadRuns: 20,
  /** Maximum number of sessions to find nodes at which the runtime fails; one node among 1,000 takes 10 sessions. */
  searches: 60,
  /** Time, in ms, after which no further session is made for the search. */
  searchTime: 30_000,
};

/** Limits for timing a cure. */
export const FIX = {
  /** Maximum number of runs of a faulty node, and of the whole model, whose first run is not timed: at least 2. */
  runs: 100,
  /** Time, in ms, after which no new run of a faulty node begins, for all faulty nodes together. */
  nodeTime: 1000,
  /** Time, in ms, after which no new run of the whole model begins. */
  modelTime: 1000,
  /** Minimum ms per run that a costlier cure must save to be chosen; medians of short runs vary by as much. */
  saving: 1,
};

/** Limits for reading and writing file ranges. */
export const FILES = {
  /** Bytes to read or write at once. System calls handle less than 2 GiB, and signals are handled between parts. */
  atOnce: 1_073_741_824,
  /** Maximum bytes of a read or write that may block a thread. */
  short: 65_536,
  /** Maximum average time, in ms, of calls that block a thread; a promise costs at most 0.25 ms. */
  slowCall: 0.5,
  /** Maximum average ms of a blocking sync or read: a small file takes 0.38 ms in a group of 8 syncs, 0.55 ms alone. */
  slowSync: 0.1,
  slowRead: 0.1,
  /** `rest`: promise-based calls until a blocking call is tried again. `turn`: most ms of blocking calls in a row. */
  rest: 1000,
  turn: 2,
  /** Time, in ms, of one blocking call of the main thread after which calls no longer block there, as on a slow disk. */
  stall: 20,
};

/** Limits for boxes of arrays, and for NPY files. */
export const ARRAYS = {
  /** Number of 4-byte elements to transpose together, a cache line: a line per element takes 2 to 4 times as long. */
  tile: 16,
  /** Minimum run length, in bytes, for `set` and `subarray`, which take as long as copying 200 bytes word by word. */
  run: 256,
  /** Minimum bytes of a run that is read separately; shorter runs are read together with the bytes between them. */
  fileRun: 65_536,
  /** Maximum size of a piece that contains several runs, in bytes. */
  span: 4_194_304,
  /** Chunk size of an NPY file, in bytes, unless the caller specifies a chunk shape. */
  chunk: 67_108_864,
  /** Code points to convert to a string at once: appending characters one by one costs 32 bytes each. */
  codes: 4096,
};

/** Limits for Zarr chunks. */
export const ZARR = {
  /** Bytes of fill values to write at once when padding a chunk at the end of an axis. */
  padding: 65_536,
  /** Maximum total size, in bytes, of chunk parts that are joined and written at once. */
  joined: 1_048_576,
  /** Number of buffers that an array keeps for its next chunks. */
  buffers: 2,
  /** Size of a blosc block, in bytes, which fits in a processor's cache. */
  block: 262_144,
  /** Maximum run length, in bytes, for copying in a loop; an engine call takes as long as copying this many bytes. */
  run: 32,
  /** Maximum number of concurrent requests in a file store. */
  requests: 4,
  /** Maximum bytes of a kept buffer. Larger buffers are freed, although new memory costs a page fault per 4 kB. */
  keep: 4_194_304,
  /** Minimum size of a codec result, in bytes, that is freed after its last use; freeing takes 1 to 10 µs. */
  release: 65_536,
  /** Size of the buffers in which zlib returns compressed data, in bytes. The buffers are joined at the end. */
  piece: 1_048_576,
  /** Maximum size of a member of an archive, in bytes, that is read in one request with its header. */
  member: 1_048_576,
};

/** Limits for requests to servers, with times in ms. */
export const HTTP = {
  /** Maximum number of retries of a request. */
  retries: 5,
  /** Maximum wait before the first retry, doubled for each later retry. The actual wait is a random fraction. */
  first: 100,
  /** Maximum wait that a server may ask for with `Retry-After`. A longer wait is an error. */
  longest: 30_000,
  /** Maximum total wait for all retries of a request that make no progress, including waits for silent servers. */
  total: 60_000,
  /** Maximum time without a byte from the server, and the same for a request that stores an object. */
  silence: 30_000,
  store: 300_000,
  /** Minimum bytes that an interrupted response must bring so that it counts as progress. */
  progress: 64,
  /** Maximum bytes of an object that is held in memory because its server does not support ranges. */
  whole: 67_108_864,
  /** Maximum number of concurrent range requests for one file. */
  ranges: 4,
};

/** Limits for jobs in a queue, with times in ms. */
export const DISTRIBUTED = {
  /** Maximum number of queue entries of a job. A worker holds one entry; an entry takes 1 kB of Redis. */
  entries: 256,
  /** Lifetime of a lock, renewed after half of it; workers look for expired locks at intervals of `stalled`. */
  lock: 6000,
  stalled: 3000,
  /** Maximum workers that an entry may lose: a task that exceeds memory kills every worker that runs it. */
  lost: 3,
  /** Delay of a worker after an error, so that it does not take all entries of a job that it cannot run. */
  blind: 2000,
  /** Interval between checks of a job's folder. */
  period: 200,
  /** Interval at which a submitter adds missing entries and looks for errors, and a worker for a withdrawal. */
  look: 2000,
  withdrawn: 500,
  /** Maximum wait for Redis when a job is removed from the queue. */
  withdrawal: 3000,
  /** Time for which Redis remembers that a job was withdrawn: a week. */
  takenBack: 604_800_000,
  /** Maximum time that a closing worker waits for an unreachable Redis. */
  goodbye: 3000,
  /** Maximum response time of Redis. */
  answer: 5000,
};

/** Limits for progress reports of the `ndscatter` command. */
export const CLI = {
  /** Delay, in ms, before the first line of progress, and between lines that replace each other. */
  progress: 1000,
  /** Interval between lines of progress, in ms, if the output is not a terminal. */
  lines: 10_000,
  /** Minimum duration of a job stage, in seconds, for reporting its rate; shorter stages say nothing about the disk. */
  stage: 1,
  /** Sizes of an ONNX file and of a constant in it, in bytes, from which a runtime reads the constant from the file. */
  light: 67_108_864,
  weights: 65_536,
  /** Chunk size, in bytes, when another array is copied into an NPY file. */
  npy: 67_108_864,
};
