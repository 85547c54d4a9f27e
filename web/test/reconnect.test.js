// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, Forbidden } from "../bridge/bridge.js";
import { accept, connected, connecting, FakeSocket, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

const RECONNECT = { minDelay: 100, maxDelay: 1000 };

/**
 * How many sockets were made meanwhile.
 * @param {() => unknown} body
 */
function made(body) {
  const before = FakeSocket.made.length;
  body();
  return FakeSocket.made.length - before;
}

/** @param {Bridge} bridge */
function states(bridge) {
  /** @type {any[]} */
  const seen = [];
  bridge.addEventListener("statechange", (event) => seen.push(Reflect.get(event, "detail")));
  return seen;
}

/** @type {[number, string, number | undefined][]} code, what it is, delay of the next try when nothing is left to chance */
const CODES = [
  [1000, "a normal end", undefined],
  [1001, "a server that goes away", 100],
  [1006, "a lost connection", 100],
  [1011, "an error of the server", 100],
  [3500, "a code of nobody's", 100],
  [4000, "no JSON-RPC", undefined],
  [4003, "forbidden", undefined],
  [4009, "taken over", undefined],
  [4055, "a terminal code of the future", undefined],
  [4100, "overload", 100],
  [4103, "an expired session", 100],
  [4177, "a back-off code of the future", 100],
  [4200, "drain", 0],
  [4204, "a gap", 0],
  [4299, "a resume code of the future", 0],
  [4300, "a range of the future", 100],
];

for (const [code, name, delay] of CODES) {
  test(`after ${code}, ${name}, it ${delay === undefined ? "ends" : `connects again in ${delay} ms`}`, async () => {
    const { bridge, socket, clock } = await connected({ reconnect: RECONNECT });
    const seen = states(bridge);
    socket.end(code, "why");
    if (delay === undefined) {
      assert.deepEqual(seen, [{ state: "closed", attempt: 0, code, reason: "why" }]);
      assert.equal(bridge.state, "closed");
      assert.equal(clock.pending, 0);
      return;
    }
    assert.deepEqual(seen, [{ state: "waiting", attempt: 1, delay, code, reason: "why" }]);
    assert.equal(made(() => clock.advance(delay - 1)), 0);
    assert.equal(made(() => clock.advance(1)), 1);
    assert.equal(bridge.state, "connecting");
    await accept(bridge, { session: "s2" });
    const lost = { reason: "connection", calls: [], pages: [] };
    assert.deepEqual(seen.slice(1), [{ state: "connecting", attempt: 1 }, { state: "open", attempt: 0, lost }]);
    assert.equal(bridge.session?.session, "s2");
    await Promise.all([bridge.close(), newest().end(1000)]);
    assert.equal(clock.pending, 0);
  });
}

test("delays double up to the longest, half of each left to chance, and begin anew after a steady session", async () => {
  const { bridge, clock } = connecting({ reconnect: RECONNECT });
  const seen = states(bridge);
  const fail = () => newest().end(1006);
  const waits = () => seen.filter(({ state }) => state === "waiting").map(({ delay }) => delay);
  for (let count = 0; count < 5; count += 1) {
    fail();
    clock.advance(1000);
  }
  clock.chance = 0;
  fail();
  assert.deepEqual(waits(), [100, 200, 400, 800, 1000, 500]);
  assert.deepEqual(seen.at(-1)?.attempt, 7);
  clock.chance = 1;
  clock.advance(1000);
  await accept(bridge);
  clock.advance(4999);
  newest().end(4200);
  assert.equal(waits().at(-1), 1000, "a session that ends at once, again and again, is trouble too");
  clock.advance(1000);
  await accept(bridge);
  clock.advance(5000);
  newest().end(1006);
  assert.equal(waits().at(-1), 100);
  await bridge.close();
  assert.equal(clock.pending, 0);
});

test("a connection that has no session in time is given up, and tried again", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT, connectTimeout: 50 });
  const seen = states(bridge);
  socket.accept();
  clock.advance(49);
  assert.deepEqual(seen, []);
  clock.advance(1);
  assert.deepEqual(socket.closes, [[4205]], "a normal close would say that the client has left");
  assert.deepEqual(seen, [{ state: "waiting", attempt: 2, delay: 100, code: 1006, reason: "no session within 50 ms" }]);
  socket.answer("session.open", { session: "late" });
  await turn();
  assert.equal(bridge.session, undefined);
  clock.advance(100);
  await accept(bridge);
  assert.equal(bridge.state, "open");
  assert.equal(clock.pending, 0);
});

