/** Browser functions for copying, saving and converting pictures and texts. */

/** Copies a text, and returns a sentence about the result. */
export async function copyText(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied.";
  } catch {
    // Only pages loaded over HTTPS may copy; on other pages, the user can select the text.
    return "The browser does not allow copying; select the text instead.";
  }
}

/** Copies a picture as PNG, and returns a sentence about the result. */
export async function copyPicture(svg: string): Promise<string> {
  try {
    // Safari needs the promise itself, because the click event ends before the picture is ready.
    await navigator.clipboard.write([new ClipboardItem({ "image/png": pngOf(svg) })]);
    return "The picture has been copied.";
  } catch {
    return "The browser does not allow copying pictures; save the picture instead.";
  }
}

/** The number of pixels per unit; 2 keeps the picture sharp on any screen. */
const SCALE = 2;

/** Draws an SVG in the browser, and returns the picture as PNG. */
async function pngOf(svg: string): Promise<Blob> {
  const canvas = await canvasOf(svg);
  return await new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error("the picture is too large for this browser"));
      else resolve(blob);
    }, "image/png");
  });
}

async function canvasOf(svg: string): Promise<HTMLCanvasElement> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  } finally {
    URL.revokeObjectURL(url);
  }
}

export type PictureFormat = "svg" | "png";

/** Downloads a picture; returns an error message, or an empty text. */
export async function savePicture(
  svg: () => string,
  format: PictureFormat,
  name: string,
): Promise<string> {
  try {
    const text = svg();
    const blob = format === "png" ? await pngOf(text) : new Blob([text], { type: "image/svg+xml" });
    download(blob, `${name}.${format}`);
    return "";
  } catch (error) {
    return `The picture could not be made: ${String(error)}`;
  }
}

/** Downloads a file. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The click starts the download without waiting for it, so the URL must stay valid for a while.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
