/** The film of a call: Chromium plays it, with a picture for each step, the first and the last state among them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { SUM, useSite } from "./support/page.ts";

const site = useSite();

interface Film {
  readonly bytes: number;
  readonly repetitions: number;
  /** Milliseconds. */
  readonly durations: readonly number[];
  /** The text of each picture as it was drawn, in order. */
  readonly texts: readonly (readonly string[])[];
  /** Pixels by which each frame of the film differs from its picture; large differences only. */
  readonly off: readonly number[];
  /** Pixels by which each frame differs from the one before. */
  readonly changed: readonly number[];
}

/** Saves the steps as a film, and decodes it with the browser's own decoder. */
async function filmOf(page: Page): Promise<Film> {
  await page.evaluate(() => {
    const files: Blob[] = [];
    Reflect.set(window, "files", files);
    const { createObjectURL } = URL;
    URL.createObjectURL = (file: Blob) => {
      files.push(file);
      return createObjectURL.call(URL, file);
    };
  });
  await page.getByRole("button", { name: "Share" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save the steps as an animated PNG" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "ScatterND-18-steps.png");
  return await page.evaluate(decoded);
}

/** Runs in the page, so that it uses nothing from outside. */
async function decoded(): Promise<Film> {
  const files = Reflect.get(window, "files") as Blob[];
  const pictures = files.filter(({ type }) => type === "image/svg+xml");
  const film = files.findLast(({ type }) => type === "image/png");
  const data = (await film?.arrayBuffer()) ?? new ArrayBuffer(0);
  const decoder = new ImageDecoder({ type: "image/png", data });
  await decoder.tracks.ready;
  await decoder.completed;
  const track = decoder.tracks.selectedTrack;
  const pixelsOf = (image: CanvasImageSource, width: number, height: number): Uint8ClampedArray => {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d");
    context?.drawImage(image, 0, 0, width, height);
    return context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
  };
  const count = (one: Uint8ClampedArray, other: Uint8ClampedArray): number => {
    let far = 0;
    for (let at = 0; at < one.length; at++) if (Math.abs(one[at] - other[at]) > 8) far++;
    return far;
  };
  const [durations, texts, off, changed]: [number[], string[][], number[], number[]] = [
    [],
    [],
    [],
    [],
  ];
  let before: Uint8ClampedArray | null = null;
  for (let frameIndex = 0; frameIndex < (track?.frameCount ?? 0); frameIndex++) {
    const { image } = await decoder.decode({ frameIndex });
    durations.push((image.duration ?? 0) / 1000);
    const got = pixelsOf(image, image.displayWidth, image.displayHeight);
    const text = (await pictures[frameIndex]?.text()) ?? "<svg/>";
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    texts.push([...svg.querySelectorAll("text")].map((one) => one.textContent ?? ""));
    const drawn = new Image();
    drawn.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    await drawn.decode();
    off.push(count(got, pixelsOf(drawn, image.displayWidth, image.displayHeight)));
    if (before !== null) changed.push(count(got, before));
    before = got;
    image.close();
  }
  const repetitions = track?.repetitionCount ?? 0;
  return { bytes: film?.size ?? 0, repetitions, durations, texts, off, changed };
}

test("the film has a picture of each step, which its frames show, for 0.9 s each", async (t) => {
  await using opened = await site.open(SUM);
  const film = await filmOf(opened.page);
  t.diagnostic(`${film.durations.length} pictures, ${film.bytes} bytes`);
  assert.deepEqual(film.durations, [900, 900, 900, 2900]);
  assert.equal(film.repetitions, Infinity);
  assert.deepEqual(film.off, [0, 0, 0, 0]);
  assert.ok(
    film.changed.every((pixels) => pixels > 0),
    film.changed.join(),
  );
  // Row 1 of the output is 1, then 11, 21 and 31, then 81, 101 and 121; the last row is 3, then 43, 53 and 63.
  const [first, second, third, last] = film.texts;
  for (const [texts, has, lacks] of [
    [first, ["1", "3"], ["11", "43", "81"]],
    [second, ["11", "21", "31"], ["43", "81"]],
    [third, ["11", "43", "53", "63"], ["81"]],
    [last, ["43", "81", "101", "121"], ["11", "31"]],
  ] as const) {
    for (const value of has) assert.ok(texts.includes(value), value);
    for (const value of lacks) assert.ok(!texts.includes(value), value);
  }
});

test("a film of a thousand updates has 61 pictures and a size that can be sent", async (t) => {
  const rows = Array.from({ length: 1000 }, (_, at) => at % 40);
  const hash = `ai.onnx/ScatterND/18;reduction=add;float32:40:0*40;int64:1000,1:${rows.join(",")};float32:1000:1*1000`;
  await using opened = await site.open(hash);
  const film = await filmOf(opened.page);
  t.diagnostic(`${film.durations.length} pictures, ${film.bytes} bytes`);
  assert.equal(film.durations.length, 61);
  assert.ok(film.bytes < 1_000_000, `${film.bytes}`);
  assert.equal(film.off[0] + film.off[60], 0);
});
