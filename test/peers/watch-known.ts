/** The known differences between the package's tables and the newest peers, each with its reason. */

export interface Known {
  /** Matches lines that `watch.ts` prints. */
  readonly pattern: RegExp;
  readonly reason: string;
}

export const KNOWN: readonly Known[] = [
  { pattern: /data type UNDEFINED/, reason: "UNDEFINED is not a type of elements" },
  { pattern: /gather_tree/, reason: "GatherTree decodes beams, and does not index" },
  { pattern: /slice_scatter/, reason: "SliceScatter addresses a range, without indices" },
  {
    pattern: /^onnxruntime has .*bfloat16/,
    reason: "the runtime's kernels take bfloat16 in versions whose schema lacks it",
  },
  {
    pattern: /^zarr has codec (numcodecs|vlen|endian)/,
    reason: "codecs of numcodecs and of text are refused by name: their formats are not specified",
  },
  {
    pattern: /^zarr has data type (fixed_length|string|raw|null|variable|structured|numpy)/,
    reason: "text, bytes, records and times are refused by name, with advice",
  },
];
