/** The worker that reads large files and texts. */

import { readOpened, type Opened } from "./read-files.ts";

addEventListener("message", ({ data }: MessageEvent<Opened>) => {
  void readOpened(data).then((found) => postMessage(found));
});
