// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { answers, connected, turn } from "./fake-socket.js";

const PAGE = { id: "p1", uri: "native://a", route: "a", params: {}, exts: {}, style: "push" };
const NAMES = ["then", "__proto__", "constructor", "toString", "hasOwnProperty"];

test("a method is called by the server, with progress, cancellation and an answer", async () => {
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
  assert.deepEqual(answers(socket)[0], { id: 1, result: { added: 7 } });
  assert.equal(answers(socket)[1].error.code, -32800);
  remove();
  remove();
  socket.receive({ id: 3, method: "slow" });
  await turn();
  assert.equal(answers(socket)[2].error.code, -32601);
});

test("a method may be told something without being asked, and its failure is an error event", async () => {
  /** @type {unknown[]} */
  const heard = [];
  const { socket, events } = await connected({ methods: { note: (params) => heard.push(params), bad: () => assert.fail("oops") } });
  socket.receive({ method: "note", params: { x: 1 } });
  socket.receive({ method: "bad" });
  await turn();
  assert.deepEqual([heard, socket.sent], [[{ x: 1 }], []]);
  assert.match(events[0].detail.message, /bad failed: oops/);
});

for (const name of ["page.open", "task.run", "event", "$/ping", "rpc.discover", "session.anything", "", 7]) {
  test(`${JSON.stringify(name)} can not be the name of a method`, async () => {
    const { bridge } = await connected();
    assert.throws(() => bridge.method(/** @type {any} */ (name), () => {}), { code: -32602 });
  });
}

test("a method has one handler, which is a function", async () => {
  const { bridge } = await connected();
  const remove = bridge.method("a", () => 1);
  assert.throws(() => bridge.method("a", () => 2), { code: 2409 });
  assert.throws(() => bridge.method("b", /** @type {any} */ (1)), { code: -32602 });
  remove();
  bridge.method("a", () => 3);
  // The old one takes nothing back any more.
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
  const asked = [["p1", "title"], ["p1", "both"], ["p1", "own"], ["p9", "own"], ["p9", "both"], ["p2", "title"], ["p1", 7]];
  asked.forEach(([page, method], index) => {
    socket.receive({ id: index + 1, method: "page.call", params: { page, method, params: { x: 5 } } });
  });
  await turn();
  const given = answers(socket).slice(1).sort((a, b) => a.id - b.id);
  assert.deepEqual(given.map(({ result, error }) => error?.code ?? result), [
    "native://a 5", "host", -32601, { id: "p9" }, "client", 2404, -32602,
  ]);
});

for (const name of NAMES) {
  test(`the method ${name} is one only when the app made it one`, async () => {
    const host = { open: () => {}, close: () => {}, methods: {} };
    const { bridge, socket } = await connected({ hosts: { native: host } });
    socket.receive({ id: 0, method: "page.open", params: { page: PAGE } });
    socket.receive({ id: 1, method: name });
    await turn();
    socket.receive({ id: 2, method: "page.call", params: { page: "p1", method: name } });
    bridge.method(name, () => `mine`);
    socket.receive({ id: 3, method: name });
    await turn();
    const given = answers(socket).sort((a, b) => a.id - b.id);
    assert.deepEqual(given.map(({ result, error }) => error?.code ?? result), [null, -32601, -32601, "mine"]);
  });
}

class Point {
  x = 1;
}

/** @type {[unknown, RegExp][]} */
const NO_PARAMS = [
  [[1, 2], /are of the class Array; give an object, each value by its name, or nothing/],
  [[], /are of the class Array;/],
  [null, /are null/],
  ["x", /are of the class String/],
  [7, /are of the class Number/],
  [() => {}, /are of the class Function/],
  [new Map([["x", 1]]), /are of the class Map/],
  [new Date(0), /are of the class Date/],
  [new Point(), /are of the class Point/],
];

for (const [params, message] of NO_PARAMS) {
  test(`a call of a page is refused at once where its params ${message.source}`, async () => {
    const { bridge, socket } = await connected();
    const call = bridge.call("p1", "scrollTo", /** @type {any} */ (params));
    await assert.rejects(call, { name: "InvalidParameters", code: -32602, kind: "invalidParams", method: "page.call", message });
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
  test(`${name} can be the params of a call of a page`, async () => {
    const { bridge, socket } = await connected();
    const call = bridge.call("p1", "scrollTo", params);
    assert.deepEqual(socket.last("page.call").params.params, sent);
    socket.answer("page.call", "there");
    assert.equal(await call, "there");
  });
}

test("a call of a page goes out as page.call, with its deadline", async () => {
  const { bridge, socket } = await connected();
  const call = bridge.call("p1", "scrollTo", { y: 5 }, { timeout: 100 });
  assert.deepEqual(socket.last("page.call").params, { page: "p1", method: "scrollTo", params: { y: 5 }, deadlineMs: 100 });
  socket.answer("page.call", "there");
  assert.equal(await call, "there");
});
