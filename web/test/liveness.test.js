// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connecting, FakeSocket, newest, turn } from "./fake-socket.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { openSession, resumeSession, RECONNECT } from "./resumable-session.js";

/** @typedef {import("./fake-socket.js").FakeSocket} Socket */

/**
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 * @param {FakeTab} [tab]
 */
async function watched(options, tab = new FakeTab("https://shop.example/", new FakeLocks())) {
  const made = tab.run(() => connecting({ url: "ws://test/bridge", reconnect: RECONNECT, ping: { after: 1000, timeout: 400 }, keep: "connection", ...options }));
  await openSession(made.bridge);
  return { tab, ...made };
}

/** @param {Socket} socket */
const pings = (socket) => socket.sent.filter(({ method }) => method === "$/ping");

/** @param {Socket} socket */
const pong = (socket) => socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: pings(socket).at(-1).id, result: null }));

test("after a time without messages it sends a ping, and keeps a connection that responds", async () => {
  const { socket, clock, bridge } = await watched();
  clock.advance(999);
  assert.equal(pings(socket).length, 0);
  clock.advance(1);
  assert.equal(pings(socket).length, 1);
  pong(socket);
  clock.advance(400);
  assert.equal(bridge.state, "open");
  clock.advance(1000);
  assert.equal(pings(socket).length, 2);
});

test("any message postpones the ping", async () => {
  const { socket, clock } = await watched();
  clock.advance(600);
  socket.receive({ method: "$/ack", params: { seq: 0 } });
  clock.advance(999);
  assert.equal(pings(socket).length, 0);
  clock.advance(1);
  assert.equal(pings(socket).length, 1);
});

test("a connection without response is dropped without leaving, and the session is resumed on the next", async () => {
  const { socket, clock, bridge } = await watched();
  const call = bridge.invoke("action://a");
  const [{ id }] = socket.sent;
  clock.advance(1400);
  assert.deepEqual(socket.closes, [[4202]]);
  assert.equal(bridge.state, "connecting");
  const { socket: next } = await resumeSession(bridge, { received: 1, pending: [{ id, method: "router.invoke" }] });
  next.receive({ id, result: 1 });
  assert.equal(await call, 1);
});

test("a suspended page sends another ping before it drops the connection", async () => {
  const { socket, clock, bridge } = await watched();
  clock.advance(1000);
  // The timer is very late, as after a sleep, and messages that arrived meanwhile are still unread.
  clock.sleep(60000);
  assert.equal(pings(socket).length, 2);
  pong(socket);
  clock.advance(400);
  assert.equal(bridge.state, "open");
});

/** @type {[string, (tab: FakeTab) => void, boolean][]} what happens, and whether it is a reason to check the connection */
const MOMENTS = [
  ["the page becomes visible", (tab) => tab.document.dispatchEvent(new Event("visibilitychange")), true],
  ["the page is hidden", (tab) => {
    tab.document.visibilityState = "hidden";
    tab.document.dispatchEvent(new Event("visibilitychange"));
  }, false],
  ["the network returns", (tab) => tab.dispatch(new Event("online")), true],
  ["the page comes from the cache", (tab) => tab.dispatch(Object.assign(new Event("pageshow"), { persisted: true })), true],
  ["the page is shown for the first time", (tab) => tab.dispatch(Object.assign(new Event("pageshow"), { persisted: false })), false],
];

for (const [name, happen, isChecked] of MOMENTS) {
  test(`when ${name} it ${isChecked ? "sends a ping at once" : "does nothing"}, on an open connection`, async () => {
    const { tab, socket, clock, bridge } = await watched({ ping: { after: 100000, timeout: 60000 } });
    happen(tab);
    assert.equal(pings(socket).length, isChecked ? 1 : 0);
    clock.advance(4999);
    assert.equal(bridge.state, "open");
    clock.advance(1);
    assert.equal(bridge.state, isChecked ? "connecting" : "open");
  });

  test(`when ${name} it ${isChecked ? "connects at once" : "continues to wait"}, without a connection`, async () => {
    const { tab, socket, bridge } = await watched();
    socket.end(1006);
    const before = FakeSocket.made.length;
    happen(tab);
    assert.equal(FakeSocket.made.length - before, isChecked ? 1 : 0);
    void bridge.close();
  });
}

test("it does not connect before the server wants it", async () => {
  const { tab, socket, clock, bridge } = await watched();
  socket.end(1006);
  clock.advance(100);
  newest().accept();
  await turn();
  newest().respondError("session.resume", { code: 2429, message: "too many", data: { kind: "tooMany", retryable: true, retryAfterMs: 5000 } });
  await turn();
  const before = FakeSocket.made.length;
  tab.dispatch(new Event("online"));
  clock.advance(4999);
  tab.dispatch(new Event("online"));
  assert.equal(FakeSocket.made.length - before, 0);
  clock.advance(1);
  assert.equal(FakeSocket.made.length - before, 1);
  newest().end(1006);
  tab.dispatch(new Event("online"));
  assert.equal(FakeSocket.made.length - before, 2);
  void bridge.close();
});

test("after close no timer and no listener is left", async () => {
  const listening = new Set();
  const tab = new FakeTab("https://shop.example/", undefined);
  for (const target of [tab, tab.document]) {
    target.addEventListener = (/** @type {string} */ type, /** @type {any} */ listener, /** @type {any} */ { signal } = {}) => {
      listening.add(type);
      signal.addEventListener("abort", () => listening.delete(type));
    };
  }
  const { clock, bridge, socket } = await watched({}, tab);
  assert.deepEqual([...listening].sort(), ["online", "pageshow", "visibilitychange"]);
  void bridge.close();
  assert.equal(clock.pending, 0);
  await turn();
  assert.deepEqual([[...listening], pings(socket).length, newest() === socket], [[], 0, true]);
});

test("ping: false sends no pings and adds no listeners", async () => {
  const { tab, socket, clock } = await watched({ ping: false });
  clock.advance(1e6);
  for (const [, happen] of MOMENTS) happen(tab);
  assert.deepEqual(socket.sent, []);
});

for (const ping of [{ after: 0 }, { timeout: -1 }, { after: NaN }]) {
  test(`ping: ${JSON.stringify(ping)} is rejected`, async () => {
    await assert.rejects(watched({ ping }), { code: -32602, message: /ping\.(after|timeout)/ });
  });
}
