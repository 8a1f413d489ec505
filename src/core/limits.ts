/**
 * Internal limits: the sizes from which the package works in another way, and how much it processes at once or keeps. A
 * limit changes the speed and the memory of a call, never its result, and no option sets a limit. Tests shrink the limits
 * (`test/support/limits.ts` has the extreme of each), so that tensors of a hundred elements reach every path. Code
 * therefore reads a limit when it runs, outside loops: a constant of a module would keep the value that tests replace.
 *
 * One record for each part of the package, so that bundlers keep what a page uses. The limits are plain numbers, because
 * esbuild keeps every record that holds an expression such as `2 ** 18`.
 */

/** Sizes above which WebAssembly and threads pay off. */
export const WASM = {
  /** Bytes of a window. A window should stay in the cache from when it is copied in until it is used. */
  window: 262_144,
  /** Below this many elements to move or combine, the call of a kernel costs more than it saves. */
  work: 128,
  /** Below this many elements an asynchronous call is not given to workers: waking them costs more than it saves. */
  submit: 4096,
  /** Below this many indices JavaScript reads them just as fast. */
  indices: 256,
  /** Slices of up to this many bytes move faster in WebAssembly, even with copies of both tensors. */
  slice: 1024,
  /**
   * Moving an element in WebAssembly saves the time of copying this many bytes; combining an element saves twice as much.
   */
  element: 32,
  /** A reduction on copies costs as much as copying this many bytes, before any element. A move costs three times that. */
  call: 12_288,
  /** Single updates are sorted by region if data on the heap has at least this many bytes. */
  regions: 16_777_216,
  /** Waking the workers pays off for at least this many bytes of moves or indices. */
  share: 262_144,
  /** Heap results of at least this many bytes are gathered on several threads: 16 MB of rows gain 1.2 to 1.4. */
  heap: 8_388_608,
  /** Bytes of a window in memory that is shared with threads, which are woken for each window. */
  shared: 2_097_152,
  /** Single updates are partitioned by destination for targets of at least this many bytes, which no cache holds. */
  partition: 67_108_864,
  /** For rows of at least this many indices, a kernel checks whether all indices of a row are equal. */
  row: 8,
};

/** Cached checks of earlier calls of plain functions. */
export const CALLS = {
  /** Calls kept for each function, and forms of tensors kept for each call. Comparing one takes about 10 ns. */
  kept: 4,
};

/** Nested lists as inputs. */
export const LISTS = {
  /** Lists of up to this many numbers are first read as their most common kind: people type short lists. */
  numbers: 4096,
};

export type WasmLimits = Readonly<typeof WASM>;

/** Calls on a GPU. */
export const GPU = {
  /** Bytes of free memory that are kept for later calls. Buffers beyond them are destroyed. */
  kept: 268_435_456,
  /** A free buffer serves a call if it is at most this many bytes longer than four times the requested size. */
  spare: 65_536,
  /** Bytes for the parameters of dispatches. When they are full, the recorded dispatches are submitted. */
  params: 65_536,
  /** Slots for the status of calls at the beginning. Their number doubles when all are in use. */
  slots: 64,
  /** Calls that may be pending before the engine asks for their outcome by itself. */
  pending: 256,
  /** Workgroups of one dispatch: as many as every device allows. */
  workgroups: 65_535,
  /** Invocations of one dispatch of atomic updates. All may change one word in turn, and each may wait 1 µs. */
  atomics: 1_048_576,
  /** In a table with more entries per position only used entries are cleared: a random access costs as much. */
  sparse: 16,
  /** Up to this many indices are checked by one workgroup, in one dispatch. */
  alone: 256,
  /** Sorted positions in a block. Drivers end what takes seconds, and llvmpipe ends loops silently after 65,535 rounds. */
  block: 15_360,
  /** Blocks of one target in one command buffer. An invocation applies their updates one by one, two in a round. */
  blocks: 8,
  /** Positions that one invocation of the sort on the GPU places in a pass. */
  run: 32,
  /** Bits of a digit of the sort on the GPU at most; workgroup memory holds counts of 10 bits. */
  bits: 10,
  /** Up to this many positions the host sorts by comparisons, which take less time than counting the values of a digit. */
  few: 1024,
  /** Bits of a digit of the host's sort. */
  digit: 16,
};

