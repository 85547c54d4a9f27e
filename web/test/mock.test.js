// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { CancelledError, DeclinedError, RouteNotFoundError } from "../bridge/bridge.js";
import { mockBridge } from "../bridge/mock.js";
import { turn } from "./fake-socket.js";
import { ManualClock } from "./manual-clock.js";
import { resultOf } from "./outcome.js";

/** @typedef {import("../bridge/mock.js").MockBridge} MockBridge */
/** @typedef {import("../bridge/bridge.js").OpenOptions} OpenOptions */

const FOREVER = () => new Promise(() => {});
const FINISHED = { outcome: "finished", code: 0, message: "", data: null };
const DISMISSED = { outcome: "dismissed", code: 0, message: "", data: null };

/**
 * Opens a page that stays open, and waits until it is shown.
 * @param {MockBridge} bridge
 * @param {string} uri
 * @param {OpenOptions} [options]
 */
async function shown(bridge, uri, options) {
  /** @type {(page: string) => void} */
  let opened = () => {};
  const page = /** @type {Promise<string>} */ (new Promise((resolve) => (opened = resolve)));
  const outcome = bridge.open(uri, {}, { ...options, onProgress: (value) => opened(value.opened.page) });
  return { id: await page, outcome };
}

test("tasks get merged parameters, report progress, and return or fail", async () => {
  const bridge = mockBridge({
    tasks: {
      "action://share/:what": (params, { exts, progress }) => (progress(1), { params, exts }),
      "action://fail": () => {
        throw Object.assign(new Error("mine"), { code: 17, data: [1] });
      },
    },
  });
  /** @type {unknown[]} */
  const progress = [];
  const shared = await bridge.invoke("action://share/tea?n=1", { n: 2 }, { exts: { e: 1 }, onProgress: (value) => progress.push(value) });
  assert.deepEqual(shared, { params: { what: "tea", n: 2 }, exts: { e: 1 } });
  assert.deepEqual(progress, [1]);
  assert.deepEqual((await resultOf(bridge.open("action://share/x"))).params, { what: "x" });
  await assert.rejects(bridge.invoke("action://fail"), { code: 17, message: "mine", data: [1] });
  await assert.rejects(bridge.invoke("action://none"), (/** @type {any} */ error) => error instanceof RouteNotFoundError);
  await assert.rejects(bridge.request("table.get"), { code: -32601 });
  assert.deepEqual(bridge.app.calls.map(({ method }) => method), [
    "session.open", "router.invoke", "router.open", "router.invoke", "router.invoke", "table.get",
  ]);
  await bridge.close();
});

test("editStack replaces pages in the middle, and leaves the stack as it is after a failure", async () => {
  const bridge = mockBridge({ pages: { "native://:name": FOREVER }, tasks: { "action://tea": () => 1 } });
  const uris = async () => (await bridge.stack()).pages.map(({ uri }) => uri.slice("native://".length));
  const [m, a, b] = [await shown(bridge, "native://m"), await shown(bridge, "native://a"), await shown(bridge, "native://b")];
  // They are open until the connection closes.
  for (const { outcome } of [m, b]) outcome.catch(() => {});
  const change = await bridge.editStack({ remove: { page: "native://a" }, open: [{ uri: "native://x" }, { uri: "native://y" }] });
  assert.deepEqual(await uris(), ["m", "x", "y", "b"]);
  assert.deepEqual({ page: change.page, closed: change.closed, count: change.opened?.length }, { page: b.id, closed: [a.id], count: 2 });
  assert.equal((await a.outcome).outcome, "replaced");
  assert.deepEqual(await bridge.editStack({ remove: { from: "native://y", through: "native://x" } }), { page: b.id, closed: [...(change.opened ?? [])].reverse() });
  await assert.rejects(bridge.editStack({ remove: { all: true }, open: [{ uri: "native://x" }, { uri: "action://tea" }] }), { code: 2405 });
  await assert.rejects(bridge.editStack({ remove: { from: m.id } }), { code: 2409, kind: "nothingStays" });
  await assert.rejects(bridge.editStack({ remove: {} }), { code: -32602 });
  assert.deepEqual(await uris(), ["m", "b"]);
  await bridge.editStack({ remove: { above: m.id }, open: [{ uri: "native://x" }] });
  assert.deepEqual(await uris(), ["m", "x"]);
  await bridge.close();
});

