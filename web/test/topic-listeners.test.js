// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, connected, connecting, turn } from "./fake-socket.js";

/** @typedef {import("./fake-socket.js").FakeSocket} FakeSocket */

/**
 * Returns the messages about topics, oldest first, and responds to each.
 * @param {FakeSocket} socket
 */
async function reported(socket) {
  const seen = [];
  for (let index = 0; index < socket.sent.length; index += 1) {
    const { id, method, params } = socket.sent[index];
    if (!/^events\./.test(method)) continue;
    seen.push([method.slice("events.".length), ...params.topics]);
    socket.receive({ id, result: params });
    await turn();
  }
  socket.sent = [];
  return seen;
}

/** @param {FakeSocket} socket @param {string} topic @param {unknown} data */
async function publish(socket, topic, data) {
  socket.receive({ method: "event", params: { topic, data, at: 1 } });
  await turn();
}

test("the first listener of a topic subscribes to it, and removing the last one unsubscribes", async () => {
  const { bridge, socket } = await connected();
  /** @type {unknown[]} */
  const seen = [];
  const one = (/** @type {any} */ event) => seen.push(["one", event.type, event.detail.data]);
  const other = { handleEvent: (/** @type {any} */ { detail }) => void seen.push(["other", detail.topic, detail.at]) };
  bridge.addEventListener("cart.changed", one);
  bridge.addEventListener("cart.changed", one);
  bridge.addEventListener("cart.changed", other);
  assert.deepEqual(await reported(socket), [["subscribe", "cart.changed"]]);
  await publish(socket, "cart.changed", 2);
  await publish(socket, "cart.emptied", 2);
  assert.deepEqual(seen, [["one", "cart.changed", 2], ["other", "cart.changed", 1]]);
  bridge.removeEventListener("cart.changed", one);
  bridge.removeEventListener("cart.changed", one);
  await turn();
  assert.deepEqual(await reported(socket), []);
  bridge.removeEventListener("cart.changed", other);
  await turn();
  assert.deepEqual(await reported(socket), [["unsubscribe", "cart.changed"]]);
  await publish(socket, "cart.changed", 3);
  assert.equal(seen.length, 2);
});

test("a listener with once or a signal removes its subscription", async () => {
  const { bridge, socket } = await connected();
  const stop = new AbortController();
  const removed = new AbortController();
  removed.abort();
  /** @type {unknown[]} */
  const seen = [];
  bridge.addEventListener("a.once", ({ detail }) => seen.push(detail.data), { once: true });
  bridge.addEventListener("a.until", ({ detail }) => seen.push(detail.data), { signal: stop.signal });
  bridge.addEventListener("a.never", ({ detail }) => seen.push(detail.data), { signal: removed.signal });
  assert.deepEqual(await reported(socket), [["subscribe", "a.once"], ["subscribe", "a.until"]]);
  await publish(socket, "a.once", 1);
  await publish(socket, "a.once", 2);
  await publish(socket, "a.until", 3);
  stop.abort();
  await turn();
  await publish(socket, "a.until", 4);
  assert.deepEqual(seen, [1, 3]);
  assert.deepEqual(await reported(socket), [["unsubscribe", "a.once"], ["unsubscribe", "a.until"]]);
});

test("a listener shares a topic with subscriptions, and can use a prefix", async () => {
  const { bridge, socket } = await connected();
  /** @type {unknown[]} */
  const seen = [];
  const undo = bridge.subscribe("cart.changed", () => {});
  const listener = (/** @type {any} */ { type, detail }) => seen.push([type, detail.topic]);
  bridge.addEventListener("cart.changed", listener);
  bridge.addEventListener("cart.*", listener);
  assert.deepEqual(await reported(socket), [["subscribe", "cart.changed"], ["subscribe", "cart.*"]]);
  await publish(socket, "cart.changed", 0);
  assert.deepEqual(seen, [["cart.changed", "cart.changed"], ["cart.*", "cart.changed"]]);
  bridge.removeEventListener("cart.changed", listener);
  await turn();
  assert.deepEqual(await reported(socket), []);
  void undo();
  await turn();
  assert.deepEqual(await reported(socket), [["unsubscribe", "cart.changed"]]);
});

test("an error of a listener is an error event, and the other listeners run", async () => {
  const { bridge, socket, events } = await connected();
  let received = 0;
  bridge.addEventListener("cart.changed", () => {
    throw new Error("oops");
  });
  bridge.addEventListener("cart.changed", async () => {
    received += 1;
    throw new Error("later");
  });
  await reported(socket);
  await publish(socket, "cart.changed", 0);
  assert.equal(received, 1);
  assert.deepEqual(events.map(({ type, detail }) => [type, /oops|later/.exec(detail.message)?.[0]]), [["error", "oops"], ["error", "later"]]);
});

test("events without a dot are the client's own, and a rejected topic is an error event", async () => {
  const { bridge, socket, events } = await connected();
  // @ts-expect-error: the client has no such event
  bridge.addEventListener("cart", () => {});
  bridge.addEventListener("cart.changed", null);
  await turn();
  assert.deepEqual(socket.sent, []);
  bridge.addEventListener("secret.told", () => {});
  socket.respondError("events.subscribe", { code: 2403, message: "no" });
  await turn();
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.code]), [["error", 2403]]);
});

const TABLE = { version: "1.4.0", hash: "0123456789abcdef" };

test("a page learns when the server has another table than its own, and when it has that again", async () => {
  const { bridge } = connecting({ table: TABLE });
  /** @type {unknown[]} */
  const seen = [];
  bridge.addEventListener("tablechange", ({ detail }) => seen.push(detail));
  const newer = { version: "1.5.0", hash: "f" };
  const socket = await accept(bridge, { table: newer });
  assert.deepEqual(await reported(socket), [["subscribe", "table.changed"]]);
  assert.deepEqual(seen, [{ ...newer, isCurrent: false }]);
  await publish(socket, "table.changed", { ...newer, previous: TABLE, cause: "update", changes: {} });
  assert.equal(seen.length, 1);
  await publish(socket, "table.changed", { version: "1.4.0", hash: "e", previous: newer, cause: "rollback", changes: {} });
  await publish(socket, "table.changed", { ...TABLE, cause: "update", changes: {} });
  assert.deepEqual(seen.slice(1), [{ version: "1.4.0", hash: "e", isCurrent: false }, { ...TABLE, isCurrent: true }]);
});

for (const [name, table] of /** @type {[string, object | undefined][]} */ ([
  ["the same table", TABLE], ["a table of that version without a hash", { version: "1.4.0" }], ["no table", undefined],
])) {
  test(`a page gets no event from a server with ${name}`, async () => {
    const { bridge } = connecting({ table: TABLE });
    bridge.addEventListener("tablechange", ({ detail }) => assert.fail(JSON.stringify(detail)));
    await accept(bridge, { table });
    await turn();
  });
}

test("without the option the table is not subscribed to", async () => {
  const { bridge } = connecting();
  bridge.addEventListener("tablechange", () => assert.fail("dispatched"));
  const socket = await accept(bridge, { table: { version: "2" } });
  assert.deepEqual(socket.sent, []);
});