/** Sizes from which the kernels of WebAssembly work in another way. The host writes them into the kernels' memory. */
export const KERNELS = {
  /** Bytes that are prefetched at once. They have to stay in the first cache until they are used. */
  ahead: 16_384,
  /**
   * Targets are prefetched if they lie in at least this many bytes; fewer bytes stay in the caches. Adding 1,000,000
   * float32 at random takes 2.9 ms in 4 MB, and 4.0 with prefetching; in 16 MB it takes 10, and 8.4 with prefetching.
   */
  far: 8_388_608,
  /** For slices of at least this many bytes `memory.copy` is faster than a loop; for shorter ones the call costs more. */
  long: 2048,
  /** For slices of at least this many bytes a gather is faster if it prefetches them. */
  prefetched: 256,
  /** Indices into axes of up to this many elements are read in SIMD lanes of 32 bits, which hold no more. */
  narrow: 2_147_483_647,
};

/** Sizes from which moves in JavaScript work in another way. */
export const MOVE = {
  /**
   * Up to this many elements are moved without views of their bits. Views take 0.2 µs, and asking for the buffer of a new
   * array of up to 64 bytes moves the array out of the heap, which takes 0.3 µs. Moving 128 elements in place takes 0.5 µs
   * instead of 1.
   */
  few: 512,
  /** Slices of at least this many units are moved by `set`: 37 ns for 32 units and for 64, the loop 28 and 52. */
  long: 48,
  /**
   * Slices are prefetched if the side that is accessed at random has at least this many bytes: more than caches and the
   * processor's list of pages cover. A slice of 256 bytes takes 237 ns in 16 MB, and 142 with prefetching; in 64 MB 267 and
   * 160.
   */
  far: 8_388_608,
  /**
   * The processor itself prefetches slices of more bytes than this. In 64 MB, 512 bytes take 299 ns, and 214 with
   * prefetching; 768 bytes 269 and 265.
   */
  followed: 512,
  /** Bytes that are prefetched at once. They have to stay in the first cache; any size from 2 to 32 kB is equally fast. */
  ahead: 4096,
};

/** Limits for offsets. */
export const OFFSETS = {
  /** Up to this many offsets are kept in a reused array: making a new array of 64 takes 0.2 µs, of 256 it takes 0.5. */
  scratch: 1024,
  /**
   * Repeated targets are found by a bit for each target, or by a Set if the bits would take more than this many bytes for
   * each offset.
   */
  bits: 64,
  /** The bits may always take this many bytes more, even for few offsets. */
  leastBits: 1024,
};

/**
 * Gradients: elements of data for each element of updates above which targets are packed, because a table of them takes
 * less time than a copy of data; the fewest elements of updates that kernels are called for; the most bytes that these
 * copy; and the bytes of data and of updates, which stay in the cache, that they copy at once.
 */
export const GRADIENTS = { dense: 4, kernels: 1024, scratch: 33_554_432, group: 131_072 };

/** Memory of WebAssembly. */
export const SCRATCH = {
  /** Bytes of the block that all calls use, one after the other. */
  block: 1_048_576,
  /** Pages of 64 KiB of the scratch memory for tensors of the heap, until a call needs more: 64 MiB. */
  pages: 1024,
  /** Pages of an engine's memory, and of the largest scratch memory: 4 GiB, the limit of 32-bit addresses. */
  mostPages: 65_536,
  /** The fewest pages that make sense, 16 MiB: a platform that refuses them is treated as one without WebAssembly. */
  leastPages: 256,
};

/** Workers. */
export const THREADS = {
  /**
   * Updates that are partitioned at once, so that they stay in the cache; more if this would give more than `blocks`
   * blocks.
   */
  partitioned: 16_384,
  blocks: 256,
  /** Checks for work before a thread sleeps. Sleeping costs more than a short wait. */
  spins: 2000,
  /** Milliseconds that a round may take without progress. One kernel takes a second at most. */
  patience: 5000,
  /** Milliseconds in which at least one more worker must start. */
  start: 5000,
};

