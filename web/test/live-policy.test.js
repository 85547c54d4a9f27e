// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { OWN_SKIP, serve } from "./live-server.js";
import { nodeWebSockets } from "./node-ws.js";

const POLICY = {
  rules: [
    { name: "all", allow: ["*"] },
    { name: "bank", deny: ["*"], routes: ["https://bank.example/*", "native://secret/*"] },
  ],
};
const DENIED = { https: "https://bank.example/x/1", native: "native://secret/1" };
/**
 * Changes of spelling.
 * @type {((text: string, pick: (count: number) => number) => string)[]}
 */
const CHANGES = [
  (text, pick) => text.replace("://", [":", ":/", ":///", ":////", ":\\\\", ":/\\", "://u@", "://u:p@", "://:@"][pick(9)]),
  (text, pick) => text.replace(/(bank\.example|secret)/, (host) => host + [".", "..", ":443", ":0443", ":", ".:443", ":80"][pick(7)]),
  (text) => text.replace(/bank|secret/, (host) => host.toUpperCase()),
  (text, pick) => text.replace(/[a-z]/g, (letter) => (pick(4) === 0 ? `%${letter.charCodeAt(0).toString(16)}` : letter)),
  (text) => text.replace("bank", "ｂａｎｋ"),
  (text) => text.replace("bank.example", "bank。example"),
  (text) => text.replace("bank", "ba\u00adnk"),
  (text, pick) => text.replace("/1", ["/./1", "/a/../1", "/a/%2e%2E/1", "\\1", "/a\\..\\1", "/1/", "/1?", "/1#a", "/1  ", "/\t1"][pick(10)]),
  (text) => text.replace(/^[a-z]+/, (scheme) => scheme.toUpperCase()),
  (text) => `${text} `,
];

/**
 * A host whose calls end at once.
 * @type {import("../bridge/bridge.js").PageHost}
 */
const HOST = {
  open() {
    throw new Error("the host was asked");
  },
  close() {},
};

/** @param {string} text */
function parsed(text) {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the rule that denies a URI, or the code of another error: -32602 if it is rejected, and that of the host if it is allowed.
 * @param {Bridge} bridge
 * @param {string} uri
 */
async function decision(bridge, uri) {
  return bridge.open(uri).then(() => assert.fail("a page was opened"), ({ code, data }) => (code === 2403 ? data.rule : code));
}

test("what a browser reads as a denied URL is denied or rejected, however it is spelled", { skip: OWN_SKIP }, async (context) => {
  const url = await serve(context, POLICY);
  const bridge = new Bridge({ url, WebSocket: nodeWebSockets().WebSocket, hosts: { https: HOST, native: HOST } });
  context.after(() => bridge.close());
  await bridge.ready;
  const decide = (/** @type {string} */ uri) => decision(bridge, uri);
  assert.equal(await decide(DENIED.https), "bank");
  assert.equal(await decide(DENIED.native), "bank");
  let seed = 1;
  const pick = (/** @type {number} */ count) => (seed = (seed * 48271) % 2147483647) % count;
  let same = 0;
  for (let round = 0; round < 1500; round += 1) {
    let text = DENIED.https;
    for (let count = pick(3) + 1; count > 0; count -= 1) text = CHANGES[pick(CHANGES.length)](text, pick);
    const read = parsed(text);
    const isSame = read?.protocol === "https:" && read.hostname.replace(/\.+$/, "") === "bank.example" && read.port === "" && decodeURIComponent(read.pathname) !== "/";
    if (!isSame) continue;
    same += 1;
    const decided = await decide(text);
    assert(decided === "bank" || decided === -32602, `${JSON.stringify(text)} is read as ${read?.href}, but decided as ${decided}`);
  }
  assert(same > 500, `${same} texts were the denied URL`);
});

for (const uri of ["native:secret/1", "native:/secret/1", "native:///secret/1", "native://u@secret/1", "native://secret:/1", "NATIVE://SECRET/1"]) {
  test(`a denial of native://secret/* covers ${uri}`, { skip: OWN_SKIP }, async (context) => {
    const url = await serve(context, POLICY);
    const bridge = new Bridge({ url, WebSocket: nodeWebSockets().WebSocket, hosts: { native: HOST } });
    context.after(() => bridge.close());
    await bridge.ready;
    assert.equal(await decision(bridge, uri), "bank");
    assert.equal(await decision(bridge, uri.replace(/secret/i, "public")), 2502);
  });
}
