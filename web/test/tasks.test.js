// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { responses, connected, turn } from "./fake-socket.js";

test("a task gets its parameters, reports progress, and returns its value", async () => {
  const { socket } = await connected({
    tasks: {
      "action://share/:what": async (params, { uri, exts, signal, progress }) => {
        progress(0.5);
        return { params, uri, exts, aborted: signal.aborted };
      },
    },
  });
  const params = { what: "x" };
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://share/x", params, exts: { e: 1 }, host: { pattern: "action://share/:what", kind: "task" } } });
  await turn();
  assert.deepEqual(socket.sent, [
    { jsonrpc: "2.0", method: "$/progress", params: { id: 1, value: 0.5 } },
    { jsonrpc: "2.0", id: 1, result: { params, uri: "action://share/x", exts: { e: 1 }, aborted: false } },
  ]);
});

test("progress after the response is not sent", async () => {
  /** @type {(value: unknown) => void} */
  let progress = () => {};
  const { socket } = await connected({ tasks: { "action://a": (_, call) => void (progress = call.progress) } });
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://a" } });
  await turn();
  progress(1);
  assert.deepEqual(socket.sent, [{ jsonrpc: "2.0", id: 1, result: null }]);
});

test("cancelling reaches a task, which still responds once", async () => {
  const { socket } = await connected({
    tasks: {
      "action://a": (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    },
  });
  socket.receive({ id: null, method: "task.run", params: { uri: "action://a" } });
  socket.receive({ method: "$/cancelRequest", params: { id: null } });
  socket.receive({ method: "$/cancelRequest", params: { id: null } });
  await turn();
  assert.equal(responses(socket).length, 1);
  assert.equal(responses(socket)[0].error.code, -32800);
});

test("a closed connection aborts running requests, and no response is sent", async () => {
  /** @type {any} */
  let context;
  /** @type {(value: unknown) => void} */
  let end = () => {};
  const { socket } = await connected({
    tasks: { "action://a": (_, given) => ((context = given), new Promise((resolve) => (end = resolve))) },
  });
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://a" } });
  socket.end(1001);
  assert.equal(context.signal.aborted, true);
  assert.equal(context.signal.reason.kind, "closed");
  context.progress(1);
  end(1);
  await turn();
  assert.deepEqual(socket.sent, []);
});

test("results that cannot be sent become errors of their request", async () => {
  /** @type {any} */
  const cycle = {};
  cycle.self = cycle;
  for (const [result, code] of /** @type {[unknown, number][]} */ ([[cycle, -32603], [1n, -32603], [() => {}, -32603], ["x".repeat(3000), 2413]])) {
    const { socket } = await connected({ tasks: { "action://a": () => result } });
    socket.receive({ id: 1, method: "task.run", params: { uri: "action://a" } });
    await turn();
    assert.deepEqual(responses(socket).map((each) => [each.id, each.error.code]), [[1, code]]);
  }
});

test("progress that cannot be sent causes an error event", async () => {
  const { socket, events } = await connected({ tasks: { "action://a": (_, { progress }) => (progress(1n), progress("x".repeat(3000))) } });
  socket.receive({ id: 1, method: "task.run", params: { uri: "action://a" } });
  await turn();
  assert.deepEqual(socket.sent, [{ jsonrpc: "2.0", id: 1, result: null }]);
  assert.deepEqual(events.map((event) => event.detail.code), [-32603, 2413]);
});