test("pages finish with their value, fail with their error, and otherwise wait for back", async () => {
  /** @type {AbortSignal[]} */
  const signals = [];
  const bridge = mockBridge({
    pages: {
      "native://address/:id": ({ id }) => ({ city: id }),
      "native://broken": () => assert.fail("no room"),
      native: (_, { signal }) => (signals.push(signal), FOREVER()),
    },
  });
  assert.deepEqual(await bridge.open("native://address/Kyoto"), { ...FINISHED, data: { city: "Kyoto" } });
  assert.deepEqual(await bridge.open("native://broken"), { outcome: "failed", code: 2502, message: "no room", data: null });
  const [root, a, b] = [await shown(bridge, "native://home"), await shown(bridge, "native://a"), await shown(bridge, "native://b")];
  assert.deepEqual((await bridge.stack()).pages.map(({ id }) => id), [root.id, a.id, b.id]);
  assert.equal((await bridge.contains("native://A?x=1"))?.id, a.id);
  assert.deepEqual(await bridge.back({ to: "native://home", result: 7 }), { page: root.id, closed: [b.id, a.id] });
  assert.deepEqual([await a.outcome, await b.outcome], [{ ...FINISHED, data: 7 }, DISMISSED]);
  assert.deepEqual(signals.map(({ aborted }) => aborted), [false, true, true]);
  await assert.rejects(bridge.back({ result: 1 }), { code: 2409 });
  await assert.rejects(bridge.back({ to: a.id }), { code: 2404, kind: "notOnStack" });
  const c = await shown(bridge, "native://c");
  await bridge.finish("done", { page: c.id });
  assert.equal(await resultOf(c.outcome), "done");
  const change = await bridge.back();
  /** @type {string | null} */
  const top = change.page;
  assert.deepEqual([top, change.closed], [root.id, []]);
  await bridge.close();
  await assert.rejects(root.outcome, { code: 2599 });
});

test("styles replace pages, begin a new stack and go back", async () => {
  const bridge = mockBridge({ pages: { native: FOREVER } });
  const root = await shown(bridge, "native://home");
  const a = await shown(bridge, "native://a");
  const b = await shown(bridge, "native://b", { style: "replace" });
  assert.equal((await a.outcome).outcome, "replaced");
  const back = bridge.open("native://home", {}, { style: "popTo" });
  assert.equal((await b.outcome).outcome, "dismissed");
  const last = await shown(bridge, "native://new", { style: "root" });
  assert.equal((await root.outcome).outcome, "replaced");
  assert.equal((await back).outcome, "replaced");
  await bridge.close();
  await assert.rejects(last.outcome, { code: 2599 });
});

test("the exts of back, finish and open reach the hosts of closed pages", async () => {
  /** @type {unknown[]} */
  const closed = [];
  const close = (/** @type {any} */ { uri }, /** @type {string} */ reason, /** @type {object} */ exts) =>
    void closed.push([uri, reason, exts]);
  const bridge = mockBridge({}, { hosts: { native: { open: () => {}, close } } });
  for (const name of "abcd") await shown(bridge, `native://${name}`, { exts: { own: name } });
  await bridge.back({ exts: { animated: false } });
  const e = await shown(bridge, "native://e", { style: "replace", exts: { by: "flip" } });
  await bridge.finish("done", { page: e.id, exts: { by: "fade" } });
  await bridge.back({ exts: {} });
  const f = await shown(bridge, "native://f");
  void bridge.open("native://a", {}, { style: "popTo", exts: { by: "jump" } });
  assert.equal((await f.outcome).outcome, "dismissed");
  const last = await shown(bridge, "native://g", { style: "root" });
  await turn();
  assert.deepEqual(closed, [
    ["native://d", "dismissed", { animated: false }],
    ["native://c", "replaced", { by: "flip" }],
    ["native://e", "finished", { by: "fade" }],
    ["native://b", "dismissed", {}],
    ["native://f", "dismissed", { by: "jump" }],
    ["native://a", "replaced", {}],
  ]);
  await bridge.close();
  await assert.rejects(last.outcome, { code: 2599 });
});