/** Chunked jobs. */
export const CHUNKED = {
  /** Updates are combined early only if at least one in this many entries of a block repeats a target. */
  share: 8,
  /** The most entries in a table of a chunk's rows: 16 MB. */
  rows: 4_194_304,
  /** Indices that are read at once where no position uses them and they are only checked. */
  indices: 1_048_576,
  /** Up to this many fragments, the starts of all of them are read at once: 4 kB, which the disk reads anyway. */
  fragments: 1000,
  /** Files that are examined or read at the same time. */
  reads: 8,
  /** Chunks of data of at most this many bytes share tasks: a task takes about 2 ms beside what it does for each chunk. */
  small: 65_536,
  /** Bytes of updates that are read at once for the small chunks of a task. */
  ahead: 4_194_304,
  /** The most chunks of a task. */
  group: 64,
  /** Small chunks share tasks only where so many tasks remain: for threads, and for other machines. */
  groups: 16,
  /**
   * Bytes that a disk reads in the time in which it finds another place: a gather reads what lies between two rows where it
   * is less, and whole chunks where it wants a row of each so many bytes.
   */
  gap: 65_536,
  /** Files whose times are read to compute the speed of a stage. */
  rated: 500,
  /** Jobs whose arrays a thread keeps open. */
  jobs: 4,
  /** Milliseconds between two records of a process that works on a job, and after which one is passed over. */
  record: 5000,
  stale: 60_000,
};

/** Memory of results that is kept for later results. */
export const POOL = {
  /** Bytes of all buffers that are kept. Further buffers are left to the garbage collector. */
  most: 536_870_912,
  /**
   * Bytes of the shortest buffer that is kept: in Node 20 making a shorter one takes at most 0.6 µs, and transferring it
   * 0.8.
   */
  least: 4096,
};

/**
 * Memory of the next large result: bytes of the shortest and longest (up to 32 MB the allocator hands pages out again: 28 MB
 * cost 2.5 ms, 51 MB 25), and milliseconds after which its worker ends, and which a call waits for it (0.1 on a free core).
 */
export const RESERVE = { least: 33_554_433, most: 536_870_912, idle: 1000, wait: 1 };

/** External data of a model's tensors. */
export const EXTERNAL = {
  /** Bytes that are read at once. 2.7 GB take as long in parts of 16 MiB as in one part, and half the memory. */
  part: 16_777_216,
};

/** Limits of a diagnosis. */
export const DIAGNOSE = {
  /** In outputs of more cells than this a fault is tried on a sample of the differing cells first. */
  whole: 2e4,
  /** Cells of the sample. */
  sampled: 1000,
  /** In calls of at most this many cells and indices all pairs of faults are tried, each on all cells: at most 0.3 s. */
  allPairs: 2e4,
  /** In larger calls only this many faults are tried in pairs: those that explain most cells alone. */
  partners: 10,
  /** In larger calls at most this many pairs are tried. Each takes 30 ms for 10^6 cells. */
  pairs: 40,
  /** The most values that a cell may have if some of its updates are lost. More values would fit nearly any result. */
  values: 262_144,
  /** The most such values of all cells together, which take 1 s. */
  steps: 3e7,
};

/** Limits for running a node alone that may race. */
export const VERIFY = {
  /** The most runs: of 100, 53 differ for a node of a graph network, and a third for 40,000 rows added into 8. */
  reruns: 200,
  /** Milliseconds after which no further run begins. 100 runs of the graph network's node take 1.1 s. */
  rerunTime: 2000,
  /** The most runs with one thread. If all of them are exact, threads are the reason. */
  oneThreadRuns: 20,
};

/** Limits for measuring a cure. */
export const FIX = {
  /** The most runs of a faulty node, and of the whole model. */
  runs: 100,
  /** Milliseconds after which no further run of a faulty node begins, for all faulty nodes together. */
  nodeTime: 1000,
  /** Milliseconds after which no further run of the whole model begins. */
  modelTime: 1000,
  /** Milliseconds of a run that a dearer cure must save to be chosen: medians of shorter runs vary by as much. */
  saving: 1,
};

/** Files by ranges. */
export const FILES = {
  /** Bytes that are read or written at once. The system takes less than 2 GiB; signals are handled between two parts. */
  atOnce: 1_073_741_824,
  /** Reads and writes of more bytes do not block a thread. */
  short: 65_536,
  /** Milliseconds, on average, above which calls do not block a thread: a promise costs at most 0.25. */
  slowCall: 0.5,
  /** The same for syncs, and for reads: a small file takes 0.38 ms in a group of 8 syncs, and 0.55 by itself. */
  slowSync: 0.1,
  slowRead: 0.1,
  /** Calls that do not block before one is tried again. */
  rest: 1000,
};

