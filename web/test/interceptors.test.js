// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, responses, turn } from "./fake-socket.js";

const CALL = { name: "login", uri: "native://orders", params: { n: 1 }, exts: {}, route: "orders", caller: { session: "s" } };

/** @param {import("../bridge/types/api.js").InterceptorHandler} handler */
async function intercepting(handler) {
  const { bridge, socket } = await connected();
  const removed = bridge.intercept("login", { patterns: ["native://orders"], groups: ["account"], priority: 5, timeout: 900 }, handler);
  await turn();
  const declaration = { patterns: ["native://orders"], groups: ["account"], priority: 5, kind: "interceptor", name: "login", timeoutMs: 900 };
  assert.deepEqual(socket.last("host.register").params, { hosts: [declaration] });
  socket.respond("host.register", { hosts: [declaration] });
  return { bridge, socket, removed, declaration };
}

for (const [name, handler, expected] of /** @type {[string, import("../bridge/types/api.js").InterceptorHandler, any][]} */ ([
  ["nothing", () => {}, { decision: "next" }],
  ["null", async () => null, { decision: "next" }],
  ["parameters", ({ params, uri, route }) => ({ params: { ...params, uri, route } }), { decision: "change", params: { n: 1, uri: "native://orders", route: "orders" } }],
  ["a URI", async () => ({ redirect: "native://login" }), { decision: "redirect", uri: "native://login" }],
  ["a URI with parameters", () => ({ redirect: "native://login", params: {} }), { decision: "redirect", uri: "native://login", params: {} }],
  ["a reason", () => ({ refuse: "not today" }), { decision: "refuse", reason: "not today" }],
])) {
  test(`an interceptor that returns ${name} decides about a call`, async () => {
    const { socket } = await intercepting(handler);
    socket.receive({ id: 1, method: "router.intercept", params: CALL });
    await turn();
    assert.deepEqual(responses(socket)[0].result, expected);
  });
}

test("an interceptor that throws sends its error", async () => {
  const { socket } = await intercepting(() => { throw new Error("no form"); });
  socket.receive({ id: 1, method: "router.intercept", params: CALL });
  await turn();
  assert.match(responses(socket)[0].error.message, /no form/);
});

test("an interceptor that was removed lets a call continue", async () => {
  const { socket, removed, declaration } = await intercepting(() => ({ refuse: "no" }));
  void removed();
  await turn();
  assert.deepEqual(socket.last("host.unregister").params, { hosts: [declaration] });
  socket.respond("host.unregister", { hosts: [] });
  await turn();
  socket.receive({ id: 1, method: "router.intercept", params: CALL });
  await turn();
  assert.deepEqual(responses(socket)[0].result, { decision: "next" });
});

test("an interceptor needs a function, a name of its own and patterns", async () => {
  const { bridge } = await intercepting(() => {});
  assert.throws(() => bridge.intercept("other", {}, /** @type {any} */ (true)), { kind: "invalidParams" });
  assert.throws(() => bridge.intercept("login", { groups: ["a"] }, () => {}), { kind: "conflict" });
  assert.throws(() => bridge.intercept("other", { patterns: ["no scheme"] }, () => {}), { kind: "invalidParams" });
});

test("gates are listed, opened and closed", async () => {
  const { bridge, socket } = await connected();
  const listed = bridge.gates();
  socket.respond("session.gates", { gates: [{ name: "signedIn", open: false }] });
  assert.deepEqual(await listed, [{ name: "signedIn", open: false }]);
  const set = bridge.setGate("signedIn", true);
  assert.deepEqual(socket.last("session.setGate").params, { gate: "signedIn", open: true });
  socket.respond("session.setGate", null);
  assert.equal(await set, null);
});
