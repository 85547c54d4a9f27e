// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** @param {string} path */
function colours(path) {
  return readFileSync(new URL(path, import.meta.url), "utf8").split("\n").filter((line) => /^\s*--/.test(line));
}

// A server has the inspector in it, with or without a demo, and the demo is served with or without an inspector: each has its own file.
test("the demo and the inspector have the same colours and fonts", () => {
  const own = colours("../inspector/tokens.css");
  assert.equal(own.length > 20, true);
  assert.deepEqual(own, colours("../demo/styles/tokens.css"));
});