test("what was sent rejects with its outcome unknown, and what was not goes on in the new session", async () => {
  const { bridge, socket, clock } = await connected({ reconnect: RECONNECT });
  const sent = bridge.invoke("action://pay");
  socket.readyState = 2;
  const unsent = bridge.invoke("action://a");
  const before = bridge.ready;
  socket.end(1006);
  await assert.rejects(sent, { code: 2599, kind: "closed", retryable: false });
  assert.equal(bridge.session, undefined);
  assert.notEqual(bridge.ready, before);
  const later = bridge.invoke("action://b");
  clock.advance(100);
  const next = await accept(bridge);
  assert.deepEqual(next.sent.map(({ params }) => params.uri), ["action://a", "action://b"]);
  for (const { id } of next.sent) next.receive({ id, result: id });
  assert.deepEqual(await Promise.all([unsent, later]), next.sent.map(({ id }) => id));
});

test("a session that opens as its connection ends is none", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT });
  const call = bridge.invoke("action://a");
  socket.accept();
  socket.answer("session.open", { session: "s1" });
  socket.end(1006);
  await turn();
  assert.equal(bridge.session, undefined);
  assert.equal(bridge.state, "waiting");
  clock.advance(100);
  const next = await accept(bridge, { session: "s2" });
  assert.equal((await bridge.ready).session, "s2");
  next.answer("router.invoke", 1);
  assert.equal(await call, 1);
});

test("a greeting that came too late for its connection is not sent on the next", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT, token: async () => "t" });
  socket.accept();
  socket.readyState = 2;
  await turn();
  socket.end(1006);
  await turn();
  clock.advance(100);
  newest().accept();
  await turn();
  newest().answer("session.open", { session: "s2" });
  await bridge.ready;
  assert.deepEqual(newest().sent.map(({ method }) => method), ["session.open"]);
});

test("an invitation and a token are asked for before each connection", async () => {
  let count = 0;
  const join = async () => ({ session: `s${(count += 1)}`, token: "j" });
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT, join, token: () => `t${count}` });
  await accept(bridge);
  socket.end(1006);
  clock.advance(100);
  newest().accept();
  await turn();
  const { params } = newest().last("session.open");
  assert.deepEqual([params.join, params.token], [{ session: "s2", token: "j" }, "t1"]);
});

test("a connection that ends while the invitation is made is not greeted, nor is the next one by it", async () => {
  /** @type {((invitation: any) => void)[]} */
  const given = [];
  const join = () => new Promise((resolve) => given.push(resolve));
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT, join });
  socket.accept();
  socket.end(1006);
  clock.advance(100);
  newest().accept();
  given[0]({ session: "old", token: "j" });
  await turn();
  assert.deepEqual([socket.sent, newest().sent], [[], []]);
  given[1]({ session: "new", token: "j" });
  await turn();
  assert.equal(newest().last("session.open").params.join.session, "new");
  newest().answer("session.open", { session: "new" });
  await bridge.ready;
});

test("a session that is refused for good ends it, one that may be had later is asked for again", async () => {
  const refused = { code: 2401, message: "no such session" };
  for (const [options, error, again] of /** @type {[BridgeOptions, object, boolean][]} */ ([
    [{}, refused, false],
    [{ join: { session: "s", token: "j" } }, refused, false],
    [{ join: () => ({ session: "s", token: "j" }) }, refused, true],
    [{}, { code: 2429, message: "64 clients" }, true],
  ])) {
    const { bridge, socket, clock } = await connected({ reconnect: RECONNECT, ...options });
    const seen = states(bridge);
    socket.end(1006);
    clock.advance(100);
    newest().accept();
    await turn();
    newest().refuse("session.open", error);
    await turn();
    assert.equal(bridge.state, again ? "waiting" : "closed");
    assert.equal(seen.at(-1).error.code, Reflect.get(error, "code"));
    if (!again) await assert.rejects(bridge.ready, error);
    await Promise.all([bridge.close(), newest().end(1000)]);
  }
});

