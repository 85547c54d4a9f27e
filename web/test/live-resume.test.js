// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { FakeStorage } from "./fake-page.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { key, LIVE_URL, nodeWebSockets, opened, SKIP } from "./node-ws.js";
import { resultOf } from "./outcome.js";

const OPTIONS = { skip: SKIP, timeout: 30000 };
const PAGE = "https://shop.example/shop.html";

/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */
/** @typedef {import("node:test").TestContext} TestContext */

/** A WebSocket that the test can cut like a failing network. The test can also change its messages. */
class Wire {
  /** @type {any[]} */ #sockets = [];
  /**
   * Returns the text to send in place of a message; `undefined` drops it.
   * @type {(text: string) => string | undefined}
   */
  change = (text) => text;

  get WebSocket() {
    const wire = this;
    return /** @type {any} */ (class extends nodeWebSockets().WebSocket {
      /** @param {any[]} how */
      constructor(...how) {
        super(...how);
        wire.#sockets.push(this);
      }

      /** @param {string} text */
      send(text) {
        const sent = wire.change(text);
        if (sent !== undefined) super.send(sent);
      }
    });
  }

  cut() {
    this.#sockets.at(-1).terminate();
  }

  /** Ends a page whose objects still exist in this process. */
  die() {
    this.change = () => undefined;
    this.cut();
  }
}

/**
 * @param {TestContext} context
 * @param {BridgeOptions} [options]
 * @param {FakeTab} [tab] the tab in which it runs
 */
async function connect(context, options, tab) {
  const wire = new Wire();
  const make = () => new Bridge({ url: LIVE_URL, WebSocket: wire.WebSocket, reconnect: { minDelay: 1, maxDelay: 50 }, ...options });
  const bridge = tab === undefined ? make() : tab.run(make);
  context.after(() => bridge.close());
  await bridge.ready;
  return { bridge, wire };
}

/**
 * Reloads a page: its connection breaks, and its script runs again.
 * @param {TestContext} context
 * @param {FakeTab} tab
 * @param {Wire} wire
 * @param {BridgeOptions} [options]
 */
async function reload(context, tab, wire, options) {
  tab.unload();
  wire.die();
  return connect(context, options, tab);
}

const newTab = () => new FakeTab(PAGE, new FakeLocks(), new FakeStorage());

/**
 * @param {Bridge} bridge
 * @param {string} state
 * @returns {Promise<import("../bridge/bridge.js").StateChange>}
 */
function reaches(bridge, state) {
  return new Promise((resolve) => bridge.addEventListener("statechange", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (detail.state === state) resolve(detail);
  }));
}

/** A host that records its actions. */
function noting() {
  /** @type {string[]} */
  const seen = [];
  /** @type {import("../bridge/bridge.js").PageHost} */
  const host = {
    open: (page, call) => {
      if (call.restored && page.uri.endsWith("/broken")) throw new Error("no room");
      seen.push(`${call.restored ? "again" : "open"} ${page.uri}`);
    },
    close: (page, reason) => void seen.push(`close ${page.uri} ${reason}`),
  };
  return { seen, hosts: { live: host } };
}

test("live: a session is resumed after its connection was cut, without effect on calls", OPTIONS, async (t) => {
  const { seen, hosts } = noting();
  /** @type {(value: string) => void} */
  let finish = () => {};
  /** @type {() => void} */
  let begun = () => {};
  const isBegun = new Promise((resolve) => (begun = () => resolve(undefined)));
  const tasks = { "action://live/slow": () => new Promise((resolve) => ((finish = resolve), begun())) };
  const shell = await connect(t, { hosts, tasks });
  const opener = await connect(t, { join: key(await shell.bridge.ready) });
  const { page, outcome } = await opened(opener.bridge, "live://a");
  const slow = opener.bridge.invoke("action://live/slow");
  await isBegun;
  /** @type {string[]} */
  const topics = [];
  await opener.bridge.subscribe("page.*", ({ topic }) => topics.push(topic)).registered;
  const [session, client] = [opener.bridge.session?.session, opener.bridge.session?.client];
  const waiting = [reaches(shell.bridge, "waiting"), reaches(opener.bridge, "waiting")];
  const open = [reaches(shell.bridge, "open"), reaches(opener.bridge, "open")];
  shell.wire.cut();
  opener.wire.cut();
  await Promise.all(waiting);
  finish("done");
  const finished = shell.bridge.finish({ picked: 1 }, { page });
  const stack = opener.bridge.stack();
  for (const change of await Promise.all(open)) assert.equal(change.lost, undefined);
  assert.equal(await slow, "done");
  await finished;
  assert.deepEqual((await outcome).data, { picked: 1 });
  assert((await stack).pages.length <= 1);
  assert.deepEqual([opener.bridge.session?.session, opener.bridge.session?.client], [session, client]);
  await opener.bridge.stack();
  assert.deepEqual(seen, ["open live://a", "close live://a finished"]);
  assert.equal(topics.filter((topic) => topic === "page.closed").length, 1);
});

