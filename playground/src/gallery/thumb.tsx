/** A thumbnail of a call: its picture without a title. */

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { viewOf } from "../cells/view.ts";
import type { State } from "../values/state.ts";
import { sceneOfCall } from "../writing/scene.ts";
import { toSVG } from "../writing/svg.ts";
import type { SvgTheme } from "../writing/svg-text.ts";

interface ThumbProps {
  readonly state: State;
  readonly theme: SvgTheme;
}

export function Thumb({ state, theme }: ThumbProps): JSX.Element {
  const drawn = useMemo(() => {
    const scene = sceneOfCall(viewOf(state));
    return scene === null ? "" : toSVG({ ...scene, title: "", sentences: [] }, theme);
  }, [state, theme]);
  // In an image of its own, the names of its patterns are its own.
  return <img class="thumb" alt="" src={`data:image/svg+xml,${encodeURIComponent(drawn)}`} />;
}
