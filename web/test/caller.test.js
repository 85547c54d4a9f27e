// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Caller } from "../bridge/caller.js";
import { events } from "../bridge/events.js";
import { fallback } from "../bridge/fallback.js";
import { Host } from "../bridge/host.js";
import { reload } from "../bridge/reload.js";
import { resume } from "../bridge/resume.js";
import { FakePage, within } from "./fake-page.js";
import { accept, responses, FakeSocket, INFO, newest, turn } from "./fake-socket.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { GUEST, invitedURL, SHOP } from "./invited-page.js";
import { ManualClock } from "./manual-clock.js";
import { openSession, resumeSession, RECONNECT } from "./resumable-session.js";
import { resultOf } from "./outcome.js";

/**
 * @param {object} [options]
 * @param {import("../bridge/types/api.js").Parts} [parts]
 */
function calling(options, parts) {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const clock = new ManualClock();
  const caller = new Caller({ url: "ws://test/bridge", WebSocket, clock, reconnect: false, ping: false, ...options }, parts);
  return { caller, clock, bridge: /** @type {any} */ (caller) };
}

test("a caller registers no hosts, responds to pings, and has no methods", async () => {
  const { bridge } = calling();
  const socket = await accept(bridge);
  socket.receive({ id: 1, method: "$/ping" });
  socket.receive({ id: 2, method: "page.open", params: { page: { id: "p", uri: "native://a" } } });
  socket.receive({ method: "page.resume", params: { page: "p" } });
  socket.receive({ method: "$/cancelRequest", params: { id: 2 } });
  await turn();
  assert.deepEqual(responses(socket), [{ id: 1, result: null }, { id: 2, error: { code: -32601, message: 'This client has no method "page.open"' } }]);
});

test("a caller opens, invokes, calls and goes back, and receives progress", async () => {
  const { caller, bridge } = calling();
  const socket = await accept(bridge);
  /** @type {unknown[]} */
  const progress = [];
  const opened = caller.open("native://address/:id", { id: "a2" }, { key: "k", onProgress: (value) => progress.push(value) });
  const { id, params } = socket.last("router.open");
  assert.deepEqual(params, { uri: "native://address/a2", params: {}, key: "k" });
  socket.receive({ method: "$/progress", params: { id, value: { opened: { page: "p1" } } } });
  socket.receive({ id, result: { outcome: "finished", code: 0, message: "", data: 1 } });
  assert.equal(await resultOf(opened), 1);
  assert.deepEqual(progress, [{ opened: { page: "p1" } }]);
  const back = caller.back(2);
  socket.respond("navigation.back", { page: "p0", closed: ["p1"] });
  assert.deepEqual(await back, { page: "p0", closed: ["p1"] });
  void caller.close();
});

test("with the part events a caller receives events, reports another table, and renews its token", async () => {
  let last = 0;
  const options = { table: { version: "1" }, token: () => `t${(last += 1)}` };
  const { caller, bridge } = calling(options, { events });
  /** @type {unknown[]} */
  const values = [];
  caller.subscribe("cart.*", ({ data }) => values.push(data));
  caller.addEventListener("cart.changed", ({ detail }) => values.push(detail.data + 1), { once: true });
  caller.addEventListener("tablechange", ({ detail }) => values.push(detail.version));
  caller.addEventListener("expiring", ({ detail }) => values.push(detail.expiresAt));
  const socket = newest();
  socket.accept();
  await turn();
  socket.respond("session.open", { ...INFO, table: { version: "2" } });
  await turn();
  for (const { id } of socket.sent.slice(1)) socket.receive({ id, result: null });
  assert.deepEqual(socket.sent.slice(1).map(({ params }) => params.topics[0]), ["table.changed", "cart.*", "cart.changed"]);
  const { session: { client } } = bridge;
  for (const data of [1, 1]) socket.receive({ method: "event", params: { topic: "cart.changed", data, at: 0 } });
  socket.receive({ method: "event", params: { topic: "session.expiring", data: { client, expiresAt: 7 }, at: 0 } });
  await turn();
  assert.deepEqual(values, ["2", 1, 2, 1, 7]);
  assert.deepEqual(socket.sent.find(({ method }) => method === "session.renew")?.params, { token: "t2" });
  void caller.close();
});

