// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connected, newest, turn } from "./fake-socket.js";
import { numbered, resumableBridge, resumeSession, stateChanges } from "./resumable-session.js";

/** The error of a server that could not read a message. */
const UNREADABLE = { code: -32700, message: "not JSON at byte 7", data: { kind: "parseError", retryable: false } };

/**
 * Makes calls whose failure is checked later.
 * @param {import("../bridge/bridge.js").Bridge} bridge
 * @param {(string | number)[]} names
 */
function called(bridge, ...names) {
  const calls = names.map((name) => bridge.invoke(`action://${name}`, {}, { key: `k${name}` }));
  for (const call of calls) call.catch(() => {});
  return calls;
}

/**
 * Returns a function that resumes the session on another connection.
 * @param {Awaited<ReturnType<typeof resumableBridge>>} made
 */
function onNextConnection({ bridge, clock }) {
  return async (/** @type {Parameters<typeof resumeSession>[1]} */ info) => {
    clock.advance(1000);
    return resumeSession(bridge, info);
  };
}

test("an error that names its message fails that call, and the connection continues", async () => {
  const { bridge, socket, events } = await resumableBridge();
  const calls = called(bridge, 1, 2, 3);
  socket.receive({ id: null, error: { ...UNREADABLE, data: { ...UNREADABLE.data, seq: 2 } } });
  await assert.rejects(calls[1], { code: -32700, kind: "parseError", method: "router.invoke", retryable: false, message: "not JSON at byte 7" });
  socket.receive({ id: socket.sent[0].id, result: 1 });
  socket.receive({ id: socket.sent[2].id, result: 3 });
  assert.deepEqual([await calls[0], await calls[2], socket.closes, events], [1, 3, [], []]);
  // The message of that number was no call, or its call is settled.
  for (const seq of [2, 77]) socket.receive({ id: null, error: { ...UNREADABLE, data: { seq } } });
  await turn();
  assert.deepEqual([socket.closes, events.map(({ type, detail }) => [type, detail.code])], [[], [["error", -32700], ["error", -32700]]]);
  void bridge.close();
});

test("an error that names no message resumes, and the first message that the server has not received is replaced", async () => {
  const made = await resumableBridge();
  const { bridge, socket, events } = made;
  const seen = stateChanges(bridge);
  const calls = called(bridge, 1, 2, 3);
  const ids = socket.sent.map(({ id }) => id);
  socket.receive({ id: null, error: UNREADABLE });
  assert.deepEqual(socket.closes, [[4205]]);
  assert.deepEqual([seen[0].state, seen[0].delay, seen[0].reason], ["waiting", 0, "The server could not read a message"]);
  const { socket: next } = await onNextConnection(made)({ received: 1, sent: 1, pending: [{ id: ids[0], method: "router.invoke" }] });
  await assert.rejects(calls[1], { code: -32700, kind: "parseError", method: "router.invoke" });
  assert.deepEqual(next.sent.map(({ seq, method, params }) => [seq, method, params.id ?? params.uri]), [[2, "$/cancelRequest", ids[1]], [3, "router.invoke", "action://3"]]);
  next.receive({ id: ids[0], result: 1 });
  next.receive({ id: ids[2], result: 3 });
  assert.deepEqual([await calls[0], await calls[2], events], [1, 3, []]);
  void bridge.close();
});

test("a notification and a response are replaced too, and reported", async () => {
  const made = await resumableBridge({ tasks: { "action://t": (_, { progress }) => (progress(1), 2) } });
  const { bridge, socket, events } = made;
  socket.receive({ id: "s-1", method: "task.run", params: { uri: "action://t" } });
  await turn();
  assert.deepEqual(numbered(socket).map(({ seq, method, result }) => [seq, method ?? result]), [[1, "$/progress"], [2, 2]]);
  socket.receive({ id: null, error: UNREADABLE });
  const { socket: second } = await onNextConnection(made)({ received: 0, sent: 2 });
  assert.deepEqual(second.sent, [
    { seq: 1, jsonrpc: "2.0", method: "$/cancelRequest", params: { id: null } }, { seq: 2, jsonrpc: "2.0", id: "s-1", result: 2 },
  ]);
  second.receive({ method: "$/ack", params: { seq: 1 } });
  second.receive({ id: null, error: UNREADABLE });
  const { socket: third } = await onNextConnection(made)({ received: 1, sent: 3 });
  assert.deepEqual(third.sent, [{ seq: 2, jsonrpc: "2.0", id: "s-1", error: { code: -32603, message: "The response could not be read" } }]);
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.code]), [["error", -32700], ["error", -32700]]);
  void bridge.close();
});

