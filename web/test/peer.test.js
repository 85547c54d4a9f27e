// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { responses, connected, turn } from "./fake-socket.js";

/** @type {[string, object, number][]} */
const ODD_REQUESTS = [
  ["an unknown method", { id: 1, method: "page.fly" }, -32601],
  ["page.open without a page", { id: 1, method: "page.open" }, -32602],
  ["page.open without a host", { id: 1, method: "page.open", params: { page: { id: "p", uri: "wxmp://x" } } }, 2504],
  ["page.close without an id", { id: 1, method: "page.close", params: {} }, -32602],
  ["task.run without a handler", { id: 1, method: "task.run", params: { uri: "action://b" } }, 2504],
  ["task.run with an array", { id: 1, method: "task.run", params: [1] }, -32602],
];

for (const [name, request, code] of ODD_REQUESTS) {
  test(`${name} has the response ${code}, once`, async () => {
    const { socket } = await connected();
    socket.receive(request);
    await turn();
    assert.deepEqual(socket.sent.map((each) => [each.id, each.error.code]), [[1, code]]);
  });
}

test("the response to a ping is null, and to a duplicate id a conflict", async () => {
  const { socket } = await connected({ tasks: { "action://a": () => new Promise(() => {}) } });
  socket.receive({ id: "x", method: "$/ping" });
  await turn();
  assert.deepEqual(responses(socket), [{ id: "x", result: null }]);
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://a" } });
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://a" } });
  socket.receive({ id: "1", method: "$/ping" });
  await turn();
  assert.equal(responses(socket)[1].error.code, 2409);
  assert.deepEqual(responses(socket)[2], { id: "1", result: null });
});

for (const raw of [
  "{",
  "null",
  "[]",
  "1",
  "{}",
  '{"jsonrpc":"1.0","id":1,"method":"$/ping"}',
  '{"jsonrpc":"2.0","id":1}',
  '{"jsonrpc":"2.0","id":1,"method":7}',
  '{"jsonrpc":"2.0","id":{},"method":"$/ping"}',
  '{"jsonrpc":"2.0","id":1,"method":"$/ping","params":7}',
  '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}',
  new ArrayBuffer(2),
]) {
  test(`the malformed ${typeof raw === "string" ? raw : "binary message"} is ignored with an error event`, async () => {
    const { bridge, socket, events } = await connected();
    socket.receiveRaw(raw);
    await turn();
    assert.deepEqual(socket.sent, []);
    assert.deepEqual(events.map((event) => [event.type, event.detail.kind]), [["error", "malformed"]]);
    const call = bridge.stack();
    socket.respond("navigation.stack", 1);
    assert.equal(await call, 1);
  });
}

test("a response to an unknown call and an unknown notification are ignored", async () => {
  const { socket, events } = await connected();
  socket.receive({ id: "unknown", result: 1 });
  socket.receive({ id: null, error: { code: 1, message: "" } });
  socket.receive({ method: "event", params: { topic: "x" } });
  await turn();
  assert.deepEqual([socket.sent, events], [[], []]);
});
