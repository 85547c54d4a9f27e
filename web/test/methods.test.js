// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { responses, connected, turn } from "./fake-socket.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };
const NAMES = ["then", "__proto__", "constructor", "toString", "hasOwnProperty"];

test("the server calls a method, with progress, cancellation and a response", async () => {
  const { bridge, socket } = await connected({ methods: { "cart.add": ({ id }) => ({ added: id }) } });
  const remove = bridge.method("slow", async (_, { signal, progress }) => {
    progress(0.5);
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  socket.receive({ id: 1, method: "cart.add", params: { id: 7 } });
  socket.receive({ id: 2, method: "slow" });
  socket.receive({ method: "$/cancelRequest", params: { id: 2 } });
  await turn();
  assert.deepEqual(socket.sent[0].params, { id: 2, value: 0.5 });
  assert.deepEqual(responses(socket)[0], { id: 1, result: { added: 7 } });
  assert.equal(responses(socket)[1].error.code, -32800);
  remove();
  remove();
  socket.receive({ id: 3, method: "slow" });
  await turn();
  assert.equal(responses(socket)[2].error.code, -32601);
});

test("a method can be notified, and its failure is an error event", async () => {
  /** @type {unknown[]} */
  const received = [];
  const { socket, events } = await connected({ methods: { note: (params) => received.push(params), bad: () => assert.fail("oops") } });
  socket.receive({ method: "note", params: { x: 1 } });
  socket.receive({ method: "bad" });
  await turn();
  assert.deepEqual([received, socket.sent], [[{ x: 1 }], []]);
  assert.match(events[0].detail.message, /bad failed: oops/);
});

for (const name of ["page.open", "task.run", "event", "$/ping", "rpc.discover", "session.anything", "", 7]) {
  test(`${JSON.stringify(name)} cannot be the name of a method`, async () => {
    const { bridge } = await connected();
    assert.throws(() => bridge.method(/** @type {any} */ (name), () => {}), { code: -32602 });
  });
}

test("a method has one handler, and the handler is a function", async () => {
  const { bridge } = await connected();
  const remove = bridge.method("a", () => 1);
  assert.throws(() => bridge.method("a", () => 2), { code: 2409 });
  assert.throws(() => bridge.method("b", /** @type {any} */ (1)), { code: -32602 });
  remove();
  bridge.method("a", () => 3);
  // The old function no longer removes anything.
  remove();
  assert.throws(() => bridge.method("a", () => 4), { code: 2409 });
});

test("a page's methods are those of its host, or of the client that runs in it", async () => {
  /** @type {import("../bridge/bridge.js").PageHost} */
  const host = {
    open: () => {},
    close: () => {},
    methods: { title: (params, { page }) => `${Reflect.get(page ?? {}, "uri")} ${params.x}`, both: () => "host" },
  };
  const { bridge, socket } = await connected({ page: "p9", hosts: { native: host } });
  bridge.method("own", (_, { page }) => page);
  bridge.method("both", () => "client");
  socket.receive({ id: 0, method: "page.open", params: { page: PAGE } });
  await turn();
  const requests = [["p1", "title"], ["p1", "both"], ["p1", "own"], ["p9", "own"], ["p9", "both"], ["p2", "title"], ["p1", 7]];
  requests.forEach(([page, method], index) => {
    socket.receive({ id: index + 1, method: "page.call", params: { page, method, params: { x: 5 } } });
  });
  await turn();
  const given = responses(socket).slice(1).sort((a, b) => a.id - b.id);
  assert.deepEqual(given.map(({ result, error }) => error?.code ?? result), [
    "native://a 5", "host", -32601, { id: "p9" }, "client", 2404, -32602,
  ]);
});

for (const name of NAMES) {
  test(`the method ${name} exists only if the app has added it`, async () => {
    const host = { open: () => {}, close: () => {}, methods: {} };
    const { bridge, socket } = await connected({ hosts: { native: host } });
    socket.receive({ id: 0, method: "page.open", params: { page: PAGE } });
    socket.receive({ id: 1, method: name });
    await turn();
    socket.receive({ id: 2, method: "page.call", params: { page: "p1", method: name } });
    bridge.method(name, () => `mine`);
    socket.receive({ id: 3, method: name });
    await turn();
    const given = responses(socket).sort((a, b) => a.id - b.id);
    assert.deepEqual(given.map(({ result, error }) => error?.code ?? result), [null, -32601, -32601, "mine"]);
  });
}

class Point {
  x = 1;
}

/** @type {[unknown, RegExp][]} */
const NO_PARAMS = [
  [[1, 2], /page\.call needs an object as params, but got Array/],
  [[], /but got Array$/],
  [null, /but got null/],
  ["x", /but got String/],
  [7, /but got Number/],
  [() => {}, /but got Function/],
  [new Map([["x", 1]]), /but got Map/],
  [new Date(0), /but got Date/],
  [new Point(), /but got Point/],
];

for (const [params, message] of NO_PARAMS) {
  test(`a call of a page is rejected at once for params of the wrong type: ${message.source}`, async () => {
    const { bridge, socket } = await connected();
    const call = bridge.call("p1", "scrollTo", /** @type {any} */ (params));
    await assert.rejects(call, { name: "InvalidParametersError", code: -32602, kind: "invalidParams", method: "page.call", message });
    assert.deepEqual(socket.sent, []);
  });
}

/** @type {[string, any, object | undefined][]} */
const PARAMS = [
  ["nothing", undefined, undefined],
  ["an object", { y: [1] }, { y: [1] }],
  ["an object without a prototype", Object.assign(Object.create(null), { y: 1 }), { y: 1 }],
  ["an object of another window", runInNewContext("({ y: 1 })"), { y: 1 }],
];

for (const [name, params, sent] of PARAMS) {
  test(`the params of a call of a page can be ${name}`, async () => {
    const { bridge, socket } = await connected();
    const call = bridge.call("p1", "scrollTo", params);
    assert.deepEqual(socket.last("page.call").params.params, sent);
    socket.respond("page.call", "there");
    assert.equal(await call, "there");
  });
}

test("a call of a page is sent as page.call, with its deadline", async () => {
  const { bridge, socket } = await connected();
  const call = bridge.call("p1", "scrollTo", { y: 5 }, { timeout: 100 });
  assert.deepEqual(socket.last("page.call").params, { page: "p1", method: "scrollTo", params: { y: 5 }, deadlineMs: 100 });
  socket.respond("page.call", "there");
  assert.equal(await call, "there");
});