test("dot segments of a URI are removed, as on the server", async () => {
  const bridge = mockBridge({ pages: { "native://a/:id": FOREVER }, tasks: { "action://t/:id": ({ id }, { uri }) => [id, uri] } });
  const page = await shown(bridge, "native://a/b/%2e%2e/c");
  const { pages } = await bridge.stack();
  assert.deepEqual(pages.map(({ uri, params }) => [uri, params]), [["native://a/c", { id: "c" }]]);
  assert.equal((await bridge.contains("native://a/./c"))?.id, page.id);
  assert.deepEqual(await bridge.invoke("action://t/x/../y"), ["y", "action://t/y"]);
  assert.deepEqual(await bridge.canOpen("action://t/.."), { canOpen: false });
  await bridge.finish(1, { page: page.id });
  assert.equal(await resultOf(page.outcome), 1);
  await bridge.close();
});

test("cancelling rejects before a page is shown, and closes it later", async () => {
  const bridge = mockBridge({ pages: { native: FOREVER }, tasks: { "action://wait": (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))) } });
  const controller = new AbortController();
  const page = await shown(bridge, "native://a", { signal: controller.signal });
  const task = bridge.invoke("action://wait", {}, { signal: controller.signal });
  await turn();
  controller.abort();
  assert.equal((await page.outcome).outcome, "cancelled");
  await assert.rejects(task, (/** @type {any} */ error) => error instanceof CancelledError);
  await bridge.close();
});

test("the test can be another client: it opens and runs what the bridge hosts, and calls its methods", async () => {
  /** @type {string[]} */
  const seen = [];
  const bridge = mockBridge({}, {
    hosts: {
      native: {
        open: (page) => void seen.push(`open ${page.uri}`),
        close: (page, reason) => void seen.push(`close ${page.uri} ${reason}`),
        resume: (page) => void seen.push(`resume ${page.uri}`),
        methods: { title: (_, { page }) => Reflect.get(page ?? {}, "uri") },
      },
    },
    tasks: { "action://add/:b": ({ a, b }) => a + Number(b) },
    methods: { hello: ({ name }) => `Hello, ${name}` },
  });
  await bridge.ready;
  assert.equal(await bridge.app.invoke("action://add/2", { a: 1 }), 3);
  assert.equal(await bridge.app.call("hello", { name: "Ada" }), "Hello, Ada");
  const first = bridge.app.open("native://a");
  await turn();
  const second = bridge.app.open("native://b");
  await turn();
  assert.equal(await bridge.call("p1", "title"), "native://a");
  await bridge.back({ result: "r" });
  assert.equal(await resultOf(second), "r");
  await turn();
  assert.deepEqual(seen, ["open native://a", "open native://b", "close native://b finished", "resume native://a"]);
  const task = bridge.task("action://later", () => "now");
  await task.registered;
  assert.equal(await bridge.invoke("action://later"), "now");
  await task();
  await assert.rejects(bridge.invoke("action://later"), { code: 2404 });
  await bridge.finish(1, { page: "p1" });
  assert.equal(await resultOf(first), 1);
  await bridge.close();
});

test("subscribers receive events", async () => {
  const bridge = mockBridge();
  /** @type {unknown[]} */
  const received = [];
  const unsubscribe = bridge.subscribe("cart.*", ({ topic, data }) => received.push([topic, data]));
  await unsubscribe.registered;
  bridge.app.publish("cart.changed", { count: 1 });
  bridge.app.publish("other");
  await turn();
  await unsubscribe();
  bridge.app.publish("cart.changed", { count: 2 });
  await turn();
  assert.deepEqual(received, [["cart.changed", { count: 1 }]]);
  await bridge.close();
});

test("connections are lost and opened again like real ones", async () => {
  const clock = new ManualClock();
  const bridge = mockBridge({ tasks: { "action://wait": FOREVER, "action://a": () => 1 } }, { clock, reconnect: { minDelay: 10 } });
  await bridge.ready;
  const lost = bridge.invoke("action://wait");
  await turn();
  bridge.app.isDown = true;
  bridge.app.drop(4200, "drain");
  await assert.rejects(lost, { code: 2599 });
  clock.advance(0);
  await turn();
  assert.equal(bridge.state, "waiting");
  await assert.rejects(bridge.app.invoke("action://a"), { code: 2504, message: /no session/ });
  bridge.app.isDown = false;
  const waiting = bridge.invoke("action://a");
  clock.advance(30000);
  assert.equal(await waiting, 1);
  assert.equal((await bridge.ready).session, "mock-2");
  await bridge.close();
  assert.equal(clock.pending, 0);
});