test("a first session that is refused is an error at once", async () => {
  const { bridge, socket } = connecting({ reconnect: RECONNECT, join: () => ({ session: "s", token: "j" }) });
  socket.accept();
  await turn();
  socket.refuse("session.open", { code: 2403, message: "no" });
  await assert.rejects(bridge.ready, (/** @type {any} */ error) => error instanceof Forbidden);
  assert.equal(bridge.state, "closed");
});

test("reconnect connects at once where it waits, and does nothing otherwise", async () => {
  const { bridge, socket, clock } = await connected({ reconnect: RECONNECT });
  assert.equal(made(() => bridge.reconnect()), 0);
  socket.end(1006);
  assert.equal(made(() => bridge.reconnect()), 1);
  assert.equal(made(() => bridge.reconnect()), 0);
  await accept(bridge);
  assert.equal(clock.pending, 0);
  await Promise.all([bridge.close(), newest().end(1000)]);
  assert.equal(made(() => bridge.reconnect()), 0);
});

test("close ends the waiting, from a listener too, and leaves no timer", async () => {
  const { bridge, socket, clock, events } = await connected({ reconnect: RECONNECT });
  const call = bridge.stack();
  socket.end(1006);
  await assert.rejects(call, { code: 2599 });
  const waiting = bridge.stack();
  await bridge.close();
  await assert.rejects(waiting, { code: 2503, kind: "closed" });
  await assert.rejects(bridge.ready, { kind: "closed" });
  assert.equal(clock.pending, 0);
  assert.deepEqual(events.map(({ type }) => type), ["close"]);
  await bridge.close();

  for (const state of ["waiting", "connecting", "open"]) {
    const other = await connected({ reconnect: RECONNECT });
    other.bridge.addEventListener("statechange", (event) => Reflect.get(event, "detail").state === state && other.bridge.close());
    other.socket.end(1006);
    const sockets = made(() => other.clock.advance(100));
    if (state === "open") {
      newest().accept();
      newest().answer("session.open", { session: "s2" });
      await turn();
    }
    assert.equal(sockets, state === "open" ? 1 : 0);
    assert.equal(other.bridge.state, "closed");
    assert.equal(other.clock.pending, 0, `${state} leaves no timer`);
  }
});

test("after so many failed tries it ends", async () => {
  const { bridge, socket, clock } = await connected({ reconnect: { ...RECONNECT, attempts: 2 } });
  socket.end(1006);
  clock.advance(1000);
  newest().end(1006);
  assert.equal(bridge.state, "waiting");
  clock.advance(1000);
  newest().end(1006);
  assert.equal(bridge.state, "closed");
  await assert.rejects(bridge.ready, { kind: "closed", data: { kind: "closed", retryable: true, code: 1006, reason: "" } });
});

for (const [options, name] of /** @type {[BridgeOptions, RegExp][]} */ ([
  [{ reconnect: { minDelay: 0 } }, /minDelay/],
  [{ reconnect: { minDelay: 10, maxDelay: 9 } }, /minDelay/],
  [{ reconnect: { maxDelay: Infinity } }, /maxDelay/],
  [{ reconnect: { attempts: 0 } }, /attempts/],
  [{ connectTimeout: 0.5 }, /connectTimeout/],
  [{ queue: { count: -1 } }, /queue\.count/],
  [{ queue: { bytes: NaN } }, /queue\.bytes/],
])) {
  test(`the options ${JSON.stringify(options)} are refused`, () => {
    assert.throws(() => connecting(options), { code: -32602, message: name });
  });
}
