// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { encode, withoutHalfPairs } from "../bridge/values/json-values.js";
import { HALF, nested, Random, strictFault, UNSENDABLE } from "./strict-json.js";

/** @param {unknown} params */
const message = (params) => ({ jsonrpc: "2.0", id: "1", method: "x.y", params });

for (const [name, value] of Object.entries(UNSENDABLE)) {
  test(`${name} is rejected, with its path`, () => {
    assert.throws(() => encode(message({ uri: "a:b", params: { items: [1, { title: value }] } })), (/** @type {any} */ error) => {
      const isOwn = /throws/.test(name);
      if (!isOwn) assert.match(error.message, /^params\.items\[1\]\.title/);
      return error instanceof (isOwn ? Error : TypeError);
    });
  });
}

/** @type {[unknown, string][]} */
const MESSAGES = [
  [{ params: { items: [0, 0, 0, { title: HALF }] } }, "params.items[3].title has half of a surrogate pair (an emoji cut in two?); cut strings at code points"],
  [{ uri: `a:${HALF}` }, "uri has half of a surrogate pair (an emoji cut in two?); cut strings at code points"],
  [{ "a b": { [HALF]: 1 } }, 'params["a b"]["\\ud83d"] has half of a surrogate pair (an emoji cut in two?); cut strings at code points'],
  [{ exts: { size: NaN } }, "exts.size is NaN, which JSON does not have; convert it first"],
  [[1, -Infinity], "params[1] is -Infinity, which JSON does not have; convert it first"],
  [new Map(), "params is Map, which JSON does not have; convert it first"],
  [{ result: { data: new Uint8Array(1) } }, "result.data is Uint8Array, which JSON does not have; convert it first"],
  [{ a: UNSENDABLE["an array that contains itself"] }, "a[1].again contains itself"],
];

for (const [params, expected] of MESSAGES) {
  test(`the error says: ${expected}`, () => assert.throws(() => encode(message(params)), { name: "TypeError", message: expected }));
}

test("the error of a deep value names the start of its path", () => {
  for (const levels of [127, 1000]) {
    assert.throws(() => encode(message({ a: nested(levels) })), (/** @type {any} */ error) => {
      assert.match(error.message, /^a\S{1,80}… is nested too deeply; a message can have 128 levels$/);
      return true;
    });
  }
});

test("a result is named as such", () => {
  assert.throws(() => encode({ jsonrpc: "2.0", id: 1, result: { t: HALF } }), { message: /^result\.t has half/ });
  assert.throws(() => encode({ jsonrpc: "2.0", id: 1, result: HALF }), { message: /^result has half/ });
});

test("a message has 128 levels at most", () => {
  // The message and its params are two of them.
  for (const levels of [0, 1, 125, 126]) {
    const params = nested(levels);
    assert.equal(strictFault(encode(message([params]))), undefined);
  }
  assert.throws(() => encode(message([nested(127)])), { message: /too deeply/ });
  assert.throws(() => encode(message([nested(126), [nested(126)]])), { message: /^params\[1\]/ });
});

/** @type {[string, any][]} */
const SENDABLE = [
  ["undefined members", { a: undefined, b: [undefined, 1], c: null }],
  ["dates and other objects with toJSON", [new Date(0), new URL("https://a.example/"), { toJSON: () => ({ x: 1 }) }, new Date(NaN)]],
  ["objects of another window", runInNewContext("({ a: [1, { b: 2 }] })")],
  ["objects without a prototype", Object.assign(Object.create(null), { a: 1 })],
  ["instances of a class", new (class Point { x = 1; y = [2]; })()],
  ["boxed values", [Object(1), Object("x"), Object(true)]],
  ["whole pairs and escapes", ["😀", "\\ud83d", "\u0000\t\"\u2028", "\uffff"]],
  ["an object that occurs twice", ((same) => [same, { same }, [same]])({ x: [1] })],
  ["names with a meaning in JavaScript", JSON.parse('{"__proto__": 1, "toJSON": 2, "constructor": {"length": 3}}')],
];

for (const [name, value] of SENDABLE) {
  test(`${name} are encoded as by JSON.stringify`, () => {
    const text = encode(message(value));
    assert.equal(text, JSON.stringify(message(value)));
    assert.equal(strictFault(text), undefined);
  });
}

test("whatever is encoded can be read, and is what JSON.stringify makes of it", () => {
  let rejected = 0;
  for (let seed = 0; seed < 20000; seed += 1) {
    const value = new Random(seed).value();
    let text;
    try {
      text = encode(message(value));
    } catch {
      rejected += 1;
      continue;
    }
    assert.equal(strictFault(text), undefined, `seed ${seed}`);
    assert.equal(text, JSON.stringify(message(value)), `seed ${seed}`);
  }
  assert(rejected > 1000 && rejected < 15000, `${rejected} are rejected`);
});

test("halves of pairs are replaced, and whole pairs are kept", () => {
  for (const [text, expected] of [["a😀b", "a😀b"], [`a${HALF}b`, "a\ufffdb"], ["\udc00\ud800", "\ufffd\ufffd"], [`😀${HALF}`, "😀\ufffd"]]) {
    assert.equal(withoutHalfPairs(text), expected);
  }
});
