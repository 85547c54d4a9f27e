// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, DeclinedError } from "../bridge/bridge.js";
import { KeyedResults } from "../bridge/hosting/keyed-results.js";
import { connected, connecting, responses, turn } from "./fake-socket.js";
import { FakeStorage } from "./fake-page.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { ManualClock } from "./manual-clock.js";
import { numbered, openSession, RECONNECT, resumableBridge, resumeSession } from "./resumable-session.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */
/** @typedef {import("./fake-socket.js").FakeSocket} FakeSocket */

const CALLER = { session: "s1", client: { id: "c2", page: "p1" } };

/** Tasks that count how often their work runs, and end it when the test says so. */
function counting() {
  /** @type {any[]} */
  const runs = [];
  const work = (/** @type {any} */ params) => () => new Promise((resolve, reject) => runs.push({ params, resolve, reject }));
  const task = (/** @type {any} */ params, /** @type {any} */ { once }) => once(work(params));
  return { runs, task };
}

let lastID = 0;

/**
 * Requests a task of the host. Returns a function that returns its response.
 * @param {FakeSocket} socket
 * @param {string | undefined} key
 * @param {object} [more] params that differ
 */
function request(socket, key, more) {
  const id = `s-${(lastID += 1)}`;
  socket.receive({ id, method: "task.run", params: { uri: "action://pay", params: {}, exts: {}, caller: CALLER, key, ...more } });
  return () => {
    const { result, error } = responses(socket).find((each) => each.id === id) ?? {};
    return result ?? error;
  };
}

test("a task and a method of a page get the key of the call", async () => {
  /** @type {unknown[]} */
  const keys = [];
  const note = (/** @type {unknown} */ _, /** @type {any} */ { key, once }) => void keys.push(key, typeof once);
  const { socket } = await connected({ tasks: { "action://pay": note }, hosts: { native: { open: () => {}, close: () => {}, methods: { pay: note } } }, methods: { own: note } });
  for (const key of ["k1", undefined]) request(socket, key);
  socket.receive({ id: 1, method: "page.open", params: { page: { id: "p1", uri: "native://a" } } });
  await turn();
  socket.receive({ id: 2, method: "page.call", params: { page: "p1", method: "pay", key: "k2" } });
  socket.receive({ id: 3, method: "own", params: { key: "not the protocol's" } });
  socket.receive({ method: "own", params: {} });
  await turn();
  assert.deepEqual(keys, ["k1", "function", undefined, "function", "k2", "function", undefined, "function", undefined, "function"]);
});

test("without a key the work runs for each request", async () => {
  const { runs, task } = counting();
  const { socket } = await connected({ tasks: { "action://pay": task } });
  const answers = [request(socket, undefined), request(socket, undefined)];
  await turn();
  assert.equal(runs.length, 2);
  for (const [index, { resolve }] of runs.entries()) resolve(index);
  await turn();
  assert.deepEqual(answers.map((answer) => answer()), [0, 1]);
});

test("with a key the work runs once, and running work is shared", async () => {
  const { runs, task } = counting();
  const { socket } = await connected({ tasks: { "action://pay": task } });
  const answers = [request(socket, "k"), request(socket, "k")];
  await turn();
  assert.equal(runs.length, 1);
  runs[0].resolve({ paid: 1 });
  await turn();
  answers.push(request(socket, "k"));
  await turn();
  assert.deepEqual(answers.map((answer) => answer()), [{ paid: 1 }, { paid: 1 }, { paid: 1 }]);
  request(socket, "other");
  await turn();
  assert.equal(runs.length, 2);
});

/** @type {[string, unknown, object][]} */
const FAILURES = [
  ["an error", new Error("no money"), { code: 2502, message: "no money", data: { kind: "hostFailed", retryable: false } }],
  ["a code of the application", Object.assign(new Error("mine"), { code: 7, data: [1] }), { code: 7, message: "mine", data: [1] }],
  ["a DeclinedError", new DeclinedError("not me"), { code: 2404, message: "not me", data: { kind: "declined", retryable: false } }],
  ["a value", "text", { code: 2502, message: "text", data: { kind: "hostFailed", retryable: false } }],
];

for (const [name, thrown, error] of FAILURES) {
  test(`work that fails with ${name} fails for each request, and runs once`, async () => {
    let runs = 0;
    const work = () => {
      runs += 1;
      throw thrown;
    };
    const { socket } = await connected({ tasks: { "action://pay": (_, { once }) => once(work) } });
    const answers = [];
    for (let count = 0; count < 3; count += 1) {
      answers.push(request(socket, "k"));
      await turn();
    }
    assert.deepEqual([runs, answers.map((answer) => answer())], [1, [error, error, error]]);
  });
}

