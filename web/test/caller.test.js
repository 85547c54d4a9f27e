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
import { accept, answers, FakeSocket, INFO, newest, turn } from "./fake-socket.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { GUEST, invited, SHOP } from "./invited.js";
import { ManualClock } from "./manual-clock.js";
import { begun, goesOn, RECONNECT } from "./resumable.js";

/**
 * @param {object} [options]
 * @param {import("../bridge/types.js").Parts} [parts]
 */
function calling(options, parts) {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const clock = new ManualClock();
  const caller = new Caller({ url: "ws://test/bridge", WebSocket, clock, reconnect: false, ping: false, ...options }, parts);
  return { caller, clock, bridge: /** @type {any} */ (caller) };
}

test("a caller names no hosts, answers pings, and has no methods", async () => {
  const { bridge } = calling();
  const socket = await accept(bridge);
  socket.receive({ id: 1, method: "$/ping" });
  socket.receive({ id: 2, method: "page.open", params: { page: { id: "p", uri: "native://a" } } });
  socket.receive({ method: "page.resume", params: { page: "p" } });
  socket.receive({ method: "$/cancelRequest", params: { id: 2 } });
  await turn();
  assert.deepEqual(answers(socket), [{ id: 1, result: null }, { id: 2, error: { code: -32601, message: "this client has no method page.open" } }]);
});

test("a caller opens, invokes, calls and goes back, and hears of progress", async () => {
  const { caller, bridge } = calling();
  const socket = await accept(bridge);
  /** @type {unknown[]} */
  const progress = [];
  const opened = caller.open("native://address/:id", { id: "a2" }, { key: "k", onProgress: (value) => progress.push(value) });
  const { id, params } = socket.last("router.open");
  assert.deepEqual(params, { uri: "native://address/a2", params: {}, key: "k" });
  socket.receive({ method: "$/progress", params: { id, value: { opened: { page: "p1" } } } });
  socket.receive({ id, result: { outcome: "finished", code: 0, message: "", data: 1 } });
  assert.equal((await opened).data, 1);
  assert.deepEqual(progress, [{ opened: { page: "p1" } }]);
  const back = caller.back(2);
  socket.answer("navigation.back", { page: "p0", closed: ["p1"] });
  assert.deepEqual(await back, { page: "p0", closed: ["p1"] });
  void caller.close();
});

test("with the part for it, a caller hears what is published, of another table, and renews its token", async () => {
  let last = 0;
  const options = { table: { version: "1" }, token: () => `t${(last += 1)}` };
  const { caller, bridge } = calling(options, { events });
  /** @type {unknown[]} */
  const heard = [];
  caller.subscribe("cart.*", ({ data }) => heard.push(data));
  caller.addEventListener("cart.changed", ({ detail }) => heard.push(detail.data + 1), { once: true });
  caller.addEventListener("tablechange", ({ detail }) => heard.push(detail.version));
  caller.addEventListener("expiring", ({ detail }) => heard.push(detail.expiresAt));
  const socket = newest();
  socket.accept();
  await turn();
  socket.answer("session.open", { ...INFO, table: { version: "2" } });
  await turn();
  for (const { id } of socket.sent.slice(1)) socket.receive({ id, result: null });
  assert.deepEqual(socket.sent.slice(1).map(({ params }) => params.topics[0]), ["table.changed", "cart.*", "cart.changed"]);
  const { session: { client } } = bridge;
  for (const data of [1, 1]) socket.receive({ method: "event", params: { topic: "cart.changed", data, at: 0 } });
  socket.receive({ method: "event", params: { topic: "session.expiring", data: { client, expiresAt: 7 }, at: 0 } });
  await turn();
  assert.deepEqual(heard, ["2", 1, 2, 1, 7]);
  assert.deepEqual(socket.sent.find(({ method }) => method === "session.renew")?.params, { token: "t2" });
  void caller.close();
});

test("without the part for it, a caller says which it needs to hear of topics, and of its own events it tells", async () => {
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

test("with the part for it, a caller's session goes on with its next connection", async () => {
  const { caller, bridge, clock } = calling({ reconnect: RECONNECT }, { resume });
  const socket = await begun(bridge);
  const call = caller.invoke("action://a");
  const [{ id }] = socket.sent;
  socket.end(1006);
  clock.advance(RECONNECT.minDelay);
  const next = await goesOn(bridge, { received: 1, pending: [{ id, method: "router.invoke" }] });
  assert.equal(next.greeting.method, "session.resume");
  next.socket.receive({ id, result: 7 });
  assert.equal(await call, 7);
  void caller.close();
});

test("a caller knows of no calls of the load before, and keeps nothing in the storage", async () => {
  const tab = new FakeTab("https://shop.example/shop.html", new FakeLocks());
  const { caller, bridge } = tab.run(() => calling({ reconnect: RECONNECT }));
  await begun(bridge);
  caller.invoke("action://a", {}, { key: "k" }).catch(() => {});
  tab.unload();
  assert.deepEqual(Object.keys(tab.run(() => globalThis.sessionStorage)), []);
  assert.deepEqual(caller.pending, []);
  await assert.rejects(caller.recover("k"), { name: "OutcomeUnknown" });
  void caller.close();
});

test("with the part for it, its session outlives the reload of its page", async () => {
  const tab = new FakeTab("https://shop.example/shop.html", new FakeLocks());
  const { caller, bridge } = tab.run(() => calling({ reconnect: RECONNECT }, { reload }));
  await begun(bridge);
  caller.invoke("action://a", {}, { key: "k" }).catch(() => {});
  const { id } = newest().sent[0];
  tab.unload();
  newest().end(1001);
  const again = tab.run(() => calling({ reconnect: RECONNECT }, { reload }));
  const { socket, greeting } = await goesOn(again.bridge, { received: 1, pending: [{ id, method: "router.invoke", key: "k" }] });
  assert.equal(greeting.params.reloaded, true);
  socket.receive({ id, result: 3 });
  assert.equal(await again.caller.recover("k"), 3);
  void again.caller.close();
});

test("a caller's invitation is gone from the address, and found again by the next load of the page", async () => {
  for (const state of [null, { own: 1 }]) {
    const page = new FakePage(invited());
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

test("with the part for it, something stands in where there is no bridge", async () => {
  const { caller } = calling({ url: null }, { fallback: fallback({ "action://rate/:stars": ({ stars }) => Number(stars) }) });
  assert.equal(await caller.invoke("action://rate/:stars", { stars: 4 }), 4);
  assert.deepEqual(await caller.canOpen("action://rate/1"), { canOpen: true, kind: "task" });
  await assert.rejects(caller.invoke("action://other"), { name: "BridgeAbsent" });
});

test("a host announces what it hosts, and has no part of a bridge that it was not given", async () => {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const host = new Host({ url: "ws://test/bridge", WebSocket, ping: false, reconnect: false, tasks: { "action://a": () => 1 } });
  const socket = newest();
  socket.accept();
  await turn();
  assert.deepEqual(socket.last("session.open").params.hosts, [{ patterns: ["action://a"], kind: "task" }]);
  for (const name of ["build", "explain", "supports"]) assert.equal(Reflect.get(host, name), undefined);
  void host.close();
});
