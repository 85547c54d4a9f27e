// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, turn } from "./fake-socket.js";

/** @type {[string, any, string, any][]} the given URI and parameters, and the sent ones */
const FILLED = [
  ["native://address/:id", { id: "a2" }, "native://address/a2", {}],
  ["native://address/:id", { id: "a/2 ?#%ü", x: [1] }, "native://address/a%2F2%20%3F%23%25%C3%BC", { x: [1] }],
  ["native://address/:id", { id: 7 }, "native://address/7", {}],
  ["native://address/:id/:on", { id: "...", on: false }, "native://address/.../false", {}],
  ["native://:host/a", { host: "x" }, "native://x/a", {}],
  ["native:/:a/:b?c=:d#:e", { a: 1, b: 2, d: 3 }, "native:/1/2?c=:d#:e", { d: 3 }],
  ["tel::number", { number: "+49 1" }, "tel:%2B49%201", {}],
  ["native://file/*", { "*": ["a", "b/c", ""] }, "native://file/a/b%2Fc/", {}],
  ["native://file/*", { "*": "a/b c" }, "native://file/a/b%20c", {}],
  ["native://file/*", { "*": [], x: 1 }, "native://file", { x: 1 }],
  ["native://a/:__proto__", JSON.parse('{"__proto__": "p", "x": 1}'), "native://a/p", { x: 1 }],
  // Without placeholders everything stays unchanged.
  ["native://address/a2", undefined, "native://address/a2", undefined],
  ["native://address/a2?x=:id", { id: "a2" }, "native://address/a2?x=:id", { id: "a2" }],
  ["https://example.org:8080/a:b/c:/x*/*y", { b: 1 }, "https://example.org:8080/a:b/c:/x*/*y", { b: 1 }],
  ["urn:isbn:0451450523", { isbn: 1 }, "urn:isbn:0451450523", { isbn: 1 }],
  ["https://[::1]/a", {}, "https://[::1]/a", {}],
];

for (const [given, params, uri, rest] of FILLED.filter(([, , filled]) => filled !== "")) {
  test(`${given} with ${JSON.stringify(params)} is ${uri}`, async () => {
    const { bridge, socket } = await connected();
    for (const what of /** @type {const} */ (["open", "invoke", "explain"])) {
      bridge[what](given, params).catch(() => {});
      await turn();
      const sent = socket.last(`router.${what}`).params;
      assert.deepEqual([sent.uri, sent.params], [uri, rest], what);
    }
    bridge.canOpen(given, params).catch(() => {});
    assert.deepEqual(socket.last("router.canOpen").params, { uri });
    bridge.build(given).with(params ?? {}).open().catch(() => {});
    assert.deepEqual(socket.last("router.open").params.uri, uri);
    void bridge.close();
  });
}

/** @type {[string, any, string][]} the URI and parameters, and the name of the missing one */
const MISSING = [
  ["native://address/:id", undefined, "id"],
  ["native://address/:id", { ID: "a" }, "id"],
  ["native://address/:id", { id: "" }, "id"],
  ["native://address/:id", { id: ".." }, "id"],
  ["native://address/:id", { id: null }, "id"],
  ["native://address/:id", { id: { a: 1 } }, "id"],
  ["native://address/:toString", {}, "toString"],
  ["native://file/*", {}, "*"],
  ["native://file/*", { "*": ["a", ".."] }, "*"],
  ["native://file/*", { "*": "../a" }, "*"],
];

for (const [uri, params, name] of MISSING) {
  test(`${uri} with ${JSON.stringify(params)} is rejected and sends nothing`, async () => {
    const { bridge, socket } = await connected();
    const refused = { name: "InvalidParametersError", code: -32602, message: new RegExp(`needs the parameter "${name.replace("*", "\\*")}":`) };
    await assert.rejects(bridge.open(uri, params), refused);
    await assert.rejects(bridge.invoke(uri, params), refused);
    await assert.rejects(bridge.canOpen(uri, params), refused);
    await assert.rejects(bridge.explain(uri, params), refused);
    assert.deepEqual(socket.sent, []);
    void bridge.close();
  });
}

/** @type {[any, string][]} */
const NO_URIS = [
  [undefined, "undefined"],
  [null, "null"],
  ["", '""'],
  [{}, "a value of type object"],
  [7, "a value of type number"],
];

for (const [value, got] of NO_URIS) {
  test(`calls reject ${got} as their URI and send nothing`, async () => {
    const { bridge, socket } = await connected();
    const rejected = (/** @type {string} */ what) =>
      ({ name: "InvalidParametersError", code: -32602, message: `${what} needs a URI such as "native://address/7", but got ${got}` });
    await assert.rejects(bridge.open(value), rejected("open"));
    await assert.rejects(bridge.invoke(value), rejected("invoke"));
    await assert.rejects(bridge.canOpen(value), rejected("canOpen"));
    await assert.rejects(bridge.explain(value), rejected("explain"));
    await assert.rejects(bridge.build(value).with("id", 2).open(), rejected("open"));
    if (typeof value !== "string") await assert.rejects(bridge.supports(value), { code: -32602, message: /^supports needs a URI or the name of a method/ });
    assert.deepEqual(socket.sent, []);
    void bridge.close();
  });
}
