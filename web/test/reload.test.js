// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { OutcomeUnknownError } from "../bridge/bridge.js";
import { invitationURL } from "../bridge/session/invitation.js";
import { FakeStorage } from "./fake-page.js";
import { connecting, newest, turn } from "./fake-socket.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { acks, openSession, stateChanges, resumeSession, numbered, RECONNECT } from "./resumable-session.js";

const PAGE = "https://shop.example/shop.html";

/**
 * A bridge that the script of a page creates.
 * @param {FakeTab} tab
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
function script(tab, options) {
  return tab.run(() => connecting({ url: "ws://test/bridge", reconnect: RECONNECT, ...options }));
}

/**
 * A page with a session.
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 * @param {FakeTab} [tab]
 */
async function loaded(options, tab = new FakeTab(PAGE, new FakeLocks())) {
  const made = script(tab, options);
  await openSession(made.bridge);
  return { tab, ...made };
}

/**
 * Reloads the page.
 * @param {{tab: FakeTab, socket: import("./fake-socket.js").FakeSocket}} before
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 * @param {{crashes?: boolean}} [how]
 */
function again({ tab, socket }, options, how) {
  tab.unload(how);
  socket.end(1001);
  return { tab, ...script(tab, options) };
}

test("after a reload the session is resumed, and pending calls get their results", async () => {
  const before = await loaded();
  before.bridge.open("native://list", {}, { key: "pick" }).catch(() => {});
  before.bridge.invoke("action://pay").catch(() => {});
  before.bridge.stack().catch(() => {});
  const [open, pay] = before.socket.sent;
  before.socket.receive({ method: "$/progress", params: { id: open.id, value: { opened: { page: "p1" } } } });
  const { bridge } = again(before);
  const { socket, openingRequest } = await resumeSession(bridge, { received: 3, sent: 1, pending: [{ id: open.id, method: "router.open", uri: "native://list", key: "pick" }] });
  const { open: inPlace, ...params } = openingRequest.params;
  assert.deepEqual([openingRequest.method, params], ["session.resume", { client: "c1", token: "t1", epoch: "e1", received: 1, reloaded: true }]);
  assert.equal(inPlace.client.name, "waybridge-js");
  assert.equal((await bridge.ready).session, "s1");
  assert.deepEqual(bridge.pending.map(({ result, ...call }) => call), [
    { id: pay.id, method: "router.invoke", uri: "action://pay", key: undefined },
    { id: open.id, method: "router.open", uri: "native://list", key: "pick" },
  ]);
  // One response arrives while no page is loaded, the other when its page closes.
  socket.receive({ id: pay.id, result: "paid" });
  assert.equal(await bridge.pending[0].result, "paid");
  const recovered = bridge.recover("pick");
  socket.receive({ id: open.id, result: { outcome: "finished", code: 0, message: "", data: 3 } });
  assert.deepEqual(await recovered, { outcome: "finished", code: 0, message: "", data: 3 });
  assert.equal((await bridge.pending[1].result).data, 3);
  await assert.rejects(bridge.recover("other"), (/** @type {any} */ error) => error instanceof OutcomeUnknownError && /key "other"; make the same call with this key/.test(error.message));
});

test("a reloaded page whose server was restarted registers its hosts and compares their pages", async () => {
  const hosts = { native: { open: () => {}, close: () => {} } };
  const before = await loaded({ hosts });
  before.bridge.invoke("action://a").catch(() => {});
  const { bridge } = again(before, { hosts });
  const seen = stateChanges(bridge);
  const { socket, openingRequest } = await resumeSession(bridge, { received: 0, restarted: true });
  assert.equal("sent" in openingRequest.params, false, "the messages that it sends now are new, whatever their numbers");
  const ping = socket.sent.find(({ method }) => method === "$/ping");
  socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: ping.id, result: null }));
  await turn();
  assert.deepEqual(numbered(socket).map(({ seq, method }) => [seq, method]), [[1, "host.register"], [2, "page.sync"], [3, "page.sync"]]);
  assert.equal(seen.at(-1).restarted, true);
});