test("supports and canOpen report what the mocked app has", async () => {
  const bridge = mockBridge({ tasks: { "action://a": () => 1 }, pages: { "native://b": () => 1 } });
  assert.deepEqual(await bridge.canOpen("native://b"), { canOpen: true, kind: "page" });
  for (const [what, expected] of /** @type {[string, boolean][]} */ ([
    ["action://a", true], ["native://b", true], ["native://c", false], ["router.open", true], ["table.get", false],
  ])) assert.equal(await bridge.supports(what), expected, what);
  await assert.rejects(bridge.invoke("native://b"), { code: 2405 });
  await bridge.close();
});

test("a declined call goes to the next host, then fails for the caller", async () => {
  const declines = () => {
    throw new DeclinedError();
  };
  /** @type {unknown[]} */
  const seen = [];
  const bridge = mockBridge({ tasks: { "action://a": declines } }, {
    hosts: { native: { open: ({ params }) => void seen.push(params), close: () => {} } },
    tasks: { "action://:x": ({ x }) => `next ${x}`, "action://b/:y": declines },
  });
  const narrow = bridge.host("native", { open: declines, close: () => {}, patterns: ["native://a/:id"] });
  await narrow.registered;
  assert.equal(await bridge.invoke("action://a"), "next a");
  await assert.rejects(bridge.invoke("action://b/1"), { code: 2404, kind: "declined" });
  const page = await shown(bridge, "native://a/5?q=1");
  assert.deepEqual(seen, [{ q: "1" }]);
  await bridge.close();
  await assert.rejects(page.outcome, { code: 2599 });
});

test("a delivered deep link is followed", async () => {
  const bridge = mockBridge({ pages: { native: FOREVER } });
  assert.equal(await bridge.deliver("native://a", { x: 1 }), null);
  assert.equal(await bridge.deliver({ action: "open", action_url: "native://b" }), null);
  assert.equal(await bridge.deliver("elsewhere://c"), null);
  const { pages } = await bridge.stack();
  assert.deepEqual(pages.map(({ uri, params }) => [uri, params]), [["native://a", { x: 1 }], ["native://b", {}]]);
  await bridge.close();
});

test("a page that is open already gets the new parameters of popTo and is resumed with them", async () => {
  /** @type {unknown[]} */
  const seen = [];
  const bridge = mockBridge({}, {
    hosts: { native: { open: ({ uri }) => void seen.push(`open ${uri}`), close: () => {}, resume: ({ id }, changes) => void seen.push([id, changes]) } },
  });
  await bridge.ready;
  /** @param {[string, any?, any?]} how */
  const open = async (...how) => {
    // The page outlives this test.
    bridge.open(...how).catch(() => {});
    await turn();
  };
  await open("native://a", { x: 1 });
  await open("native://b");
  for (const [uri, params, exts] of /** @type {[string, any, any][]} */ ([
    ["native://a", undefined, undefined], ["native://a?y=2", { z: 3 }, undefined], ["native://a", undefined, { by: "link" }], ["native://a", undefined, undefined],
  ])) {
    await open(uri, params, { style: "popTo", exts });
  }
  const [page] = (await bridge.stack()).pages;
  assert.deepEqual([page.uri, page.params], ["native://a?y=2", { y: "2", z: 3 }]);
  assert.deepEqual(seen, ["open native://a", "open native://b", [page.id, {}], [page.id, { uri: "native://a?y=2", params: { y: "2", z: 3 } }], [page.id, { exts: { by: "link" } }]]);
  await bridge.close();
});

test("hosted tasks, hosted methods and tasks of the app get the idempotency key, and run their work once", async () => {
  let runs = 0;
  const pay = (/** @type {any} */ _, /** @type {any} */ { key, once }) => once(() => ((runs += 1), `${key} ${runs}`));
  const bridge = mockBridge({ tasks: { "action://own": pay } }, { tasks: { "action://hosted": pay }, methods: { pay }, page: "p1" });
  await bridge.ready;
  for (const call of [
    () => bridge.invoke("action://own", {}, { key: "a" }),
    () => bridge.invoke("action://hosted", {}, { key: "a" }),
    () => bridge.call("p1", "pay", {}, { key: "a" }),
    () => bridge.app.invoke("action://hosted", {}, { key: "b" }),
  ]) {
    const before = runs;
    const first = await call();
    assert.deepEqual([first, await call(), runs], [`${first.charAt(0)} ${before + 1}`, first, before + 1]);
  }
  assert.equal(await bridge.invoke("action://hosted"), "undefined 5");
  await bridge.close();
});

