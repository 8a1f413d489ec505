/** Reads the address and the credentials of object storage from options or the environment. */

import { optionsOf, printValue, wrongOption } from "../../../core/foreign.ts";
import { TensorError } from "../../../core/errors.ts";

/**
 * The address and the credentials of object storage. Every option can also be set in the environment, with AWS's
 * variable names.
 */
export interface S3Options {
  /** The URL of a server that is not AWS, such as `http://127.0.0.1:9000`. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
  /**
   * With `"missing"`, status 403 means a missing object, as in public buckets that forbid listing. By default, status
   * 403 is an error, because the object may exist.
   */
  readonly forbidden?: string | undefined;
}

const VARIABLES: Readonly<Record<keyof S3Options, readonly string[]>> = {
  endpoint: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
  region: ["AWS_REGION", "AWS_DEFAULT_REGION"],
  accessKeyId: ["AWS_ACCESS_KEY_ID"],
  secretAccessKey: ["AWS_SECRET_ACCESS_KEY"],
  sessionToken: ["AWS_SESSION_TOKEN"],
  forbidden: ["NDSCATTER_FORBIDDEN"],
};

/** Throws an `attribute` error for a value that is not an object, and for an unknown option. */
export const s3OptionsOf = (given: unknown): Record<string, unknown> =>
  optionsOf(given, Object.keys(VARIABLES), {}, "s3");

/** Throws an `attribute` error for invalid options. */
export function settingsOf(given: S3Options): S3Options {
  const options = s3OptionsOf(given);
  const process: { env?: Readonly<Record<string, string | undefined>> } =
    Reflect.get(globalThis, "process") ?? {};
  const settings: Record<string, string> = {};
  for (const [name, variables] of Object.entries(VARIABLES)) {
    const inherited = variables.map((one) => process.env?.[one]).find((one) => one);
    const value = options[name] ?? inherited;
    // An empty option means no value, even if the environment has a value.
    if (value === undefined || value === "") continue;
    const isSecret = name === "secretAccessKey" || name === "sessionToken";
    if (typeof value !== "string") {
      const got = isSecret ? `a ${typeof value}` : printValue(value);
      throw new TensorError("attribute", `${name} must be text, got ${got}`, { key: name, got });
    }
    // A header must not contain line breaks, and fetch's error would reveal the secret.
    if (/[^\x21-\x7e]/.test(value)) {
      throw new TensorError("attribute", `${name} must be printable ASCII text without blanks`, {
        key: name,
      });
    }
    settings[name] = value;
  }
  const { forbidden = "error" } = settings;
  if (forbidden === "error" || forbidden === "missing") return settings;
  throw wrongOption("forbidden", '"error" or "missing"', forbidden, {
    allowed: ["error", "missing"],
  });
}
