// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, turn } from "./fake-socket.js";

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

for (const [topics, topic, hears] of TOPICS) {
  test(`a subscription to ${topics} ${hears ? "hears" : "does not hear"} ${topic}`, async () => {
    /** @type {unknown[]} */
    const heard = [];
    const { bridge, socket } = await connected();
    const { registered } = bridge.subscribe(topics, (each) => heard.push(each));
    assert.deepEqual(socket.last("events.subscribe").params, { topics: [topics].flat() });
    socket.answer("events.subscribe", { topics: [topics].flat() });
    await registered;
    socket.receive(event(topic, { x: 1 }));
    await turn();
    assert.deepEqual(heard, hears ? [{ topic, data: { x: 1 }, at: 5 }] : []);
  });
}

test("a topic is asked for once, and given up with its last subscription", async () => {
  /** @type {string[]} */
  const heard = [];
  const { bridge, socket } = await connected();
  const first = bridge.subscribe(["a", "a", "b"], ({ topic }) => heard.push(`1${topic}`));
  socket.answer("events.subscribe", {});
  const second = bridge.subscribe(["b", "b*", "c"], ({ topic }) => heard.push(`2${topic}`));
  socket.answer("events.subscribe", {});
  const third = bridge.subscribe("a", () => {});
  await Promise.all([first, second, third].map((each) => each.registered));
  assert.deepEqual(socket.sent.map(({ params }) => params.topics), [["a", "b"], ["b*", "c"]]);
  socket.receive(event("b"));
  await turn();
  assert.deepEqual(heard, ["1b", "2b"], "each hears of it once");
  const gone = first();
  await gone;
  assert.equal(socket.sent.length, 2, "others want both");
  socket.receive(event("b"));
  await turn();
  assert.deepEqual(heard, ["1b", "2b", "2b"]);
  const last = second();
  await turn();
  assert.deepEqual(socket.last("events.unsubscribe").params, { topics: ["b", "b*", "c"] });
  socket.answer("events.unsubscribe", { topics: ["a"] });
  await last;
  await second();
  assert.equal(socket.sent.length, 3, "taking it back twice asks once");
});

test("a handler that throws or rejects is told by an error event, and the others hear", async () => {
  /** @type {string[]} */
  const heard = [];
  const { bridge, socket, events } = await connected();
  bridge.subscribe("a", () => assert.fail("one"));
  bridge.subscribe("a", async () => assert.fail("two"));
  bridge.subscribe("a", () => heard.push("three"));
  socket.receive(event("a"));
  await turn();
  assert.deepEqual(heard, ["three"]);
  assert.deepEqual(events.map(({ detail }) => detail.message), ["a handler of a failed: one", "a handler of a failed: two"]);
});

test("a refused subscription rejects, is told by an event, and hears nothing", async () => {
  const { bridge, socket, events } = await connected();
  const { registered } = bridge.subscribe("a", () => assert.fail("heard"));
  socket.refuse("events.subscribe", { code: 2429, message: "64 topics" });
  await assert.rejects(registered, { code: 2429 });
  socket.receive(event("a"));
  await turn();
  assert.deepEqual(events.map(({ detail }) => detail.code), [2429]);
});

for (const topics of [[], "", ["a", ""], [1], undefined]) {
  test(`the topics ${JSON.stringify(topics)} are refused`, async () => {
    const { bridge, socket } = await connected();
    assert.throws(() => bridge.subscribe(/** @type {any} */ (topics), () => {}), { code: -32602 });
    assert.throws(() => bridge.subscribe("a", /** @type {any} */ (undefined)), { code: -32602 });
    assert.deepEqual(socket.sent, []);
  });
}

test("an event without a topic is ignored", async () => {
  const { bridge, socket, events } = await connected();
  bridge.subscribe("*", () => assert.fail("heard"));
  socket.receive({ method: "event", params: { data: 1 } });
  socket.receive({ method: "event" });
  await turn();
  assert.deepEqual(events, []);
});
