// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { FakeStorage } from "./fake-page.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { OWN_SKIP, serveDurable } from "./live-server.js";
import { key, nodeWebSockets, opened } from "./node-ws.js";
import { stateChanges } from "./resumable-session.js";
import { resultOf } from "./outcome.js";

const OPTIONS = { skip: OWN_SKIP, timeout: 30000 };

/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */
/** @typedef {import("node:test").TestContext} TestContext */

/**
 * A client of a server that persists its sessions.
 * @param {TestContext} context
 * @param {string} url
 * @param {BridgeOptions} [options]
 * @param {FakeTab} [tab] the tab in which it runs
 */
async function connect(context, url, options, tab) {
  const { WebSocket } = nodeWebSockets();
  const make = () => new Bridge({ url, WebSocket, reconnect: { minDelay: 1, maxDelay: 50 }, ...options });
  const bridge = tab === undefined ? make() : tab.run(make);
  context.after(() => bridge.close());
  await bridge.ready;
  return { bridge, seen: stateChanges(bridge) };
}

/** A WebSocket class for a page: after `die`, objects of the page that still exist in this process cannot connect. */
function mortal() {
  let isDead = false;
  const WebSocket = class extends nodeWebSockets().WebSocket {
    /** @param {any[]} how */
    constructor(...how) {
      super(...how);
      if (isDead) this.terminate();
    }
  };
  return { WebSocket: /** @type {any} */ (WebSocket), die: () => void (isDead = true) };
}

/**
 * @param {Bridge} bridge
 * @param {string} state
 */
function reaches(bridge, state) {
  return new Promise((resolve) => bridge.addEventListener("statechange", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.state === state) resolve(undefined);
  }));
}

/** A WebSocket that drops messages while it is muted. */
function mutableSocket() {
  let isMuted = false;
  const WebSocket = class extends nodeWebSockets().WebSocket {
    /**
     * @param {string} type
     * @param {(event: unknown) => void} listener
     */
    addEventListener(type, listener) {
      super.addEventListener(type, (/** @type {unknown} */ event) => void (type === "message" && isMuted ? undefined : listener(event)));
    }
  };
  return { WebSocket: /** @type {any} */ (WebSocket), mute: (/** @type {boolean} */ is) => void (isMuted = is) };
}

/**
 * Ends the server and waits until its clients have noticed. Then the server cannot receive what they send.
 * @param {{end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>}} server
 * @param {"SIGKILL" | "SIGTERM"} signal
 * @param {...Bridge} bridges
 */
async function ends(server, signal, ...bridges) {
  const noticed = bridges.map((bridge) => new Promise((resolve) => bridge.addEventListener("statechange", resolve, { once: true })));
  await server.end(signal);
  await Promise.all(noticed);
}

/** A host of pages, and of tasks that end when the test says so. */
function holding() {
  /** @type {any[]} */
  const runs = [];
  /** @type {string[]} */
  const shown = [];
  /** @type {(() => void)[]} */
  const waiting = [];
  const run = (/** @type {any} */ params, /** @type {any} */ { signal }) =>
    new Promise((resolve) => {
      runs.push({ params, signal, resolve });
      for (const go of waiting.splice(0)) go();
    });
  /** @param {number} count */
  const until = async (count) => {
    while (runs.length < count) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
  };
  /** @type {import("../bridge/bridge.js").PageHost} */
  const host = {
    open: ({ uri }, { restored }) => void shown.push(`${restored ? "again" : "open"} ${uri}`),
    close: ({ uri }, reason) => void shown.push(`close ${uri} ${reason}`),
  };
  return { runs, shown, until, options: { tasks: { "action://live/:name": run }, hosts: { live: host } } };
}

for (const signal of /** @type {("SIGKILL" | "SIGTERM")[]} */ (["SIGKILL", "SIGTERM"])) {
  test(`live: a page's result arrives although the server was ended by ${signal}`, OPTIONS, async (t) => {
    const server = await serveDurable(t);
    const { shown, options } = holding();
    const shell = await connect(t, server.url, options);
    const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
    const { page, outcome } = await opened(caller.bridge, "live://list", { key: "pick" });
    const before = [caller.bridge.session?.session, caller.bridge.session?.client, caller.bridge.session?.epoch];
    await ends(server, signal, shell.bridge, caller.bridge);
    const finished = shell.bridge.finish({ picked: 7 }, { page });
    await server.restart();
    await finished;
    assert.deepEqual((await outcome).data, { picked: 7 });
    assert.deepEqual([caller.bridge.session?.session, caller.bridge.session?.client, caller.bridge.session?.epoch], before);
    for (const { seen } of [shell, caller]) assert.deepEqual(seen.at(-1), { state: "open", attempt: 0, restarted: true });
    await shell.bridge.stack();
    assert.deepEqual(shown, ["open live://list", "close live://list finished"]);
    assert.deepEqual(await resultOf(caller.bridge.open("live://list", {}, { key: "pick" })), { picked: 7 }, "the key still has the result");
  });
}

