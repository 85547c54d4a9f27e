// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { BridgeError, CancelledError, DeadlineExceededError, HostAbsentError, InvalidParametersError, RouteNotFoundError } from "../bridge/bridge.js";
import { accept, connected, connecting, INFO, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").Bridge} Bridge */

/** @type {[string, (bridge: Bridge) => Promise<unknown>, string, unknown][]} */
const WIRE = [
  ["open", (b) => b.open("native://a"), "router.open", { uri: "native://a" }],
  [
    "open with everything",
    (b) => b.open("native://a", { id: 2 }, { exts: { animated: false }, style: "present", from: "p1", timeout: 500 }),
    "router.open",
    { uri: "native://a", params: { id: 2 }, exts: { animated: false }, style: "present", from: "p1", deadlineMs: 500 },
  ],
  ["invoke", (b) => b.invoke("action://a", { x: null }, { exts: {}, timeout: 9 }), "router.invoke", { uri: "action://a", params: { x: null }, exts: {}, deadlineMs: 9 }],
  ["back", (b) => b.back(), "navigation.back", {}],
  ["back by a number", (b) => b.back(2), "navigation.back", { count: 2 }],
  [
    "back to, with a result and exts",
    (b) => b.back({ to: "native://m", result: [1], exts: { animated: false } }),
    "navigation.back",
    { to: "native://m", exts: { animated: false }, result: { data: [1] } },
  ],
  ["back before", (b) => b.back({ before: "p1", code: 7, message: "m" }), "navigation.back", { before: "p1", result: { code: 7, message: "m" } }],
  ["back to the root", (b) => b.back({ root: true }), "navigation.back", { root: true }],
  ["finish", (b) => b.finish(), "navigation.finish", {}],
  ["finish with null", (b) => b.finish(null), "navigation.finish", { result: { data: null } }],
  [
    "finish another page",
    (b) => b.finish("x", { page: "p1", code: 3000, message: "m", exts: { animated: true } }),
    "navigation.finish",
    { page: "p1", result: { data: "x", code: 3000, message: "m" }, exts: { animated: true } },
  ],
  ["canOpen", (b) => b.canOpen("native://a"), "router.canOpen", { uri: "native://a" }],
  ["contains", (b) => b.contains("p1"), "navigation.contains", { uri: "p1" }],
  ["stack", (b) => b.stack(), "navigation.stack", undefined],
  ["selectTab by a number", (b) => b.selectTab(0), "navigation.selectTab", { index: 0 }],
  ["selectTab by its page", (b) => b.selectTab("native://home"), "navigation.selectTab", { uri: "native://home" }],
  ["editStack", (b) => b.editStack({ remove: { page: "p2" } }), "navigation.edit", { remove: { page: "p2" } }],
  [
    "editStack with everything",
    (b) =>
      b.editStack({
        remove: { from: "native://a", through: "p3" },
        open: [{ uri: "native://b", params: { x: 1 }, exts: { animated: false }, style: "present" }],
        exts: { animated: true },
        key: "edit-7",
        timeout: 500,
        signal: new AbortController().signal,
      }),
    "navigation.edit",
    {
      remove: { from: "native://a", through: "p3" },
      open: [{ uri: "native://b", params: { x: 1 }, exts: { animated: false }, style: "present" }],
      exts: { animated: true },
      key: "edit-7",
      deadlineMs: 500,
    },
  ],
  ["adopt", (b) => b.adopt("native://a", { x: 1 }, { style: "present" }), "navigation.adopt", { uri: "native://a", params: { x: 1 }, style: "present" }],
  ["explain", (b) => b.explain("native://a", { x: 1 }), "router.explain", { uri: "native://a", params: { x: 1 } }],
  ["deliver", (b) => b.deliver("native://a", { x: 1 }), "router.deliver", { uri: "native://a", params: { x: 1 } }],
  [
    "deliver in the older shape",
    (b) => b.deliver({ action: "open", action_url: "native://a?x=1", params: { y: 2 } }),
    "router.deliver",
    { action: "open", action_url: "native://a?x=1", params: { y: 2 } },
  ],
  [
    "deliver with everything",
    (b) => b.deliver("native://a", { x: 1 }, { key: "push-7", style: "root", exts: { animated: false }, timeout: 500 }),
    "router.deliver",
    { key: "push-7", style: "root", exts: { animated: false }, uri: "native://a", params: { x: 1 } },
  ],
  [
    "deliver in the older shape with a key",
    (b) => b.deliver({ action: "open", action_url: "native://a" }, undefined, { key: "push-7" }),
    "router.deliver",
    { key: "push-7", action: "open", action_url: "native://a" },
  ],
  ["routes", (b) => b.routes(), "router.routes", undefined],
  ["request", (b) => b.request("x.y", [1, 2]), "x.y", [1, 2]],
];

for (const [name, call, method, params] of WIRE) {
  test(`${name} is sent as ${method} and resolves with the result`, async () => {
    const { bridge, socket } = await connected();
    const promise = call(bridge);
    assert.deepEqual(socket.last(method).params, params);
    const result = { made: "up" };
    socket.respond(method, result);
    assert.deepEqual(await promise, result);
    assert.equal(socket.sent.length, 1);
  });
}

/** @type {[string, (bridge: Bridge) => Promise<unknown>, (bridge: Bridge) => Promise<unknown>][]} */
const BUILT = [
  ["open", (b) => b.open("native://a"), (b) => b.build("native://a").open()],
  [
    "open with everything",
    (b) => b.open("native://a", { id: 2, x: [1] }, { exts: { animated: false, y: 2 }, style: "present", from: "p1", timeout: 500 }),
    (b) => b.build("native://a").with("id", 2).with({ x: [1] }).exts("animated", false).exts({ y: 2 }).style("present").from("p1").timeout(500).open(),
  ],
  ["open with the last of a name", (b) => b.open("native://a", { id: 3 }, { style: "push" }), (b) => b.build("native://a").with("id", 2).with({ id: 3 }).style("root").style("push").open()],
  ["open with names that objects have", (b) => b.open("native://a", JSON.parse('{"__proto__": 1, "toString": 2}')), (b) => b.build("native://a").with("__proto__", 1).with("toString", 2).open()],
  ["invoke", (b) => b.invoke("action://a", { id: 2 }, { exts: { y: 2 }, timeout: 9 }), (b) => b.build("action://a").with("id", 2).exts("y", 2).style("root").from("p1").timeout(9).invoke()],
];

for (const [name, plain, built] of BUILT) {
  test(`${name}: a built call is sent like the plain call`, async () => {
    const { bridge, socket } = await connected();
    const sent = [];
    for (const call of [plain, built]) {
      const promise = call(bridge);
      const { method, params } = socket.sent.at(-1);
      sent.push(JSON.stringify({ method, params }));
      socket.respond(method, "made up");
      assert.equal(await promise, "made up");
    }
    assert.equal(sent[0], sent[1]);
    assert.equal(socket.sent.length, 2);
  });
}

test("a builder stays unchanged, and passes signal and onProgress on", async () => {
  const { bridge, socket } = await connected();
  const base = bridge.build("action://a").with("id", 2);
  base.with("id", 3).exts("x", 1);
  const controller = new AbortController();
  /** @type {unknown[]} */
  const progress = [];
  const call = base.signal(controller.signal).onProgress((value) => progress.push(value)).invoke();
  const { id, params } = socket.last("router.invoke");
  assert.deepEqual(params, { uri: "action://a", params: { id: 2 } });
  socket.receive({ method: "$/progress", params: { id, value: 0.5 } });
  assert.deepEqual(progress, [0.5]);
  controller.abort();
  assert.equal(socket.last("$/cancelRequest").params.id, id);
  socket.receive({ id, error: { code: -32800, message: "cancelled" } });
  await assert.rejects(call, CancelledError);
});

test("a dismissed page is an outcome, and progress comes before it", async () => {
  const { bridge, socket } = await connected();
  /** @type {unknown[]} */
  const progress = [];
  const promise = bridge.open("native://a", {}, { onProgress: (value) => progress.push(value) });
  const { id } = socket.last("router.open");
  socket.receive({ method: "$/progress", params: { id, value: { opened: { page: "p1" } } } });
  socket.receive({ method: "$/progress", params: { id: "another", value: 1 } });
  socket.receive({ method: "$/progress", params: { id, value: 0.5 } });
  const outcome = { outcome: "dismissed", code: 0, message: "", data: null };
  socket.receive({ id, result: outcome });
  socket.receive({ method: "$/progress", params: { id, value: "late" } });
  assert.deepEqual(await promise, outcome);
  assert.deepEqual(progress, [{ opened: { page: "p1" } }, 0.5]);
});

test("an onProgress that throws causes an error event, and the call continues", async () => {
  const { bridge, socket, events } = await connected();
  const promise = bridge.invoke("action://a", {}, { onProgress: () => assert.fail("oops") });
  const { id } = socket.last("router.invoke");
  socket.receive({ method: "$/progress", params: { id, value: 1 } });
  socket.receive({ id, result: 1 });
  assert.equal(await promise, 1);
  assert.match(events[0].detail.message, /onProgress of router\.invoke failed: oops/);
});

/** @type {[object, typeof BridgeError, object][]} */
const ERRORS = [
  [{ code: 2404, message: "no", data: { kind: "notOnStack", retryable: false } }, RouteNotFoundError, { kind: "notOnStack", name: "RouteNotFoundError", retryable: false }],
  [{ code: 2404, message: "no" }, RouteNotFoundError, { kind: "noRoute", code: 2404, message: "no", method: "router.invoke" }],
  [{ code: 2422, message: "no", data: { errors: [1] } }, InvalidParametersError, { kind: "invalidParameters", data: { errors: [1] } }],
  [{ code: -32602, message: "no" }, InvalidParametersError, { kind: "invalidParams" }],
  [{ code: 2504, message: "no" }, HostAbsentError, { retryable: true }],
  [{ code: 2408, message: "late" }, DeadlineExceededError, { kind: "deadline" }],
  [{ code: 2429, message: "no", data: { retryAfterMs: 5 } }, BridgeError, { kind: "tooMany", retryable: true }],
  [{ code: 17, message: "mine", data: "anything" }, BridgeError, { code: 17, kind: "application", data: "anything", retryable: false }],
  [{ code: 2000, message: "?" }, BridgeError, { kind: "unknown" }],
  [{ message: "no code" }, BridgeError, { code: -32603, kind: "malformed" }],
];

for (const [wire, type, expected] of ERRORS) {
  test(`the error ${JSON.stringify(wire)} is a ${type.name}`, async () => {
    const { bridge, socket } = await connected();
    const promise = bridge.invoke("action://a");
    socket.respondError("router.invoke", wire);
    await assert.rejects(promise, (/** @type {any} */ error) => {
      assert(error instanceof type);
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(Reflect.get(error, name), value, name);
      return true;
    });
  });
}

test("aborting before anything is sent rejects with the signal's reason", async () => {
  const { bridge, socket } = connecting();
  const reason = new Error("mine");
  const controller = new AbortController();
  const waiting = bridge.open("native://a", {}, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(waiting, reason);
  await assert.rejects(bridge.open("native://b", {}, { signal: controller.signal }), reason);
  socket.accept();
  socket.respond("session.open", INFO);
  await bridge.ready;
  assert.equal(socket.sent.length, 1);
});

test("a call aborted in the turn in which the session opens is not sent", async () => {
  const { bridge, socket } = connecting();
  const controller = new AbortController();
  const call = bridge.open("native://a", {}, { signal: controller.signal });
  socket.accept();
  const { id } = socket.last("session.open");
  socket.receive({ id, result: INFO });
  controller.abort(new Error("mine"));
  await assert.rejects(call, { message: "mine" });
  await bridge.ready;
  assert.equal(socket.sent.length, 1);
});

test("aborting cancels on the server, and the response decides", async () => {
  for (const [answer, check] of /** @type {[object, (promise: Promise<any>) => Promise<unknown>][]} */ ([
    [
      { error: { code: -32800, message: "cancelled" } },
      (promise) => assert.rejects(promise, (/** @type {any} */ error) => error instanceof CancelledError && error.name === "AbortError"),
    ],
    [{ result: { outcome: "cancelled" } }, async (promise) => assert.deepEqual(await promise, { outcome: "cancelled" })],
  ])) {
    const { bridge, socket } = await connected();
    const controller = new AbortController();
    const promise = bridge.open("native://a", {}, { signal: controller.signal });
    const { id } = socket.last("router.open");
    controller.abort();
    assert.deepEqual(socket.last("$/cancelRequest"), { jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
    socket.receive({ id, ...answer });
    await check(promise);
  }
});

test("aborting after the response sends nothing", async () => {
  const { bridge, socket } = await connected();
  const controller = new AbortController();
  const promise = bridge.invoke("action://a", {}, { signal: controller.signal });
  socket.respond("router.invoke", 1);
  await promise;
  controller.abort();
  assert.equal(socket.sent.length, 1);
});

test("a call that the server does not end at its deadline is cancelled a second later", async () => {
  const { bridge, socket, clock } = await connected();
  let failure;
  bridge.invoke("action://a", {}, { timeout: 200 }).catch((error) => (failure = error));
  const { id } = socket.last("router.invoke");
  clock.advance(1199);
  await turn();
  assert.equal(failure, undefined);
  clock.advance(1);
  await turn();
  assert(/** @type {unknown} */ (failure) instanceof DeadlineExceededError);
  assert.deepEqual(socket.last("$/cancelRequest").params, { id });
});

test("the deadline no longer applies once the page is shown", async () => {
  const { bridge, socket, clock } = await connected();
  const promise = bridge.open("native://a", {}, { timeout: 200 });
  const { id } = socket.last("router.open");
  socket.receive({ method: "$/progress", params: { id, value: { opened: { page: "p1" } } } });
  clock.advance(100000);
  socket.receive({ id, result: "outcome" });
  assert.equal(await promise, "outcome");
});

test("a call that waits for the session times out too", async () => {
  const { bridge, socket, clock } = connecting();
  const promise = bridge.invoke("action://a", {}, { timeout: 200 });
  clock.advance(1200);
  await assert.rejects(promise, { code: 2408 });
  socket.accept();
  socket.respond("session.open", INFO);
  await bridge.ready;
  assert.equal(socket.sent.length, 1);
});

for (const timeout of [0, -1, 1.5, NaN, Infinity, 2 ** 31]) {
  test(`a timeout of ${timeout} is rejected`, async () => {
    const { bridge, socket } = await connected();
    await assert.rejects(bridge.invoke("action://a", {}, { timeout }), { code: -32602, message: /timeout cannot be .*; it must be an integer/ });
    assert.equal(socket.sent.length, 0);
  });
}

test("parameters that are not JSON, or larger than the server accepts, reject and leave the connection unchanged", async () => {
  const { bridge, socket } = await connected();
  await assert.rejects(bridge.invoke("action://a", { n: 1n }), { code: -32602, method: "router.invoke" });
  await assert.rejects(bridge.invoke("action://a", { text: "é".repeat(990) }), { code: 2413, message: /2095 bytes/ });
  assert.equal(socket.sent.length, 0);
  void bridge.invoke("action://a", { text: "é".repeat(800) }).catch(() => {});
  assert.equal(socket.sent.length, 1);
});

test("names like __proto__ and then have no effect as keys, methods and ids", async () => {
  const { bridge, socket, events } = await connected();
  const params = JSON.parse('{"__proto__": {"polluted": 1}, "then": "x", "constructor": 1, "toString": 2}');
  const promise = bridge.request("constructor", params);
  assert.equal(JSON.stringify(socket.last("constructor").params), JSON.stringify(params));
  for (const id of ["__proto__", "constructor", "toString", "then"]) {
    socket.receive({ id, result: "wrong" });
    socket.receive({ method: id, params: {} });
    socket.receive({ method: "$/progress", params: { id, value: 1 } });
    socket.receive({ method: "$/cancelRequest", params: { id } });
    socket.receive({ id, method: id });
    assert.equal(socket.sent.at(-1).error.code, -32601);
    assert.equal(socket.sent.at(-1).id, id);
  }
  socket.receive({ id: socket.sent[0].id, result: params });
  assert.equal(JSON.stringify(await promise), JSON.stringify(params));
  assert.equal(Reflect.get({}, "polluted"), undefined);
  assert.deepEqual(events, []);
});

test("the number and size of waiting calls are limited by the queue", async () => {
  const { bridge, socket } = connecting({ queue: { count: 2, bytes: 300 } });
  const controller = new AbortController();
  const first = bridge.canOpen("native://a");
  bridge.invoke("action://b", {}, { signal: controller.signal }).catch(() => {});
  await assert.rejects(bridge.canOpen("native://c"), { code: 2429, retryable: true, message: /2 calls already wait/ });
  controller.abort();
  await assert.rejects(bridge.invoke("action://d", { text: "é".repeat(100) }), { code: 2429, message: /300 bytes/ });
  const last = bridge.canOpen("native://e");
  await accept(bridge);
  assert.deepEqual(socket.sent.map(({ params }) => params.uri), ["native://a", "native://e"]);
  for (const { id } of [...socket.sent]) socket.receive({ id, result: { canOpen: true } });
  await Promise.all([first, last]);
});

test("an empty reference means no page, and is rejected", async () => {
  const { bridge, socket } = await connected();
  await assert.rejects(bridge.contains(""), { code: -32602, message: "contains needs a page: its id, its URI or the name of its route" });
  for (const uri of ["", undefined, null, 5]) await assert.rejects(bridge.canOpen(/** @type {any} */ (uri)), { code: -32602, message: /canOpen needs a URI/ });
  assert.deepEqual(socket.sent, []);
});
