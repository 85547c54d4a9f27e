// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { OutcomeUnknownError } from "../bridge/bridge.js";
import { newest, turn } from "./fake-socket.js";
import { stateChanges, resumeSession, numbered, resumableBridge } from "./resumable-session.js";

/** @typedef {import("./fake-socket.js").FakeSocket} FakeSocket */
/** @typedef {Awaited<ReturnType<typeof resumableBridge>>} Client */

/**
 * Restarts the server, which resumes the session. It responds to the ping after all messages that it still had to send.
 * @param {Client} client
 * @param {Omit<Parameters<typeof resumeSession>[1], "restarted">} info
 * @param {(socket: FakeSocket) => unknown} [replay] sends the messages that it still had to send
 */
async function restarted({ bridge, clock }, info, replay = () => {}) {
  newest().end(1006);
  clock.advance(1000);
  const removed = await resumeSession(bridge, { ...info, restarted: true });
  await replay(removed.socket);
  await pong(removed.socket);
  return removed;
}

/** @param {FakeSocket} socket */
async function pong(socket) {
  for (const { id } of socket.sent.filter(({ method }) => method === "$/ping")) socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id, result: null }));
  await turn();
}

/** @param {FakeSocket} socket */
const methods = (socket) => numbered(socket).map(({ method, params }) => [method, params?.hosts ?? params?.topics ?? params?.pages ?? params?.uri]);

/** @param {string} id */
const page = (id) => ({ page: { id, uri: `native://${id}`, route: null, params: {}, exts: {}, style: "push" }, host: { scheme: "native", kind: "page" }, caller: {} });

/** A host that records its actions, and opens slow pages when the test says so. */
function noting() {
  /** @type {string[]} */
  const seen = [];
  /** @type {() => void} */
  let finish = () => {};
  /** @type {import("../bridge/bridge.js").PageHost} */
  const host = {
    open: ({ id }, { restored, signal }) => {
      seen.push(`${restored ? "again" : "open"} ${id}`);
      if (!id.startsWith("slow")) return undefined;
      signal.addEventListener("abort", () => seen.push(`abort ${id}`));
      return new Promise((resolve) => (finish = () => resolve(undefined)));
    },
    close: ({ id }, reason) => void seen.push(`close ${id} ${reason}`),
  };
  return { seen, hosts: { native: host }, finish: () => finish() };
}

/**
 * @param {FakeSocket} socket
 * @param {number} id
 * @param {string} name
 */
async function opens(socket, id, name) {
  socket.receive({ id, method: "page.open", params: page(name) });
  await turn();
}

test("a client reports the number of its last sent message, however little of that the server still has", async () => {
  const client = await resumableBridge();
  const { bridge, socket } = client;
  const calls = ["a", "b", "c"].map((name) => bridge.invoke(`action://${name}`, {}, name === "c" ? { key: "c" } : {}));
  const ids = socket.sent.map(({ id }) => id);
  socket.receive({ method: "$/ack", params: { seq: 1 } });
  socket.end(1006);
  const later = bridge.invoke("action://later");
  const seen = stateChanges(bridge);
  const { socket: next, openingRequest } = await restarted(client, { received: 1, pending: [{ id: ids[0], method: "router.invoke" }] });
  assert.deepEqual([openingRequest.params.received, openingRequest.params.sent], [0, 3]);
  assert.deepEqual(numbered(next).map(({ seq, params }) => [seq, params.uri]), [[2, "action://b"], [3, "action://c"], [4, "action://later"]]);
  next.receive({ id: ids[1], error: { code: 2599, message: "the server was restarted", data: { kind: "outcomeUnknown", retryable: false } } });
  for (const [id, result] of [[ids[0], 1], [ids[2], 3], [next.sent.at(-1).id, 4]]) next.receive({ id, result });
  await assert.rejects(calls[1], (/** @type {any} */ error) => error instanceof OutcomeUnknownError && error.method === "router.invoke");
  assert.deepEqual(await Promise.all([calls[0], calls[2], later]), [1, 3, 4]);
  assert.deepEqual(seen.at(-1), { state: "open", attempt: 0, restarted: true });
});

