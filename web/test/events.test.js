// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, turn } from "./fake-socket.js";
import { resumableBridge, resumeSession } from "./resumable-session.js";

/** @param {string} topic @param {unknown} [data] */
const event = (topic, data = null) => ({ method: "event", params: { topic, data, at: 5 } });

/** @type {[string | string[], string, boolean][]} */
const TOPICS = [
  ["cart.changed", "cart.changed", true],
  ["cart.changed", "cart.changed.more", false],
  ["cart.changed", "Cart.changed", false],
  ["cart.*", "cart.changed", true],
  ["cart.*", "cart", false],
  ["*", "anything", true],
  [["a", "b"], "b", true],
  ["then", "then", true],
  ["__proto__", "__proto__", true],
  ["constructor", "toString", false],
];

for (const [topics, topic, matches] of TOPICS) {
  test(`a subscription to ${topics} ${matches ? "receives" : "does not receive"} ${topic}`, async () => {
    /** @type {unknown[]} */
    const received = [];
    const { bridge, socket } = await connected();
    const { registered } = bridge.subscribe(topics, (each) => received.push(each));
    assert.deepEqual(socket.last("events.subscribe").params, { topics: [topics].flat() });
    socket.respond("events.subscribe", { topics: [topics].flat() });
    await registered;
    socket.receive(event(topic, { x: 1 }));
    await turn();
    assert.deepEqual(received, matches ? [{ topic, data: { x: 1 }, at: 5 }] : []);
  });
}

test("a result that does not fit the route table is reported without a subscription", async () => {
  const { bridge, socket } = await connected();
  /** @type {any[]} */
  const reported = [];
  bridge.addEventListener("error", ({ detail }) => reported.push(detail));
  const errors = [{ path: "$.result.shared", message: "is missing" }];
  socket.receive(event("route.invalidResult", { client: "c1", uri: "action://share", route: "share", errors }));
  await turn();
  assert.equal(reported.length, 1);
  assert.equal(reported[0].kind, "invalidResult");
  assert.deepEqual(reported[0].data.errors, errors);
  assert.match(reported[0].message, /"action:\/\/share".*\$\.result\.shared: is missing/);
});

test("a topic is subscribed to once, and unsubscribed with its last subscription", async () => {
  /** @type {string[]} */
  const values = [];
  const { bridge, socket } = await connected();
  const first = bridge.subscribe(["a", "a", "b"], ({ topic }) => values.push(`1${topic}`));
  socket.respond("events.subscribe", {});
  const second = bridge.subscribe(["b", "b*", "c"], ({ topic }) => values.push(`2${topic}`));
  socket.respond("events.subscribe", {});
  const third = bridge.subscribe("a", () => {});
  await Promise.all([first, second, third].map((each) => each.registered));
  assert.deepEqual(socket.sent.map(({ params }) => params.topics), [["a", "b"], ["b*", "c"]]);
  socket.receive(event("b"));
  await turn();
  assert.deepEqual(values, ["1b", "2b"], "each handler receives it once");
  const removed = first();
  await removed;
  assert.equal(socket.sent.length, 2, "other handlers use both topics");
  socket.receive(event("b"));
  await turn();
  assert.deepEqual(values, ["1b", "2b", "2b"]);
  const last = second();
  await turn();
  assert.deepEqual(socket.last("events.unsubscribe").params, { topics: ["b", "b*", "c"] });
  socket.respond("events.unsubscribe", { topics: ["a"] });
  await last;
  await second();
  assert.equal(socket.sent.length, 3, "removing a subscription twice sends one request");
});

test("a client publishes an event, and receives the ids of publishers", async () => {
  const { bridge, socket } = await connected();
  const published = bridge.publish("cart.changed", { count: 1 }, { retain: 2 });
  await turn();
  assert.deepEqual(socket.last("events.publish").params, { topic: "cart.changed", data: { count: 1 }, retain: 2 });
  socket.respond("events.publish", { delivered: 2, waiting: 1 });
  assert.deepEqual(await published, { delivered: 2, waiting: 1 });
  const cleared = bridge.clearRetained("cart.changed");
  assert.deepEqual(socket.last("events.publish").params, { topic: "cart.changed", clear: true });
  socket.respond("events.publish", { delivered: 0, waiting: 0 });
  assert.equal(await cleared, undefined);
  void bridge.publish("cart.emptied");
  await turn();
  assert.deepEqual(socket.last("events.publish").params, { topic: "cart.emptied" });
  socket.respond("events.publish", {});
  /** @type {unknown[]} */
  const publishers = [];
  bridge.subscribe("cart.changed", ({ client }) => publishers.push(client));
  socket.receive({ method: "event", params: { topic: "cart.changed", data: 1, at: 5, client: "c-7" } });
  await turn();
  assert.deepEqual(publishers, ["c-7"]);
});

