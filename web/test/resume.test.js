// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { OutcomeUnknownError } from "../bridge/bridge.js";
import { connecting, newest, turn } from "./fake-socket.js";
import { acks, openSession, stateChanges, cut, resumeSession, numbered, resumableBridge } from "./resumable-session.js";

test("all messages except the opening request, pings and acknowledgements have numbers", async () => {
  const { bridge, socket } = await resumableBridge({ tasks: { "action://t": () => "done" } });
  bridge.invoke("action://a").catch(() => {});
  bridge.request("$/ping").catch(() => {});
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://t" } });
  socket.receive({ id: 2, method: "$/ping" });
  await turn();
  assert.deepEqual(socket.sent.map(({ seq, method, result }) => [method ?? result, seq]), [
    ["router.invoke", 1], ["$/ping", undefined], [null, undefined], ["done", 2],
  ]);
});

test("if the server cannot resume, or keep is nothing, messages have no numbers", async () => {
  for (const [options, capabilities] of /** @type {[object, string[]][]} */ ([[{}, []], [{ keep: "nothing" }, ["resume"]]])) {
    const { bridge } = connecting(options);
    const socket = await openSession(bridge, { capabilities });
    const call = bridge.invoke("action://a");
    assert.equal(socket.last("router.invoke").seq, undefined);
    socket.seq = undefined;
    socket.respond("router.invoke", 1);
    assert.equal(await call, 1);
    socket.end(1006);
  }
});

test("a call survives its connection, and is sent again only if the server has not received it", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  const seen = stateChanges(bridge);
  const session = bridge.session;
  const [taken, lost] = [bridge.invoke("action://taken"), bridge.open("native://lost")];
  const ids = socket.sent.map(({ id }) => id);
  socket.end(1006, "gone");
  assert.equal(bridge.session, session, "the session is the same");
  await bridge.ready;
  const later = bridge.invoke("action://later");
  clock.advance(100);
  const { socket: next, openingRequest, isAcknowledged } = await resumeSession(bridge, { received: 1, pending: [{ id: ids[0], method: "router.invoke" }] });
  assert.equal(isAcknowledged, true);
  const { open, ...params } = openingRequest.params;
  assert.deepEqual([openingRequest.method, params], ["session.resume", { client: "c1", token: "t1", epoch: "e1", received: 0, sent: 2 }]);
  assert.equal(openingRequest.seq, undefined);
  assert.deepEqual([open.protocol, open.client.name], [["1.0"], "waybridge-js"]);
  assert.deepEqual(next.sent.map(({ seq, params: { uri } }) => [seq, uri]), [[2, "native://lost"], [3, "action://later"]]);
  next.receive({ id: ids[0], result: "a" });
  next.receive({ id: ids[1], result: "b" });
  next.respond("router.invoke", "c");
  assert.deepEqual(await Promise.all([taken, lost, later]), ["a", "b", "c"]);
  assert.deepEqual(seen, [
    { state: "waiting", attempt: 1, delay: 100, code: 1006, reason: "gone" },
    { state: "connecting", attempt: 1 },
    { state: "open", attempt: 0 },
  ]);
  assert.equal(bridge.session, session);
  assert.equal(session?.token, "t2");
});

test("the next connection sends the new token and the number of the last received message", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  socket.receive({ method: "event", params: { topic: "a", data: 1, at: 0 } });
  for (const [token, received] of /** @type {[string, number][]} */ ([["t1", 1], ["t2", 1], ["t3", 1]])) {
    newest().end(1006);
    clock.advance(1000);
    const { openingRequest } = await resumeSession(bridge, { received: 0, sent: 1, token: `t${Number(token.slice(1)) + 1}` });
    assert.deepEqual([openingRequest.params.token, openingRequest.params.received], [token, received]);
  }
});

test("a response or a request that arrives twice is processed once", async () => {
  /** @type {string[]} */
  const ran = [];
  const { bridge, socket, clock } = await resumableBridge({ tasks: { "action://t": ({ n }) => ran.push(n) } });
  const run = { id: 7, method: "task.run", params: { uri: "action://t", params: { n: "once" } } };
  socket.receive(run);
  await turn();
  assert.equal(numbered(socket)[0].result, 1);
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0, sent: 1 });
  assert.deepEqual(next.sent.map(({ seq, id, result }) => [seq, id, result]), [[1, 7, 1]], "the server has not received the response");
  next.seq = 0;
  next.receive(run);
  await turn();
  assert.deepEqual(ran, ["once"]);
});

