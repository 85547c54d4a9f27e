// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeSocket, INFO, newest, turn } from "./fake-socket.js";
import { RESUMABLE } from "./resumable.js";

/** @typedef {import("node:test").TestContext} TestContext */

Object.assign(globalThis, { WebSocket: FakeSocket, location: new URL("http://test/inspector/") });
const { Link } = await import("../inspector/link.js");

/**
 * A link whose connection is there until the test ends, and what it has told.
 * @param {TestContext} context
 * @param {object} [info] what the server says of the session otherwise
 */
async function linked(context, info) {
  const link = new Link();
  /** @type {string[]} */
  const told = [];
  for (const type of ["watching", "gap", "refused"]) link.addEventListener(type, () => told.push(type));
  link.addEventListener("state", (/** @type {any} */ { detail }) => told.push(detail.state));
  link.connect(undefined);
  // For good.
  context.after(() => newest().end(4001));
  return { link, told, socket: await opened(info) };
}

/** @param {object} [info] */
async function opened(info) {
  const socket = newest();
  socket.accept();
  await turn();
  socket.answer("session.open", { ...INFO, ...info });
  if (info === RESUMABLE) socket.seq = 0;
  await turn();
  return socket;
}

/**
 * The connection is lost, and another is made.
 * @param {InstanceType<typeof Link>} link
 * @param {FakeSocket} socket
 */
async function cut(link, socket) {
  const connecting = new Promise((resolve) =>
    link.addEventListener("state", (/** @type {any} */ { detail }) => detail.state === "connecting" && resolve(undefined)));
  socket.end(1006);
  await connecting;
  await turn();
}

/** @param {FakeSocket} socket */
async function watched(socket) {
  socket.answer("admin.watch", { interval: 100, maxRecords: 500, since: 1 });
  await turn();
}

test("who watches is told why not, and goes on as it was", async (context) => {
  const { link, told, socket } = await linked(context);
  assert.deepEqual(socket.last("admin.watch").params, { messages: true, limit: 4096 });
  await watched(socket);
  const refused = link.watch({ session: "s7", limit: 65536 });
  await turn();
  assert.deepEqual(socket.last("admin.watch").params, { session: "s7", messages: true, limit: 65536 });
  socket.refuse("admin.watch", { code: 2429, message: "Too many" });
  await assert.rejects(refused, { code: 2429 });
  assert.equal(link.isWatching, true);
  assert.deepEqual(told, ["open", "watching"]);
});

test("a server that does not let it watch now is asked again, and that is told", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { link, told, socket } = await linked(context);
  socket.refuse("admin.watch", { code: 2503, message: "Overloaded" });
  await turn();
  assert.deepEqual([told.at(-1), link.isWatching], ["failed", false]);
  const sent = socket.sent.length;
  context.mock.timers.tick(3000);
  await turn();
  assert.equal(socket.sent.length, sent + 1);
  await watched(socket);
  assert.deepEqual([told.at(-1), link.isWatching], ["watching", true]);
});

test("a session that begins anew leaves a gap, and what is wished is asked for again", async (context) => {
  const { link, told, socket } = await linked(context);
  await watched(socket);
  const wished = link.watch({ session: "s7", limit: 65536 });
  await watched(socket);
  await wished;
  await cut(link, socket);
  assert.equal(told.includes("gap"), false);
  const next = await opened({ session: "s2", client: "c2" });
  assert.equal(told.filter((type) => type === "gap").length, 1);
  assert.equal(next.last("admin.watch").params.session, "s7");
  await watched(next);
  assert.equal(link.isWatching, true);
});

test("a session that goes on is told all, and is not asked to watch again: what waits for it would be thrown away", async (context) => {
  const { link, told, socket } = await linked(context, RESUMABLE);
  await watched(socket);
  await cut(link, socket);
  const next = newest();
  next.accept();
  await turn();
  next.answer("session.resume", { ...RESUMABLE, resumed: true, received: 1, sent: 1, pending: [], token: "t2" });
  await turn();
  assert.equal(next.sent.some(({ method }) => method === "admin.watch"), false);
  assert.deepEqual([link.isWatching, told.includes("gap")], [true, false]);
});
