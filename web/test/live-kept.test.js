// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { FakeStorage } from "./fake-page.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { OWN_SKIP, serveKept } from "./live-server.js";
import { key, nodeWebSockets, opened } from "./node-ws.js";
import { changes } from "./resumable.js";

const OPTIONS = { skip: OWN_SKIP, timeout: 30000 };

/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */
/** @typedef {import("node:test").TestContext} TestContext */

/**
 * A client of a server that keeps its sessions.
 * @param {TestContext} context
 * @param {string} url
 * @param {BridgeOptions} [options]
 * @param {FakeTab} [tab] in which it runs
 */
async function connect(context, url, options, tab) {
  const { WebSocket } = nodeWebSockets();
  const make = () => new Bridge({ url, WebSocket, reconnect: { minDelay: 1, maxDelay: 50 }, ...options });
  const bridge = tab === undefined ? make() : tab.run(make);
  context.after(() => bridge.close());
  await bridge.ready;
  return { bridge, seen: changes(bridge) };
}

/** What is left of a page in this process connects no more. */
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

/** A WebSocket that does not hear what comes while it is told not to. */
function hearing() {
  let isDeaf = false;
  const WebSocket = class extends nodeWebSockets().WebSocket {
    /**
     * @param {string} type
     * @param {(event: unknown) => void} listener
     */
    addEventListener(type, listener) {
      super.addEventListener(type, (/** @type {unknown} */ event) => void (type === "message" && isDeaf ? undefined : listener(event)));
    }
  };
  return { WebSocket: /** @type {any} */ (WebSocket), deafen: (/** @type {boolean} */ is) => void (isDeaf = is) };
}

/**
 * The server ends, and its clients have noticed: what they send from now on it can not have heard.
 * @param {{end: (signal: "SIGKILL" | "SIGTERM") => Promise<void>}} server
 * @param {"SIGKILL" | "SIGTERM"} signal
 * @param {...Bridge} bridges
 */
async function ends(server, signal, ...bridges) {
  const noticed = bridges.map((bridge) => new Promise((resolve) => bridge.addEventListener("statechange", resolve, { once: true })));
  await server.end(signal);
  await Promise.all(noticed);
}

/** A host of tasks that end when they are told to, and of pages. */
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
  test(`live: a page's result comes although the server was ended by ${signal}`, OPTIONS, async (t) => {
    const server = await serveKept(t);
    const { shown, options } = holding();
    const shell = await connect(t, server.url, options);
    const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
    const { page, outcome } = await opened(caller.bridge, "live://list", { key: "pick" });
    const before = [caller.bridge.session?.session, caller.bridge.session?.client, caller.bridge.session?.epoch];
    await ends(server, signal, shell.bridge, caller.bridge);
    const finished = shell.bridge.finish({ picked: 7 }, { page });
    await server.again();
    await finished;
    assert.deepEqual((await outcome).data, { picked: 7 });
    assert.deepEqual([caller.bridge.session?.session, caller.bridge.session?.client, caller.bridge.session?.epoch], before);
    for (const { seen } of [shell, caller]) assert.deepEqual(seen.at(-1), { state: "open", attempt: 0, restarted: true });
    await shell.bridge.stack();
    assert.deepEqual(shown, ["open live://list", "close live://list finished"]);
    assert.deepEqual((await caller.bridge.open("live://list", {}, { key: "pick" })).data, { picked: 7 }, "the key still has it");
  });
}

test("live: over a crash a task with a key is done, and one without has an unknown outcome", OPTIONS, async (t) => {
  const server = await serveKept(t);
  const { runs, until, options } = holding();
  const shell = await connect(t, server.url, options);
  const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
  const plain = caller.bridge.invoke("action://live/plain");
  const keyed = caller.bridge.invoke("action://live/keyed", {}, { key: "pay" });
  await until(2);
  await ends(server, "SIGKILL", shell.bridge, caller.bridge);
  const waiting = caller.bridge.invoke("action://live/waiting");
  await server.again();
  await assert.rejects(plain, { code: 2599, kind: "outcomeUnknown", name: "OutcomeUnknown" });
  await until(4);
  assert.deepEqual(runs.map(({ params, signal }) => [params.name, signal.aborted]).sort(), [
    ["keyed", false], ["keyed", true], ["plain", true], ["waiting", false],
  ]);
  for (const { params, resolve } of runs) resolve(params.name);
  assert.deepEqual(await Promise.all([keyed, waiting]), ["keyed", "waiting"]);
});

test("live: what a crash has lost on its way to a client leaves no gap", OPTIONS, async (t) => {
  const server = await serveKept(t);
  const { runs, until, options } = holding();
  const { WebSocket, deafen } = hearing();
  const shell = await connect(t, server.url, { ...options, WebSocket });
  const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
  await shell.bridge.stack();
  deafen(true);
  const unheard = [1, 2, 3].map((number) => caller.bridge.invoke(`action://live/${number}`));
  for (const each of unheard) each.catch(() => {});
  // They are kept some time later, since nobody waits for that.
  await caller.bridge.request("$/ping");
  for (const before = server.writtenAt; server.writtenAt === before; ) await caller.bridge.request("$/ping");
  await ends(server, "SIGKILL", shell.bridge, caller.bridge);
  deafen(false);
  await server.again();
  for (const each of unheard) await assert.rejects(each, { code: 2599 });
  const later = caller.bridge.invoke("action://live/later");
  await Promise.race([until(1), reaches(shell.bridge, "waiting")]);
  assert.deepEqual(shell.seen.filter(({ code }) => code === 4204), []);
  assert.deepEqual(runs.map(({ params }) => params.name), ["later"]);
  runs[0].resolve("done");
  assert.equal(await later, "done");
});

test("live: a page that is loaded again while its server is away finds what it had asked for", OPTIONS, async (t) => {
  const server = await serveKept(t);
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
  await server.again();
  const { bridge } = await next;
  assert.equal(bridge.session?.client, before);
  assert.deepEqual(bridge.pending.map(({ uri }) => uri), ["live://list"]);
  await shell.bridge.finish("picked", { page });
  assert.equal((await bridge.recover("pick")).data, "picked");
});

test("live: what was announced when the server crashed is known afterwards", OPTIONS, async (t) => {
  const server = await serveKept(t);
  const shell = await connect(t, server.url);
  const caller = await connect(t, server.url, { join: key(await shell.bridge.ready) });
  /** @type {string[]} */
  const heard = [];
  const registrations = [
    shell.bridge.task("action://live/echo", ({ text }) => text),
    caller.bridge.subscribe("page.*", ({ topic }) => heard.push(topic)),
    shell.bridge.host("live", { open: () => {}, close: () => {} }),
  ];
  await server.end("SIGKILL");
  await server.again();
  await Promise.all(registrations.map(({ registered }) => registered));
  assert.equal(await caller.bridge.invoke("action://live/echo", { text: "here" }), "here");
  await opened(caller.bridge, "live://a");
  await caller.bridge.stack();
  assert.deepEqual(heard, ["page.opened"]);
});