for (const when of ["before", "after"]) {
  test(`live: a page's result reaches its opener, which was reloaded ${when} the pick`, OPTIONS, async (t) => {
    const { hosts } = noting();
    const shell = await connect(t, { hosts });
    const tab = newTab();
    const options = { join: key(await shell.bridge.ready) };
    const first = await connect(t, options, tab);
    const { page, outcome } = await opened(first.bridge, "live://list", { key: "pick" });
    outcome.catch(() => {});
    if (when === "after") {
      tab.unload();
      first.wire.die();
      await shell.bridge.finish({ picked: 7 }, { page });
    }
    const { bridge } = when === "after" ? await connect(t, options, tab) : await reload(t, tab, first.wire, options);
    assert.equal(bridge.session?.client, first.bridge.session?.client);
    assert.deepEqual(bridge.pending.map(({ method, uri, key: own }) => [method, uri, own]), [["router.open", "live://list", "pick"]]);
    if (when === "before") await shell.bridge.finish({ picked: 7 }, { page });
    assert.deepEqual((await bridge.recover("pick")).data, { picked: 7 });
    assert.deepEqual((await bridge.pending[0].result).data, { picked: 7 });
    assert.deepEqual(await resultOf(bridge.open("live://list", {}, { key: "pick" })), { picked: 7 }, "the key still has the result");
    await assert.rejects(bridge.recover("other"), { code: 2599 });
  });
}

test("live: a reloaded host shows its pages again, and pages that it cannot show have failed", OPTIONS, async (t) => {
  const before = noting();
  const tab = newTab();
  const first = await connect(t, { hosts: before.hosts }, tab);
  const opener = await connect(t, { join: key(await first.bridge.ready) });
  const [one, broken, three] = [await opened(opener.bridge, "live://1"), await opened(opener.bridge, "live://2/broken"), await opened(opener.bridge, "live://3")];
  const after = noting();
  const { bridge } = await reload(t, tab, first.wire, { hosts: after.hosts });
  assert.deepEqual([(await broken.outcome).outcome, (await broken.outcome).code], ["failed", 2502]);
  assert.deepEqual(after.seen, ["again live://1", "again live://3"]);
  assert.deepEqual((await opener.bridge.stack()).pages.map(({ uri }) => uri), ["live://1", "live://3"]);
  await bridge.finish(3, { page: three.page });
  await bridge.finish(1, { page: one.page });
  assert.deepEqual([(await one.outcome).data, (await three.outcome).data], [1, 3]);
  assert.deepEqual(before.seen.filter((each) => each.startsWith("close")), []);
  assert.deepEqual(after.seen.slice(2), ["close live://3 finished", "close live://1 finished"]);
});

test("live: opener and host are both reloaded", OPTIONS, async (t) => {
  const [hostTab, openerTab] = [newTab(), newTab()];
  const host = await connect(t, { hosts: noting().hosts }, hostTab);
  const options = { join: key(await host.bridge.ready) };
  const opener = await connect(t, options, openerTab);
  const { page, outcome } = await opened(opener.bridge, "live://list", { key: "pick" });
  outcome.catch(() => {});
  const after = noting();
  const [{ bridge: shell }, { bridge }] = await Promise.all([reload(t, hostTab, host.wire, { hosts: after.hosts }), reload(t, openerTab, opener.wire, options)]);
  while (after.seen.length === 0) await shell.stack();
  await shell.finish("both", { page });
  assert.equal((await bridge.recover("pick")).data, "both");
  // The two receive it on different connections.
  await shell.stack();
  assert.deepEqual(after.seen, ["again live://list", "close live://list finished"]);
});

