// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, answers, connected, connecting, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/types.js").Deputy} Deputy */

const PAGE = { id: "p1", uri: "native://a", route: null, params: {}, exts: {}, style: "push" };
const TASK = { method: "task.run", params: { uri: "action://a" } };

/**
 * A bridge whose handlers, whatever they are asked, wait to be told what to do for the caller.
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
async function serving(options) {
  /** @type {{deputy: Deputy, answer: (value?: unknown) => void}[]} */
  const asked = [];
  const wait = (/** @type {Deputy} */ deputy) => new Promise((resolve) => asked.push({ deputy, answer: resolve }));
  const made = await connected({
    hosts: { native: { open: (_, deputy) => wait(deputy), close: () => {}, methods: { title: (_, deputy) => wait(deputy) } } },
    tasks: { "action://a": (_, deputy) => wait(deputy) },
    methods: { badge: (_, deputy) => wait(deputy) },
    ...options,
  });
  /** @param {object} message */
  const ask = async (message) => {
    newest().receive(message);
    await turn();
    return asked[asked.length - 1];
  };
  return { ...made, asked, ask };
}

for (const [kind, request] of /** @type {[string, object][]} */ ([
  ["page.open", { method: "page.open", params: { page: PAGE } }],
  ["page.call", { method: "page.call", params: { page: "p1", method: "title" } }],
  ["task.run", TASK],
  ["a method of the app's own", { method: "badge", params: {} }],
])) {
  test(`what serves ${kind} calls on behalf of the caller as the bridge does, until it has answered`, async () => {
    const { bridge, socket, asked, ask } = await serving();
    if (kind === "page.call") (await ask({ id: 0, method: "page.open", params: { page: PAGE } })).answer();
    const { deputy: { open, invoke, canOpen, call }, answer } = await ask({ id: "s-7", ...request });
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
      socket.answer(method, { as: "its own" });
      const behalf = make({ open, invoke, canOpen, call });
      const { id: _, ...sent } = socket.last(method);
      assert.deepEqual(sent, { ...plain, params: { ...plain.params, onBehalfOf: "s-7" } });
      socket.refuse(method, { code: 2403, message: "no", data: { rule: "r" } });
      assert.deepEqual(await own, { as: "its own" });
      await assert.rejects(behalf, { code: 2403, method, data: { rule: "r" } });
    }
    assert.equal(asked.length, kind === "page.call" ? 2 : 1);
    answer("done");
    await turn();
    assert.equal(answers(socket).at(-1)?.id, "s-7");
    const { length } = socket.sent;
    for (const [make] of calls) {
      await assert.rejects(make({ open, invoke, canOpen, call }), { code: -32602, message: /on behalf of who asked: the request has been answered/ });
    }
    assert.equal(socket.sent.length, length);
  });
}

test("progress and cancelling reach a call on behalf of a caller, and a cancelled request is one until it is answered", async () => {
  const { socket, ask } = await serving();
  const { deputy, answer } = await ask({ id: 1, ...TASK });
  const controller = new AbortController();
  /** @type {unknown[]} */
  const told = [];
  const call = deputy.invoke("action://b", {}, { signal: controller.signal, onProgress: (value) => told.push(value) });
  const { id } = socket.last("router.invoke");
  socket.receive({ method: "$/progress", params: { id, value: 0.5 } });
  socket.receive({ method: "$/cancelRequest", params: { id: 1 } });
  void deputy.invoke("action://clean-up");
  assert.equal(socket.last("router.invoke").params.onBehalfOf, 1);
  controller.abort();
  assert.deepEqual(socket.last("$/cancelRequest").params, { id });
  socket.receive({ id, error: { code: -32800, message: "cancelled" } });
  await assert.rejects(call, { code: -32800 });
  assert.deepEqual(told, [0.5]);
  answer();
});

test("a call on behalf of a caller is not carried into the next session, where its id is another request's", async () => {
  const { bridge, clock, ask } = await serving({ reconnect: { minDelay: 10 } });
  const first = await ask({ id: 1, ...TASK });
  newest().readyState = 2;
  await assert.rejects(first.deputy.invoke("action://b"), { kind: "closed", code: 2503 });
  newest().end(1006);
  const refused = { code: -32602, message: /its connection has ended/ };
  await assert.rejects(first.deputy.invoke("action://b"), refused);
  clock.advance(10);
  const next = await accept(bridge);
  const second = await ask({ id: 1, ...TASK });
  await assert.rejects(first.deputy.invoke("action://b"), refused);
  assert.deepEqual(next.sent, []);
  void second.deputy.invoke("action://b");
  assert.equal(next.last("router.invoke").params.onBehalfOf, 1);
});

test("who was asked before the session is told to be open acts for its caller at once", async () => {
  const made = connecting({ tasks: { "action://a": (_, { invoke }) => invoke("action://b") } });
  made.socket.accept();
  made.socket.receive({ id: 1, ...TASK });
  await turn();
  assert.equal(made.socket.last("router.invoke").params.onBehalfOf, 1);
});

for (const [name, message] of /** @type {[string, object][]} */ ([
  ["a notification", { method: "badge", params: {} }],
  ["a request whose id is null, which would stand for none,", { id: null, method: "badge", params: {} }],
])) {
  test(`nothing is called on behalf of ${name} with this client's own rights`, async () => {
    const { socket, ask } = await serving();
    const { deputy } = await ask(message);
    await assert.rejects(deputy.invoke("action://b"), { code: -32602, method: "router.invoke" });
    assert.deepEqual(socket.sent, []);
  });
}

test("a fallback's caller is this page itself: what it calls is a call like any other", async () => {
  /** @type {NonNullable<import("../bridge/bridge.js").BridgeOptions["fallback"]>} */
  const fallback = {
    "action://a": async (_, { open, invoke, canOpen }) => [await invoke("action://b"), (await open("native://c")).data, (await canOpen("action://b")).canOpen],
    "action://b": () => "b",
    "native://c": (_, { call }) => call("p1", "title").catch((error) => error.kind),
  };
  const { bridge } = connecting({ url: null, fallback });
  assert.deepEqual(await bridge.invoke("action://a"), ["b", "noBridge", true]);
});
