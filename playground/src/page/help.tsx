/** Explains the page, its colours and its keys, and offers a choice of theme. */

import type { JSX } from "preact";
import { ThemeMenu } from "../widgets/theme.tsx";

/** The source code's URL, which the build inserts from the manifest; empty if the manifest has none. */
declare const REPOSITORY: string;

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ["Tab, arrows", "select a cell, to see where its value comes from"],
  ["Home, End", "go to the first or last cell of the row; with Ctrl, of the tensor"],
  ["PageUp, PageDown", "go to the same cell of the previous or next matrix"],
  ["Enter, F2, or any character", "edit the cell; Enter accepts the value, Esc discards it"],
  ["Esc", "close a dialog, or clear the selection"],
  ["Ctrl+V", "paste a value, a block of cells, or a whole tensor as Python prints it"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Space", "play, pause"],
  ["←, →", "go to the previous or next update"],
  ["?", "this help"],
];

export const Help = (): JSX.Element => (
  <div class="help stack">
    <p>
      Scatter and gather operators of ONNX and OpenVINO, computed in this page by ndscatter exactly
      as their specifications say. Change anything: values, shapes, types, the operator, its
      version. Nothing leaves the page; its address holds the whole call.
    </p>
    <p>
      Cells of the same colour belong to the same target: an element or slice of data that indices
      name. Stripes mark a target that several updates share. Grey marks an index with several
      targets or none, or a target without its own colour. A tab such as → 3 names the row that an
      index means; -1 is the last row. In shapes, ++ joins two lists: [3] ++ [2] is [3, 2].
    </p>
    <p>
      Drop an ONNX model on the page to run it here, and to compare all of its scatters and gathers
      with their exact results.
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
    <p class="row">
      <ThemeMenu />
      <a href="./reference/">Reference of all operators</a>
      <a href="./docs/">Documents</a>
      <a href="./api/">API</a>
      {REPOSITORY !== "" && <a href={REPOSITORY}>Source</a>}
    </p>
  </div>
);
