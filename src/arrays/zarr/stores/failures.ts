/** Explains why a server refused a request, and suggests a remedy. */

import { TensorError } from "../../../core/errors.ts";
import { printValue } from "../../../core/foreign.ts";
import { HTTP } from "../../../core/limits.ts";
import { causesOf, codesOf, waitAskedBy } from "./retries.ts";
import { Silence, textOf } from "./silence.ts";

/** The maximum number of characters that are read from an error response; those of S3 have a few hundred. */
const MOST = 16_384;

const BY_CODE: Readonly<Record<string, string>> = {
  AuthorizationHeaderMalformed: "check the region and the access key",
  ExpiredToken: "the session token or the URL has expired",
  InvalidAccessKeyId: "the server does not know the access key id",
  InvalidToken: "the session token is wrong, or belongs to other keys",
  RequestTimeTooSkewed: "the local clock differs from the server's clock; set the local clock",
  SignatureDoesNotMatch:
    "the server computes a different signature; check the secret access key and the region",
};

const DENIED =
  "check the keys and their permissions; S3 also sends this status for missing objects if the keys may not list the bucket";

/** Returns the error for a server that did not do what was requested. */
export const failed = (sentence: string, file: string, cause?: unknown): TensorError =>
  new TensorError("engine", sentence, { file }, cause === undefined ? {} : { cause });

/** Returns the error for an unexpected response. The function reads the body of the response. */
export async function refusalOf(
  response: Response,
  method: string,
  what: string,
): Promise<TensorError> {
  const { status: got } = response;
  const advice = await adviceOf(response);
  const sentence = `${method} of ${what} failed with status ${got}${advice === "" ? "" : `; ${advice}`}`;
  return new TensorError("engine", sentence, { file: what, got });
}

async function adviceOf(response: Response): Promise<string> {
  const { status, headers } = response;
  if (status >= 500 || status === 429) {
    await response.body?.cancel();
    const asked = waitAskedBy(response);
    return asked > HTTP.longest
      ? `the server asks to wait for ${Math.ceil(asked / 1000)} s, longer than the limit of ${HTTP.longest / 1000} s; try again later`
      : "";
  }
  // An error response may be any page, and may be very long or truncated.
  const text = await textOf(response, undefined, MOST).catch(() => "");
  const code = elementIn(text, "Code") ?? "";
  const region = headers.get("x-amz-bucket-region") ?? elementIn(text, "Region");
  if (isRedirect(status)) {
    return region === null
      ? "the server redirects the request to another host, to which signed requests are not sent"
      : `the bucket is in the region ${region}; set the region`;
  }
  if (status !== 400 && status !== 401 && status !== 403) return "";
  if (code === "AuthorizationHeaderMalformed" && region !== null) {
    return `the bucket is in the region ${region}; set the region`;
  }
  return BY_CODE[code] ?? (status === 400 ? "" : DENIED);
}

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

const elementIn = (xml: string, name: string): string | null =>
  new RegExp(`<${name}>([\\w-]{1,60})</${name}>`).exec(xml)?.[1] ?? null;

const TRUST =
  "Node does not trust the server's certificate; set the environment variable NODE_EXTRA_CA_CERTS to a file with additional certificates";

/**
 * Returns the error for a request that got no response. `secrets` contains texts that must not appear in messages or in
 * the message of the cause.
 */
export function unreachable(what: string, cause: unknown, secrets: readonly string[]): TensorError {
  if (cause instanceof Silence) {
    const sentence = `the server of ${what} sent nothing for ${cause.time / 1000} s`;
    return failed(sentence, what, cause);
  }
  const [code] = codesOf(cause).toReversed();
  const reason = code === undefined ? "" : ` (${code})`;
  const advice = /SELF_SIGNED|LEAF_SIGNATURE|GET_ISSUER_CERT/.test(code ?? "") ? `; ${TRUST}` : "";
  const sentence = `${what} cannot be reached${reason}${advice}`;
  return failed(sentence, what, withoutSecrets(cause, secrets));
}

/**
 * Returns the error itself, or only its code if its text contains a secret. For example, error messages of Deno contain
 * URLs.
 */
function withoutSecrets(cause: unknown, secrets: readonly string[]): unknown {
  const errors = causesOf(cause);
  const own = errors.map((one) =>
    [one.message, one.stack ?? "", ...Object.values(one)].map(String),
  );
  const texts = errors.length > 0 ? own.flat() : [printValue(cause)];
  const isSecret = secrets.some((secret) => texts.some((text) => text.includes(secret)));
  return isSecret ? new Error(codesOf(cause).join(" ") || "the request failed") : cause;
}