test("a request whose response has arrived is sent again without an id, also of a cancelled call", async () => {
  const client = await resumableBridge();
  const { bridge, socket } = client;
  const cancel = new AbortController();
  const calls = [bridge.invoke("action://a"), bridge.invoke("action://b", {}, { signal: cancel.signal }), bridge.invoke("action://c")];
  const ids = socket.sent.map(({ id }) => id);
  cancel.abort();
  socket.receive({ id: ids[0], result: 1 });
  socket.receive({ id: ids[1], error: { code: -32800, message: "cancelled" } });
  await assert.rejects(calls[1], { code: -32800 });
  const { socket: next } = await restarted(client, { received: 0, sent: 2 });
  const again = next.sent.filter(({ seq }) => seq !== undefined).map(({ seq, id, method, params }) => [seq, id, method, params.uri ?? params.id]);
  assert.deepEqual(again, [[1, undefined, "router.invoke", "action://a"], [2, undefined, "router.invoke", "action://b"],
    [3, ids[2], "router.invoke", "action://c"], [4, undefined, "$/cancelRequest", ids[1]]]);
  next.receive({ id: ids[2], result: 3 });
  assert.deepEqual([await calls[0], await calls[2]], [1, 3]);
});

test("requests of the server are aborted without a response, and its cancels of those are ignored", async () => {
  /** @type {any} */
  let run;
  const client = await resumableBridge({
    tasks: { "action://t": (_, call) => new Promise((resolve) => (run = { ...call, resolve })), "action://u": () => "done" },
  });
  const { socket, bridge, events } = client;
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://t" } });
  await turn();
  run.progress(10);
  const { socket: next } = await restarted(client, { received: 1, sent: 1 });
  assert.equal(run.signal.aborted, true);
  assert.equal(run.signal.reason.code, 2599);
  run.progress(20);
  run.resolve("late");
  await assert.rejects(run.invoke("action://pay"), { code: -32602 });
  for (const id of [1, "never", null]) next.receive({ method: "$/cancelRequest", params: { id } });
  next.receive({ id: "nobody", result: 1 });
  next.receive({ id: 99, error: { code: 2599, message: "" } });
  await turn();
  assert.deepEqual([numbered(next), next.closes, events], [[], [], []]);
  // Their ids are free for new requests.
  next.receive({ id: 1, method: "task.run", params: { uri: "action://u" } });
  await turn();
  assert.deepEqual(numbered(next), [{ seq: 2, result: "done" }]);
  void bridge.close();
});

test("running requests continue when only the connection was lost", async () => {
  /** @type {any} */
  let run;
  const { socket, bridge, clock } = await resumableBridge({ tasks: { "action://t": (_, call) => new Promise((resolve) => (run = { ...call, resolve })) } });
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://t" } });
  await turn();
  const seen = stateChanges(bridge);
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0, sent: 1 });
  assert.equal(run.signal.aborted, false);
  run.resolve("done");
  await turn();
  assert.deepEqual(numbered(next), [{ seq: 1, result: "done" }]);
  assert.deepEqual(seen.at(-1), { state: "open", attempt: 0 });
});

test("a host compares its pages with the server's state", async () => {
  const { seen, hosts } = noting();
  const client = await resumableBridge({ hosts });
  for (const [index, name] of ["p1", "p2"].entries()) await opens(client.socket, index, name);
  const { socket } = await restarted(client, { received: 2, sent: 2 });
  assert.deepEqual(methods(socket), [["page.sync", ["p1", "p2"]]]);
  socket.respond("page.sync", { open: [page("p0")], closed: ["p2"] });
  await turn();
  assert.deepEqual(seen, ["open p1", "open p2", "close p2 failed", "again p0"]);
});