test("a client asks for the clients of its session", async () => {
  const { bridge, socket } = await connected();
  const asked = bridge.clients();
  await turn();
  assert.deepEqual(socket.last("session.clients").params, {});
  const clients = [{ client: "c-1", name: "shell" }, { client: "c-2", page: "p1", guest: true, away: true }];
  socket.respond("session.clients", { clients });
  assert.deepEqual(await asked, clients);
});

test("a handler that throws or rejects causes an error event, and the other handlers run", async () => {
  /** @type {string[]} */
  const values = [];
  const { bridge, socket, events } = await connected();
  bridge.subscribe("a", () => assert.fail("one"));
  bridge.subscribe("a", async () => assert.fail("two"));
  bridge.subscribe("a", () => values.push("three"));
  socket.receive(event("a"));
  await turn();
  assert.deepEqual(values, ["three"]);
  assert.deepEqual(events.map(({ detail }) => detail.message), ['A handler of "a" failed: one', 'A handler of "a" failed: two']);
});

test("a rejected subscription rejects, causes an error event, and receives nothing", async () => {
  const { bridge, socket, events } = await connected();
  const { registered } = bridge.subscribe("a", () => assert.fail("received"));
  socket.respondError("events.subscribe", { code: 2429, message: "64 topics" });
  await assert.rejects(registered, { code: 2429 });
  socket.receive(event("a"));
  await turn();
  assert.deepEqual(events.map(({ detail }) => detail.code), [2429]);
});

for (const topics of [[], "", ["a", ""], [1], undefined]) {
  test(`the topics ${JSON.stringify(topics)} are rejected`, async () => {
    const { bridge, socket } = await connected();
    assert.throws(() => bridge.subscribe(/** @type {any} */ (topics), () => {}), { code: -32602 });
    assert.throws(() => bridge.subscribe("a", /** @type {any} */ (undefined)), { code: -32602 });
    assert.deepEqual(socket.sent, []);
  });
}

test("an event without a topic is ignored", async () => {
  const { bridge, socket, events } = await connected();
  bridge.subscribe("*", () => assert.fail("received"));
  socket.receive({ method: "event", params: { data: 1 } });
  socket.receive({ method: "event" });
  await turn();
  assert.deepEqual(events, []);
});

test("after unsubscribing, at any time, a handler receives nothing more", async () => {
  for (const moment of ["before the server has accepted", "after it", "after the connection was lost"]) {
    const { bridge, socket, clock } = await resumableBridge();
    const unsubscribe = bridge.subscribe("a", () => assert.fail(moment));
    const { id } = socket.last("events.subscribe");
    if (moment !== "before the server has accepted") {
      socket.receive({ id, result: {} });
      await unsubscribe.registered;
    }
    if (moment === "after the connection was lost") socket.end(1006);
    const removed = unsubscribe();
    if (moment === "before the server has accepted") {
      socket.receive(event("a"));
      socket.receive({ id, result: {} });
    }
    await turn();
    const open = moment === "after the connection was lost" ? (clock.advance(100), (await resumeSession(bridge, { received: 1, sent: 1 })).socket) : socket;
    open.receive(event("a"));
    await turn();
    assert.deepEqual(open.last("events.unsubscribe").params, { topics: ["a"] });
    open.respond("events.unsubscribe", {});
    await removed;
    open.receive(event("a"));
    await turn();
    void bridge.close();
  }
});

test("a handler that another handler of the same event has removed does not receive it", async () => {
  /** @type {string[]} */
  const values = [];
  const { bridge, socket } = await connected();
  const first = bridge.subscribe("a", () => {
    values.push("first");
    void first();
    void second();
  });
  const second = bridge.subscribe("a", () => values.push("second"));
  bridge.subscribe("*", () => values.push("third"));
  for (const { id } of [...socket.sent]) socket.receive({ id, result: {} });
  await turn();
  socket.receive(event("a"));
  await turn();
  socket.receive(event("a"));
  await turn();
  assert.deepEqual(values, ["first", "third", "third"]);
  assert.deepEqual(socket.sent.filter(({ method }) => method === "events.unsubscribe").map(({ params }) => params.topics), [["a"]]);
});

test("a topic that is subscribed to again while it is being removed stays subscribed", async () => {
  /** @type {string[]} */
  const values = [];
  const { bridge, socket } = await connected();
  const first = bridge.subscribe("a", () => values.push("first"));
  void first();
  const second = bridge.subscribe("a", () => values.push("second"));
  for (const { id } of [...socket.sent]) socket.receive({ id, result: {} });
  await second.registered;
  await first();
  socket.receive(event("a"));
  await turn();
  assert.deepEqual([socket.sent.map(({ method }) => method), values], [["events.subscribe", "events.subscribe"], ["second"]]);
});

test("removing a host twice sends one request", async () => {
  const { bridge, socket } = await connected();
  const remove = bridge.task("action://a", () => 1);
  socket.respond("host.register", {});
  await remove.registered;
  const both = [remove(), remove()];
  await turn();
  socket.respond("host.unregister", {});
  await Promise.all(both);
  await remove();
  assert.deepEqual(socket.sent.map(({ method }) => method), ["host.register", "host.unregister"]);
});