test("numbers continue after the last message that the server has received, and sent", async () => {
  const before = await loaded();
  for (const name of ["a", "b", "c"]) before.bridge.invoke(`action://${name}`).catch(() => {});
  before.socket.receive({ method: "event", params: { topic: "x", data: 0, at: 0 } });
  const { bridge } = again(before);
  const { socket } = await resumeSession(bridge, { received: 2, sent: 4 });
  bridge.invoke("action://d").catch(() => {});
  assert.equal(numbered(socket).at(-1)?.seq, 3);
  socket.receive({ method: "event", params: { topic: "x", data: 0, at: 0 } });
  assert.deepEqual(socket.closes, [], "5 follows 4");
});

test("an earlier load's call that the server does not know is lost", async () => {
  const before = await loaded();
  before.bridge.invoke("action://a", {}, { key: "k" }).catch(() => {});
  const { bridge } = again(before);
  const { socket } = await resumeSession(bridge, { received: 1 });
  const recovered = bridge.recover("k");
  const ping = socket.sent.find(({ method }) => method === "$/ping");
  socket.receiveRaw(JSON.stringify({ jsonrpc: "2.0", id: ping.id, result: null }));
  await assert.rejects(recovered, { code: 2599, kind: "outcomeUnknown" });
});

test("in a new session the calls of the previous load are lost and reported", async () => {
  const before = await loaded();
  before.bridge.invoke("action://a", {}, { key: "k" }).catch(() => {});
  const { bridge, socket } = again(before);
  const seen = stateChanges(bridge);
  socket.accept();
  await turn();
  const { id } = socket.last("session.resume");
  socket.receive({ id, result: { resumed: false, reason: "unknown", session: "s2", client: "c9", token: "n", epoch: "e2", capabilities: ["resume"] } });
  await turn();
  await assert.rejects(bridge.recover("k"), { code: 2599 });
  assert.equal(bridge.session?.session, "s2");
  assert.deepEqual(seen.at(-1).lost.calls.map((/** @type {any} */ { uri, key }) => [uri, key]), [["action://a", "k"]]);
  assert.deepEqual(socket.sent.filter(({ seq }) => seq !== undefined), [], "only the page knows whether to make the call again");
});

test("a request is stored as received before its handler runs, and messages before they are acknowledged", async () => {
  const kept = (/** @type {FakeTab} */ tab) => {
    const slot = Object.keys(tab.sessionStorage).find((key) => key.startsWith("waybridge.session"));
    return JSON.parse(String(tab.sessionStorage.getItem(String(slot))).replace(/^\d+ /, "")).received;
  };
  /** @type {number[]} */
  const seen = [];
  const tab = new FakeTab(PAGE, new FakeLocks());
  const { socket, clock } = await loaded({ tasks: { "action://t": () => void seen.push(kept(tab)) } }, tab);
  const event = { method: "event", params: { topic: "a", data: 1, at: 0 } };
  socket.receive(event);
  assert.equal(kept(tab), 0);
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://t" } });
  await turn();
  assert.deepEqual(seen, [2]);
  socket.receive(event);
  assert.equal(kept(tab), 2, "not for each message");
  clock.advance(250);
  assert.equal(kept(tab), 3);
  for (let count = 0; count < 29; count += 1) socket.receive(event);
  assert.deepEqual([acks(socket), kept(tab)], [[32], 32]);
});

test("a page that crashes finds the state that it had stored by then", async () => {
  const before = await loaded();
  before.bridge.invoke("action://a", {}, { key: "k" }).catch(() => {});
  before.clock.advance(250);
  before.bridge.invoke("action://b").catch(() => {});
  const { bridge } = again(before, {}, { crashes: true });
  const { openingRequest } = await resumeSession(bridge, { received: 2 });
  assert.equal(openingRequest.params.token, "t1");
  assert.deepEqual(bridge.pending.map(({ uri }) => uri), ["action://a"]);
});