/** @type {[string, object, object][]} */
const OTHERS = [
  ["another session", { caller: { ...CALLER, session: "s2" } }, {}],
  ["a guest in another page", { caller: { ...CALLER, guest: true } }, { caller: { ...CALLER, guest: true, client: { id: "c3", page: "p2" } } }],
  ["a guest and another client", { caller: { ...CALLER, guest: true } }, {}],
  ["guests without a page", { caller: { session: "s1", client: { id: "c3" }, guest: true } }, { caller: { session: "s1", client: { id: "c4" }, guest: true } }],
  ["another task of this client", { host: { pattern: "action://pay", kind: "task" } }, { host: { pattern: "action://refund", kind: "task" } }],
];

for (const [name, one, other] of OTHERS) {
  test(`equal keys of ${name} are apart`, async () => {
    const { runs, task } = counting();
    const { socket } = await connected({ tasks: { "action://pay": task, "action://refund": task } });
    for (const more of [one, other, one, other]) request(socket, "k", more);
    await turn();
    assert.equal(runs.length, 2);
  });
}

test("the other clients of a session share their keys, and so do the loads of a guest's page", async () => {
  const { runs, task } = counting();
  const { socket } = await connected({ tasks: { "action://pay": task } });
  request(socket, "k");
  request(socket, "k", { caller: { session: "s1", client: { id: "c9" } } });
  for (const id of ["c3", "c4"]) request(socket, "g", { caller: { session: "s1", client: { id, page: "p2" }, guest: true } });
  await turn();
  assert.equal(runs.length, 2);
});

test("a second call of once in one request is an error, with and without a key", async () => {
  const { socket, events } = await connected({ tasks: { "action://pay": async (_, { once }) => [await once(() => 1), await once(() => 2)] } });
  for (const key of ["k", undefined]) {
    const answer = request(socket, key);
    await turn();
    assert.match(answer().message, /once can be called a single time for each request/);
  }
  assert.deepEqual(events, []);
});

test("a result that is not JSON, or too large, is an error for each request, and the work runs once", async () => {
  for (const [value, message] of /** @type {[unknown, RegExp][]} */ ([[{ list: [new Map()] }, /value\.list\[0\] is Map/], ["x".repeat(1 << 20), /more than 1048576 bytes/]])) {
    let runs = 0;
    const work = () => ((runs += 1), value);
    const { socket } = await connected({ tasks: { "action://pay": (_, { once }) => once(work).then(() => 1) } });
    for (let count = 0; count < 2; count += 1) {
      const answer = request(socket, "k");
      await turn();
      assert.match(answer().message, message);
    }
    assert.equal(runs, 1);
  }
});

test("a result is kept for ten minutes, and running work as long as it runs", async () => {
  const { runs, task } = counting();
  const { socket, clock } = await connected({ tasks: { "action://pay": task } });
  request(socket, "k");
  await turn();
  clock.advance(3600000);
  request(socket, "k");
  await turn();
  assert.equal(runs.length, 1);
  runs[0].resolve("done");
  await turn();
  clock.advance(599999);
  const answer = request(socket, "k");
  await turn();
  assert.deepEqual([runs.length, answer()], [1, "done"]);
  clock.advance(1);
  request(socket, "k");
  await turn();
  assert.equal(runs.length, 2);
});

test("the latest 256 results are kept, up to 1 MiB", async () => {
  const ended = async (/** @type {KeyedResults} */ results, /** @type {string} */ key, /** @type {unknown} */ value) => {
    let ran = false;
    await results.context([], { key }).once(() => ((ran = true), value));
    return ran;
  };
  const many = new KeyedResults(new ManualClock());
  for (let count = 0; count < 300; count += 1) await ended(many, `k${count}`, count);
  assert.deepEqual([await ended(many, "k44", 1), await ended(many, "k43", 1)], [false, true]);
  const large = new KeyedResults(new ManualClock());
  for (let count = 0; count < 10; count += 1) await ended(large, `k${count}`, "x".repeat(200000));
  assert.deepEqual([await ended(large, "k5", 1), await ended(large, "k4", 1)], [false, true]);
  const running = new KeyedResults(new ManualClock());
  void running.context([], { key: "slow" }).once(() => new Promise(() => {}));
  for (let count = 0; count < 300; count += 1) await ended(running, `k${count}`, count);
  let ran = false;
  void running.context([], { key: "slow" }).once(() => void (ran = true));
  await turn();
  assert.equal(ran, false, "running work is never forgotten");
});

test("a keyed request continues after a restart of the server, and its response is sent", async () => {
  const { runs, task } = counting();
  const { bridge, socket, clock } = await resumableBridge({ tasks: { "action://pay": task } });
  socket.receive({ id: "keyed", method: "task.run", params: { uri: "action://pay", params: { n: 1 }, key: "k" } });
  socket.receive({ id: "plain", method: "task.run", params: { uri: "action://pay", params: { n: 2 } } });
  await turn();
  socket.end(1006);
  clock.advance(100);
  const { socket: next } = await resumeSession(bridge, { received: 0, sent: 2, restarted: true });
  // The server cancels its requests without a key, and asks again only if the host has lost its state.
  next.receive({ method: "$/cancelRequest", params: { id: "plain" } });
  runs[0].resolve("paid");
  runs[1].resolve("late");
  await turn();
  assert.deepEqual(responses(next).filter(({ id }) => ["keyed", "plain"].includes(id)), [{ seq: 1, id: "keyed", result: "paid" }]);
  next.receive({ id: "again", method: "task.run", params: { uri: "action://pay", params: { n: 1 }, key: "k" } });
  await turn();
  assert.deepEqual(numbered(next).at(-1), { seq: 2, result: "paid" });
  assert.equal(runs.length, 2);
  void bridge.close();
});

