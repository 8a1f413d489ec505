/**
 * Creates an animated PNG of a call's steps, which the browser draws frame by frame. This module is loaded with
 * `import()`.
 */

import { toApng, type ApngFrame } from "./apng.ts";
import { canvasOf, pngIn } from "./save.ts";
import type { Scene } from "./scene.ts";
import type { SvgTheme } from "./svg-text.ts";
import { toSVG } from "./svg.ts";

/** The duration of each step, in milliseconds. */
const DELAY = 900;

export async function filmOf(
  scene: Scene,
  theme: SvgTheme,
  onFrame: (done: number, count: number) => void,
): Promise<Blob> {
  const { frames } = scene;
  const shown = frames.length === 0 ? [[]] : frames.map((frame) => [frame]);
  const files: ApngFrame[] = [];
  let before: Uint32Array | null = null;
  for (const frame of shown) {
    // oxlint-disable-next-line no-await-in-loop -- one canvas at a time: a phone has no memory for sixty
    const canvas = await canvasOf(toSVG({ ...scene, frames: frame }, theme));
    const pixels = pixelsOf(canvas);
    const { width, height } = canvas;
    const box = before === null ? { x: 0, y: 0, width, height } : changedBox(before, pixels, width);
    // oxlint-disable-next-line no-await-in-loop -- as above
    const png = await pngIn(cropped(canvas, box));
    // oxlint-disable-next-line no-await-in-loop -- as above
    files.push({ png: new Uint8Array(await png.arrayBuffer()), x: box.x, y: box.y });
    before = pixels;
    onFrame(files.length, shown.length);
  }
  return new Blob([toApng(files, DELAY)], { type: "image/png" });
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function pixelsOf(canvas: HTMLCanvasElement): Uint32Array {
  const image = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height);
  return new Uint32Array(image?.data.buffer ?? new ArrayBuffer(0));
}

/**
 * Returns the smallest box around all pixels that differ, or one pixel if none differ. Only this part of each frame is
 * stored, because whole frames made an animation of 61 frames 11 MB large.
 */
function changedBox(before: Uint32Array, after: Uint32Array, width: number): Box {
  let [left, right, top, bottom] = [width, -1, -1, -1];
  for (let at = 0; at < after.length; at++) {
    if (before[at] === after[at]) continue;
    const x = at % width;
    if (x < left) left = x;
    if (x > right) right = x;
    bottom = Math.floor(at / width);
    if (top === -1) top = bottom;
  }
  return right === -1
    ? { x: 0, y: 0, width: 1, height: 1 }
    : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

function cropped(source: HTMLCanvasElement, { x, y, width, height }: Box): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d")?.drawImage(source, -x, -y);
  return canvas;
}
