/** The reasons of refused conversions: their sentences without names, data types and numbers. */

import { DTYPE_NAMES } from "../../src/core/tensor/dtype.ts";
import { convertModel } from "../../src/entries/onnx.ts";
import { REFUSALS } from "../fixtures/refusals.ts";
import { assertCode } from "./refusal.ts";

const OPERATOR = /\b[A-Z]\w+(-\d+)?/g;
const DTYPE = new RegExp(`\\b(${DTYPE_NAMES.join("|")})\\b`, "g");

/** The reason in a sentence about one node: `… has no reduction …`. */
export const reasonOf = (sentence: string): string =>
  sentence
    .replace(/; opset \d+ (supports|has) it$/, "")
    .replaceAll(/"[^"]*"/g, "…")
    .replaceAll(/\[[^\]]*\]/g, "…")
    .replaceAll(/\b(ai\.onnx|openvino)\b/g, "…")
    .replaceAll(OPERATOR, "…")
    .replaceAll(DTYPE, "…")
    .replaceAll(/-?\d+(\.\d+)?/g, "…");

/** The sentences of the refusals that are rows of a fixture, without the node and the target. */
export const refusedSentences = (): string[] =>
  REFUSALS.filter(({ code }) => code === undefined).map(({ of, to }) => {
    const error = assertCode("unsupported-model", {}, () => convertModel(of, to));
    return error.cause instanceof Error ? error.cause.message : error.message;
  });

/** Asserts that a model which an older target does not support can be converted from the opset `since` on. */
export function assertSince(since: number, convert: (opset: number) => unknown): void {
  convert(since);
  assertCode("unsupported-model", {}, () => convert(since - 1));
}