test("a running request continues without a connection: its response waits, and the latest of its progress", async () => {
  /** @type {Record<string, any>} */
  const running = {};
  const { bridge, socket, clock } = await resumableBridge({
    tasks: {
      "action://:name": (/** @type {any} */ { name }, { signal, progress }) =>
        new Promise((resolve) => (running[name] = { signal, progress, resolve })),
    },
  });
  for (const [id, name] of [[1, "slow"], [2, "quick"]]) {
    socket.receive({ id, method: "task.run", params: { uri: `action://${name}`, params: { name }, host: { pattern: "action://:name", kind: "task" } } });
  }
  await turn();
  socket.end(1006);
  assert.equal(running.slow.signal.aborted, false);
  for (const percent of [10, 20, 30]) running.slow.progress(percent);
  running.quick.progress(99);
  running.quick.resolve("done");
  await turn();
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0, sent: 2 });
  assert.deepEqual(numbered(next), [
    { seq: 1, result: "done" },
    { seq: 2, method: "$/progress", params: { id: 1, value: 30 } },
  ]);
  running.slow.progress(40);
  assert.equal(numbered(next).at(-1)?.params.value, 40);
});

test("nothing is sent before the server has responded to the resume", async () => {
  /** @type {(value: string) => void} */
  let finish = () => {};
  const { bridge, socket, clock } = await resumableBridge({ tasks: { "action://t": () => new Promise((resolve) => (finish = resolve)) } });
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://t" } });
  await turn();
  const next = await cut(socket, clock);
  finish("done");
  bridge.stack().catch(() => {});
  await turn();
  assert.deepEqual(next.sent.map(({ method }) => method), ["session.resume"]);
  const { socket: same } = await resumeSession(bridge, { received: 0, sent: 1 });
  assert.deepEqual(numbered(same).map(({ seq, method, result }) => [seq, method ?? result]), [[1, "done"], [2, "navigation.stack"]]);
});

test("a cancel is sent on the next connection", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  const controller = new AbortController();
  const call = bridge.invoke("action://a", {}, { signal: controller.signal });
  const [{ id }] = socket.sent;
  socket.end(1006);
  controller.abort();
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 1, pending: [{ id, method: "router.invoke" }] });
  assert.deepEqual(numbered(next), [{ seq: 2, method: "$/cancelRequest", params: { id } }]);
  next.receive({ id, error: { code: -32800, message: "cancelled" } });
  await assert.rejects(call, { code: -32800 });
});

test("received messages are acknowledged after 32 messages, and otherwise soon", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  const event = { method: "event", params: { topic: "a", data: 1, at: 0 } };
  for (let count = 0; count < 31; count += 1) socket.receive(event);
  assert.deepEqual(acks(socket), []);
  socket.receive(event);
  assert.deepEqual(acks(socket), [32]);
  socket.receive(event);
  clock.advance(499);
  assert.deepEqual(acks(socket), [32]);
  clock.advance(1);
  assert.deepEqual(acks(socket), [32, 33]);
  clock.advance(10000);
  assert.deepEqual(acks(socket), [32, 33], "no acknowledgement without messages");
  assert.equal(socket.sent[0].seq, undefined);
  socket.receive(event);
  socket.end(1006);
  assert.equal(clock.pending, 1, "only the timer of the next attempt is left");
  void bridge.close();
});

test("acknowledged messages are not sent again", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  for (const name of ["a", "b", "c"]) bridge.invoke(`action://${name}`).catch(() => {});
  const pending = socket.sent.map(({ id }) => ({ id, method: "router.invoke" }));
  socket.receive({ method: "$/ack", params: { seq: 2 } });
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 2, pending });
  assert.deepEqual(numbered(next).map(({ seq }) => seq), [3]);
});

