// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { invitationIn } from "../bridge/session/invitation.js";
import { key, LIVE_URL, nodeWebSockets, SKIP } from "./node-ws.js";
import { resultOf } from "./outcome.js";

const OPTIONS = { skip: SKIP, timeout: 30000 };
const HOST = { open: () => {}, close: () => {} };

/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */

/**
 * A bridge, and a function that cuts its connections like a failing network.
 * @param {import("node:test").TestContext} context
 * @param {BridgeOptions} [options]
 */
async function connect(context, options) {
  /** @type {any[]} */
  const sockets = [];
  const WebSocket = class extends nodeWebSockets().WebSocket {
    /** @param {any[]} how */
    constructor(...how) {
      super(...how);
      sockets.push(this);
    }
  };
  const reconnect = { minDelay: 1, maxDelay: 50 };
  const bridge = new Bridge({ url: LIVE_URL, WebSocket: /** @type {any} */ (WebSocket), reconnect, ...options });
  context.after(() => bridge.close());
  await bridge.ready;
  return { bridge, cut: () => sockets.at(-1).terminate() };
}

/**
 * @param {Bridge} bridge
 * @param {string} uri
 * @returns {Promise<string>} its id, once it is shown
 */
function shown(bridge, uri) {
  return new Promise((resolve, reject) => {
    const outcome = bridge.open(uri, {}, { onProgress: ({ opened }) => resolve(opened.page) });
    outcome.catch(reject);
  });
}

/**
 * @param {Bridge} bridge
 * @param {string} state
 */
function reaches(bridge, state) {
  return new Promise((resolve) => bridge.addEventListener("statechange", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (detail.state === state) resolve(detail);
  }));
}

test("live: without keep, a cut connection is replaced by a new session with the same hosts, tasks and topics", OPTIONS, async (t) => {
  /** @type {string[]} */
  const seen = [];
  const { bridge, cut } = await connect(t, {
    keep: "nothing",
    hosts: { live: { open: () => {}, close: (page, reason) => void seen.push(`close ${page.uri} ${reason}`) } },
    tasks: { "action://live/slow": () => new Promise(() => {}) },
  });
  const task = bridge.task("action://live/later", () => "now");
  await task.registered;
  /** @type {(event: unknown) => void} */
  let received = () => {};
  await bridge.subscribe("page.opened", (event) => received(event)).registered;
  const first = bridge.session?.session;
  await shown(bridge, "live://old");
  const slow = bridge.invoke("action://live/slow");
  await bridge.stack();
  const open = reaches(bridge, "open");
  cut();
  await assert.rejects(slow, { code: 2599, kind: "closed" });
  const waited = bridge.invoke("action://live/later");
  await open;
  assert.notEqual(bridge.session?.session, first);
  assert.equal(await waited, "now");
  assert.deepEqual(seen, ["close live://old failed"]);
  assert.deepEqual((await bridge.stack()).pages, []);
  const event = new Promise((resolve) => (received = resolve));
  await shown(bridge, "live://new");
  assert.equal((await event).data.uri, "live://new");
});

test("live: a client that joined joins the session again, and closes if its session is gone", OPTIONS, async (t) => {
  const shell = await connect(t, { hosts: { native: HOST } });
  const join = key(await shell.bridge.ready);
  const member = await connect(t, { join, keep: "nothing" });
  const open = reaches(member.bridge, "open");
  member.cut();
  await open;
  assert.equal(member.bridge.session?.session, join.session);

  // The session ends with its last client.
  const alone = await connect(t);
  const own = key(await alone.bridge.ready);
  const late = new Bridge({ url: LIVE_URL, WebSocket: nodeWebSockets().WebSocket, join: own });
  await late.ready;
  await late.close();
  await alone.bridge.close();
  const after = new Bridge({ url: LIVE_URL, WebSocket: nodeWebSockets().WebSocket, join: own });
  await assert.rejects(after.ready, { code: 2401 });
  assert.equal(after.state, "closed");
});

test("live: a guest joins by invitation, returns after its connection was cut, and has only the rights of the invitation", OPTIONS, async (t) => {
  const { bridge: shell } = await connect(t, { hosts: { live: HOST } });
  /** @type {(page: string) => void} */
  let opened = () => {};
  const id = /** @type {Promise<string>} */ (new Promise((resolve) => (opened = resolve)));
  const outcome = shell.open("live://page", {}, { onProgress: (value) => opened(value.opened.page) });
  const page = await id;
  const { url, ...join } = invitationIn(await shell.invite("https://app.example/", { page }));
  assert.equal(url, LIVE_URL);
  const guest = await connect(t, { join, keep: "nothing" });
  const { session } = guest.bridge;
  assert.deepEqual([session?.session, session?.guest, session?.page, session?.joinToken], [join.session, true, page, undefined]);
  await assert.rejects(guest.bridge.invite("https://app.example/"), { code: 2403 });
  await assert.rejects(guest.bridge.host("live", HOST).registered, { code: 2403 });
  const other = await shown(shell, "live://other");
  await assert.rejects(guest.bridge.finish(1, { page: other }), { code: 2403 });
  await shell.finish(1, { page: other });
  const open = reaches(guest.bridge, "open");
  guest.cut();
  await open;
  assert.equal(guest.bridge.session?.page, page);
  await guest.bridge.finish("done");
  assert.equal(await resultOf(outcome), "done");
});