test("a page that the server still had to open can be shown before the comparison", async () => {
  const { seen, hosts } = noting();
  const client = await resumableBridge({ hosts });
  await opens(client.socket, 1, "p1");
  const { socket } = await restarted(client, { received: 1, sent: 1 }, async (next) => {
    await opens(next, 2, "p2");
    next.receive({ method: "$/cancelRequest", params: { id: 2 } });
    await opens(next, 3, "slow");
    next.receive({ method: "$/cancelRequest", params: { id: 3 } });
    assert.deepEqual(methods(next).filter(([method]) => method), []);
  });
  assert.deepEqual(methods(socket).filter(([method]) => method), [["page.sync", ["p1", "p2"]]]);
  socket.respond("page.sync", { open: [], closed: ["p2"] });
  await turn();
  assert.deepEqual(seen, ["open p1", "open p2", "open slow", "abort slow", "close p2 failed"]);
});

test("a page that was about to open is closed, and not reported as shown", async () => {
  const { seen, hosts, finish } = noting();
  const client = await resumableBridge({ hosts });
  await opens(client.socket, 1, "slow");
  const { socket } = await restarted(client, { received: 0, sent: 1 });
  assert.deepEqual(methods(socket), [["page.sync", []]]);
  finish();
  await turn();
  socket.respond("page.sync", { open: [], closed: [] });
  await turn();
  assert.deepEqual(seen, ["open slow", "abort slow", "close slow cancelled"]);
  assert.equal(numbered(socket).length, 1);
});

test("a restart during a comparison begins another one, which then waits for hosts", async () => {
  const { seen, hosts } = noting();
  const client = await resumableBridge({ hosts });
  const first = await restarted(client, { received: 0 });
  const elsewhere = { ...page("p1"), host: { scheme: "other", kind: "page" } };
  first.socket.respond("page.sync", { open: [elsewhere], closed: [] });
  await turn();
  const second = await restarted(client, { received: 1, sent: 1 });
  second.socket.respond("page.sync", { open: [elsewhere], closed: [] });
  await turn();
  client.bridge.host("other", hosts.native);
  await turn();
  client.clock.advance(10000);
  await turn();
  assert.deepEqual(seen, ["again p1"]);
});

for (const [name, options] of /** @type {[string, object][]} */ ([["no hosts", {}], ["only hosts of tasks", { tasks: { "action://t": () => 1 } }]])) {
  test(`a client that has ${name} does not compare pages`, async () => {
    const { socket } = await restarted(await resumableBridge(options), { received: 0 });
    assert.deepEqual(numbered(socket), []);
  });
}

test("a client that shows a page without a registered host compares its pages", async () => {
  const client = await resumableBridge();
  const adopted = client.bridge.adopt("native://own", {}, { host: noting().hosts.native });
  client.socket.respond("navigation.adopt", { id: "p1", uri: "native://own" });
  await adopted;
  const { socket } = await restarted(client, { received: 1, sent: 1 });
  assert.deepEqual(methods(socket), [["page.sync", ["p1"]]]);
});