for (const [name, message] of /** @type {[string, any][]} */ ([
  ["a missing message", { seq: 2, method: "event", params: { topic: "a", data: 1, at: 0 } }],
  ["a notification without a number", { method: "event", params: { topic: "a", data: 1, at: 0 } }],
  ["a request without a number", { id: 1, method: "page.close", params: { page: "p1" } }],
  ["an acknowledgement of a message that was never sent", { method: "$/ack", params: { seq: 1 } }],
])) {
  test(`${name} closes the connection with 4204, and the session is resumed on another`, async () => {
    /** @type {unknown[]} */
    const values = [];
    const { bridge, socket, clock } = await resumableBridge();
    bridge.subscribe("a", ({ data }) => values.push(data)).registered.catch(() => {});
    socket.sent.length = 0;
    const seen = stateChanges(bridge);
    if (message.method === "$/ack") message.params.seq = 2;
    socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", ...message }));
    assert.deepEqual(socket.closes, [[4204]]);
    assert.deepEqual(values, []);
    assert.deepEqual([seen[0].state, seen[0].code, seen[0].delay], ["waiting", 4204, 0]);
    clock.advance(0);
    const { openingRequest } = await resumeSession(bridge, { received: 1 });
    assert.equal(openingRequest.params.received, 0);
  });
}

test("a response without a number closes the connection with 4204", async () => {
  const { bridge, socket } = await resumableBridge();
  bridge.stack().catch(() => {});
  socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: socket.last("navigation.stack").id, result: { pages: [] } }));
  assert.deepEqual(socket.closes, [[4204]]);
});

test("a response to an unknown call needs no number", async () => {
  const { socket } = await resumableBridge();
  socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: "late", result: null }));
  assert.deepEqual(socket.closes, []);
});

test("a call that the server has received, but neither responds to nor knows, is lost", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  const seen = stateChanges(bridge);
  const [answered, forgotten, known, unsent] = ["answered", "forgotten", "known", "unsent"].map((name) => bridge.invoke(`action://${name}`));
  const ids = socket.sent.map(({ id }) => id);
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 3, pending: [{ id: ids[2], method: "router.invoke" }] });
  // The messages that the server still has to send arrive before its response to the ping.
  const ping = next.sent.find(({ method }) => method === "$/ping");
  assert.equal(ping.seq, undefined);
  next.receive({ id: ids[0], result: 1 });
  assert.equal(await answered, 1);
  next.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: ping.id, result: null }));
  await assert.rejects(forgotten, (/** @type {any} */ error) => error instanceof OutcomeUnknownError && error.code === 2599 && !error.retryable);
  await turn();
  assert.deepEqual(seen.at(-1), {
    state: "open", attempt: 0,
    lost: { reason: "server", calls: [{ id: ids[1], method: "router.invoke", uri: "action://forgotten", key: undefined }], pages: [] },
  });
  next.receive({ id: ids[2], result: 3 });
  next.receive({ id: ids[3], result: 4 });
  assert.deepEqual(await Promise.all([known, unsent]), [3, 4]);
});

test("no ping is sent if no call is in doubt", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0 });
  assert.deepEqual(next.sent, []);
});

test("in a new session calls with a key are sent again, others reject, and registrations are sent again", async () => {
  /** @type {string[]} */
  const shown = [];
  const host = { open: (/** @type {any} */ page) => void shown.push(page.id), close: (/** @type {any} */ page, /** @type {any} */ reason) => void shown.push(`${page.id} ${reason}`) };
  const { bridge, socket, clock } = await resumableBridge({ hosts: { native: host } });
  const seen = stateChanges(bridge);
  const subscription = bridge.subscribe("cart.*", () => {});
  socket.respond("events.subscribe", { topics: ["cart.*"] });
  await subscription.registered;
  socket.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri: "native://a" } } });
  await turn();
  const plain = bridge.open("native://b", {}, {});
  const keyed = bridge.invoke("action://pay", { sum: 1 }, { key: "order-1" });
  const method = bridge.call("p9", "scroll", {}, { key: "scroll-1" });
  const controller = new AbortController();
  const withdrawn = bridge.invoke("action://w", {}, { key: "w", signal: controller.signal });
  controller.abort();
  const { id } = socket.sent.find(({ params }) => params?.uri === "native://b");
  socket.end(1006);
  const waiting = bridge.invoke("action://waiting");
  const before = bridge.ready;
  clock.advance(100);
  newest().accept();
  await turn();
  const openingRequest = newest().last("session.resume");
  assert.deepEqual(openingRequest.params.open.hosts, [{ scheme: "native", kind: "page" }]);
  newest().sent = [];
  newest().receive({ id: openingRequest.id, result: { ...openingRequest.params, resumed: false, reason: "unknown", session: "s2", client: "c2", token: "n1", epoch: "e2", capabilities: ["resume"], limits: {} } });
  const next = newest();
  next.seq = 0;
  await assert.rejects(plain, { code: 2599, kind: "outcomeUnknown", retryable: false });
  await assert.rejects(withdrawn, { code: 2599 });
  await turn();
  assert.deepEqual(numbered(next).map(({ seq, method: name, params }) => [seq, name, params.key ?? params.uri ?? params.topics]), [
    [1, "events.subscribe", ["cart.*"]],
    [2, "router.invoke", "order-1"],
    [3, "page.call", "scroll-1"],
    [4, "router.invoke", "action://waiting"],
  ]);
  for (const message of next.sent.slice(1)) next.receive({ id: message.id, result: message.params.key ?? "waited" });
  assert.deepEqual(await Promise.all([keyed, method, waiting]), ["order-1", "scroll-1", "waited"]);
  assert.deepEqual(shown, ["p1", "p1 failed"]);
  assert.notEqual(bridge.ready, before);
  assert.equal((await bridge.ready).session, "s2");
  const { lost } = seen.at(-1);
  assert.deepEqual([lost.reason, lost.pages], ["unknown", ["p1"]]);
  assert.deepEqual(lost.calls.map((/** @type {any} */ call) => [call.id === id, call.method, call.uri]), [[true, "router.open", "native://b"], [false, "router.invoke", "action://w"]]);
});

