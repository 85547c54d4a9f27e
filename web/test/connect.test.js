// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, BridgeAbsentError, BridgeError, ForbiddenError } from "../bridge/bridge.js";
import { connected, connecting, FakeSocket, INFO, turn } from "./fake-socket.js";

test("opens a session on waybridge.v1 with the options", async () => {
  const client = { name: "shell", version: "2", platform: "web" };
  const { bridge, socket } = connecting({ client, join: { session: "s0", token: "j0" }, page: "p7", token: "secret" });
  assert.equal(socket.url, "ws://test/bridge");
  assert.deepEqual(socket.protocols, ["waybridge.v1"]);
  assert.equal(socket.sent.length, 0);
  socket.accept();
  const { id, ...hello } = socket.last("session.open");
  assert.deepEqual(hello, {
    jsonrpc: "2.0",
    method: "session.open",
    params: { protocol: ["1.0"], client, token: "secret", join: { session: "s0", token: "j0" }, page: "p7" },
  });
  assert.equal(bridge.session, undefined);
  socket.receive({ id, result: INFO });
  assert.deepEqual(await bridge.ready, INFO);
  assert.deepEqual(bridge.session, INFO);
});

test("ids of each client begin with a prefix of its own", async () => {
  const prefixes = [];
  for (const { socket } of [connecting(), connecting()]) {
    socket.accept();
    prefixes.push(socket.last("session.open").id.replace(/-1$/, ""));
  }
  assert.match(prefixes[0], /^[0-9a-f]{12}$/);
  assert.notEqual(prefixes[0], prefixes[1]);
});

test("calls made before ready are sent after it, in order", async () => {
  const { bridge, socket } = connecting();
  const first = bridge.canOpen("native://a");
  socket.accept();
  const second = bridge.invoke("action://b");
  assert.equal(socket.sent.length, 1);
  socket.respond("session.open", INFO);
  await bridge.ready;
  assert.deepEqual(socket.sent.slice(1).map((each) => each.method), ["router.canOpen", "router.invoke"]);
  socket.receive({ id: socket.sent[1].id, result: { canOpen: true } });
  socket.receive({ id: socket.sent[2].id, result: 5 });
  assert.deepEqual(await first, { canOpen: true });
  assert.equal(await second, 5);
});

test("a failed connection rejects ready and waiting calls, and dispatches close once", async () => {
  const { bridge, socket, events } = connecting();
  const call = bridge.stack();
  socket.dispatchEvent(Object.assign(new Event("error"), { message: "Unexpected server response: 403" }));
  socket.end(1006);
  for (const promise of [bridge.ready, call, bridge.stack()]) {
    await assert.rejects(promise, (/** @type {any} */ error) => {
      assert(error instanceof BridgeAbsentError);
      assert.equal(error.kind, "noBridge");
      assert.equal(error.code, 2503);
      assert.deepEqual(error.data, { kind: "noBridge", retryable: false, code: 1006, reason: "Unexpected server response: 403" });
      return true;
    });
  }
  assert.deepEqual(events, [{ type: "close", detail: { code: 1006, reason: "Unexpected server response: 403" } }]);
});

test("a socket that dispatches error but no close has failed", async () => {
  const { bridge, socket, events } = connecting();
  socket.dispatchEvent(new Event("error"));
  await assert.rejects(bridge.ready, { kind: "noBridge", message: /The connection failed/ });
  await bridge.close();
  assert.equal(events.length, 1);
});

test("errors have the code and reason of a close that happens while the session opens", async () => {
  const { bridge, socket } = connecting();
  const call = bridge.invoke("action://a");
  socket.accept();
  socket.end(4101, "no hello in time");
  await assert.rejects(bridge.ready, { kind: "noBridge", data: { kind: "noBridge", retryable: false, code: 4101, reason: "no hello in time" } });
  await assert.rejects(call, { kind: "noBridge", method: "router.invoke" });
});

test("a rejected session rejects ready with the server's error, and closes the connection", async () => {
  const { bridge, socket, events } = connecting();
  const call = bridge.invoke("action://a");
  socket.accept();
  socket.respondError("session.open", { code: 2403, message: "no", data: { kind: "forbidden", rule: "r1" } });
  await assert.rejects(bridge.ready, (/** @type {any} */ error) => error instanceof ForbiddenError && error.data.rule === "r1");
  await assert.rejects(call, (/** @type {any} */ error) => error.kind === "noBridge" && error.cause instanceof ForbiddenError);
  assert.equal(socket.closes.length, 1);
  assert.deepEqual(events.map((event) => event.type), ["close"]);
});

