/** Explains the page, its colours and all keys, and offers the choice of colours. */

import type { JSX } from "preact";
import { LESSONS } from "../story/lessons.ts";
import { ThemeMenu } from "../widgets/theme.tsx";

/** The address of the sources, from the manifest; empty if the manifest has none. The build fills it in. */
declare const REPOSITORY: string;

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Tab, arrows", "go to a cell, and see where its value comes from"],
  ["Home, End", "the first and last cell of the row; with Ctrl, of the tensor"],
  ["PageUp, PageDown", "the same cell of the matrix before, and of the next"],
  ["Enter, F2, or any character", "change the cell; Enter takes the value, Esc does not"],
  ["Esc", "back to the whole call; close a dialog, end a lesson"],
  ["Ctrl+V", "paste a value, a block of cells, or a whole tensor as Python prints it"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Space", "play, pause"],
  ["←, →", "the update before, the next; in a lesson, the step before, the next"],
  ["?", "this help"],
];

export interface HelpProps {
  /** Shows the example of a lesson, and begins the lesson. */
  onLesson(preset: string): void;
}

/** The content of the dialog. */
export const Help = ({ onLesson }: HelpProps): JSX.Element => (
  <div class="help">
    <p>
      Scatter and gather operators of ONNX and OpenVINO, computed in this page by ndscatter exactly
      as their specifications say. Change anything: values, shapes, types, the operator, its
      version. Nothing leaves the page; its address holds the whole call.
    </p>
    <p>
      Cells of one colour belong to one target: an element or slice of data that indices name.
      Stripes mark a target that several updates share. Grey is an index with several targets or
      none, or a target for which no colour is left. Letters name index tuples, in the order in
      which they are applied. In shapes, ++ joins two lists: [3] ++ [2] is [3, 2].
    </p>
    <p class="lessons">
      In four steps:
      {LESSONS.map(({ title, preset }) => (
        <button type="button" key={preset} onClick={() => onLesson(preset)}>
          {title}
        </button>
      ))}
    </p>
    <table>
      <tbody>
        {KEYS.map(([keys, what]) => (
          <tr key={keys}>
            <th scope="row">
              <kbd>{keys}</kbd>
            </th>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </table>
    <p class="kinds">
      <ThemeMenu />
      <a href="./reference/">Reference of all operators</a>
      <a href="./docs/">Documents</a>
      <a href="./api/">API</a>
      <a href="./gpu.html">Check this GPU</a>
      {REPOSITORY !== "" && <a href={REPOSITORY}>Source</a>}
    </p>
  </div>
);
