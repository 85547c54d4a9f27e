// @ts-check
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect as connectTCP, createServer } from "node:net";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { Blobs, isReference } from "../bridge/blobs.js";
import { Bridge } from "../bridge/bridge.js";
import { OWN_SKIP, serve, serveDurable } from "./live-server.js";
import { nodeWebSockets } from "./node-ws.js";

const OPTIONS = { skip: OWN_SKIP, timeout: 60000 };

/** @typedef {import("node:test").TestContext} TestContext */

/**
 * @param {TestContext} context
 * @param {string} url
 * @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options]
 */
async function connect(context, url, options) {
  const { WebSocket } = nodeWebSockets();
  const bridge = new Bridge({ url, WebSocket, reconnect: { minDelay: 1, maxDelay: 50 }, ...options });
  context.after(() => bridge.close());
  await bridge.ready;
  return bridge;
}

/**
 * Another client of a session.
 * @param {TestContext} context
 * @param {string} url
 * @param {Bridge} bridge
 */
function join(context, url, bridge) {
  const { session, joinToken } = /** @type {any} */ (bridge.session);
  return connect(context, url, { join: { session, token: joinToken } });
}

/**
 * Bytes that differ at each offset.
 * @param {number} count
 */
function bytes(count) {
  const data = new Uint32Array(Math.ceil(count / 4));
  let state = 1;
  for (let index = 0; index < data.length; index += 1) data[index] = state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return new Uint8Array(data.buffer, 0, count);
}

/** @param {Uint8Array} data */
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

/** @param {Blob} blob */
const contentOf = async (blob) => new Uint8Array(await blob.arrayBuffer());

/**
 * A proxy of a server that cuts connections: each after a number of bytes in one direction, as long as `cuts` has numbers.
 * @param {TestContext} context
 * @param {{up?: number[], down?: number[]}} cuts
 * @returns {Promise<{url: string, flags: string[], target: number}>} the URL of the endpoint behind the proxy, flags for the server, and its
 *   port, which has to be set
 */
