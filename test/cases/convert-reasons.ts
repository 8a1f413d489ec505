/** Why a conversion is refused, as `docs/convert.md` lists it; … stands for names and numbers. */
export const REASONS: readonly string[] = [
  "… has no reduction …",
  "… always includes the data in a reduction, which use_init_val false excludes",
  "… does not accept …",
  "… has no batch_dims, which is … here",
  "… merge… the … batch axes of its output",
  "… does not have … yet; opset … has it",
  "openvino has no operator equivalent to …",
  "… needs a constant axis",
  "… does not accept negative indices, and the values of … are unknown because it is not a constant…",
  "… rejects indices out of range, for which … returns zeros, and the values of … are unknown…",
  "… is …, and the size of its axis is unknown; declare the shape of data",
  "… is …, which is out of range and which … rejects",
  "… updates.shape must be …",
  "ai.onnx has no ScatterUpdate; equivalent nodes need …",
  "the data type to which it converts … is unknown",
  "the input … has a data type that this package does not know",
  "only models with this package's operators can be converted to openvino, but the model has …",
  "the data type of … is not declared; … accepts all data types of … except …",
];

/** The same as patterns of sentences. */
export const REASON_PATTERNS: readonly RegExp[] = REASONS.map((reason) => {
  const parts = reason.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join(".*"));
});
