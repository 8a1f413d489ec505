/** Why a conversion is refused, as `docs/convert.md` lists it; … stands for names and numbers. */
export const REASONS: readonly string[] = [
  "… has no reduction …",
  "… cannot leave data out of a reduction, as use_init_val false does",
  "… does not take …",
  "… has no batch_dims, which are …",
  "… one axis of the … batch axes of its output",
  "… does not have … yet; opset … has it",
  "openvino has no operator that does what … does",
  "… has its axis as an attribute, but here it is not a constant",
  "… takes no negative indices, and … is not a constant, so its values are unknown…",
  "… has an error for indices out of range, for which … gives zeros, and … is not a constant…",
  "… is …, and the size of its axis is not known; declare the shape of data",
  "… is …, which is out of range, and … has an error for that",
  "… updates.shape must be …",
  "ai.onnx has no ScatterUpdate, and only one with … can be said …",
  "the data type that it makes of … is not known",
  "the input … is of a data type that is not known here",
  "to openvino only this package's operators are converted, but the model has …",
  "the data type of … is not declared; … takes all that … does but …",
];

/** The same as patterns of sentences. */
export const REASON_PATTERNS: readonly RegExp[] = REASONS.map((reason) => {
  const parts = reason.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(parts.join(".*"));
});
