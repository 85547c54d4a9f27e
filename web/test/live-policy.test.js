// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { OWN_SKIP, serve } from "./live-server.js";
import { nodeWebSockets } from "./node-ws.js";
import { Random } from "./strict-json.js";

const POLICY = {
  rules: [
    { name: "all", allow: ["*"] },
    { name: "bank", deny: ["*"], routes: ["https://bank.example/*", "native://secret/*"] },
  ],
};
const DENIED = { https: "https://bank.example/x/1", native: "native://secret/1" };
/**
 * Changes of spelling.
 * @type {((text: string, random: Random) => string)[]}
 */
const CHANGES = [
  (text, random) => text.replace("://", random.one([":", ":/", ":///", ":////", ":\\\\", ":/\\", "://u@", "://u:p@", "://:@"])),
  (text, random) => text.replace(/(bank\.example|secret)/, (host) => host + random.one([".", "..", ":443", ":0443", ":", ".:443", ":80"])),
  (text) => text.replace(/bank|secret/, (host) => host.toUpperCase()),
  (text, random) => text.replace(/[a-z]/g, (letter) => (random.below(4) === 0 ? `%${letter.charCodeAt(0).toString(16)}` : letter)),
  (text) => text.replace("bank", "ｂａｎｋ"),
  (text) => text.replace("bank.example", "bank。example"),
  (text) => text.replace("bank", "ba\u00adnk"),
  (text, random) => text.replace("/1", random.one(["/./1", "/a/../1", "/a/%2e%2E/1", "\\1", "/a\\..\\1", "/1/", "/1?", "/1#a", "/1  ", "/\t1"])),
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
  assert.equal(await decision(bridge, DENIED.https), "bank");
  assert.equal(await decision(bridge, DENIED.native), "bank");
  const random = new Random(0);
  let same = 0;
  for (let round = 0; round < 1500; round += 1) {
    let text = DENIED.https;
    for (let count = random.below(3) + 1; count > 0; count -= 1) text = random.one(CHANGES)(text, random);
    const read = parsed(text);
    const isSame = read?.protocol === "https:" && read.hostname.replace(/\.+$/, "") === "bank.example" && read.port === "" && decodeURIComponent(read.pathname) !== "/";
    if (!isSame) continue;
    same += 1;
    const decided = await decision(bridge, text);
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