test("a call on behalf of a caller continues with the session, and is not made in another, even with a key", async () => {
  /** @type {Promise<any>[]} */
  const calls = [];
  /** @type {any} */
  let act;
  const { bridge, socket, clock } = await resumableBridge({
    tasks: { "action://t": (_, call) => new Promise(() => (act = call)) },
  });
  socket.receive({ id: 9, method: "task.run", params: { uri: "action://t" } });
  await turn();
  calls.push(act.invoke("action://a", {}, { key: "a" }));
  socket.end(1006);
  calls.push(act.invoke("action://b", {}, { key: "b" }));
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 1, sent: 1, pending: [{ id: socket.sent[0].id, method: "router.invoke" }] });
  assert.deepEqual(numbered(next).map(({ seq, params }) => [seq, params.uri, params.onBehalfOf]), [[2, "action://b", 9]]);
  next.end(1006);
  clock.advance(1000);
  newest().accept();
  await turn();
  const { id } = newest().last("session.resume");
  newest().receive({ id, result: { session: "s2", client: "c2", token: "n", epoch: "e", capabilities: ["resume"], resumed: false, reason: "unknown" } });
  for (const call of calls) await assert.rejects(call, { code: 2599, kind: "outcomeUnknown" });
  await turn();
  assert.deepEqual(numbered(newest()), []);
  await assert.rejects(act.invoke("action://c"), { code: -32602 });
});

test("a page that the new session opens at once is not confused with one of the old session", async () => {
  /** @type {string[]} */
  const closed = [];
  const { bridge, socket, clock } = await resumableBridge({ hosts: { native: { open: () => {}, close: (page) => void closed.push(page.uri) } } });
  socket.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri: "native://old" } } });
  await turn();
  const next = await cut(socket, clock);
  const { id } = next.last("session.resume");
  // Both in one turn, as a network can deliver them.
  next.receive({ id, result: { session: "s2", client: "c2", token: "n", epoch: "e", capabilities: ["resume"], resumed: false, reason: "epoch" } });
  next.seq = 0;
  next.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri: "native://new" } } });
  await turn();
  assert.deepEqual(closed, ["native://old"]);
  void bridge.close();
});

/** @type {[number, boolean | undefined][]} code, whether the next connection resumes; undefined if there is none */
const CODES = [[1000, undefined], [1001, true], [1005, true], [1006, true], [1011, true], [4009, undefined], [4029, undefined], [4100, false], [4103, false], [4200, true], [4201, true], [4299, true]];
for (const [code, resumes] of CODES) {
  test(`after ${code} it ${resumes === undefined ? "closes" : resumes ? "resumes" : "begins a new session"}`, async () => {
    const { bridge, socket, clock } = await resumableBridge();
    const seen = stateChanges(bridge);
    const call = bridge.invoke("action://a");
    socket.end(code);
    if (resumes !== true) await assert.rejects(call, { code: 2599, kind: "closed" });
    else call.catch(() => {});
    if (resumes === undefined) return assert.equal(bridge.state, "closed");
    clock.advance(100);
    newest().accept();
    await turn();
    newest().last(resumes ? "session.resume" : "session.open");
    if (resumes) return;
    newest().respond("session.open", { session: "s2", client: "c2", token: "t", epoch: "e" });
    await turn();
    assert.deepEqual(seen.at(-1).lost.calls.map((/** @type {any} */ each) => each.uri), ["action://a"]);
  });
}