test("without the part events a caller names the missing part for topics, and still dispatches its own events", async () => {
  const { caller, bridge } = calling();
  const needed = { kind: "invalidParams", message: /need the part events: new Caller/ };
  assert.throws(() => caller.subscribe("cart.changed", () => {}), needed);
  assert.throws(() => caller.addEventListener("cart.changed", () => {}), needed);
  caller.removeEventListener("cart.changed", () => {});
  /** @type {string[]} */
  const states = [];
  caller.addEventListener("statechange", ({ detail }) => states.push(detail.state));
  const socket = await accept(bridge);
  socket.receive({ method: "event", params: { topic: "cart.changed", data: 1, at: 0 } });
  void caller.close();
  assert.deepEqual(states, ["open", "closed"]);
});

test("with the part resume a caller resumes its session on the next connection", async () => {
  const { caller, bridge, clock } = calling({ reconnect: RECONNECT }, { resume });
  const socket = await openSession(bridge);
  const call = caller.invoke("action://a");
  const [{ id }] = socket.sent;
  socket.end(1006);
  clock.advance(RECONNECT.minDelay);
  const next = await resumeSession(bridge, { received: 1, pending: [{ id, method: "router.invoke" }] });
  assert.equal(next.openingRequest.method, "session.resume");
  next.socket.receive({ id, result: 7 });
  assert.equal(await call, 7);
  void caller.close();
});

test("without the part reload a caller has no pending calls and stores nothing", async () => {
  const tab = new FakeTab("https://shop.example/shop.html", new FakeLocks());
  const { caller, bridge } = tab.run(() => calling({ reconnect: RECONNECT }));
  await openSession(bridge);
  caller.invoke("action://a", {}, { key: "k" }).catch(() => {});
  tab.unload();
  assert.deepEqual(Object.keys(tab.run(() => globalThis.sessionStorage)), []);
  assert.deepEqual(caller.pending, []);
  await assert.rejects(caller.recover("k"), { name: "OutcomeUnknownError" });
  void caller.close();
});

test("with the part reload its session survives a reload of the page", async () => {
  const tab = new FakeTab("https://shop.example/shop.html", new FakeLocks());
  const { caller, bridge } = tab.run(() => calling({ reconnect: RECONNECT }, { reload }));
  await openSession(bridge);
  caller.invoke("action://a", {}, { key: "k" }).catch(() => {});
  const { id } = newest().sent[0];
  tab.unload();
  newest().end(1001);
  const again = tab.run(() => calling({ reconnect: RECONNECT }, { reload }));
  const { socket, openingRequest } = await resumeSession(again.bridge, { received: 1, pending: [{ id, method: "router.invoke", key: "k" }] });
  assert.equal(openingRequest.params.reloaded, true);
  socket.receive({ id, result: 3 });
  assert.equal(await again.caller.recover("k"), 3);
  void again.caller.close();
});

test("a caller's invitation is removed from the URL, and the next load of the page finds it again", async () => {
  for (const state of [null, { own: 1 }]) {
    const page = new FakePage(invitedURL());
    page.history.replaceState(state, "");
    for (const load of ["first", "second"]) {
      const { caller } = within(page, () => calling({ url: undefined }));
      const socket = newest();
      socket.accept();
      await turn();
      assert.deepEqual(socket.last("session.open").params.join, { session: GUEST.session, token: GUEST.token }, load);
      assert.equal(page.location.href, SHOP);
      void caller.close();
    }
    assert.equal(page.history.state.own, state?.own);
  }
});

test("with the part fallback, handlers of the page are used when there is no bridge", async () => {
  const { caller } = calling({ url: null }, { fallback: fallback({ "action://rate/:stars": ({ stars }) => Number(stars) }) });
  assert.equal(await caller.invoke("action://rate/:stars", { stars: 4 }), 4);
  assert.deepEqual(await caller.canOpen("action://rate/1"), { canOpen: true, kind: "task" });
  await assert.rejects(caller.invoke("action://other"), { name: "BridgeAbsentError" });
});

test("a host registers what it hosts, and has only the parts that it was given", async () => {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const host = new Host({ url: "ws://test/bridge", WebSocket, ping: false, reconnect: false, tasks: { "action://a": () => 1 } });
  const socket = newest();
  socket.accept();
  await turn();
  assert.deepEqual(socket.last("session.open").params.hosts, [{ patterns: ["action://a"], kind: "task" }]);
  for (const name of ["build", "explain", "supports"]) assert.equal(Reflect.get(host, name), undefined);
  void host.close();
});
