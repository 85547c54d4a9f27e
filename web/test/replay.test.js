// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { filled, mismatch, unnumbered } from "./transcript-matcher.js";
import { nodeWebSockets } from "./node-ws.js";
import { replay } from "./replay.js";

/** @type {[unknown, unknown, boolean][]} */
const MATCHES = [
  [{ a: 1, b: [1, "x"] }, { b: [1, "x"], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1, "...": true }, { a: 1, b: 2 }, true],
  [{ a: 1, "...": true }, { b: 2 }, false],
  [{ a: "{{*}}" }, { a: null }, true],
  [{ a: "{{*}}" }, {}, false],
  [[1, 2], [2, 1], false],
  [[1], [1, 2], false],
  [[], {}, false],
  [null, {}, false],
  ["1", 1, false],
  ["{{known}}", { k: 1 }, true],
  ["{{known}}", { k: 2 }, false],
  ["page-{{number}}", "page-7", true],
  ["page-{{number}}", "page-8", false],
  [["{{new}}", "{{new}}"], [5, 5], true],
  [["{{new}}", "{{new}}"], [5, 6], false],
];

for (const [expected, actual, matches] of MATCHES) {
  test(`${JSON.stringify(expected)} ${matches ? "matches" : "does not match"} ${JSON.stringify(actual)}`, () => {
    const captures = new Map(Object.entries({ known: { k: 1 }, number: 7 }));
    assert.equal(mismatch(expected, actual, captures) === undefined, matches);
  });
}

/** @type {[any, any, any][]} the expected message, the received message, the compared message */
const NUMBERS = [
  [{ id: 1 }, { id: 1, seq: 5 }, { id: 1 }],
  [{ id: 1, seq: 5 }, { id: 1, seq: 5 }, { id: 1, seq: 5 }],
  [[{ id: 1 }, { id: 2, seq: 6 }], [{ id: 1, seq: 5 }, { id: 2, seq: 6 }], [{ id: 1 }, { id: 2, seq: 6 }]],
  [{ id: 1 }, { id: 1, params: { seq: 7 } }, { id: 1, params: { seq: 7 } }],
  ["{{*}}", { id: 1, seq: 5 }, { id: 1 }],
];

for (const [expected, actual, compared] of NUMBERS) {
  test(`the number of ${JSON.stringify(actual)} matters if ${JSON.stringify(expected)} names it`, () => {
    assert.deepEqual(unnumbered(expected, actual), compared);
  });
}

test("captured values are filled in with their type, and as text within a string", () => {
  const captures = new Map(Object.entries({ id: 7 }));
  assert.deepEqual(filled({ a: ["{{id}}", "x{{id}}y"], b: null }, captures), { a: [7, "x7y"], b: null });
  assert.throws(() => filled("{{other}}", captures), { message: /before it captures/ });
});

/**
 * A server that echoes `params` as the result. A message that it cannot read closes the connection with 4000.
 * @param {import("node:test").TestContext} context
 */
async function echoServer(context) {
  const server = new (nodeWebSockets().WebSocketServer)({ host: "127.0.0.1", port: 0 });
  server.on("connection", (/** @type {any} */ socket) => {
    socket.on("error", () => {});
    socket.on("message", (/** @type {any} */ data) => {
      try {
        const { id, method, params } = JSON.parse(data.toString());
        const result = method === "$/ping" ? null : params;
        socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
      } catch {
        socket.close(4000, "not JSON");
      }
    });
  });
  await new Promise((resolve) => server.on("listening", resolve));
  context.after(() => server.close());
  return `ws://127.0.0.1:${server.address().port}/bridge`;
}

const ECHO = { send: "a", message: { jsonrpc: "2.0", id: 1, method: "echo", params: { x: 1 } } };
const ECHOED = { expect: "a", message: { jsonrpc: "2.0", id: 1, result: { x: "{{x}}" } } };

/** @type {[string, object[], RegExp | undefined][]} */
const TRANSCRIPTS = [
  ["the expected message", [{ connect: "a" }, ECHO, ECHOED], undefined],
  ["two responses in any order", [ECHO, ECHO, { expect: "a", any: [ECHOED.message, ECHOED.message] }], undefined],
  ["a close", [{ send: "a", text: "[", repeat: 3 }, { expect: "a", close: 4000, reason: "not JSON" }], undefined],
  ["a binary message", [{ send: "a", binary: "5b" }, { expect: "a", close: 4000 }], undefined],
  ["text with invalid bytes", [{ send: "a", bytes: "fffe" }, { expect: "a", close: 1007 }], undefined],
  ["another response", [ECHO, { expect: "a", message: { jsonrpc: "2.0", id: 2, result: {}, "...": true } }], /step 2, .*\$\.message\.id: expected 2, received 1/],
  ["another close", [{ send: "a", text: "x" }, { expect: "a", close: 4001 }], /\$\.close: expected 4001, received 4000/],
  ["an unexpected response", [ECHO], /the end of a: one more message/],
  ["no such client", [{ connect: "b" }], /no client "b"/],
  ["no such step", [{ hop: "a" }], /no such step/],
];

for (const [name, steps, failure] of TRANSCRIPTS) {
  test(`a transcript with ${name} ${failure === undefined ? "passes" : "fails"}`, async (t) => {
    const played = replay({ clients: { a: {} }, steps }, await echoServer(t));
    if (failure === undefined) await played;
    else await assert.rejects(played, { message: failure });
  });
}

test("the client works with the WebSocket of the package ws", async (t) => {
  const { WebSocket, WebSocketServer } = nodeWebSockets();
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  t.after(() => server.close());
  await new Promise((resolve) => server.on("listening", resolve));
  server.on("connection", (/** @type {any} */ socket) => {
    socket.on("message", (/** @type {any} */ data) => {
      const { id, method, params } = JSON.parse(data.toString());
      if (params?.uri === "action://end") return socket.close(4200, "drain");
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: method === "session.open" ? { session: "s" } : params.params }));
    });
  });
  const url = `ws://127.0.0.1:${server.address().port}/bridge`;
  const bridge = new Bridge({ url, WebSocket, reconnect: false });
  assert.equal((await bridge.ready).session, "s");
  assert.deepEqual(await bridge.invoke("action://echo", { text: "é" }), { text: "é" });
  await assert.rejects(bridge.invoke("action://end"), { kind: "closed", data: { kind: "closed", retryable: false, code: 4200, reason: "drain" } });
  const refused = new WebSocketServer({ host: "127.0.0.1", port: 0, verifyClient: () => false });
  t.after(() => refused.close());
  await new Promise((resolve) => refused.on("listening", resolve));
  const outside = new Bridge({ url: `ws://127.0.0.1:${refused.address().port}/bridge`, WebSocket, reconnect: false });
  await assert.rejects(outside.ready, { kind: "noBridge", message: /401/ });
  await new Bridge({ url, WebSocket }).close();
});