test("a connection that is rejected before it has the session does not lose the session", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  socket.end(1006);
  clock.advance(100);
  newest().accept();
  newest().end(4101, "no session in time");
  clock.advance(1000);
  newest().accept();
  await turn();
  assert.equal(newest().last("session.resume").params.token, "t1");
  void bridge.close();
});

test("a client that was resumed elsewhere reports that and does not reconnect", async () => {
  const { bridge, socket, clock, events } = await resumableBridge();
  const seen = stateChanges(bridge);
  socket.end(4009);
  assert.deepEqual(seen, [{ state: "closed", attempt: 0, code: 4009, reason: "Another connection took over" }]);
  assert.equal(clock.pending, 0);
  assert.deepEqual(events.map(({ type }) => type), ["close"]);
});

test("close leaves the session", async () => {
  const { bridge, socket } = await resumableBridge();
  const call = bridge.invoke("action://a");
  const closing = bridge.close();
  assert.deepEqual(socket.closes, [[1000]]);
  await assert.rejects(call, { code: 2599, kind: "closed" });
  socket.end(1000);
  await closing;
});

test("a resume whose response is lost is sent again with the same token", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  socket.end(1006);
  for (let count = 0; count < 3; count += 1) {
    clock.advance(1000);
    newest().accept();
    await turn();
    assert.equal(newest().last("session.resume").params.token, "t1");
    newest().end(1006);
  }
  void bridge.close();
});

test("a session that opens while its connection closes is resumed", async () => {
  const { bridge, socket, clock } = connecting({ reconnect: { minDelay: 100 } });
  const call = bridge.invoke("action://a");
  const subscription = bridge.subscribe("a", () => {});
  socket.accept();
  socket.respond("session.open", { session: "s1", client: "c1", token: "t1", epoch: "e1", capabilities: ["resume"] });
  socket.end(1006);
  await turn();
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0 });
  assert.deepEqual(numbered(next).map(({ seq, method }) => [seq, method]), [[1, "router.invoke"], [2, "events.subscribe"]]);
  for (const { id } of next.sent) next.receive({ id, result: "done" });
  assert.equal(await call, "done");
  await subscription.registered;
  assert.equal((await bridge.ready).session, "s1");
});

test("a server that resumes after a number that was never sent is rejected", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  socket.end(1006);
  clock.advance(100);
  const seen = stateChanges(bridge);
  await resumeSession(bridge, { received: 5 });
  assert.deepEqual([seen[0].state, seen[0].error.kind], ["closed", "malformed"]);
});

test("calls wait for room if the server acknowledges nothing, and are sent in order when it does", async () => {
  const { bridge, socket } = await resumableBridge({ queue: { count: 2000 } });
  for (let count = 1; count <= 1030; count += 1) bridge.invoke(`action://${count}`).catch(() => {});
  assert.equal(socket.sent.length, 1024);
  socket.receive({ method: "$/ack", params: { seq: 3 } });
  assert.deepEqual(socket.sent.slice(1024).map(({ seq, params }) => [seq, params.uri]), [[1025, "action://1025"], [1026, "action://1026"], [1027, "action://1027"]]);
  socket.receive({ method: "$/ack", params: { seq: 1027 } });
  bridge.invoke("action://last").catch(() => {});
  assert.deepEqual(socket.sent.slice(1027).map(({ params }) => params.uri), ["action://1028", "action://1029", "action://1030", "action://last"]);
});

test("hosts and subscriptions of a resumed session are not registered again, except those added meanwhile", async () => {
  const { bridge, socket, clock } = await resumableBridge({ tasks: { "action://a": () => {} } });
  socket.end(1006);
  const task = bridge.task("action://b", () => {});
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0 });
  assert.deepEqual(numbered(next), [{ seq: 1, method: "host.register", params: { hosts: [{ patterns: ["action://b"], kind: "task" }] } }]);
  next.respond("host.register", { hosts: [] });
  await task.registered;
});

for (const keep of ["forever", 1, null]) {
  test(`keep: ${JSON.stringify(keep)} is rejected`, async () => {
    await assert.rejects(resumableBridge(/** @type {any} */ ({ keep })), { code: -32602, message: /keep/ });
  });
}
