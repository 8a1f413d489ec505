/** Returns the HTML line that embeds the page as a frame, whose size can be changed in the line. */

export const embedCode = (source: string, title: string): string =>
  `<iframe src="${escaped(source)}" title="${escaped(title)} in ndscatter" width="720" height="480" style="border: 0; max-width: 100%" loading="lazy"></iframe>`;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
