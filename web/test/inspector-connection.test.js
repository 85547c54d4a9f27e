// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSocket, INFO, newest, turn } from "./fake-socket.js";
import { RESUMABLE } from "./resumable-session.js";

/** @typedef {import("node:test").TestContext} TestContext */

Object.assign(globalThis, { WebSocket: FakeSocket, location: new URL("http://test/inspector/") });
const { InspectorConnection } = await import("../inspector/connection.js");

/**
 * A link whose connection exists until the test ends, and the states that it has reported.
 * @param {TestContext} context
 * @param {object} [info] properties of the session that differ from the default
 */
async function connected(context, info) {
  const connection = new InspectorConnection();
  /** @type {string[]} */
  const seen = [];
  for (const type of ["watching", "gap", "refused"]) connection.addEventListener(type, () => seen.push(type));
  connection.addEventListener("state", (/** @type {any} */ { detail }) => seen.push(detail.state));
  connection.connect(undefined);
  // Closes the client permanently.
  context.after(() => newest().end(4001));
  return { connection, seen, socket: await opened(info) };
}

/** @param {object} [info] */
async function opened(info) {
  const socket = newest();
  socket.accept();
  await turn();
  socket.respond("session.open", { ...INFO, ...info });
  if (info === RESUMABLE) socket.seq = 0;
  await turn();
  return socket;
}

/**
 * Closes the connection and opens another.
 * @param {InstanceType<typeof InspectorConnection>} inspector
 * @param {FakeSocket} socket
 */
async function cut(inspector, socket) {
  const connecting = new Promise((resolve) =>
    inspector.addEventListener("state", (/** @type {any} */ { detail }) => detail.state === "connecting" && resolve(undefined)));
  socket.end(1006);
  await connecting;
  await turn();
}

/** @param {FakeSocket} socket */
async function watched(socket) {
  socket.respond("admin.watch", { interval: 100, maxRecords: 500, since: 1 });
  await turn();
}

test("an inspector that is not allowed to watch reports the reason and keeps its connection", async (context) => {
  const { connection, seen, socket } = await connected(context);
  assert.deepEqual(socket.last("admin.watch").params, { messages: true, limit: 4096 });
  await watched(socket);
  const refused = connection.watch({ session: "s7", limit: 65536 });
  await turn();
  assert.deepEqual(socket.last("admin.watch").params, { session: "s7", messages: true, limit: 65536 });
  socket.respondError("admin.watch", { code: 2429, message: "Too many" });
  await assert.rejects(refused, { code: 2429 });
  assert.equal(connection.isWatching, true);
  assert.deepEqual(seen, ["open", "watching"]);
});

test("a server that is too busy to be watched is retried, and the inspector reports that", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { connection, seen, socket } = await connected(context);
  socket.respondError("admin.watch", { code: 2503, message: "Overloaded" });
  await turn();
  assert.deepEqual([seen.at(-1), connection.isWatching], ["failed", false]);
  const sent = socket.sent.length;
  context.mock.timers.tick(3000);
  await turn();
  assert.equal(socket.sent.length, sent + 1);
  await watched(socket);
  assert.deepEqual([seen.at(-1), connection.isWatching], ["watching", true]);
});

test("a new session leaves a gap, and the requested records are requested again", async (context) => {
  const { connection, seen, socket } = await connected(context);
  await watched(socket);
  const wished = connection.watch({ session: "s7", limit: 65536 });
  await watched(socket);
  await wished;
  await cut(connection, socket);
  assert.equal(seen.includes("gap"), false);
  const next = await opened({ session: "s2", client: "c2" });
  assert.equal(seen.filter((type) => type === "gap").length, 1);
  assert.equal(next.last("admin.watch").params.session, "s7");
  await watched(next);
  assert.equal(connection.isWatching, true);
});

test("a resumed session receives everything without another request to watch, which would discard waiting records", async (context) => {
  const { connection, seen, socket } = await connected(context, RESUMABLE);
  await watched(socket);
  await cut(connection, socket);
  const next = newest();
  next.accept();
  await turn();
  next.respond("session.resume", { ...RESUMABLE, resumed: true, received: 1, sent: 1, pending: [], token: "t2" });
  await turn();
  assert.equal(next.sent.some(({ method }) => method === "admin.watch"), false);
  assert.deepEqual([connection.isWatching, seen.includes("gap")], [true, false]);
});