test("live: a task whose host page was reloaded has an unknown outcome, and does not run again", OPTIONS, async (t) => {
  let count = 0;
  const tab = newTab();
  /** @type {() => void} */
  let begun = () => {};
  const isBegun = new Promise((resolve) => (begun = () => resolve(undefined)));
  const tasks = { "action://live/pay": () => ((count += 1), begun(), new Promise(() => {})) };
  const host = await connect(t, { tasks }, tab);
  const caller = await connect(t, { join: key(await host.bridge.ready) });
  const paid = caller.bridge.invoke("action://live/pay");
  paid.catch(() => {});
  await isBegun;
  await reload(t, tab, host.wire, { tasks });
  await assert.rejects(paid, { code: 2599, kind: "outcomeUnknown", name: "OutcomeUnknownError" });
  assert.equal(count, 1);
});

test("live: stored topics are subscribed to again after a reload, with the retained events", OPTIONS, async (t) => {
  const tab = newTab();
  const first = await connect(t, { hosts: noting().hosts }, tab);
  await first.bridge.subscribe("page.opened", () => {}).registered;
  const { bridge } = await reload(t, tab, first.wire, { hosts: noting().hosts });
  /** @type {string[]} */
  const received = [];
  await bridge.subscribe("page.opened", ({ data }) => received.push(data.uri)).registered;
  await opened(bridge, "live://x");
  await bridge.stack();
  assert.deepEqual(received, ["live://x"]);
  assert.deepEqual((await bridge.request("events.unsubscribe", { topics: ["page.opened"] })).topics, []);
});

test("live: a client that the server no longer knows learns what was lost", OPTIONS, async (t) => {
  const { seen, hosts } = noting();
  const runs = { plain: 0, keyed: 0 };
  /** @type {() => void} */
  let finish = () => {};
  const done = new Promise((resolve) => (finish = () => resolve("done")));
  const shell = await connect(t, { tasks: { "action://live/slow": () => ((runs.plain += 1), done), "action://live/pay": () => ((runs.keyed += 1), done) } });
  const join = key(await shell.bridge.ready);
  const { bridge, wire } = await connect(t, { hosts, join });
  const { page } = await opened(bridge, "live://own");
  const [plain, keyed] = [bridge.invoke("action://live/slow"), bridge.invoke("action://live/pay", {}, { key: "pay-1" })];
  plain.catch(() => {});
  await bridge.stack();
  wire.change = (text) => text.replace(/("session.resume".*?"token":")[^"]*/, "$1wrong");
  const open = reaches(bridge, "open");
  wire.cut();
  const { lost } = await open;
  assert.equal(lost?.reason, "token");
  assert.deepEqual(lost?.calls.map(({ method, uri }) => [method, uri]).sort(), [["router.invoke", "action://live/slow"], ["router.open", "live://own"]]);
  assert.deepEqual(lost?.pages, [page]);
  await assert.rejects(plain, { code: 2599, kind: "outcomeUnknown" });
  finish();
  assert.equal(await keyed, "done");
  assert.deepEqual(runs, { plain: 1, keyed: 1 });
  assert.deepEqual(seen, ["open live://own", "close live://own failed"]);
  await opened(bridge, "live://new");
});

test("live: if two pages resume one client, the last one gets it, and the first is notified", OPTIONS, async (t) => {
  const tab = new FakeTab(PAGE, undefined);
  const first = await connect(t, {}, tab);
  const closed = reaches(first.bridge, "closed");
  const client = first.bridge.session?.client;
  tab.leave();
  const second = await connect(t, {}, tab);
  const { code, reason } = await closed;
  assert.equal(code, 4009);
  assert.match(String(reason), /\w/);
  assert.equal(second.bridge.session?.client, client);
  await second.bridge.stack();
});

test("live: however connections are cut, each call runs once and has one response", { ...OPTIONS, timeout: 60000 }, async (t) => {
  /** @type {number[]} */
  const ran = [];
  const shell = await connect(t, {
    tasks: {
      "action://live/count": async ({ n }) => {
        ran.push(n);
        await new Promise((resolve) => setTimeout(resolve, n % 7));
        return n;
      },
    },
  });
  const caller = await connect(t, { join: key(await shell.bridge.ready) });
  const { session } = await caller.bridge.ready;
  /** @type {Promise<number>[]} */
  const calls = [];
  for (let n = 0; n < 400; n += 1) {
    calls.push(caller.bridge.invoke("action://live/count", { n }));
    if (n % 10 === 9) (Math.random() < 0.5 ? shell : caller).wire.cut();
    if (n % 5 === 4) await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
  }
  assert.deepEqual(await Promise.all(calls), Array.from({ length: 400 }, (_, n) => n));
  assert.deepEqual([...ran].sort((one, other) => one - other), Array.from({ length: 400 }, (_, n) => n));
  assert.equal(caller.bridge.session?.session, session);
});
