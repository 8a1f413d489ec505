/** Returns the HTML line that embeds the page as a frame. */

export function embedCode(source: string, title: string, width: number, height: number): string {
  return `<iframe src="${escaped(source)}" title="${escaped(title)} in ndscatter" width="${width}" height="${height}" style="border: 0; max-width: 100%" loading="lazy"></iframe>`;
}

/** Clamps a typed size to the limits of a frame; returns `otherwise` for text that is not a size. */
export function sizeIn(text: string, otherwise: number): number {
  const size = /^\d{1,5}$/.test(text.trim()) ? Number(text) : otherwise;
  return Math.min(Math.max(size, 240), 4000);
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