test("a server that was restarted reports the message again before it is replaced", async () => {
  const made = await resumableBridge();
  const { bridge, socket } = made;
  const calls = called(bridge, "good", "bad");
  const [good, bad] = socket.sent.map(({ id }) => id);
  socket.receive({ id: null, error: UNREADABLE });
  // The server has lost that it received the first message.
  const { socket: next } = await onNextConnection(made)({ received: 0, sent: 1, restarted: true });
  assert.deepEqual(numbered(next).map(({ seq, method, params }) => [seq, method, params.uri]), [[1, "router.invoke", "action://good"], [2, "router.invoke", "action://bad"]]);
  next.receive({ id: null, error: UNREADABLE });
  const { socket: last } = await onNextConnection(made)({ received: 1, sent: 2, pending: [{ id: good, method: "router.invoke" }] });
  assert.deepEqual(numbered(last), [{ seq: 2, method: "$/cancelRequest", params: { id: bad } }]);
  await assert.rejects(calls[1], { code: -32700 });
  last.receive({ id: good, result: 1 });
  assert.equal(await calls[0], 1);
  void bridge.close();
});

test("an error about a message that was sent twice replaces no other message", async () => {
  const made = await resumableBridge();
  const { bridge, socket, clock } = made;
  const resume = onNextConnection(made);
  const calls = called(bridge, "bad", "good");
  const [bad, good] = socket.sent.map(({ id }) => id);
  // The first error is lost with its connection, so that the message is sent again.
  socket.end(1006);
  clock.advance(100);
  const { socket: second } = await resumeSession(bridge, { received: 0 });
  assert.equal(second.sent.length, 2);
  second.receive({ id: null, error: UNREADABLE });
  const { socket: third } = await resume({ received: 0, sent: 1 });
  await assert.rejects(calls[0], { code: -32700 });
  assert.deepEqual(third.sent.map(({ seq, method, params }) => [seq, method, params.id ?? params.uri]), [[1, "$/cancelRequest", bad], [2, "router.invoke", "action://good"]]);
  third.receive({ id: null, error: UNREADABLE });
  assert.deepEqual(third.closes, [], "the second error about the same message");
  third.receive({ method: "$/ack", params: { seq: 1 } });
  assert.deepEqual(third.closes, [[4205]], "it can also be about the next message, so the server is asked");
  const { socket: last } = await resume({ received: 2, sent: 2, pending: [{ id: good, method: "router.invoke" }] });
  assert.deepEqual(last.sent, []);
  last.receive({ id: good, result: 1 });
  assert.equal(await calls[1], 1);
  void bridge.close();
});

test("two unreadable messages one after the other are both replaced", async () => {
  const made = await resumableBridge();
  const { bridge, socket } = made;
  const resume = onNextConnection(made);
  const calls = called(bridge, "bad/1", "bad/2");
  const ids = socket.sent.map(({ id }) => id);
  socket.receive({ id: null, error: UNREADABLE });
  const { socket: second } = await resume({ received: 0, sent: 1 });
  second.receive({ id: null, error: UNREADABLE });
  second.receive({ method: "$/ack", params: { seq: 1 } });
  const { socket: third } = await resume({ received: 1, sent: 2 });
  assert.deepEqual(third.sent.map(({ seq, params }) => [seq, params.uri]), [[2, "action://bad/2"]]);
  third.receive({ id: null, error: UNREADABLE });
  const { socket: last } = await resume({ received: 1, sent: 3 });
  assert.deepEqual(last.sent.map(({ seq, method, params }) => [seq, method, params.id]), [[2, "$/cancelRequest", ids[1]]]);
  for (const call of calls) await assert.rejects(call, { code: -32700 });
  void bridge.close();
});

