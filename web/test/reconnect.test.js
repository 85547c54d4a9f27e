// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, ForbiddenError } from "../bridge/bridge.js";
import { accept, connected, connecting, FakeSocket, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

const RECONNECT = { minDelay: 100, maxDelay: 1000 };

/**
 * Returns the number of sockets that were created meanwhile.
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

/** @type {[number, string, number | undefined][]} code, description, delay of the next attempt without its random part */
const CODES = [
  [1000, "a normal end", undefined],
  [1001, "a leaving server", 100],
  [1006, "a lost connection", 100],
  [1011, "an error of the server", 100],
  [3500, "an unassigned code", 100],
  [4000, "not JSON-RPC", undefined],
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
  test(`after ${code}, ${name}, it ${delay === undefined ? "closes" : `reconnects in ${delay} ms`}`, async () => {
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

test("delays double up to the maximum, half of each is random, and they start again after a stable session", async () => {
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
  assert.equal(waits().at(-1), 1000, "repeated sessions that end at once count as failures");
  clock.advance(1000);
  await accept(bridge);
  clock.advance(5000);
  newest().end(1006);
  assert.equal(waits().at(-1), 100);
  await bridge.close();
  assert.equal(clock.pending, 0);
});

test("a connection without a session in time is closed, and another is opened", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT, connectTimeout: 50 });
  const seen = states(bridge);
  socket.accept();
  clock.advance(49);
  assert.deepEqual(seen, []);
  clock.advance(1);
  assert.deepEqual(socket.closes, [[4205]], "a normal close would mean that the client has left");
  assert.deepEqual(seen, [{ state: "waiting", attempt: 2, delay: 100, code: 1006, reason: "No session within 50 ms" }]);
  socket.respond("session.open", { session: "late" });
  await turn();
  assert.equal(bridge.session, undefined);
  clock.advance(100);
  await accept(bridge);
  assert.equal(bridge.state, "open");
  assert.equal(clock.pending, 0);
});

test("sent calls reject with an unknown outcome, and unsent ones are sent in the new session", async () => {
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

test("a session that opens while its connection closes is not used", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT });
  const call = bridge.invoke("action://a");
  socket.accept();
  socket.respond("session.open", { session: "s1" });
  socket.end(1006);
  await turn();
  assert.equal(bridge.session, undefined);
  assert.equal(bridge.state, "waiting");
  clock.advance(100);
  const next = await accept(bridge, { session: "s2" });
  assert.equal((await bridge.ready).session, "s2");
  next.respond("router.invoke", 1);
  assert.equal(await call, 1);
});

test("an opening request that was too late for its connection is not sent on the next", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT, token: async () => "t" });
  socket.accept();
  socket.readyState = 2;
  await turn();
  socket.end(1006);
  await turn();
  clock.advance(100);
  newest().accept();
  await turn();
  newest().respond("session.open", { session: "s2" });
  await bridge.ready;
  assert.deepEqual(newest().sent.map(({ method }) => method), ["session.open"]);
});

test("the functions for an invitation and a token are called before each connection", async () => {
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

test("a connection that closes while the invitation is created gets no request, and neither does the next one for it", async () => {
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
  newest().respond("session.open", { session: "new" });
  await bridge.ready;
});

test("a permanent rejection closes the bridge, a temporary one is retried", async () => {
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
    newest().respondError("session.open", error);
    await turn();
    assert.equal(bridge.state, again ? "waiting" : "closed");
    assert.equal(seen.at(-1).error.code, Reflect.get(error, "code"));
    if (!again) await assert.rejects(bridge.ready, error);
    await Promise.all([bridge.close(), newest().end(1000)]);
  }
});

/** @type {[unknown, number][]} what the server states, and the delay of the next attempt */
const RETRY_AFTER = [[30, 100], [5000, 5000], [1e12, 0x7fffffff], ["250", 250], [-1, 100], [NaN, 100], [null, 100], [{}, 100]];

for (const [retryAfterMs, delay] of RETRY_AFTER) {
  test(`a session that is rejected with retryAfterMs ${JSON.stringify(retryAfterMs)} is requested again ${delay} ms later`, async () => {
    const { bridge, socket, clock } = connecting({ reconnect: RECONNECT });
    const seen = states(bridge);
    socket.accept();
    socket.respondError("session.open", { code: 2429, message: "too many", data: { kind: "tooMany", retryable: true, retryAfterMs } });
    await turn();
    assert.deepEqual([seen[0].state, seen[0].delay, seen[0].error.code], ["waiting", delay, 2429]);
    assert.equal(made(() => clock.advance(delay - 1)), 0);
    assert.equal(made(() => clock.advance(1)), 1);
    await accept(bridge);
    void bridge.close();
  });
}

test("an app can reconnect before the server wants it, and later attempts have the usual delays", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: RECONNECT });
  const seen = states(bridge);
  socket.accept();
  socket.respondError("session.open", { code: 2429, message: "too many", data: { retryAfterMs: 60000 } });
  await turn();
  assert.equal(made(() => bridge.reconnect()), 1);
  newest().end(1006);
  assert.deepEqual(seen.filter(({ state }) => state === "waiting").map(({ delay }) => delay), [60000, 200]);
  clock.advance(200);
  await accept(bridge);
  void bridge.close();
});

test("a rejected first session is an error at once", async () => {
  const { bridge, socket } = connecting({ reconnect: RECONNECT, join: () => ({ session: "s", token: "j" }) });
  socket.accept();
  await turn();
  socket.respondError("session.open", { code: 2403, message: "no" });
  await assert.rejects(bridge.ready, (/** @type {any} */ error) => error instanceof ForbiddenError);
  assert.equal(bridge.state, "closed");
});

test("reconnect connects at once if the bridge is waiting, and does nothing otherwise", async () => {
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

test("close ends the waiting, also from a listener, and leaves no timer", async () => {
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
      newest().respond("session.open", { session: "s2" });
      await turn();
    }
    assert.equal(sockets, state === "open" ? 1 : 0);
    assert.equal(other.bridge.state, "closed");
    assert.equal(other.clock.pending, 0, `${state} leaves no timer`);
  }
});

test("it closes after the maximum number of attempts", async () => {
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
  test(`the options ${JSON.stringify(options)} are rejected`, () => {
    assert.throws(() => connecting(options), { code: -32602, message: name });
  });
}
