// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Pattern } from "../bridge/uri/pattern.js";
import { withoutDots } from "../bridge/uri/uri.js";
import { URIMap } from "../bridge/uri/uri-map.js";

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
  ["native://user(/:id)", "native://user", true],
  ["native://user(/:id)", "native://user/5", true],
  ["native://user(/:id)", "native://user/5/6", false],
  ["/a(/b(/c))/d", "native:/a/b/c/d", true],
  ["/a(/b(/c))/d", "native:/a/d", true],
  ["/a(/b(/c))/d", "native:/a/c/d", false],
  ["/files/*", "native://files", true],
  ["/files/*", "native://files/a/b/c", true],
  ["/files/*", "native://file/a", false],
  ["/files/*/x", "native://files/a/x", false],
  ["native://address/:id", "native://address/5/../6", true],
  ["native://address/:id", "native://address/..", false],
  ["native://address/:id", "native://address/%2e%2E", false],
  ["native://address", "native://address/../..", true],
  ["/files/*/x", "native://files/.", false],
];

for (const [pattern, uri, expected] of MATCHES) {
  test(`${pattern} ${expected ? "matches" : "does not match"} ${uri}`, () => {
    assert.equal(Pattern.all(pattern).some((each) => each.match(uri) !== undefined), expected);
  });
}

for (const text of ["share", "", "a?b", "action://share?x", "action://share#f", "1a://b", "/a(b)", "/a(/b", "/a)/b("]) {
  test(`${JSON.stringify(text)} is not a pattern`, () => {
    assert.throws(() => Pattern.all(text), { code: -32602, message: /not a pattern/ });
  });
}

test("the number of optional groups is limited", () => {
  assert.equal(Pattern.all("/x" + "(/a".repeat(31) + ")".repeat(31)).length, 32);
  assert.throws(() => Pattern.all("/x(/a)(/b)(/c)(/d)(/e)(/f)"), { message: /more than 32 forms/ });
  assert.throws(() => Pattern.all("(/a)".repeat(50000)), { code: -32602, message: /more than 32 forms/ });
});

/** @type {[string, string][]} */
const DOTS = [
  ["native://a/b/../c?d=/../e#/../f", "native://a/c?d=/../e#/../f"],
  ["native://a/b/..", "native://a/"],
  ["native://a/./b/.", "native://a/b/"],
  ["native://a/../../b", "native://a/b"],
  ["native://a/%2e%2E/.%2e/b", "native://a/b"],
  ["native://../b", "native://../b"],
  ["native://a/.../b/..c/d.", "native://a/.../b/..c/d."],
  ["native://a/b%2F../c", "native://a/b%2F../c"],
  ["tel:./1", "tel:1"],
  ["x:a/../b", "x:/b"],
  ["x:/..//b", "x:/.//b"],
  ["../a", "../a"],
];

for (const [uri, expected] of DOTS) {
  test(`${uri} without dot segments is ${expected}`, () => {
    assert.equal(withoutDots(uri), expected);
  });
}

test("a pattern has no dot segments", () => {
  for (const text of ["native://a/..", "/a/./b", "/a(/%2e)"]) {
    assert.throws(() => Pattern.all(text), { code: -32602, message: /not a pattern/ });
  }
});

/** @type {[string, string, object][]} */
const PARAMETERS = [
  ["native://a/:id", "native://a/5", { id: "5" }],
  ["native://a/:id", "native://a/x%2Fy?id=query&b=1&b=2&b=3", { id: "x/y", b: ["1", "2", "3"] }],
  ["native://a", "native://a?flag&e=&p=1+2%2B3&=none&z=%zz", { flag: "", e: "", p: "1 2+3", "": "none", z: "%zz" }],
  ["native://:Name", "native://Voss", { Name: "voss" }],
  ["/f/*", "native://f/a%20b/c?x=1#y=2", { x: "1", "*": ["a b", "c"] }],
  ["/f/*", "native://f", { "*": [] }],
];

for (const [pattern, uri, expected] of PARAMETERS) {
  test(`${pattern} gets its parameters from ${uri}`, () => {
    /** @type {URIMap<string>} */
    const map = new URIMap();
    map.add({ patterns: [pattern], kind: "page" }, "it");
    assert.deepEqual(map.find(uri)?.params, expected);
  });
}

test("the most specific pattern wins, then the last registered, then a whole scheme", () => {
  /** @type {URIMap<string>} */
  const map = new URIMap();
  map.add({ patterns: ["native://a/:x"], kind: "page" }, "parameter");
  map.add({ patterns: ["native://a/b", "native://c"], kind: "page" }, "literal");
  map.add({ scheme: "native", patterns: ["native://:p/b"], kind: "page" }, "early parameter");
  map.add({ patterns: ["/a/:y"], kind: "page" }, "global");
  const remove = map.add({ patterns: ["native://a/:other"], kind: "page" }, "newest");
  map.add({ scheme: "native", kind: "page" }, "scheme");
  map.add({ patterns: ["native://a/:x/*", "native://a/*"], kind: "page" }, "rest");
  assert.equal(map.find("native://a/b")?.handler, "literal");
  assert.equal(map.find("native://z/b")?.handler, "early parameter");
  assert.equal(map.find("native://c")?.handler, "literal");
  assert.equal(map.find("native://a/z")?.handler, "newest");
  assert.equal(map.find("native://a/z/more")?.handler, "rest");
  remove();
  assert.equal(map.find("native://a/z")?.handler, "parameter");
  assert.equal(map.find("flutter://a/z")?.handler, "global");
  assert.equal(map.find("native://nothing/like/it")?.handler, "scheme");
  assert.equal(map.find("http://a")?.handler, undefined);
});