const SHELL = "https://shop.example/shell.html";

/**
 * A bridge that the script of a page creates.
 * @param {FakeTab} tab
 * @param {Partial<BridgeOptions>} options
 */
function script(tab, options) {
  return tab.run(() => connecting({ url: "ws://test/bridge", reconnect: RECONNECT, ...options }));
}

/** Tasks that pay, fail and decline, each as work that must not run twice. `runs`: how often any of them ran. */
function paying() {
  const counts = { runs: 0 };
  const task = (/** @type {() => unknown} */ end) => (/** @type {any} */ _, /** @type {any} */ { once }) => once(() => ((counts.runs += 1), end()));
  const raise = (/** @type {unknown} */ error) => { throw error; };
  const tasks = {
    "action://pay": task(() => ({ receipt: counts.runs })),
    "action://fail": task(() => raise(Object.assign(new Error("no"), { code: 7, data: { n: counts.runs } }))),
    "action://decline": task(() => raise(new DeclinedError())),
  };
  const answers = async (/** @type {FakeSocket} */ socket) => {
    const given = Object.keys(tasks).map((uri) => request(socket, "k", { uri, host: { pattern: uri, kind: "task" } }));
    await turn();
    return given.map((answer) => answer());
  };
  return { counts, tasks, answers };
}

for (const hasKeys of [true, false]) {
  test(`finished results outlive a reload of the page${hasKeys ? "" : " in a browser without keys of history entries"}`, async () => {
    const tab = new FakeTab(SHELL, new FakeLocks(), new FakeStorage(), hasKeys);
    const { counts, tasks, answers } = paying();
    const { bridge } = script(tab, { tasks });
    const before = await answers(await openSession(bridge));
    assert.deepEqual(before[0], { receipt: 1 });
    tab.unload();
    const { socket } = await resumeSession(script(tab, { tasks }).bridge, { received: 3, sent: 3 });
    assert.deepEqual([counts.runs, await answers(socket)], [3, before]);
  });
}

test("a page that does not keep its state over reloads stores no results", async () => {
  const tab = new FakeTab(SHELL, new FakeLocks());
  const { tasks, answers } = paying();
  await answers(await openSession(script(tab, { tasks, keep: "connection" }).bridge));
  assert.deepEqual(Object.keys(tab.sessionStorage), []);
});

for (const text of ["1 {", "1 [[1]]", '1 [["k", "{"]]', "1 7", "1 null"]) {
  test(`stored results that cannot be read are ignored: ${text}`, async () => {
    const tab = new FakeTab(SHELL, new FakeLocks());
    const { tasks, answers } = paying();
    await answers(await openSession(script(tab, { tasks }).bridge));
    const slot = Object.keys(tab.sessionStorage).find((each) => each.includes("results"));
    assert(slot !== undefined);
    tab.unload();
    tab.sessionStorage.setItem(slot, text);
    const { socket } = await resumeSession(script(tab, { tasks }).bridge, { received: 3, sent: 3 });
    assert.deepEqual((await answers(socket))[0], { receipt: 4 });
  });
}

test("logging out removes the stored results", async () => {
  const tab = new FakeTab(SHELL, new FakeLocks());
  const { tasks, answers } = paying();
  const { bridge } = script(tab, { tasks });
  await answers(await openSession(bridge));
  assert.equal(Object.keys(tab.sessionStorage).length, 2);
  void bridge.close();
  assert.deepEqual(Object.keys(tab.sessionStorage), []);

  const late = new FakeTab(SHELL, new FakeLocks());
  const { runs, task } = counting();
  const other = script(late, { tasks: { "action://pay": task } });
  request(await openSession(other.bridge), "k");
  await turn();
  void other.bridge.close();
  runs[0].resolve("done");
  await turn();
  assert.deepEqual(Object.keys(late.sessionStorage), []);
});

test("a fallback gets the key of its call, and runs its work once", async () => {
  let runs = 0;
  const bridge = new Bridge({ url: null, fallback: { "action://pay": (_, { key, once }) => once(() => ((runs += 1), `${key} ${runs}`)) } });
  assert.deepEqual([await bridge.invoke("action://pay", {}, { key: "k" }), await bridge.invoke("action://pay", {}, { key: "k" })], ["k 1", "k 1"]);
  assert.equal(await bridge.invoke("action://pay"), "undefined 2");
  assert.equal(await bridge.invoke("action://pay"), "undefined 3");
});