test("hosts and topics are registered again, and removed ones are unregistered", async () => {
  const host = { open: () => {}, close: () => {} };
  const before = await loaded({ hosts: { native: host }, tasks: { "action://old": () => {} } });
  const subscription = before.bridge.subscribe(["cart.*"], () => {});
  before.socket.respond("events.subscribe", { topics: ["cart.*"] });
  await subscription.registered;
  const { bridge } = again(before, { hosts: { native: host }, tasks: { "action://new": () => {} } });
  bridge.subscribe("cart.*", () => {});
  const { socket } = await resumeSession(bridge, { received: 1, sent: 1 });
  assert.deepEqual(numbered(socket).map(({ method, params }) => [method, params.hosts ?? params.topics ?? params.pages]), [
    ["events.unsubscribe", ["cart.*"]],
    ["host.unregister", [{ patterns: ["action://old"], kind: "task" }]],
    ["host.register", [{ scheme: "native", kind: "page" }, { patterns: ["action://new"], kind: "task" }]],
    ["page.sync", []],
    ["events.subscribe", ["cart.*"]],
  ]);
});

test("a host shows its pages again, reports failed ones, and closes pages that the server no longer has", async () => {
  /** @type {unknown[]} */
  const shown = [];
  const host = {
    open: (/** @type {any} */ page, /** @type {any} */ { signal, ...call }) => {
      if (page.id === "p2") throw new Error("no room");
      shown.push([page.id, call.restored, typeof call.invoke]);
    },
    close: (/** @type {any} */ page, /** @type {any} */ reason) => void shown.push([page.id, reason]),
    resume: (/** @type {any} */ page) => void shown.push([page.id, "resume"]),
  };
  const narrow = { ...host, patterns: ["native://narrow/:x"], open: (/** @type {any} */ page) => void shown.push([page.id, "narrow"]) };
  const hosts = { native: host };
  const before = await loaded({ hosts });
  const { bridge, events, clock } = again(before, { hosts });
  bridge.host("native", narrow);
  const { socket } = await resumeSession(bridge, { received: 0 });
  const sync = socket.sent.find(({ method }) => method === "page.sync");
  assert.deepEqual(sync.params, { pages: [] });
  /** @param {string} id @param {object} [host] */
  const page = (id, host) => ({ page: { id, uri: `native://${id}`, route: null, params: {}, exts: {}, style: "push" }, host: { scheme: "native", kind: "page", ...host }, caller: {} });
  socket.receive({ id: sync.id, result: { open: [page("p1"), page("p2"), page("p3", { pattern: "native://narrow/:x" }), page("p4", { scheme: "other" })], closed: ["p9"] } });
  await turn();
  assert.deepEqual(shown, [["p1", true, "function"], ["p3", "narrow"]]);
  // A host can be added later than the connection, but only for a limited time.
  clock.advance(9999);
  await turn();
  assert.equal(socket.sent.filter(({ method }) => method === "page.sync").length, 1);
  clock.advance(1);
  await turn();
  assert.deepEqual(socket.last("page.sync").params, { pages: ["p1", "p3"], failed: ["p2", "p4"] });
  socket.respond("page.sync", { open: [], closed: [] });
  socket.receive({ method: "page.resume", params: { page: "p1" } });
  socket.receive({ id: 1, method: "page.close", params: { page: "p3", reason: "dismissed" } });
  await turn();
  assert.deepEqual(shown.slice(2), [["p1", "resume"], ["p3", "dismissed"]]);
  const errors = events.filter(({ type }) => type === "error");
  assert.deepEqual(errors.map(({ type, detail }) => [type, /no room|does not show/.test(detail.message)]), [["error", true], ["error", true]]);
});

