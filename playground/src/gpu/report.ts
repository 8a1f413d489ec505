/** Formats a GPU check's report as text, and as the hash of a link that shows the report again. */

export interface Difference {
  readonly call: string;
  readonly difference: string;
}

/** The facts of a GPU check. The texts come from the browser or from a link, so they may be hostile. */
export interface Report {
  readonly adapter: string;
  readonly browser: string;
  readonly date: string;
  readonly version: string;
  readonly calls: number;
  /** The number of calls whose result differs, and the first differences. */
  readonly different: number;
  readonly differences: readonly Difference[];
  /** Operations that the engine refuses on a GPU, such as `float64 (add, mul)`. */
  readonly refused: readonly string[];
  /** The reason why the check ended early; null if the check finished. */
  readonly failure: string | null;
}

/** The maximum number of differences in a report. */
export const MOST_DIFFERENCES = 20;

export function verdictOf({ calls, different, failure }: Report): string {
  if (failure !== null) return `The check ended early, after ${calls} calls: ${failure}`;
  if (different === 0) {
    return `This adapter is bit-exact: all ${calls} calls gave the same results as the JavaScript engine.`;
  }
  return `This adapter is not bit-exact: ${different} of ${calls} calls differ.`;
}

export const isGood = ({ different, failure }: Report): boolean =>
  different === 0 && failure === null;

/** Returns the report's lines, for an issue or a message. */
export function textOf(report: Report): string {
  const { adapter, browser, date, version, different, differences, refused } = report;
  const more = different - differences.length;
  return [
    verdictOf(report),
    `Adapter: ${adapter}`,
    `Browser: ${browser}`,
    `Package: ndscatter ${version}`,
    `Date: ${date}`,
    `Calls refused on a GPU: ${refused.length === 0 ? "nothing" : refused.join(", ")}`,
    ...differences.map(({ call, difference }) => `- ${call}: ${difference}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join("\n");
}

const KEY = "report=";

export const hashOf = (report: Report): string =>
  `#${KEY}${encodeURIComponent(JSON.stringify(report))}`;

/** Parses the output of `hashOf`; null for any other text. */
export function reportFrom(hash: string): Report | null {
  const text = hash.replace(/^#/, "");
  if (!text.startsWith(KEY)) return null;
  try {
    const value: unknown = JSON.parse(decodeURIComponent(text.slice(KEY.length)));
    return isReport(value) ? value : null;
  } catch {
    return null;
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

function isReport(value: unknown): value is Report {
  if (typeof value !== "object" || value === null) return false;
  const { calls, different, differences, refused, failure, ...texts } = value as Record<
    keyof Report,
    unknown
  >;
  return (
    [texts.adapter, texts.browser, texts.date, texts.version].every(isText) &&
    isCount(calls) &&
    isCount(different) &&
    Array.isArray(differences) &&
    differences.length <= MOST_DIFFERENCES &&
    differences.every(isDifference) &&
    Array.isArray(refused) &&
    refused.every(isText) &&
    (failure === null || isText(failure))
  );
}

const isDifference = (value: unknown): value is Difference =>
  typeof value === "object" &&
  value !== null &&
  "call" in value &&
  isText(value.call) &&
  "difference" in value &&
  isText(value.difference);
