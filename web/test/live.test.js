// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, DeclinedError, CancelledError, HostAbsentError, RouteNotFoundError } from "../bridge/bridge.js";
import { key, LIVE_URL, nodeWebSockets, SKIP } from "./node-ws.js";
import { resultOf } from "./outcome.js";

const OPTIONS = { skip: SKIP, timeout: 30000 };

/** @typedef {import("node:test").TestContext} TestContext */
/** @typedef {Partial<import("../bridge/bridge.js").BridgeOptions>} BridgeOptions */

/**
 * @param {TestContext} context
 * @param {BridgeOptions} [options]
 */
async function connect(context, options) {
  const bridge = new Bridge({ url: LIVE_URL, WebSocket: nodeWebSockets().WebSocket, ...options });
  context.after(() => bridge.close());
  await bridge.ready;
  return bridge;
}

/**
 * A shell that hosts `live` pages on top of a home page, and another client of its session. In the table, `native` is a closed scheme.
 * @param {TestContext} context
 * @param {{open?: import("../bridge/bridge.js").PageHost["open"], tasks?: BridgeOptions["tasks"]}} hosting
 */
async function shellAndOpener(context, { open = () => {}, tasks } = {}) {
  /** @type {string[]} */
  const seen = [];
  /** @type {import("../bridge/bridge.js").PageHost} */
  const host = {
    open: (page, call) => {
      seen.push(`open ${page.uri}`);
      return page.uri.startsWith("native://home") ? undefined : open(page, call);
    },
    close: (page, reason, exts) => void seen.push(`close ${page.uri} ${reason} ${JSON.stringify(exts)}`),
  };
  const shell = await connect(context, { tasks, hosts: { native: host, live: host } });
  const join = key(await shell.ready);
  const opener = await connect(context, { join });
  assert.equal(opener.session?.session, join.session);
  const home = whenShown(shell, "native://home");
  await home.shown;
  return { shell, opener, seen, home };
}

/**
 * Opens a page; returns when it is shown, and separately its outcome.
 * @param {Bridge} bridge
 * @param {string} uri
 * @param {import("../bridge/bridge.js").OpenOptions} [options]
 */
function whenShown(bridge, uri, options) {
  /** @type {(page: string) => void} */
  let opened = () => {};
  const shown = /** @type {Promise<string>} */ (new Promise((resolve) => (opened = resolve)));
  const outcome = bridge.open(uri, {}, { ...options, onProgress: (value) => value?.opened && opened(value.opened.page) });
  // A page that does not open must fail the test instead of blocking it.
  const shownOrFailed = Promise.race([shown, outcome.then(() => assert.fail(`${uri} was never shown`))]);
  outcome.catch(() => {});
  shownOrFailed.catch(() => {});
  return { shown: shownOrFailed, outcome };
}

test("live: canOpen and invoke reach a task, and an unknown route is reported", OPTIONS, async (t) => {
  const bridge = await connect(t);
  assert.equal((await bridge.canOpen("action://echo")).canOpen, true);
  assert.equal((await bridge.canOpen("action://no-such-task")).canOpen, false);
  const params = { text: "日本 \u0000 \u{1F600}", list: [1, null, { then: 1 }], constructor: "x" };
  assert.deepEqual(await bridge.invoke("action://echo", params), params);
  await assert.rejects(bridge.invoke("action://no-such-task"), (/** @type {any} */ error) => error instanceof RouteNotFoundError);
  assert((await bridge.routes()).some((route) => route.patterns.includes("action://echo")));
});

test("live: a page that another client shows returns its result to the opener", OPTIONS, async (t) => {
  const { shell, opener, seen } = await shellAndOpener(t);
  const page = whenShown(opener, "live://7?x=1");
  const id = await page.shown;
  assert.equal((await opener.contains("live://7"))?.id, id);
  assert.equal((await opener.stack()).pages.at(-1)?.id, id);
  await shell.finish({ picked: 7 }, { page: id, code: 17, message: "done", exts: { animated: false } });
  assert.deepEqual(await page.outcome, { outcome: "finished", code: 17, message: "done", data: { picked: 7 } });
  assert.equal(await opener.contains("live://7"), null);
  assert.deepEqual(seen, [
    "open native://home", "open live://7?x=1", 'close live://7?x=1 finished {"animated":false}',
  ]);
});

