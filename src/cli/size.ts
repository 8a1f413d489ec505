/** Amounts of memory as they are typed: `512M`, `1G`, `1.5GiB`. Letters count in powers of 1024. */

import { wrongUsage } from "./failure.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/** @throws Failure which names the option */
export function parseBytes(text: string, option: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? NaN));
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw wrongUsage(`${option} takes an amount such as 512M or 1G, got ${JSON.stringify(text)}`);
}