test("equal keys of two guests are apart", async () => {
  let runs = 0;
  const bridge = mockBridge({}, { tasks: { "action://pay": (_, { once }) => once(() => (runs += 1)) } });
  const guests = [];
  for (const page of ["p1", "p2"]) guests.push(bridge.guest(await bridge.invite("https://shop.test/", { page })));
  const values = [];
  for (const guest of [...guests, ...guests]) values.push(await guest.invoke("action://pay", {}, { key: "k" }));
  assert.deepEqual(values, [1, 2, 1, 2]);
  for (const each of [...guests, bridge]) await each.close();
});

test("a deep link with a key is followed once, with its style and exts", async () => {
  /** @type {unknown[]} */
  const seen = [];
  const bridge = mockBridge({ pages: { native: (_, { page }) => (seen.push([page.uri, page.style, page.exts]), new Promise(() => {})) } });
  for (let count = 0; count < 2; count += 1) await bridge.deliver("native://a", {}, { key: "push-7", style: "root", exts: { by: "push" } });
  for (let count = 0; count < 2; count += 1) await bridge.deliver({ action: "open", action_url: "native://b" });
  await turn();
  assert.deepEqual(seen, [["native://a", "root", { by: "push" }], ["native://b", "push", {}], ["native://b", "push", {}]]);
  await bridge.close();
});

test("a mocked app responds to messages that a server cannot read like a server", async () => {
  const bridge = mockBridge();
  await bridge.ready;
  const socket = new bridge.app.WebSocket("ws://mock.invalid/bridge", []);
  /** @type {any[]} */
  const received = [];
  socket.addEventListener("message", (/** @type {any} */ { data }) => received.push(JSON.parse(data)));
  await turn();
  for (const text of ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"t":"\\ud83d"}}', '{"jsonrpc":"2.0","id":8,"result":"\\ud83d"}', "{", `{"jsonrpc":"2.0","method":"x","params":{"t":${"[".repeat(200)}${"]".repeat(200)}}}`]) {
    socket.send(text);
    await turn();
  }
  assert.deepEqual(received.map(({ id, error }) => [id, error.code]), [[7, -32700], [null, -32700], [null, -32700], [null, -32700]]);
  assert.match(received[0].error.message, /^not JSON: t has half of a surrogate pair/);
  await bridge.close();
});

test("an empty reference is an error of the mocked app too", async () => {
  const bridge = mockBridge();
  await assert.rejects(bridge.request("navigation.contains", { uri: "" }), { code: -32602 });
  await bridge.close();
});

/**
 * Opens a page, and resolves with the progress when it is shown.
 * @param {any} shell
 * @param {string} uri
 * @returns {Promise<any>}
 */
const opening = (shell, uri) => new Promise((onProgress) => void shell.open(uri, {}, { onProgress }).catch(() => {}));

test("a mocked app reports the visibility of pages, first that of the client's own ones", async () => {
  const shell = mockBridge({}, { hosts: { native: { open: () => {}, close: () => {} } } });
  await opening(shell, "native://a");
  /** @type {any[]} */
  const seen = [];
  await new Promise((first) => shell.subscribe("page.visibility", ({ data }) => first(seen.push(`${data.uri} ${data.visibility}`))));
  await opening(shell, "native://b");
  await shell.back();
  await turn();
  assert.deepEqual(seen, ["native://a shown", "native://a hidden", "native://b shown", "native://a shown"]);
  await shell.close();
});

test("the guest of a page gets its new parameters and its visibility only", async () => {
  const shell = mockBridge({}, { hosts: { web: { open: () => {}, close: () => {} } } });
  const { opened: { page } } = await opening(shell, "web://order");
  const guest = shell.guest(await shell.invite("https://shop.example/", { page }));
  /** @type {any[]} */
  const seen = [];
  guest.addEventListener("resume", (/** @type {any} */ { detail }) => seen.push(detail.params));
  await new Promise((first) => guest.subscribe("page.visibility", ({ data }) => first(seen.push(data.visibility))));
  await opening(shell, "web://other");
  shell.open("web://order", { id: "8" }, { style: "popTo" }).catch(() => {});
  await turn();
  await turn();
  assert.deepEqual(seen, ["shown", "hidden", { id: "8" }, "shown"]);
  await Promise.all([guest.close(), shell.close()]);
});