test("a restart is handled even if the first connection after it is lost", async () => {
  const { seen, hosts } = noting();
  const client = await resumableBridge({ hosts });
  await opens(client.socket, 1, "p1");
  const changed = stateChanges(client.bridge);
  client.socket.end(1006);
  client.clock.advance(100);
  const lost = newest();
  lost.accept();
  await turn();
  const { id } = lost.last("session.resume");
  lost.receive({ id, result: { resumed: true, restarted: true, received: 1, sent: 1, pending: [], session: "s1", client: "c1", token: "t2", epoch: "e1", capabilities: ["resume"] } });
  lost.end(1006);
  client.clock.advance(1000);
  const second = await resumeSession(client.bridge, { received: 1, sent: 1, token: "t3" });
  assert.deepEqual(changed.at(-1), { state: "open", attempt: 0, restarted: true });
  second.socket.end(1006);
  client.clock.advance(1000);
  const { socket } = await resumeSession(client.bridge, { received: 1, sent: 1, token: "t4" });
  await pong(socket);
  assert.deepEqual(methods(socket), [["page.sync", ["p1"]]]);
  socket.end(1006);
  client.clock.advance(1000);
  const last = await resumeSession(client.bridge, { received: 1, sent: 1, token: "t5" });
  assert.deepEqual(changed.at(-1), { state: "open", attempt: 0 }, "it is reported once");
  assert.deepEqual(last.socket.sent.map(({ method }) => method), ["page.sync"], "it is requested once");
  assert.deepEqual(seen, ["open p1"]);
});

test("a session that is lost after a restart is reported as lost, and its pages are not compared", async () => {
  const client = await resumableBridge({ hosts: noting().hosts });
  const seen = stateChanges(client.bridge);
  client.socket.end(1006);
  client.clock.advance(100);
  newest().accept();
  await turn();
  const { id } = newest().last("session.resume");
  const info = { session: "s1", client: "c1", token: "t2", epoch: "e1", capabilities: ["resume"] };
  newest().receive({ id, result: { ...info, resumed: true, restarted: true, received: 0, sent: 0, pending: [] } });
  newest().end(1006);
  client.clock.advance(1000);
  newest().accept();
  await turn();
  newest().receive({ id: newest().last("session.resume").id, result: { ...info, session: "s2", resumed: false, reason: "unknown" } });
  newest().seq = 0;
  await turn();
  await pong(newest());
  assert.deepEqual(seen.at(-1), { state: "open", attempt: 0, lost: { reason: "unknown", calls: [], pages: [] } });
  assert.equal(newest().sent.some(({ method }) => method === "page.sync"), false);
});

test("registrations of hosts and topics with an unknown outcome are sent again", async () => {
  const client = await resumableBridge();
  const { bridge, socket } = client;
  const task = bridge.task("action://t", () => 1);
  const topic = bridge.subscribe("a", () => {});
  const ids = socket.sent.map(({ id }) => id);
  const { socket: next } = await restarted(client, { received: 0 });
  const unknown = { code: 2599, message: "the server was restarted", data: { kind: "outcomeUnknown", retryable: false } };
  for (const id of ids) next.receive({ id, error: unknown });
  await turn();
  assert.deepEqual(methods(next), [
    ["host.register", [{ patterns: ["action://t"], kind: "task" }]], ["events.subscribe", ["a"]],
    ["host.register", [{ patterns: ["action://t"], kind: "task" }]], ["events.subscribe", ["a"]],
  ]);
  for (const { id } of next.sent.slice(2)) next.receive({ id, result: {} });
  await Promise.all([task.registered, topic.registered]);
});

test("a host that is part of the next session's opening request is not registered again", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  const task = bridge.task("action://t", () => 1);
  socket.last("host.register");
  socket.end(1006);
  clock.advance(100);
  const next = newest();
  next.accept();
  await turn();
  const { id, params } = next.last("session.resume");
  assert.equal(params.open.hosts.length, 1);
  next.receive({ id, result: { session: "s2", client: "c2", token: "n", epoch: "e", capabilities: ["resume"], resumed: false, reason: "unknown" } });
  await task.registered;
  assert.deepEqual(numbered(next), []);
});

test("a registration with an unknown outcome is sent a limited number of times", async () => {
  const { bridge, socket } = await resumableBridge();
  const task = bridge.task("action://t", () => 1);
  for (let count = 0; count < 5; count += 1) {
    socket.respondError("host.register", { code: 2599, message: "", data: { kind: "outcomeUnknown", retryable: false } });
    await turn();
  }
  assert.equal(socket.sent.length, 5);
  await task.registered;
});
