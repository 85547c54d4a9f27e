// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, responses, connected, connecting, newest, turn } from "./fake-socket.js";
import { resultOf } from "./outcome.js";

/** @typedef {import("../bridge/types/api.js").Delegation} Delegation */

const PAGE = { id: "p1", uri: "native://a", route: null, params: {}, exts: {}, style: "push" };
const TASK = { method: "task.run", params: { uri: "action://a" } };

/**
 * A bridge whose handlers wait for the test to make calls for the caller.
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
async function hostingBridge(options) {
  /** @type {{delegation: Delegation, answer: (value?: unknown) => void}[]} */
  const requests = [];
  const wait = (/** @type {Delegation} */ delegation) => new Promise((resolve) => requests.push({ delegation, answer: resolve }));
  const made = await connected({
    hosts: { native: { open: (_, delegation) => wait(delegation), close: () => {}, methods: { title: (_, delegation) => wait(delegation) } } },
    tasks: { "action://a": (_, delegation) => wait(delegation) },
    methods: { badge: (_, delegation) => wait(delegation) },
    ...options,
  });
  /** @param {object} message */
  const sendRequest = async (message) => {
    newest().receive(message);
    await turn();
    return requests[requests.length - 1];
  };
  return { ...made, requests, sendRequest };
}

for (const [kind, request] of /** @type {[string, object][]} */ ([
  ["page.open", { method: "page.open", params: { page: PAGE } }],
  ["page.call", { method: "page.call", params: { page: "p1", method: "title" } }],
  ["task.run", TASK],
  ["a method of the app", { method: "badge", params: {} }],
])) {
  test(`the handler of ${kind} calls on behalf of its caller like the bridge, until it has responded`, async () => {
    const { bridge, socket, requests, sendRequest } = await hostingBridge();
    if (kind === "page.call") (await sendRequest({ id: 0, method: "page.open", params: { page: PAGE } })).answer();
    const { delegation: { open, invoke, canOpen, call }, answer } = await sendRequest({ id: "s-7", ...request });
    await turn();
    /** @type {[(on: any) => Promise<unknown>, string][]} */
    const calls = [
      [(on) => on.open("native://b", { x: 1 }, { exts: { e: 1 }, style: "present", from: "p9", timeout: 5 }), "router.open"],
      [(on) => on.open("native://b"), "router.open"],
      [(on) => on.invoke("action://b", { x: 1 }, { exts: { e: 1 }, timeout: 5 }), "router.invoke"],
      [(on) => on.invoke("action://b"), "router.invoke"],
      [(on) => on.canOpen("action://b"), "router.canOpen"],
      [(on) => on.call("p2", "scroll", { to: 1 }, { timeout: 5 }), "page.call"],
      [(on) => on.call("p2", "scroll"), "page.call"],
    ];
    for (const [make, method] of calls) {
      const own = make(bridge);
      const { id, ...plain } = socket.last(method);
      socket.respond(method, { as: "its own" });
      const behalf = make({ open, invoke, canOpen, call });
      const { id: _, ...sent } = socket.last(method);
      assert.deepEqual(sent, { ...plain, params: { ...plain.params, onBehalfOf: "s-7" } });
      socket.respondError(method, { code: 2403, message: "no", data: { rule: "r" } });
      assert.deepEqual(await own, { as: "its own" });
      await assert.rejects(behalf, { code: 2403, method, data: { rule: "r" } });
    }
    assert.equal(requests.length, kind === "page.call" ? 2 : 1);
    answer("done");
    await turn();
    assert.equal(responses(socket).at(-1)?.id, "s-7");
    const { length } = socket.sent;
    for (const [make] of calls) {
      await assert.rejects(make({ open, invoke, canOpen, call }), { code: -32602, message: /on behalf of the caller: the request has its response/ });
    }
    assert.equal(socket.sent.length, length);
  });
}

test("progress and cancelling reach a call on behalf of a caller, also after its request was cancelled", async () => {
  const { socket, sendRequest } = await hostingBridge();
  const { delegation, answer } = await sendRequest({ id: 1, ...TASK });
  const controller = new AbortController();
  /** @type {unknown[]} */
  const seen = [];
  const call = delegation.invoke("action://b", {}, { signal: controller.signal, onProgress: (value) => seen.push(value) });
  const { id } = socket.last("router.invoke");
  socket.receive({ method: "$/progress", params: { id, value: 0.5 } });
  socket.receive({ method: "$/cancelRequest", params: { id: 1 } });
  void delegation.invoke("action://clean-up");
  assert.equal(socket.last("router.invoke").params.onBehalfOf, 1);
  controller.abort();
  assert.deepEqual(socket.last("$/cancelRequest").params, { id });
  socket.receive({ id, error: { code: -32800, message: "cancelled" } });
  await assert.rejects(call, { code: -32800 });
  assert.deepEqual(seen, [0.5]);
  answer();
});

test("a call on behalf of a caller is not sent in the next session, where its id belongs to another request", async () => {
  const { bridge, clock, sendRequest } = await hostingBridge({ reconnect: { minDelay: 10 } });
  const first = await sendRequest({ id: 1, ...TASK });
  newest().readyState = 2;
  await assert.rejects(first.delegation.invoke("action://b"), { kind: "closed", code: 2503 });
  newest().end(1006);
  const refused = { code: -32602, message: /its connection has closed/ };
  await assert.rejects(first.delegation.invoke("action://b"), refused);
  clock.advance(10);
  const next = await accept(bridge);
  const second = await sendRequest({ id: 1, ...TASK });
  await assert.rejects(first.delegation.invoke("action://b"), refused);
  assert.deepEqual(next.sent, []);
  void second.delegation.invoke("action://b");
  assert.equal(next.last("router.invoke").params.onBehalfOf, 1);
});

test("a request that arrives before the session is reported as open can call for its caller at once", async () => {
  const made = connecting({ tasks: { "action://a": (_, { invoke }) => invoke("action://b") } });
  made.socket.accept();
  made.socket.receive({ id: 1, ...TASK });
  await turn();
  assert.equal(made.socket.last("router.invoke").params.onBehalfOf, 1);
});

for (const [name, message] of /** @type {[string, object][]} */ ([
  ["a notification", { method: "badge", params: {} }],
  ["a request with the id null, which the server treats as absent,", { id: null, method: "badge", params: {} }],
])) {
  test(`nothing is called on behalf of ${name} with this client's own rights`, async () => {
    const { socket, sendRequest } = await hostingBridge();
    const { delegation } = await sendRequest(message);
    await assert.rejects(delegation.invoke("action://b"), { code: -32602, method: "router.invoke" });
    assert.deepEqual(socket.sent, []);
  });
}

test("the caller of a fallback is this page itself, and its calls are ordinary calls", async () => {
  /** @type {NonNullable<import("../bridge/bridge.js").BridgeOptions["fallback"]>} */
  const fallback = {
    "action://a": async (_, { open, invoke, canOpen }) => [await invoke("action://b"), await resultOf(open("native://c")), (await canOpen("action://b")).canOpen],
    "action://b": () => "b",
    "native://c": (_, { call }) => call("p1", "title").catch((error) => error.kind),
  };
  const { bridge } = connecting({ url: null, fallback });
  assert.deepEqual(await bridge.invoke("action://a"), ["b", "noBridge", true]);
});
