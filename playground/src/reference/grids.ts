/** Tensors as tables. A tensor of more than two axes is one table for each place of its leading axes. */

import { printShape, type Explanation, type Tensor } from "ndscatter";
import { printElement } from "../model/scalar-text.ts";
import { coordinatesOf, gridsOf } from "../model/shape.ts";
import { elementsOf } from "../model/tensor-text.ts";
import { html, type Html } from "./html.ts";

/** How often an element of the output was written, from 0. */
export type CountOf = (element: number) => number;

/** One tensor with its name, data type and shape. */
export function tensorTables(name: string, source: Tensor, countOf: CountOf | null = null): Html {
  const { dtype, shape } = source;
  const texts = elementsOf(source).map((value) => printElement(dtype, value));
  const { rows, columns, grids } = gridsOf(shape);
  const label = html`<strong>${name}</strong>
    <span class="type">${dtype} ${printShape(shape)}</span>`;
  const tables = Array.from({ length: texts.length === 0 ? 0 : grids }, (_, grid) => {
    const caption = captionOf(grid, shape);
    const first = grid * rows * columns;
    const body = Array.from({ length: rows }, (__, row) => {
      const from = first + row * columns;
      const cells = texts
        .slice(from, from + columns)
        .map((text, column) => cell(text, countOf?.(from + column) ?? 0));
      return html`<tr>
        ${shape.length > 1 ? html`<th scope="row">${row}</th>` : ""}${cells}
      </tr>`;
    });
    const head =
      shape.length === 0
        ? ""
        : html`<thead>
            <tr>
              ${shape.length > 1 ? html`<td></td>` : ""}${Array.from(
                { length: columns },
                (__, column) => html`<th scope="col">${column}</th>`,
              )}
            </tr>
          </thead>`;
    return html`<table class="grid">
      ${
        caption === ""
          ? ""
          : html`<caption>
              ${caption}
            </caption>`
      }${head}
      <tbody>
        ${body}
      </tbody>
    </table>`;
  });
  const none = texts.length === 0 ? html`<p class="none">no elements</p>` : "";
  return html`<div class="tensor" data-tensor="${name}">
    <p class="label">${label}</p>
    <div class="grids">${tables}${none}</div>
  </div>`;
}

/** An element; more than one update is marked by a class and, for those who see no colour, by the line below it. */
const cell = (text: string, count: number): Html =>
  count === 0
    ? html`<td>${text}</td>`
    : html`<td class="${count === 1 ? "hit" : "hit often"}">${text}</td>`;

/** `[0, 1, :, :]`, for tensors of more than two axes. */
const captionOf = (grid: number, shape: readonly number[]): string =>
  shape.length < 3 ? "" : `[${coordinatesOf(grid, shape.slice(0, -2)).join(", ")}, :, :]`;

/** How often each element of a scatter's output is written; null for gathers. */
export function countsOf({ story, output }: Explanation): CountOf | null {
  if (story?.kind !== "scatter" || output === null) return null;
  return (element) => story.cell(coordinatesOf(element, output.shape)).count;
}
