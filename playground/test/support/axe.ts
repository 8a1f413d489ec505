/** axe-core, which finds what people with assistive technology cannot use. */

import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Page } from "playwright-core";
import { DIST } from "./page.ts";

interface Checker {
  run(options: object): Promise<{
    violations: { id: string; help: string; nodes: { html: string }[] }[];
  }>;
}

/** What axe finds, as text. A page that is looked at again has axe already. */
export async function violationsOf(page: Page): Promise<string[]> {
  const file = createRequire(path.join(DIST, "..", "package.json")).resolve("axe-core/axe.min.js");
  const isThere = await page.evaluate(() => Reflect.has(window, "axe"));
  if (!isThere) await page.evaluate(fs.readFileSync(file, "utf8"));
  return page.evaluate(async () => {
    const checker: Checker = Reflect.get(window, "axe");
    const { violations } = await checker.run({ resultTypes: ["violations"] });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0].html}`);
  });
}