test("a host that is added later than the connection shows its pages again, in order", async () => {
  /** @type {string[]} */
  const shown = [];
  const host = { open: (/** @type {any} */ page) => void shown.push(page.id), close: () => {} };
  const before = await loaded({ hosts: { native: host, web: host } });
  const { bridge, clock } = again(before, { hosts: { web: host } });
  const { socket } = await resumeSession(bridge, { received: 0 });
  const sync = socket.sent.find(({ method }) => method === "page.sync");
  const page = (/** @type {string} */ id, /** @type {string} */ scheme) => ({ page: { id, uri: `${scheme}://a` }, host: { scheme, kind: "page" } });
  socket.receive({ id: sync.id, result: { open: [page("p1", "native"), page("p2", "web")], closed: [] } });
  await turn();
  assert.deepEqual(shown, []);
  bridge.host("other", host);
  await turn();
  assert.deepEqual(shown, []);
  bridge.host("native", host);
  await turn();
  assert.deepEqual(shown, ["p1", "p2"]);
  socket.receive({ method: "$/ack", params: { seq: 5 } });
  clock.advance(10000);
  assert.equal(socket.sent.filter(({ method }) => method === "page.sync").length, 1);
});

test("after close a comparison no longer waits for hosts", async () => {
  const hosts = { native: { open: () => {}, close: () => {} } };
  const before = await loaded({ hosts });
  const { bridge, clock, events } = again(before);
  const { socket } = await resumeSession(bridge, { received: 0 });
  const sync = socket.sent.find(({ method }) => method === "page.sync");
  socket.receive({ id: sync.id, result: { open: [{ page: { id: "p1", uri: "native://a" }, host: { scheme: "native", kind: "page" } }], closed: [] } });
  await turn();
  assert(clock.pending > 0);
  void bridge.close();
  await turn();
  assert.equal(clock.pending, 0);
  assert.deepEqual(events.map(({ type }) => type), ["close"]);
});

test("a page that the server opens meanwhile is shown once", async () => {
  let count = 0;
  /** @type {() => void} */
  let finish = () => {};
  const hosts = { native: { open: () => new Promise((resolve) => ((count += 1), (finish = () => resolve(undefined)))), close: () => {} } };
  const before = await loaded({ hosts });
  const { bridge } = again(before, { hosts });
  const { socket } = await resumeSession(bridge, { received: 0 });
  const page = { id: "p1", uri: "native://a", route: null, params: {}, exts: {}, style: "push" };
  socket.receive({ id: 1, method: "page.open", params: { page } });
  const sync = socket.sent.find(({ method }) => method === "page.sync");
  socket.receive({ id: sync.id, result: { open: [{ page, host: { scheme: "native", kind: "page" } }], closed: [] } });
  await turn();
  finish();
  await turn();
  assert.equal(count, 1);
});

test("without a reload pages are not compared", async () => {
  const { bridge, socket, clock } = await loaded({ hosts: { native: { open: () => {}, close: () => {} } } });
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0 });
  assert.deepEqual(next.sent, []);
});

test("a duplicated tab begins a session of its own, and leaves the first one unchanged", async () => {
  const before = await loaded();
  const other = before.tab.duplicate();
  const second = script(other);
  newest().accept();
  await turn();
  assert.deepEqual(newest().sent, [], "it waits for the lock");
  second.clock.advance(1000);
  await turn();
  newest().respond("session.open", { session: "s2", client: "c2", token: "x", epoch: "e", capabilities: ["resume"] });
  await second.bridge.ready;
  assert.deepEqual(second.bridge.pending, []);
  const { bridge } = again(before);
  assert.equal((await resumeSession(bridge, { received: 0 })).openingRequest.method, "session.resume");
});

test("the client waits for a page that closes slowly", async () => {
  const before = await loaded();
  const removed = before.tab.leave();
  const next = script(before.tab);
  newest().accept();
  await turn();
  next.clock.advance(900);
  assert.deepEqual(newest().sent, []);
  removed();
  await turn();
  assert.equal(newest().last("session.resume").params.token, "t1");
  void next.bridge.close();
});

