// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { BridgeAbsentError } from "../bridge/bridge.js";
import { within } from "./fake-page.js";
import { accept, connected, connecting, FakeSocket, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

/** @type {NonNullable<BridgeOptions["fallback"]>} */
const FALLBACK = {
  "action://share": (params, { uri, exts, progress }) => {
    progress(0.5);
    return { params, uri, exts };
  },
  "action://fail": () => {
    throw Object.assign(new Error("mine"), { code: 17 });
  },
  https: (_, { uri }) => uri,
};

/** @type {[string, BridgeOptions, ((socket: FakeSocket) => void) | undefined][]} */
const OUTSIDE = [
  ["there is no url", { url: null }, undefined],
  ["no server listens", {}, (socket) => socket.end(1006)],
  ["the server is not a bridge", {}, (socket) => socket.accept("")],
  ["the session is rejected", {}, (socket) => {
    socket.accept();
    socket.respondError("session.open", { code: 2403, message: "not this origin" });
  }],
];

for (const [name, options, end] of OUTSIDE) {
  test(`if ${name}, the fallback handles calls, including those made before that was known`, async () => {
    const sockets = FakeSocket.made.length;
    const { bridge, clock } = connecting({ fallback: FALLBACK, reconnect: {}, ...options });
    assert.equal(FakeSocket.made.length - sockets, end === undefined ? 0 : 1);
    /** @type {unknown[]} */
    const progress = [];
    const early = bridge.invoke("action://share?a=1&b=1", { b: 2 }, { exts: { e: 1 }, onProgress: (value) => progress.push(value) });
    end?.(newest());
    await assert.rejects(bridge.ready);
    assert.equal(bridge.state, "closed");
    assert.equal(clock.pending, 0, "there are no further attempts");
    assert.deepEqual(await early, { params: { a: "1", b: 2 }, uri: "action://share?a=1&b=1", exts: { e: 1 } });
    assert.deepEqual(progress, [0.5]);
    assert.deepEqual(await bridge.open("https://example.org/x"), { outcome: "finished", code: 0, message: "", data: "https://example.org/x" });
    await assert.rejects(bridge.invoke("action://fail"), { code: 17, message: "mine" });
    for (const call of [bridge.invoke("action://other"), bridge.open("native://a"), bridge.stack(), bridge.call("p1", "m")]) {
      await assert.rejects(call, (/** @type {any} */ error) => error instanceof BridgeAbsentError && error.kind === "noBridge");
    }
    assert.deepEqual(await bridge.canOpen("action://share"), { canOpen: true, kind: "task" });
    assert.deepEqual(await bridge.canOpen("native://a"), { canOpen: false });
    for (const [what, expected] of /** @type {[string, boolean][]} */ ([
      ["action://share", true], ["https://example.org", true], ["native://a", false],
      ["router.invoke", true], ["page.call", false], ["toString", false],
    ])) assert.equal(await bridge.supports(what), expected, what);
  });
}

test("the fallback is not used while there is a bridge, nor after one was lost or closed", async () => {
  const { bridge, socket, clock } = await connected({ fallback: FALLBACK, reconnect: {} });
  const refused = bridge.invoke("action://share");
  socket.respondError("router.invoke", { code: 2404, message: "no such route" });
  await assert.rejects(refused, { code: 2404 });
  const lost = bridge.invoke("action://share");
  socket.end(1006);
  await assert.rejects(lost, { code: 2599 });
  clock.advance(500);
  newest().end(1006);
  await assert.rejects(bridge.invoke("action://share"), { kind: "closed" });

  const closed = connecting({ fallback: FALLBACK });
  const call = closed.bridge.invoke("action://share");
  void closed.bridge.close();
  await assert.rejects(call, { kind: "closed" });
});

test("the fallback is used only after all attempts to connect", async () => {
  const { bridge, clock } = connecting({ fallback: FALLBACK, reconnect: { attempts: 2 } });
  newest().end(1006);
  clock.advance(500);
  await accept(bridge);
  assert.equal(bridge.state, "open");
});

test("aborting reaches the fallback", async () => {
  /** @type {any} */
  let signal;
  const fallback = { "action://wait": (/** @type {any} */ _, /** @type {any} */ call) => {
    signal = call.signal;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  } };
  const { bridge } = connecting({ url: null, fallback });
  const controller = new AbortController();
  const call = bridge.invoke("action://wait", {}, { signal: controller.signal });
  await turn();
  controller.abort();
  await assert.rejects(call, { code: -32800, name: "AbortError" });
});

for (const address of [undefined, "file:///home/x.html", "app://shop/index.html", "about:srcdoc", "blob:https://shop.example/1-2"]) {
  test(`${address ?? "outside of a page"}: without a server to connect to, a fallback needs no url`, async () => {
    const page = { location: address && new URL(address) };
    const { bridge } = within(page, () => connecting({ url: undefined, fallback: { "action://a": () => 1 } }));
    assert.equal(await bridge.invoke("action://a"), 1);
    const needed = { code: -32602, message: /A url is required outside of a page that comes from a server/ };
    assert.throws(() => within(page, () => connecting({ url: undefined })), needed);
  });
}

test("an invalid fallback is rejected at once", () => {
  assert.throws(() => connecting({ fallback: { "action://a": /** @type {any} */ (1) } }), { message: /needs a function/ });
  assert.throws(() => connecting({ fallback: { "a b": () => {} } }), { message: /not a pattern/ });
});

test("names like __proto__ in a fallback's parameters have no effect", async () => {
  const { bridge } = connecting({ url: null, fallback: { "action://a": (params) => params } });
  const params = JSON.parse('{"__proto__": {"polluted": 1}, "then": 2}');
  const given = await bridge.invoke("action://a?constructor=x&__proto__=y", params);
  assert.equal(JSON.stringify(given), '{"constructor":"x","__proto__":{"polluted":1},"then":2}');
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

test("with a bridge, one request for each session finds out what the server supports", async () => {
  const { bridge, socket, clock } = await connected({ reconnect: {} });
  const requests = bridge.supports("page.call");
  socket.respond("rpc.discover", { methods: [{ name: "page.call" }, { name: "__proto__" }] });
  assert.equal(await requests, true);
  for (const [what, expected] of /** @type {[string, boolean][]} */ ([["__proto__", true], ["then", false], ["toString", false]])) {
    assert.equal(await bridge.supports(what), expected);
  }
  assert.equal(socket.sent.length, 1);
  const opens = bridge.supports("action://share");
  socket.respond("router.canOpen", { canOpen: true });
  assert.equal(await opens, true);
  socket.end(1006);
  clock.advance(500);
  const next = await accept(bridge, { capabilities: ["search"] });
  const again = bridge.supports("search");
  next.respond("rpc.discover", { methods: [] });
  assert.equal(await again, true);
  assert.equal(await bridge.supports("page.call"), false);
});
