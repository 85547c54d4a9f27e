// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, connected, FakeSocket, newest, turn } from "./fake-socket.js";

const RECONNECT = { minDelay: 100, maxDelay: 1000 };

test("hosts, tasks and subscriptions are registered in each new session, but not removed ones", async () => {
  const { bridge, socket, clock } = await connected({ reconnect: RECONNECT, tasks: { "action://first": () => 1 } });
  const task = bridge.task("action://second", () => 2);
  socket.respond("host.register", { hosts: [] });
  await task.registered;
  const removed = bridge.task("action://gone", () => 3);
  socket.respond("host.register", { hosts: [] });
  await removed.registered;
  const subscription = bridge.subscribe(["a", "b"], () => {});
  socket.respond("events.subscribe", { topics: ["a", "b"] });
  await subscription.registered;
  void removed();
  await turn();
  socket.last("host.unregister");
  // Neither of these gets a response.
  const third = bridge.task("action://third", () => 3);
  const more = bridge.subscribe("c", () => {});
  socket.end(1006);
  await turn();
  const waiting = bridge.subscribe("d", () => {});
  clock.advance(100);
  newest().accept();
  assert.deepEqual(newest().last("session.open").params.hosts.map((/** @type {any} */ host) => host.patterns), [
    ["action://first"], ["action://second"], ["action://third"],
  ]);
  const next = newest();
  next.respond("session.open", { session: "s2" });
  await Promise.all([third.registered, more.registered]);
  assert.deepEqual(next.sent.slice(1).map(({ method, params }) => [method, params]), [
    ["events.subscribe", { topics: ["a", "b", "c"] }],
    ["events.subscribe", { topics: ["d"] }],
  ]);
  next.respond("events.subscribe", {});
  await waiting.registered;
});

test("its pages are closed when the new session opens, even if their ids are used again", async () => {
  /** @type {string[]} */
  const seen = [];
  const native = {
    open: (/** @type {any} */ page) => void seen.push(`open ${page.uri}`),
    close: (/** @type {any} */ page, /** @type {string} */ reason, /** @type {object} */ exts) =>
      void seen.push(`close ${page.uri} ${reason} ${JSON.stringify(exts)}`),
  };
  const { bridge, socket, clock } = await connected({ reconnect: RECONNECT, hosts: { native } });
  const open = (/** @type {FakeSocket} */ on, /** @type {string} */ uri) =>
    on.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri } } });
  open(socket, "native://old");
  await turn();
  socket.end(1006);
  await turn();
  assert.deepEqual(seen, ["open native://old"], "the session may still be resumed, so the page stays visible");
  clock.advance(100);
  const next = await accept(bridge);
  open(next, "native://new");
  await turn();
  assert.deepEqual(seen.sort(), ["close native://old failed {}", "open native://new", "open native://old"]);
  next.receive({ id: 2, method: "page.close", params: { page: "p1", reason: "finished" } });
  await turn();
  assert(seen.includes("close native://new finished {}"));
});

test("a page is closed once, however many sessions are lost", async () => {
  /** @type {string[]} */
  const closed = [];
  const native = { open: () => {}, close: (/** @type {any} */ page) => void closed.push(page.id) };
  const { bridge, socket, clock } = await connected({ reconnect: RECONNECT, hosts: { native } });
  socket.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri: "native://a" } } });
  await turn();
  for (let count = 0; count < 2; count += 1) {
    newest().end(1006);
    clock.advance(1000);
    await accept(bridge);
  }
  await turn();
  assert.deepEqual(closed, ["p1"]);
});

test("a topic that was unsubscribed and subscribed again is sent once", async () => {
  const { bridge, socket, clock } = await connected({ reconnect: RECONNECT });
  const first = bridge.subscribe("a", () => {});
  socket.respond("events.subscribe", {});
  await first.registered;
  const resumed = first();
  await turn();
  socket.respond("events.unsubscribe", {});
  await resumed;
  socket.end(1006);
  bridge.subscribe("a", () => {});
  clock.advance(100);
  const next = await accept(bridge);
  assert.deepEqual(next.sent.map(({ method }) => method), ["events.subscribe"]);
});

test("a page that another client left is still closed once", async () => {
  /** @type {string[]} */
  const closed = [];
  const native = { open: () => {}, close: (/** @type {any} */ _, /** @type {string} */ reason) => void closed.push(reason) };
  const { bridge, socket } = await connected({ hosts: { native } });
  socket.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri: "native://a" } } });
  await turn();
  void bridge.close();
  await turn();
  assert.deepEqual(closed, ["failed"]);
});