for (const [type, isResumed] of /** @type {[string, boolean][]} */ ([["reload", true], ["back_forward", true], ["navigate", false]])) {
  test(`without locks, a page that was loaded by ${type} ${isResumed ? "is resumed" : "begins a new session"}`, async () => {
    const before = await loaded({}, new FakeTab(PAGE, undefined));
    before.tab.unload();
    before.tab.type = type;
    const { bridge } = script(before.tab);
    newest().accept();
    await turn();
    newest().last(isResumed ? "session.resume" : "session.open");
    void bridge.close();
  });
}

test("without keys of entries the session is found by history.state, and lost if a router replaces that", async () => {
  const before = await loaded({}, new FakeTab(PAGE, new FakeLocks(), new FakeStorage(), false));
  before.tab.history.replaceState({ route: 1 }, "");
  before.bridge.stack().catch(() => {});
  before.clock.advance(250);
  assert.equal(before.tab.history.state.route, 1);
  before.tab.history.replaceState({ ...before.tab.history.state, route: 2 }, "");
  const { bridge } = again(before);
  assert.equal((await resumeSession(bridge, { received: 0 })).openingRequest.method, "session.resume");
});

test("a page finds its session, however its router navigates", async () => {
  const before = await loaded();
  before.tab.history.pushState(null, "", "/list");
  const second = again(before);
  await resumeSession(second.bridge, { received: 0, token: "t2" });
  second.tab.move(-1);
  const third = again({ tab: second.tab, socket: newest() });
  assert.equal((await resumeSession(third.bridge, { received: 0 })).openingRequest.params.token, "t2");
});

test("a page that is reloaded before it was connected finds its session", async () => {
  const before = await loaded();
  const second = again(before);
  const third = again({ tab: second.tab, socket: second.socket });
  assert.equal((await resumeSession(third.bridge, { received: 0 })).openingRequest.params.token, "t1");
});

test("registrations are sent even if the first connection after the reload is lost", async () => {
  const hosts = { native: { open: () => {}, close: () => {} } };
  const before = await loaded({ hosts });
  const { bridge, clock, socket } = again(before, { hosts });
  socket.accept();
  await turn();
  const { id } = socket.last("session.resume");
  socket.receive({ id, result: { resumed: true, received: 0, sent: 0, pending: [], session: "s1", client: "c1", token: "t2", epoch: "e1", capabilities: ["resume"] } });
  socket.end(1006);
  clock.advance(100);
  const { socket: next, openingRequest } = await resumeSession(bridge, { received: 0, token: "t3" });
  assert.deepEqual([openingRequest.params.token, openingRequest.params.reloaded], ["t2", undefined]);
  assert.deepEqual(numbered(next).map(({ method }) => method), ["host.register", "page.sync"]);
});

test("each of several bridges of a page finds its own session", async () => {
  const tab = new FakeTab(PAGE, new FakeLocks());
  const names = [{ name: "shell", version: "1" }, { name: "page", version: "1" }, { name: "page", version: "1" }];
  for (const [index, client] of names.entries()) {
    const { bridge } = script(tab, { client });
    await openSession(bridge, { client: `c${index}`, token: `t${index}` });
  }
  tab.unload();
  for (const index of [1, 0, 2]) {
    const { bridge } = script(tab, { client: names[index] });
    assert.equal((await resumeSession(bridge, { received: 0 })).openingRequest.params.client, `c${index}`);
  }
});

for (const [name, options, url] of /** @type {[string, object, string][]} */ ([
  ["of another bridge", {}, "ws://other/bridge"],
  ["of another session than the page must join", { join: { session: "s0", token: "j" } }, "ws://test/bridge"],
  ["of a page with keep connection", { keep: "connection" }, "ws://test/bridge"],
])) {
  test(`the session ${name} is not resumed`, async () => {
    const before = await loaded();
    const { bridge, socket } = again(before, { url, ...options });
    socket.accept();
    await turn();
    socket.last("session.open");
    void bridge.close();
  });
}

