/**
 * Shows tensors as tables. A tensor with more than two axes becomes one table for each position of its leading axes.
 */

import type { Explanation, Tensor } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { printElement } from "../../values/scalar-text.ts";
import { coordinatesOf, gridsOf } from "../../values/shape.ts";
import { elementsOf } from "../../values/tensor-text.ts";
import { html, type Html } from "../html.ts";

/** Returns the number of writes to an element of the output. */
type CountOf = (element: number) => number;

/** Shows a tensor with its name, data type and shape. For the output, `countOf` marks the cells that updates wrote. */
export function tensorTables(name: string, source: Tensor, countOf?: CountOf): Html {
  const { dtype, shape } = source;
  const texts = elementsOf(source).map((value) => printElement(dtype, value));
  const cells = texts.map((text, element) => cell(text, countOf?.(element) ?? 0));
  const count = texts.length === 0 ? 0 : gridsOf(shape).grids;
  const tables = Array.from({ length: count }, (_, grid) => gridTable(grid, shape, cells));
  const none = texts.length === 0 ? html`<span class="small">no elements</span>` : "";
  return html`<div class="tensor${countOf ? " result" : ""}" data-tensor="${name}">
    <p class="label">
      <strong>${name}</strong> <span class="soft">${dtype} ${printShape(shape)}</span>
    </p>
    <div class="grids row">${tables}${none}</div>
  </div>`;
}

/** @param cells the cells of the whole tensor */
function gridTable(grid: number, shape: readonly number[], cells: readonly Html[]): Html {
  const { rows, columns } = gridsOf(shape);
  const hasRows = shape.length > 1;
  const caption = captionOf(grid, shape);
  const numbers = Array.from(
    { length: columns },
    (_, column) => html`<th scope="col">${column}</th>`,
  );
  const head = html`<thead>
    <tr>
      ${hasRows ? html`<td></td>` : ""}${numbers}
    </tr>
  </thead>`;
  const body = Array.from({ length: rows }, (_, row) => {
    const from = (grid * rows + row) * columns;
    const number = hasRows ? html`<th scope="row">${row}</th>` : "";
    return html`<tr>
      ${number}${cells.slice(from, from + columns)}
    </tr>`;
  });
  return html`<table class="grid">
    ${
      caption === ""
        ? ""
        : html`<caption>
            ${caption}
          </caption>`
    }
    ${shape.length === 0 ? "" : head}
    <tbody>
      ${body}
    </tbody>
  </table>`;
}

/**
 * Shows an element. Several updates are indicated by a class and, for readers who cannot distinguish colours, by an
 * underline.
 */
const cell = (text: string, count: number): Html =>
  count === 0
    ? html`<td>${text}</td>`
    : html`<td class="${count === 1 ? "hit" : "hit often"}">${text}</td>`;

/** Returns a caption such as `[0, 1, :, :]`, for tensors with more than two axes. */
const captionOf = (grid: number, shape: readonly number[]): string =>
  shape.length < 3 ? "" : `[${coordinatesOf(grid, shape.slice(0, -2)).join(", ")}, :, :]`;

/** Counts the writes to each element of a scatter's output; returns 0 for gathers. */
export function countsOf({ story, output }: Explanation): CountOf {
  if (story?.kind !== "scatter" || output === null) return () => 0;
  return (element) => story.cell(coordinatesOf(element, output.shape)).count;
}