test("a server without the subprotocol, or without a session in its response, ends the bridge", async () => {
  const plain = connecting();
  plain.socket.accept("");
  await assert.rejects(plain.bridge.ready, { kind: "noBridge", message: /does not support waybridge\.v1/ });
  assert.equal(plain.socket.sent.length, 0);
  const odd = connecting();
  odd.socket.accept();
  odd.socket.respond("session.open", { hello: true });
  await assert.rejects(odd.bridge.ready, { kind: "malformed" });
});

test("without a WebSocket every call rejects as unsupported", async () => {
  const global = globalThis.WebSocket;
  Reflect.deleteProperty(globalThis, "WebSocket");
  try {
    const bridge = new Bridge({ url: "ws://test/bridge" });
    const closes = new Promise((resolve) => bridge.addEventListener("close", resolve));
    await assert.rejects(bridge.ready, (/** @type {any} */ error) => error instanceof BridgeError && error.kind === "unsupported");
    await assert.rejects(bridge.stack(), { kind: "noBridge", message: /no WebSocket/ });
    await closes;
    await bridge.close();
  } finally {
    if (global !== undefined) globalThis.WebSocket = global;
  }
});

test("a WebSocket whose constructor throws rejects ready", async () => {
  const WebSocket = /** @type {any} */ (
    class {
      constructor() {
        throw new Error("insecure");
      }
    }
  );
  await assert.rejects(new Bridge({ url: "ws://test/bridge", WebSocket }).ready, { kind: "noBridge", message: /insecure/ });
});

test("the default URL is the page's own server, and a URL that is not for WebSockets is rejected", () => {
  const WebSocket = /** @type {any} */ (FakeSocket);
  const url = (/** @type {any} */ given) => {
    void new Bridge({ url: given, WebSocket }).close();
    return FakeSocket.made.at(-1)?.url;
  };
  assert.throws(() => url(undefined), { kind: "invalidParams", message: /A url is required outside of a page/ });
  assert.throws(() => url("/bridge"), { message: /is not a WebSocket URL/ });
  assert.throws(() => url("ftp://x/"), { message: /is not a WebSocket URL/ });
  assert.equal(url(new URL("https://x/b")), "wss://x/b");
  Reflect.set(globalThis, "location", new URL("https://app.test:8443/deep/page.html?q#f"));
  try {
    assert.equal(url(undefined), "wss://app.test:8443/bridge");
    assert.equal(url("/other"), "wss://app.test:8443/other");
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
});

test("when the connection closes every call rejects, and sent calls have an unknown outcome", async () => {
  const { bridge, socket, events } = await connected();
  const [opened, invoked] = [bridge.open("native://a"), bridge.invoke("action://b")];
  socket.end(4200, "drain");
  for (const call of [opened, invoked]) {
    await assert.rejects(call, { kind: "closed", code: 2599, retryable: false, data: { kind: "closed", retryable: false, code: 4200, reason: "drain" } });
  }
  await assert.rejects(bridge.stack(), { kind: "closed", code: 2503, retryable: true });
  assert.deepEqual(events, [{ type: "close", detail: { code: 4200, reason: "drain" } }]);
});

test("a call made while the connection closes was not sent, and an error before the close does not hide its code", async () => {
  const { bridge, socket, events } = await connected();
  socket.readyState = 2;
  const call = bridge.invoke("action://a");
  socket.dispatchEvent(Object.assign(new Event("error"), { message: "too large" }));
  socket.end(1009);
  await assert.rejects(call, { kind: "closed", code: 2503 });
  assert.deepEqual(events, [{ type: "close", detail: { code: 1009, reason: "too large" } }]);
});

test("close ends everything at once, and resolves when the socket is closed", async () => {
  const { bridge, socket, events } = await connected();
  const call = bridge.open("native://a");
  let isOver = false;
  const over = bridge.close().then(() => (isOver = true));
  await assert.rejects(call, { kind: "closed", data: { kind: "closed", retryable: false, code: 1000, reason: "" } });
  assert.deepEqual(socket.closes, [[1000]]);
  socket.receiveRaw("late, and not even JSON");
  await turn();
  assert.equal(isOver, false);
  socket.end(1000);
  await over;
  assert.deepEqual(events, [{ type: "close", detail: { code: 1000, reason: "" } }]);
});
