/** URLs of Redis: passwords that are not encoded, and text in which a password could be anywhere. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isLocal, redisUrl } from "../../src/arrays/distributed/redis-url.ts";
import { assertRefused } from "../support/refusal.ts";

/** What is typed, and the user, the password, the host and the database that it means. */
const READ: readonly (readonly [string, readonly [string, string, string, string]])[] = [
  ["redis://host:6379", ["", "", "host:6379", ""]],
  ["rediss://u:p@[::1]:6380/2", ["u", "p", "[::1]:6380", "/2"]],
  ["redis://:a%2Fb%23c@host", ["", "a/b#c", "host", ""]],
  ["redis://:a/b#c?d@host/1", ["", "a/b#c?d", "host", "/1"]],
  ["redis://u:12/34@host:1", ["u", "12/34", "host:1", ""]],
  ["redis://:a@b@host", ["", "a@b", "host", ""]],
  ["redis://:a:b@host", ["", "a:b", "host", ""]],
  ["redis://u#x:y@host", ["u#x", "y", "host", ""]],
  ["redis://u?x@host", ["u?x", "", "host", ""]],
  ["redis://:100%@host", ["", "100%", "host", ""]],
  ["redis://:50%/x@host", ["", "50%/x", "host", ""]],
  ['redis://:\\["é ]@host', ["", '\\["é ]', "host", ""]],
];

for (const [text, expected] of READ) {
  test(`${text} is the URL of a Redis`, () => {
    const { username, password, host, pathname } = new URL(redisUrl(text));
    assert.deepEqual([...[username, password].map(decodeURIComponent), host, pathname], expected);
  });
}

test("other text is for the client", () => {
  for (const text of ["queue:6379", "6379", "/run/redis.sock", "redis://host:1/0?family=6"]) {
    assert.equal(redisUrl(text), text);
  }
});

for (const text of [
  "redis://:5e#7@",
  "redis://:5e/7@host:99999",
  "redis:/:5e7@host",
  "http://:5e7@host",
  "user:5e7@host",
]) {
  test(`${text} is refused, and none of it is shown`, () => {
    const error = assertRefused("attribute", { key: "connection" }, () => redisUrl(text));
    assert.doesNotMatch(`${error.message} ${String(error.cause)}`, /5e|7@/);
  });
}

test("a password does not make a queue local", () => {
  assert.equal(isLocal("redis://:x/y@127.0.0.1"), true);
  assert.equal(isLocal("redis://127.0.0.1:x/y@queue"), false);
  assert.equal(isLocal("redis://127.0.0.1#@queue"), false);
});