test("a closed bridge leaves no state for the next load, and no lock", async () => {
  const locks = new FakeLocks();
  const before = await loaded({}, new FakeTab(PAGE, locks));
  await turn();
  assert.equal(locks.names.length, 1);
  void before.bridge.close();
  await turn();
  assert.deepEqual([Object.keys(before.tab.sessionStorage), locks.names], [[], []]);
  const { bridge, socket } = again(before);
  socket.accept();
  socket.last("session.open");
  void bridge.close();
});

test("the next load does not resume a session that was rejected permanently", async () => {
  const before = await loaded();
  const { bridge, socket, tab } = again(before);
  socket.accept();
  await turn();
  socket.respondError("session.resume", { code: 2403, message: "no" });
  await assert.rejects(bridge.ready, { code: 2403 });
  assert.deepEqual(Object.keys(tab.sessionStorage), []);
});

test("without storage the session survives lost connections", async () => {
  for (const property of ["sessionStorage", "document"]) {
    const tab = Object.defineProperty(new FakeTab(PAGE, new FakeLocks()), property, { get: () => undefined });
    const { bridge, socket, clock } = await loaded({}, tab);
    socket.end(1006);
    clock.advance(100);
    assert.equal((await resumeSession(bridge, { received: 0 })).openingRequest.method, "session.resume");
  }
});

test("stored state is validated", async () => {
  for (const text of ["", "1 {", "1 null", "1 []", '1 {"url":"ws://test/bridge","session":"s1"}', '1 {"url":"ws://test/bridge","session":"s","client":"c","token":"t","epoch":"e","received":"1","calls":[],"hosts":[],"topics":[]}']) {
    const before = await loaded();
    before.tab.unload();
    for (const key of Object.keys(before.tab.sessionStorage)) before.tab.sessionStorage.setItem(key, text);
    const { bridge, socket } = script(before.tab);
    socket.accept();
    socket.last("session.open");
    void bridge.close();
  }
});

test("a guest first resumes its session, and uses its invitation if the session is gone", async () => {
  const url = "wss://shop.example/bridge";
  const address = invitationURL(PAGE, { url, session: "s1", token: "guest" });
  const tab = new FakeTab(address, new FakeLocks());
  const first = tab.run(() => connecting({ url: undefined, reconnect: RECONNECT }));
  await openSession(first.bridge, { guest: true, page: "p4" });
  assert.equal(tab.location.href, PAGE);
  tab.unload();
  first.socket.end(1001);
  const { bridge, socket } = tab.run(() => connecting({ url: undefined, reconnect: RECONNECT }));
  assert.equal(socket.url, url);
  socket.accept();
  await turn();
  assert.deepEqual(socket.last("session.resume").params.open.join, { session: "s1", token: "guest" });
  void bridge.close();
});

test("a page resumes its session when its frame is recreated", async () => {
  const url = "wss://shop.example/bridge";
  const [locks, storage] = [new FakeLocks(), new FakeStorage()];
  const frame = (/** @type {string} */ page, /** @type {string} */ token) => {
    const tab = new FakeTab(invitationURL(PAGE, { url, session: "s1", token, frame: page }), locks, storage);
    return { tab, ...tab.run(() => connecting({ url: undefined, reconnect: RECONNECT })) };
  };
  const first = frame("p4", "g1");
  await openSession(first.bridge, { guest: true, page: "p4", client: "c4" });
  first.bridge.open("native://list", {}, { key: "pick" }).catch(() => {});
  first.tab.unload();
  first.socket.end(1001);
  const other = frame("p5", "g2");
  other.socket.accept();
  other.socket.last("session.open");
  void other.bridge.close();
  const again = frame("p4", "g3");
  const { openingRequest } = await resumeSession(again.bridge, { received: 1, pending: [] });
  assert.deepEqual([openingRequest.method, openingRequest.params.client, openingRequest.params.open.join.token], ["session.resume", "c4", "g3"]);
  assert.deepEqual(again.bridge.pending.map(({ key }) => key), ["pick"]);
});
