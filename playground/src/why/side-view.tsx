/**
 * The dialog "Side by side", which shows the user's output, the exact output, another system's output and the reason,
 * ready to share.
 */

import type { DialectId } from "ndscatter";
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { coordinatesOf } from "../values/shape.ts";
import { useTheme } from "../widgets/theme.tsx";
import { usePacked } from "../writing/link.ts";
import { copyPicture, copyText, savePicture } from "../writing/save.ts";
import { toSVG } from "../writing/svg.ts";
import {
  isDialect,
  rowsOf,
  sideBySide,
  sideScene,
  type Given,
  type SideBySide,
} from "./on-demand.ts";

interface SideViewProps extends Given {
  /** The part of a URL after `#` that opens this comparison. */
  readonly hash: string;
  onBeside(id: DialectId): void;
}

export function SideView(props: SideViewProps): JSX.Element {
  const { state, rules, beside, hash, onBeside } = props;
  const link = `${location.href.replace(/#.*$/s, "")}#${usePacked(hash)}`;
  const frame = useRef<HTMLDivElement>(null);
  const room = useWidth(frame);
  const [remark, setRemark] = useState("");
  const side = sideBySide(props);
  const theme = useTheme();
  // A shared picture always shows the columns side by side, regardless of the window's size.
  const whole = (): string => toSVG(sideScene(side, 1200), theme);
  const save = async (format: "svg" | "png"): Promise<void> =>
    setRemark(await savePicture(whole, format, `${state.op}-${state.opset}-compared`));
  return (
    <>
      <label class="soft">
        Also show:{" "}
        <select
          value={beside ?? ""}
          onChange={(event) => {
            const { value } = event.currentTarget;
            if (isDialect(value)) onBeside(value);
          }}
        >
          {rowsOf(rules).map(({ id, name, output, agrees }) => (
            <option key={id} value={id}>
              {`${name}${output === null ? " (no result)" : agrees ? " (exact)" : ""}`}
            </option>
          ))}
        </select>
      </label>
      <div
        ref={frame}
        class="side-picture"
        // All text in the drawing is escaped.
        dangerouslySetInnerHTML={{ __html: room === 0 ? "" : toSVG(sideScene(side, room), theme) }}
      />
      <div class="row">
        <button type="button" class="main" onClick={() => void copyText(link).then(setRemark)}>
          Copy the link
        </button>
        <button type="button" onClick={() => void copyPicture(whole()).then(setRemark)}>
          Copy the picture
        </button>
        <button type="button" onClick={() => void save("png")}>
          Save as PNG
        </button>
        <button type="button" onClick={() => void save("svg")}>
          Save as SVG
        </button>
      </div>
      <p role="status">{remark}</p>
      <Numbers side={side} />
    </>
  );
}

/** Returns an element's inner width in pixels; 0 before the element is drawn. */
function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    setWidth(current.clientWidth);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The maximum number of rows, because users do not read longer lists. */
const MOST_NUMBERS = 200;

/** Lists the differing cells as text, in addition to the picture. */
function Numbers({ side }: { readonly side: SideBySide }): JSX.Element | null {
  const { columns, differing, shape } = side;
  if (differing.length === 0) return null;
  return (
    <details class="side-numbers">
      <summary>The cells that differ, as a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">cell</th>
            {columns.map(({ name }) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {differing.slice(0, MOST_NUMBERS).map((cell) => (
            <tr key={cell}>
              <th scope="row">[{coordinatesOf(cell, shape).join(", ")}]</th>
              {columns.map(({ name, texts }) => (
                <td key={name}>{texts?.[cell] ?? "–"}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {differing.length > MOST_NUMBERS && (
        <p>{(differing.length - MOST_NUMBERS).toLocaleString("en")} more cells differ.</p>
      )}
    </details>
  );
}