test("live: methods of a page are handled by its host, and by the client that runs in it", OPTIONS, async (t) => {
  const { bridge: shell } = await connect(t, {
    hosts: { live: { ...HOST, methods: { title: (params, { page }) => [Reflect.get(page ?? {}, "uri"), params] } } },
  });
  const page = await shown(shell, "live://page");
  const join = key(await shell.ready);
  const { bridge: other } = await connect(t, { join });
  assert.deepEqual(await other.call(page, "title", { x: 1 }), ["live://page", { x: 1 }]);
  await assert.rejects(other.call(page, "toString"), { code: 2502 });
  await assert.rejects(other.call("p0", "title"), { code: 2404, kind: "notOnStack" });
  const { bridge: within } = await connect(t, { join, page });
  within.method("fail", () => {
    throw Object.assign(new Error("mine"), { code: 17 });
  });
  within.method("slow", (_, { signal, progress }) => {
    progress("begun");
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  await assert.rejects(other.call(page, "fail"), { code: 17, message: "mine" });
  const controller = new AbortController();
  const slow = other.call(page, "slow", {}, { signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(slow, { code: -32800, name: "AbortError" });
});

test("live: events of the session are received until the subscription is removed", OPTIONS, async (t) => {
  /** @type {string[]} */
  const seen = [];
  const { bridge } = await connect(t, { hosts: { live: HOST } });
  const unsubscribe = bridge.subscribe("page.*", ({ topic, data, at }) => seen.push(`${topic} ${data.uri} ${typeof at}`));
  await unsubscribe.registered;
  const page = await shown(bridge, "live://a");
  await bridge.finish(1, { page });
  await bridge.stack();
  assert.deepEqual(seen, ["page.opened live://a number", "page.visibility live://a number", "page.closed live://a number"]);
  await unsubscribe();
  await shown(bridge, "live://b");
  await bridge.stack();
  assert.equal(seen.length, 3);
  await assert.rejects(bridge.subscribe("a*b", () => {}).registered, { code: -32602 });
});

test("live: explain shows the route of a URI, and supports what the server has", OPTIONS, async (t) => {
  const { bridge } = await connect(t);
  const explained = await bridge.explain("action://echo?x=1", { y: 2 });
  assert.equal(explained.canOpen, true);
  assert.equal(explained.kind, "task");
  for (const [what, expected] of /** @type {[string, boolean][]} */ ([
    ["router.open", true], ["router.explain", true], ["router.fly", false], ["action://echo", true], ["native://address/list", false],
  ])) assert.equal(await bridge.supports(what), expected, what);
});

test("live: an adopted page is closed by its host", OPTIONS, async (t) => {
  /** @type {string[]} */
  const closed = [];
  const { bridge } = await connect(t, { hosts: { live: { open: () => {}, close: ({ uri }) => void closed.push(uri) } } });
  await shown(bridge, "live://home");
  const page = await bridge.adopt("live://adopted", { x: 1 });
  await bridge.back();
  await bridge.stack();
  assert.deepEqual([page.params, closed], [{ x: 1 }, ["live://adopted"]]);
});

test("live: a built call opens and invokes like the plain call", OPTIONS, async (t) => {
  /** @type {unknown[]} */
  const seen = [];
  const { bridge } = await connect(t, {
    hosts: {
      live: {
        open: ({ uri, params, exts, style }) => void seen.push({ uri, params, exts, style }),
        close: () => {},
      },
    },
    tasks: { "action://live/echo": (params, { exts }) => ({ params, exts }) },
  });
  await shown(bridge, "live://below");
  /** @param {Promise<import("../bridge/bridge.js").Outcome>} opened */
  const finished = async (opened) => assert.equal(await resultOf(opened), "done");
  const onProgress = (/** @type {any} */ { opened }) => void bridge.finish("done", { page: opened.page });
  await finished(bridge.open("live://built?a=1", { id: 2 }, { exts: { animated: false }, style: "present", onProgress }));
  await finished(bridge.build("live://built?a=1").with("id", 2).exts("animated", false).style("present").onProgress(onProgress).open());
  assert.equal(seen.length, 3);
  assert.deepEqual(seen[1], { uri: "live://built?a=1", params: { a: "1", id: 2 }, exts: { animated: false }, style: "present" });
  assert.deepEqual(seen[2], seen[1]);
  const plain = await bridge.invoke("action://live/echo", { id: 2 }, { exts: { x: 1 } });
  assert.deepEqual(await bridge.build("action://live/echo").with("id", 2).exts("x", 1).invoke(), plain);
  assert.deepEqual(plain, { params: { id: 2 }, exts: { x: 1 } });
});

test("live: the server's results have the types of types/api.js", OPTIONS, async (t) => {
  const { bridge } = await connect(t, { hosts: { native: HOST } });
  /** @type {{epoch: string, limits: Record<string, number>, table: {version: string}, capabilities: string[]}} */
  const { epoch, limits, table, capabilities } = await bridge.ready;
  assert.deepEqual([typeof epoch, typeof table.version, capabilities], ["string", "string", ["resume"]]);
  assert(Object.values(limits).length > 10 && Object.values(limits).every(Number.isInteger));
  /** @type {{canOpen: boolean, kind?: "page" | "task" | "service", route?: string}} */
  const found = await bridge.canOpen("native://home");
  assert.deepEqual(found, { canOpen: true, kind: "page", route: "home" });
  const id = await shown(bridge, "native://home");
  /** @type {{id: string, kind?: "page", style: import("../bridge/types/api.js").Style}} */
  const page = (await bridge.stack()).pages[0];
  assert.deepEqual([page.id, page.kind, page.style], [id, "page", "push"]);
  /** @type {string | null} */
  const top = (await bridge.back()).page;
  assert.equal(top, id);
});