test("if everything was received, nothing is replaced", async () => {
  const made = await resumableBridge();
  const { bridge, socket, events } = made;
  const call = bridge.invoke("action://a");
  const { id } = socket.last("router.invoke");
  socket.receive({ id: null, error: UNREADABLE });
  const { socket: next } = await onNextConnection(made)({ received: 1, sent: 1, pending: [{ id, method: "router.invoke" }] });
  assert.deepEqual([next.sent, events], [[], []]);
  next.receive({ id, result: 1 });
  assert.equal(await call, 1);
  void bridge.close();
});

/**
 * A server that cannot read messages about "bad" URIs. It reads what was sent on the newest connection, and stops at a gap.
 */
class StrictServer {
  received = 0;
  sent = 0;
  /** @type {unknown} */ #socket;
  #read = 0;

  /** Reads the messages that it has not read yet. */
  read() {
    const socket = newest();
    if (this.#socket !== socket) [this.#socket, this.#read] = [socket, 0];
    for (; this.#read < socket.sent.length && socket.closes.length === 0; this.#read += 1) {
      const { seq, id, method, params } = socket.sent[this.#read];
      if (seq === undefined) continue;
      if (seq !== this.received + 1) return socket.end(4204);
      this.sent += 1;
      if (params.uri?.includes("bad")) {
        socket.receive({ id: null, error: UNREADABLE });
        continue;
      }
      this.received = seq;
      socket.receive({ method: "$/ack", params: { seq } });
      socket.receive(method === "router.invoke" ? { id, result: "done" } : { method: "event", params: { topic: "x", data: null, at: 0 } });
    }
  }
}

for (const pattern of ["b", "bg", "gb", "bbg", "gbgbg", "bbbbb"]) {
  test(`every call settles, and no text is sent without end: ${pattern}`, async () => {
    const made = await resumableBridge();
    const server = new StrictServer();
    const calls = called(made.bridge, ...[...pattern].map((letter, index) => `${letter === "b" ? "bad" : "good"}/${index}`));
    const outcomes = Promise.allSettled(calls);
    for (let count = 0; count < 40; count += 1) {
      server.read();
      await turn();
      if (made.bridge.state === "open") continue;
      made.clock.advance(1000);
      await resumeSession(made.bridge, server);
    }
    assert.deepEqual((await outcomes).map(({ status }) => (status === "fulfilled" ? "g" : "b")).join(""), pattern);
    const next = made.bridge.invoke("action://good/again");
    server.read();
    assert.equal(await next, "done");
    void made.bridge.close();
  });
}

test("a client that does not number its messages ignores the error", async () => {
  const { bridge, socket, events } = await connected({ keep: "nothing" });
  const call = bridge.invoke("action://a");
  socket.receive({ id: null, error: UNREADABLE });
  socket.respond("router.invoke", 1);
  assert.deepEqual([await call, socket.closes, events], [1, [], []]);
});

test("before the session is open the error is reported, and the client tries again", async () => {
  const made = await resumableBridge();
  const { bridge, socket, clock, events } = made;
  socket.end(1006);
  clock.advance(100);
  newest().accept();
  await turn();
  newest().receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: null, error: UNREADABLE }));
  await turn();
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.code]), [["error", -32700]]);
  clock.advance(10000);
  assert.equal(bridge.state, "waiting");
  void bridge.close();
});

test("an error that names a message does not fail a ping, which has no number", async () => {
  const { bridge, socket } = await resumableBridge();
  const ping = bridge.request("$/ping");
  const { id } = socket.last("$/ping");
  const [call] = called(bridge, "bad");
  socket.receive({ id: null, error: { ...UNREADABLE, data: { seq: 1 } } });
  await assert.rejects(call, { code: -32700 });
  socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id, result: null }));
  assert.equal(await ping, null);
  void bridge.close();
});
