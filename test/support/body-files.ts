/** ONNX files with graphs inside nodes, byte by byte, with documentation and an unknown field. */

import { bytes, file, int, text } from "./onnx-encoder.ts";

/** A graph `then` with a Scatter on values of the graph around it. */
export const BODY = [
  ...bytes(1, [
    ...text(1, "x"),
    ...text(1, "i"),
    ...text(1, "x"),
    ...text(2, "z"),
    ...text(4, "Scatter"),
    ...text(6, "doc"),
  ]),
  ...text(2, "then"),
  ...bytes(12, text(1, "z")),
  ...int(902, 1),
];
/** A graph `else` without a Scatter. */
export const PLAIN = [
  ...bytes(1, [...text(1, "x"), ...text(2, "z"), ...text(4, "Relu")]),
  ...text(2, "else"),
  ...bytes(12, text(1, "z")),
];
export const graphAttribute = (name: string, graph: readonly number[]): number[] =>
  bytes(5, [...text(1, name), ...bytes(6, graph), ...text(13, "about"), ...int(20, 5)]);
/** A file of opset 10: an If with both graphs, and functions. */
export const withBodies = (...functions: readonly (readonly number[])[]): Uint8Array =>
  file(
    int(1, 4),
    bytes(7, [
      ...bytes(1, [
        ...text(1, "c"),
        ...text(2, "y"),
        ...text(4, "If"),
        ...graphAttribute("then_branch", BODY),
        ...graphAttribute("else_branch", PLAIN),
      ]),
      ...bytes(12, text(1, "y")),
    ]),
    bytes(8, int(2, 10)),
    ...functions.map((one) => bytes(25, one)),
  );