async function cuttingProxy(context, cuts) {
  const sockets = new Set();
  const proxy = { url: "", flags: [""], target: 0 };
  const server = createServer((near) => {
    const far = connectTCP(proxy.target, "127.0.0.1");
    /** @type {[import("node:net").Socket, import("node:net").Socket, number[]][]} */
    const ways = [[near, far, cuts.up ?? []], [far, near, cuts.down ?? []]];
    for (const [from, to, limits] of ways) {
      sockets.add(from);
      let count = 0;
      from.on("data", (data) => {
        count += data.length;
        if (limits.length > 0 && count > limits[0]) {
          limits.shift();
          near.destroy();
          far.destroy();
        } else to.write(data);
      });
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address();
  return Object.assign(proxy, { url: `ws://127.0.0.1:${port}/bridge`, flags: ["--allow-host", `127.0.0.1:${port}`] });
}

test("A photo goes through a task of a native host and back, and pings of others stay fast", OPTIONS, async (context) => {
  const { url } = await serveDurable(context, ["--loops", "2"]);
  const page = await connect(context, url);
  const native = await join(context, url, page);
  const nativeBlobs = new Blobs(native, { url });
  const photo = bytes(20 << 20);
  await native.task("action://share", async (/** @type {any} */ { photo: sent }) => {
    const received = await contentOf(await nativeBlobs.open(sent));
    assert.equal(sha256(received), sent.sha256);
    return nativeBlobs.attach({ shared: new Blob([received.reverse()], { type: "image/png" }) });
  }).registered;
  const others = new Worker(new URL("ping-worker.js", import.meta.url), { workerData: url });
  await new Promise((resolve) => others.on("message", resolve));
  const blobs = new Blobs(page, { url });
  /** @type {number[]} */
  const progress = [];
  const params = await blobs.attach(
    { photo: new File([photo], "sea.jpg", { type: "image/jpeg" }), text: "Sea" },
    { onProgress: ({ loaded, total }) => void (progress.push(loaded), assert.equal(total, photo.length)) });
  assert(isReference(params.photo));
  assert.deepEqual({ ...params.photo, $blob: "" }, { $blob: "", size: photo.length, type: "image/jpeg", sha256: sha256(photo), name: "sea.jpg" });
  assert.deepEqual(progress, Array.from({ length: 20 }, (_, index) => (index + 1) << 20));
  const { shared } = await page.invoke("action://share", params);
  const back = await blobs.open(shared);
  assert.equal(back.type, "image/png");
  assert.equal(sha256((await contentOf(back)).reverse()), sha256(photo));
  /** @type {Promise<number[]>} */
  const ended = new Promise((resolve) => others.on("message", resolve));
  others.postMessage("end");
  const pings = (await ended).sort((one, two) => one - two);
  const [most, slowest] = [pings[Math.floor(pings.length * 0.95)], pings[pings.length - 1]];
  context.diagnostic(`${pings.length} pings: 95 % within ${most.toFixed(1)} ms, all within ${slowest.toFixed(1)} ms`);
  assert(most < 50, `${most} ms`);
});

test("Data that cannot be read is not cut off", async () => {
  async function* broken() {
    yield bytes(10);
    throw new Error("no disk");
  }
  const stream = new ReadableStream({ start: (controller) => (controller.enqueue(bytes(10)), controller.error(new Error("no disk"))) });
  for (const data of [broken(), stream]) {
    /** @type {string[]} */
    const sent = [];
    const fetch = async (/** @type {unknown} */ _, /** @type {any} */ { method, headers }) => {
      sent.push(`${method} ${headers["Upload-Complete"]}`);
      return new Response(null, { status: 204, headers: { Location: "blobs/a" } });
    };
    const blobs = new Blobs({ ready: Promise.resolve(), request: async () => ({ token: "t" }) }, { url: "ws://server.test/bridge", fetch: /** @type {any} */ (fetch), minDelay: 1 });
    await assert.rejects(blobs.upload(/** @type {any} */ (data)), { code: -32603, message: "The data cannot be read: no disk" });
    assert.deepEqual(sent, ["POST ?0", "DELETE undefined"]);
  }
});

test("Uploads and downloads that are cut continue", OPTIONS, async (context) => {
  const data = bytes(3 << 20);
  const cuts = { up: [700_000, 600_000, 800_000], down: /** @type {number[]} */ ([]) };
  const proxy = await cuttingProxy(context, cuts);
  const { url } = await serveDurable(context, proxy.flags);
  proxy.target = Number(new URL(url).port);
  const blobs = new Blobs(await connect(context, url), { url: proxy.url, minDelay: 1 });
  const reference = await blobs.upload(data, { type: "image/x-test" });
  assert.deepEqual([cuts.up, reference.sha256, reference.size], [[], sha256(data), data.length]);
  // A stream can be read only once.
  cuts.up.push(300_000, 400_000);
  const pieces = new Blob([/** @type {any} */ (data)]).stream();
  const streamed = await blobs.upload(pieces, { partSize: 500_000 });
  assert.deepEqual([cuts.up, streamed.sha256, streamed.type], [[], sha256(data), "application/octet-stream"]);
  cuts.down.push(100_000, 1_000_000, 500_000);
  let loaded = 0;
  const copy = await blobs.open(reference, { onProgress: (progress) => void ({ loaded } = progress) });
  assert.deepEqual([cuts.down, sha256(await contentOf(copy)), loaded], [[], sha256(data), data.length]);
});

test("All kinds of data can be sent, and a part of it can be fetched", OPTIONS, async (context) => {
  const { url } = await serveDurable(context);
  const blobs = new Blobs(await connect(context, url), { url });
  const data = bytes(100_000);
  async function* parts() {
    yield data.slice(0, 1);
    yield data.slice(1);
  }
  const view = new DataView(data.buffer, 10, 20);
  const sent = await blobs.attach([new Blob([data]), { buffer: data.slice().buffer, view, stream: new Blob([data]).stream() }, "text", null, 1, []]);
  const { buffer, stream } = sent[1];
  const generated = await blobs.upload(parts(), { type: "text/plain" });
  for (const each of [sent[0], buffer, stream, generated]) assert.equal(each.sha256, sha256(data));
  assert.deepEqual(sent.slice(2), ["text", null, 1, []]);
  assert.deepEqual(await contentOf(await blobs.open(sent[1].view)), data.slice(10, 30));
  for (const [start, end] of [[0, 1], [99_999, 100_000], [5, 70_000], [0, undefined], [7, 7], [200_000, 300_000]]) {
    assert.deepEqual(await contentOf(await blobs.open(sent[0], { start, end })), data.slice(start, end));
  }
  const empty = await blobs.upload(new Blob([]));
  assert.deepEqual([empty.size, (await blobs.open(empty)).size], [0, 0]);
  await blobs.remove(empty);
  await assert.rejects(blobs.remove(empty), { kind: "noRoute" });
  await assert.rejects(async () => blobs.upload(/** @type {any} */ ("text")), { kind: "invalidParams" });
  await assert.rejects(blobs.open(/** @type {any} */ ({ $blob: "../../etc/passwd" })), { kind: "invalidParams" });
});

test("An upload can be cancelled", OPTIONS, async (context) => {
  const { url } = await serveDurable(context);
  const blobs = new Blobs(await connect(context, url), { url, minDelay: 1 });
  const controller = new AbortController();
  const upload = blobs.upload(bytes(300_000), { partSize: 100_000, signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(upload, { kind: "cancelled" });
});

test("Only clients of the session whose policy allows it use its blobs", OPTIONS, async (context) => {
  const url = await serve(context, { rules: [{ name: "photos", allow: ["blobs.*"] }] });
  const owner = await connect(context, url);
  const blobs = new Blobs(owner, { url });
  const reference = await blobs.upload(bytes(10));
  const member = new Blobs(await join(context, url, owner), { url });
  assert.equal((await member.open(reference)).size, 10);
  const stranger = new Blobs(await connect(context, url), { url, retries: 0 });
  await assert.rejects(stranger.open(reference), { kind: "noRoute" });
  await assert.rejects(stranger.remove(reference), { kind: "noRoute" });
  const denied = await serve(context, { rules: [{ name: "calls", allow: ["router.*"] }] });
  const guest = new Blobs(await connect(context, denied), { url: denied, retries: 0 });
  await assert.rejects(guest.upload(bytes(10)), { kind: "forbidden" });
});

test("Blobs and unfinished uploads of a durable session survive a crash of the server", OPTIONS, async (context) => {
  const server = await serveDurable(context);
  const { url } = server;
  const bridge = await connect(context, url);
  const data = bytes(2_000_000);
  const blobs = new Blobs(bridge, { url, minDelay: 1, maxDelay: 100, retries: 100 });
  const whole = await blobs.upload(data);
  let crash = /** @type {Promise<void> | undefined} */ (undefined);
  const onProgress = (/** @type {{loaded: number}} */ { loaded }) => {
    if (loaded > 500_000) crash ??= server.end("SIGKILL").then(server.restart);
  };
  const interrupted = await blobs.upload(data, { partSize: 200_000, onProgress });
  await crash;
  assert.equal(interrupted.sha256, sha256(data));
  for (const each of [whole, interrupted]) assert.equal(sha256(await contentOf(await blobs.open(each))), sha256(data));
});