test("live: after a crash a task with a key is done, and one without a key has an unknown outcome", OPTIONS, async (t) => {
  const server = await serveDurable(t);
  const { runs, until, options } = holding();
  const shell = await connect(t, server.url, options);
  const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
  const plain = caller.bridge.invoke("action://live/plain");
  const keyed = caller.bridge.invoke("action://live/keyed", {}, { key: "pay" });
  await until(2);
  await ends(server, "SIGKILL", shell.bridge, caller.bridge);
  const waiting = caller.bridge.invoke("action://live/waiting");
  await server.restart();
  await assert.rejects(plain, { code: 2599, kind: "outcomeUnknown", name: "OutcomeUnknownError" });
  await until(3);
  assert.deepEqual(runs.map(({ params, signal }) => [params.name, signal.aborted]).sort(), [["keyed", false], ["plain", true], ["waiting", false]]);
  for (const { params, resolve } of runs) resolve(params.name);
  assert.deepEqual(await Promise.all([keyed, waiting]), ["keyed", "waiting"]);
});

test("live: a message that a crash has lost on its way to a client leaves no gap", OPTIONS, async (t) => {
  const server = await serveDurable(t);
  const { runs, until, options } = holding();
  const { WebSocket, mute } = mutableSocket();
  const shell = await connect(t, server.url, { ...options, WebSocket });
  const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
  await shell.bridge.stack();
  mute(true);
  const unsent = [1, 2, 3].map((number) => caller.bridge.invoke(`action://live/${number}`));
  for (const each of unsent) each.catch(() => {});
  // Acknowledgements are stored a little later, because no message depends on them.
  await caller.bridge.request("$/ping");
  for (const before = server.writtenAt; server.writtenAt === before; ) await caller.bridge.request("$/ping");
  await ends(server, "SIGKILL", shell.bridge, caller.bridge);
  mute(false);
  await server.restart();
  for (const each of unsent) await assert.rejects(each, { code: 2599 });
  const later = caller.bridge.invoke("action://live/later");
  await Promise.race([until(1), reaches(shell.bridge, "waiting")]);
  assert.deepEqual(shell.seen.filter(({ code }) => code === 4204), []);
  assert.deepEqual(runs.map(({ params }) => params.name), ["later"]);
  runs[0].resolve("done");
  assert.equal(await later, "done");
});

test("live: a page that is reloaded while its server is down finds its calls", OPTIONS, async (t) => {
  const server = await serveDurable(t);
  const { options } = holding();
  const shell = await connect(t, server.url, options);
  const tab = new FakeTab("https://shop.example/page.html", new FakeLocks(), new FakeStorage());
  const join = key(await shell.bridge.ready);
  const { WebSocket, die } = mortal();
  const caller = await connect(t, server.url, { join, WebSocket }, tab);
  const before = caller.bridge.session?.client;
  const { page, outcome } = await opened(caller.bridge, "live://list", { key: "pick" });
  outcome.catch(() => {});
  await ends(server, "SIGKILL", shell.bridge);
  tab.unload();
  die();
  const next = connect(t, server.url, { join }, tab);
  await server.restart();
  const { bridge } = await next;
  assert.equal(bridge.session?.client, before);
  assert.deepEqual(bridge.pending.map(({ uri }) => uri), ["live://list"]);
  await shell.bridge.finish("picked", { page });
  assert.equal((await bridge.recover("pick")).data, "picked");
});

test("live: registrations made shortly before the server crashed are known afterwards", OPTIONS, async (t) => {
  const server = await serveDurable(t);
  const shell = await connect(t, server.url);
  const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
  /** @type {string[]} */
  const received = [];
  const registrations = [
    shell.bridge.task("action://live/echo", ({ text }) => text),
    caller.bridge.subscribe("page.*", ({ topic }) => received.push(topic)),
    shell.bridge.host("live", { open: () => {}, close: () => {} }),
  ];
  await server.end("SIGKILL");
  await server.restart();
  await Promise.all(registrations.map(({ registered }) => registered));
  assert.equal(await caller.bridge.invoke("action://live/echo", { text: "here" }), "here");
  await opened(caller.bridge, "live://a");
  await caller.bridge.stack();
  assert.deepEqual(received, ["page.opened", "page.visibility"]);
});
