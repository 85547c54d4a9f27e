// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as bridge from "../bridge/bridge.js";
import * as caller from "../bridge/caller.js";
import * as host from "../bridge/host.js";
import * as mock from "../bridge/mock.js";
import { FakeSocket, turn } from "./fake-socket.js";
import { openSession, resumeSession, RECONNECT } from "./resumable-session.js";
import { ManualClock } from "./manual-clock.js";

/**
 * The minified file of an entry point. The type checker uses the module itself.
 * @param {string} name
 * @returns {Promise<any>}
 */
const minified = (name) => import(`../bridge/${name}.min.js`);

for (const [name, whole] of Object.entries({ bridge, caller, host, mock })) {
  test(`${name}.min.js has the exports of ${name}.js, and its map names the modules next to it`, async () => {
    assert.deepEqual(Object.keys(await minified(name)).sort(), Object.keys(whole).sort());
    const file = (/** @type {string} */ ending) => readFileSync(new URL(`../bridge/${name}.min.js${ending}`, import.meta.url), "utf8");
    assert.match(file(""), new RegExp(`\\n//# sourceMappingURL=${name}\\.min\\.js\\.map\\n$`));
    const { sources, sourcesContent, mappings } = JSON.parse(file(".map"));
    assert.equal(sourcesContent, undefined);
    assert(mappings.length > 1000 && sources.includes("values/errors.js"));
    for (const source of sources) assert(readFileSync(new URL(`../bridge/${source}`, import.meta.url)).length > 0, source);
  });
}

test("the mock is one file, including its errors", async () => {
  const { mockBridge, Bridge, RouteNotFoundError } = await minified("mock");
  const app = mockBridge({ pages: { "native://address/:id": (/** @type {any} */ { id }) => ({ id }) } });
  assert(app instanceof Bridge);
  assert.deepEqual((await app.open("native://address/:id", { id: "a 2" })).data, { id: "a 2" });
  await assert.rejects(app.invoke("action://none"), RouteNotFoundError);
  await app.close();
});

test("small files say what is wrong, and bridge.min.js also what to do about it", async () => {
  const [{ Caller }, { Host }, { Bridge }] = await Promise.all(["caller", "host", "bridge"].map(minified));
  for (const [Client, message] of [[Caller, "A url is required"], [Host, "A url is required"], [Bridge, /^A url is required outside of a page .*; give one such as/]]) {
    assert.throws(() => new Client(), { kind: "invalidParams", code: -32602, name: "InvalidParametersError", message });
  }
});

test("parts work with clients from other files", async () => {
  const [{ Caller }, { resume }, { fallback }, { CallBuilder }] = await Promise.all(["caller", "resume", "fallback", "builder"].map(minified));
  const outside = new Caller({ url: null }, { fallback: fallback({ "action://add": (/** @type {any} */ { a }) => a + 1 }) });
  assert.equal(await outside.invoke("action://add", { a: 1 }), 2);
  assert.deepEqual((await new CallBuilder(outside, "action://add").with("a", 2).open()).data, 3);
  await assert.rejects(outside.invoke("action://none"), { name: "BridgeAbsentError", kind: "noBridge" });
  const clock = new ManualClock();
  const inside = new Caller({ url: "ws://test/bridge", WebSocket: FakeSocket, clock, reconnect: RECONNECT, ping: false }, { resume });
  const socket = await openSession(inside);
  const call = inside.invoke("action://a");
  const [{ id, seq }] = socket.sent;
  assert.equal(seq, 1);
  socket.end(1006);
  clock.advance(RECONNECT.minDelay);
  const next = await resumeSession(inside, { received: 1, pending: [{ id, method: "router.invoke" }] });
  assert.equal(next.openingRequest.method, "session.resume");
  next.socket.receive({ id, result: 7 });
  assert.equal(await call, 7);
  void inside.close();
  await turn();
});