test("live: a result of back is for the opener, and without a result the page is dismissed", OPTIONS, async (t) => {
  const { shell, opener, seen } = await shellAndOpener(t);
  const first = whenShown(opener, "live://1");
  await first.shown;
  const second = whenShown(opener, "live://2");
  await second.shown;
  await shell.back({ count: 2, result: [1], exts: { by: "swipe" } });
  assert.deepEqual(await resultOf(first.outcome), [1]);
  assert.equal((await second.outcome).outcome, "dismissed");
  const third = whenShown(opener, "live://3");
  await third.shown;
  await opener.back();
  assert.deepEqual(await third.outcome, { outcome: "dismissed", code: 0, message: "", data: null });
  // Messages that were sent to the shell before its response have arrived by then.
  await shell.stack();
  assert.deepEqual(seen.filter((each) => each.startsWith("close")), [
    'close live://2 dismissed {"by":"swipe"}',
    'close live://1 finished {"by":"swipe"}',
    "close live://3 dismissed {}",
  ]);
});

test("live: cancelling before a page is shown rejects, and later closes it", OPTIONS, async (t) => {
  /** @type {() => void} */
  let requests = () => {};
  const isAsked = new Promise((resolve) => (requests = () => resolve(undefined)));
  const { opener } = await shellAndOpener(t, {
    open: (page, { signal }) => {
      if (page.uri === "live://quick") return undefined;
      requests();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const before = new AbortController();
  const slow = opener.open("live://slow", {}, { signal: before.signal });
  await isAsked;
  before.abort();
  await assert.rejects(slow, (/** @type {any} */ error) => error instanceof CancelledError);
  const after = new AbortController();
  const quick = whenShown(opener, "live://quick", { signal: after.signal });
  await quick.shown;
  after.abort();
  assert.equal((await quick.outcome).outcome, "cancelled");
  assert.equal((await opener.stack()).pages.length, 1);
});

test("live: errors of a host and of a task reach the caller", OPTIONS, async (t) => {
  const { opener } = await shellAndOpener(t, {
    open: () => {
      throw new Error("no room");
    },
    tasks: {
      "action://live/add": ({ a, b }, { progress }) => {
        progress("adding");
        return a + b;
      },
      "action://live/fail": () => {
        throw Object.assign(new Error("mine"), { code: 17, data: { why: 1 } });
      },
    },
  });
  await assert.rejects(opener.open("live://full"), { code: 2502, message: /no room/ });
  /** @type {unknown[]} */
  const progress = [];
  const sum = await opener.invoke("action://live/add", { a: 1, b: 2 }, { onProgress: (value) => progress.push(value) });
  assert.deepEqual([sum, progress], [3, ["adding"]]);
  await assert.rejects(opener.invoke("action://live/fail"), { code: 17, message: "mine", data: { why: 1 } });
});

test("live: a host added later is found until it is removed", OPTIONS, async (t) => {
  const bridge = await connect(t);
  const unregister = bridge.task("action://live/later", () => "now");
  await unregister.registered;
  assert.equal(await bridge.invoke("action://live/later"), "now");
  await unregister();
  assert.equal((await bridge.canOpen("action://live/later")).canOpen, false);
});

test("live: when the host's connection closes, its pages fail", OPTIONS, async (t) => {
  const { shell, opener } = await shellAndOpener(t);
  const page = whenShown(opener, "live://1");
  await page.shown;
  await shell.close();
  const { outcome, code } = await page.outcome;
  assert.deepEqual({ outcome, code }, { outcome: "failed", code: 2504 });
  await assert.rejects(opener.open("live://2"), (/** @type {any} */ error) => error instanceof HostAbsentError || error instanceof RouteNotFoundError);
});

test("live: closing settles every call", OPTIONS, async (t) => {
  const { opener } = await shellAndOpener(t);
  const pages = [whenShown(opener, "live://1"), whenShown(opener, "live://2")];
  await Promise.all(pages.map((page) => page.shown));
  await opener.close();
  for (const { outcome } of pages) await assert.rejects(outcome, { kind: "closed", code: 2599 });
});

test("live: a declined call goes to the next host, and a deep link is followed", OPTIONS, async (t) => {
  const decline = () => {
    throw new DeclinedError();
  };
  const { shell, opener, seen } = await shellAndOpener(t, { tasks: { "action://live/:x": ({ x }) => `shell ${x}` } });
  await opener.task("action://live/a", decline).registered;
  await opener.host("live", { open: decline, close: () => {}, patterns: ["live://:n"] }).registered;
  assert.equal(await opener.invoke("action://live/a"), "shell a");
  const page = whenShown(opener, "live://1");
  await page.shown;
  assert.equal(seen.at(-1), "open live://1");
  /** @type {(uri: string) => void} */
  let reported = () => {};
  const opened = new Promise((resolve) => (reported = resolve));
  await opener.subscribe("page.opened", ({ data }) => reported(data.uri)).registered;
  assert.equal(await shell.deliver("live://2"), null);
  assert.equal(await opened, "live://2");
});
