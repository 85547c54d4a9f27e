// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Pattern } from "../bridge/pattern.js";
import { Registry } from "../bridge/registry.js";

/** @type {[string, string, boolean][]} */
const MATCHES = [
  ["action://share", "action://share", true],
  ["action://share", "ACTION://Share?x=1#f", true],
  ["action://share", "action://share/", true],
  ["action://share", "action://share/more", false],
  ["action://share", "service://share", false],
  ["native://address/:id", "native://address/5", true],
  ["native://address/:id", "native://address/", false],
  ["native://address/:id", "native://address//", false],
  ["native://address/:id", "native://address/a%2Fb", true],
  ["native://address/list", "native://address/List", false],
  ["native://address/list", "native://address/l%69st", true],
  ["native:/user/5", "native://user/5", false],
  ["native://:any/x", "native://y/x", true],
  ["native://:any/x", "native:///x", false],
  ["/user/:id", "native://user/5", true],
  ["/user/:id", "native:///user/5", true],
  ["/user/:id", "http://user/5", false],
  ["/user/:id", "https://shop.test/user/5", true],
  ["/user/:id", "native://shop.test/user/5", true],
  ["/user/:id", "native://user@user/5", false],
  ["/", "native:", true],
  ["/a//b", "native:/a//b", true],
  ["/a//b", "native:/a/b", false],
  ["/%zz", "native:/%zz", true],
  ["/a", "not a uri", false],
  ["/__proto__/constructor", "native://__proto__/constructor", true],
];

for (const [pattern, uri, expected] of MATCHES) {
  test(`${pattern} ${expected ? "fits" : "does not fit"} ${uri}`, () => {
    assert.equal(new Pattern(pattern).matches(uri), expected);
  });
}

for (const text of ["share", "", "a?b", "action://share?x", "action://share#f", "1a://b"]) {
  test(`${JSON.stringify(text)} is no pattern`, () => {
    assert.throws(() => new Pattern(text), { code: -32602, message: /not a pattern/ });
  });
}

test("the most specific pattern wins, then the last registered, then a whole scheme", () => {
  /** @type {Registry<string>} */
  const registry = new Registry();
  registry.add({ patterns: ["native://a/:x"], kind: "page" }, "parameter");
  registry.add({ patterns: ["native://a/b", "native://c"], kind: "page" }, "literal");
  registry.add({ scheme: "native", patterns: ["native://:p/b"], kind: "page" }, "early parameter");
  registry.add({ patterns: ["/a/:y"], kind: "page" }, "global");
  const remove = registry.add({ patterns: ["native://a/:other"], kind: "page" }, "newest");
  registry.add({ scheme: "native", kind: "page" }, "scheme");
  assert.equal(registry.find("native://a/b"), "literal");
  assert.equal(registry.find("native://z/b"), "early parameter");
  assert.equal(registry.find("native://c"), "literal");
  assert.equal(registry.find("native://a/z"), "newest");
  remove();
  assert.equal(registry.find("native://a/z"), "parameter");
  assert.equal(registry.find("flutter://a/z"), "global");
  assert.equal(registry.find("native://nothing/like/it"), "scheme");
  assert.equal(registry.find("http://a"), undefined);
});
