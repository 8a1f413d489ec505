/**
 * The steps of a call as an animated PNG, drawn by the browser frame by frame. This module is loaded with `import()`.
 */

import { toApng } from "./apng.ts";
import { pngOf } from "./save.ts";
import type { Scene } from "./scene.ts";
import type { SvgTheme } from "./svg-text.ts";
import { toSVG } from "./svg.ts";

/** Milliseconds per step. */
const DELAY = 900;

/** @param onFrame receives the number of pictures drawn */
export async function filmOf(
  scene: Scene,
  theme: SvgTheme,
  onFrame: (done: number, count: number) => void,
): Promise<Blob> {
  const { frames } = scene;
  const shown = frames.length === 0 ? [[]] : frames.map((frame) => [frame]);
  const files: Uint8Array[] = [];
  const draw = async (frame: Scene["frames"]): Promise<Uint8Array> => {
    const picture = await pngOf(toSVG({ ...scene, frames: frame }, theme));
    return new Uint8Array(await picture.arrayBuffer());
  };
  for (const frame of shown) {
    // oxlint-disable-next-line no-await-in-loop -- one canvas at a time: a phone has no memory for sixty
    files.push(await draw(frame));
    onFrame(files.length, shown.length);
  }
  return new Blob([toApng(files, DELAY)], { type: "image/png" });
}