/** Boxes of arrays, and NPY files. */
export const ARRAYS = {
  /**
   * Elements of 4 bytes that are transposed together: a cache line of 64 bytes. Without this a line is loaded for each
   * element of it, which takes 2 to 4 times as long.
   */
  tile: 16,
  /** Runs of fewer bytes are copied word by word, because `set` and `subarray` take as long as copying 200 bytes. */
  run: 256,
  /** Runs of a file of fewer bytes are read in one piece with the bytes between them. */
  fileRun: 65_536,
  /** Bytes of the longest such piece. */
  span: 4_194_304,
  /** Bytes of a chunk of an NPY file, unless the caller gives a chunk shape. */
  chunk: 67_108_864,
  /** Code points of text that become a string at once: adding characters one by one costs 32 bytes each. */
  codes: 4096,
};

/** Chunks of Zarr. */
export const ZARR = {
  /** Bytes of fill values that are written at once to pad a chunk at the end of an axis. */
  padding: 65_536,
  /** Parts of a chunk of up to this many bytes together are joined and written at once. */
  joined: 1_048_576,
  /** Buffers that an array keeps for its next chunks. */
  buffers: 2,
  /** Bytes of a block of blosc, which fit into a processor's cache. */
  block: 262_144,
  /** Runs of more bytes are copied by a call of the JavaScript engine, which takes as long as copying this many bytes. */
  run: 32,
  /** Requests of a store of files that are under way at once. */
  requests: 4,
  /** Buffers of more bytes are freed at once instead of kept, although new memory costs a page fault for each 4 kB. */
  keep: 4_194_304,
  /** Results of codecs of at least this many bytes are freed after their last use, which takes 1 to 10 µs. */
  release: 65_536,
  /** Bytes of the buffers in which zlib returns compressed data. They are joined at the end. */
  piece: 1_048_576,
};

/** Requests to servers. Times are milliseconds. */
export const HTTP = {
  /** Attempts of a request after the first. */
  retries: 5,
  /** The longest wait before the first retry, doubled for each further retry. The wait is a random part of it. */
  first: 100,
  /** The longest wait, whatever a server asks for. */
  longest: 20_000,
  /** The longest of all waits of a request together. */
  total: 60_000,
  /** Bytes of the longest object that is held in memory because its server sends no ranges. */
  whole: 67_108_864,
  /** Requests for ranges of one file that are under way at once. */
  ranges: 4,
};

/** Jobs of a queue. Times are milliseconds. */
export const DISTRIBUTED = {
  /** The most queue jobs of a stage: each takes 1 kB of Redis, and 10,000 keep 1,000 threads busy to the end. */
  jobs: 10_000,
  /** Queue jobs that one command adds. Redis does nothing else meanwhile. */
  batch: 500,
  /** The time before the first retry of a task. The time doubles with each retry. */
  backoff: 1000,
  /**
   * The lifetime of a lock, which is renewed after half of it. Other workers look for expired locks every `stalled`, so a
   * killed worker is noticed after 3 to 9 seconds.
   */
  lock: 6000,
  stalled: 3000,
  /** The wait of a worker that does not see a job's folder, so that other workers may take the task. */
  blind: 2000,
  /** Between two checks of the folder. */
  period: 200,
  /** Between two signs of life of a worker, and the time without them after which a worker is reported as silent. */
  sign: 2000,
  silent: 7000,
  /** Between two counts of workers. */
  count: 3000,
  /** The most checks that may find the queue's root job complete but this machine's view of the folder incomplete. */
  differences: 30,
  /** The longest wait for Redis when a job is taken out of the queue. */
  withdrawal: 3000,
  /** The time for which Redis remembers that a job was withdrawn: a week, longer than tasks stay in the queue. */
  takenBack: 604_800_000,
  /** The longest wait of an ending worker for a Redis that is gone. */
  goodbye: 3000,
  /** The time in which Redis must answer. */
  answer: 5000,
};

/** Progress reports of the command during long work. */
export const CLI = {
  /** Milliseconds before the first line of progress, and between two lines that replace each other. */
  progress: 1000,
  /** Milliseconds between two lines of progress if the output is not a terminal. */
  lines: 10_000,
  /** A stage of a job is reported with its rate from this many seconds on. Shorter ones say nothing about the disk. */
  stage: 1,
  /** The disk is measured for jobs of at least this many seconds, because measuring takes a moment too. */
  long: 10,
  /** Bytes of a chunk when another array is copied into an NPY file. */
  npy: 67_108_864,
};
