// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { normalForm } from "../bridge/uri/uri.js";
import { URIMap } from "../bridge/uri/uri-map.js";

/**
 * @typedef {{left: {before: string, characters: string}[],
 *   accepted: {name: string, text: string, normal?: string, typed?: string}[], rejected: {name: string, text: string}[]}} Table
 */
/** @type {Table} */
const table = JSON.parse(readFileSync(new URL("../../protocol/uris.json", import.meta.url), "utf8"));
/** The characters that RFC 3986 allows in a segment, a query and a fragment. */
const ALLOWED = /[\w\-.~!$&'()*+,;=:@/?]/;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index));

for (const { name, text, normal = text, typed } of table.accepted) {
  test(`${name} has the normal form of the server`, () => {
    assert.equal(normalForm(text), normal);
    assert.equal(normalForm(normal), normal);
    if (typed !== undefined) assert.equal(new URL(typed).href, text);
  });
}

for (const { before, characters } of table.left) {
  test(`what URL leaves after ${before} is encoded`, () => {
    for (const character of characters) {
      assert.equal(normalForm(`${before}${character}x`), `${before}${encodeURIComponent(character)}x`);
    }
    // Versions of Node.js differ in what they leave; the table has all of it.
    const left = PRINTABLE.filter((each) => !ALLOWED.test(each) && new URL(`${before}${each}x`).href === `${before}${each}x`);
    const ends = before.includes("#") ? "" : "#";
    const isBrowsers = /^(?:https|file):/.test(before);
    assert.deepEqual(left.filter((each) => !characters.includes(each) && each !== ends && (isBrowsers || each !== "%")), []);
  });
}

test("a string that is no URI stays, except for characters beyond ASCII and for half of one", () => {
  for (const text of ["", "a b", "?[x]", "/a|b", "native:\ud83d", "native://a[b]", "native:\u0007"]) assert.equal(normalForm(text), text);
  assert.equal(normalForm("é b"), "%C3%A9 b");
  assert.equal(normalForm("native:\ud83d|😀"), "native:\ud83d%7C%F0%9F%98%80");
});

test("handlers get the parameters of the normal form", () => {
  /** @type {URIMap<string>} */
  const map = new URIMap();
  map.add({ patterns: ["https://shop.example/:name"], kind: "page" }, "it");
  assert.deepEqual(map.find("https://shop.example/50%+[%41]/../100%?filter[color]=red|%41&q=50%+%41")?.params,
    { name: "100%", "filter[color]": "red|A", q: "50% A" });
});
