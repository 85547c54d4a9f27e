// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { mockBridge } from "../bridge/mock.js";
import { FakePage, within } from "./fake-page.js";
import { turn } from "./fake-socket.js";
import { resultOf } from "./outcome.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

const FOREVER = () => new Promise(() => {});
const SHOP = "https://shop.test/shop.html";
const RULE = { code: 2403, data: { kind: "forbidden", retryable: false, rule: "invitation" } };

/**
 * A shell with two pages of its own, and a guest in the first page.
 * @param {import("../bridge/types/api.js").InviteOptions} [rights]
 * @param {Partial<BridgeOptions>} [options] of the guest
 */
async function party(rights, options) {
  /** @type {string[]} */
  const seen = [];
  const shell = mockBridge({ tasks: { "action://share": () => "shared", "action://pay": () => "paid" }, pages: { native: FOREVER } }, {
    hosts: { https: { open: ({ uri }) => void seen.push(`open ${uri}`), close: ({ uri }, reason) => void seen.push(`close ${uri} ${reason}`) } },
  });
  await shell.ready;
  const first = shell.app.open(SHOP, { secret: 1 });
  await turn();
  const second = shell.app.open("https://shop.test/other?secret=2", { secret: 2 });
  await turn();
  const [page, other] = (await shell.stack()).pages.map(({ id }) => id);
  // The guest does not wait for a shell that is gone.
  const guest = shell.guest(await shell.invite(SHOP, { page, ...rights }), { reconnect: false, ...options });
  return { shell, guest, page, other, first, second, seen };
}

test("the clients of a mocked app learn about one another, a guest only about itself", async () => {
  const shell = mockBridge();
  await shell.ready;
  const guest = shell.guest(await shell.invite("https://app.example/"));
  await guest.ready;
  assert.deepEqual((await shell.clients()).map((client) => client.guest), [undefined, true]);
  assert.deepEqual((await guest.clients()).map((client) => client.guest), [true]);
});

test("the clients of a mocked app publish events, a guest only those of its invitation", async () => {
  const { shell, guest } = await party({ topics: ["cart.*"] });
  /** @type {unknown[]} */
  const seen = [];
  await shell.subscribe(["cart.*", "order.*"], ({ topic, data, client }) => seen.push([topic, data, client])).registered;
  assert.deepEqual(await guest.publish("cart.changed", 1), { delivered: 1, waiting: 0 });
  await shell.publish("order.changed");
  await turn();
  assert.deepEqual(seen, [["cart.changed", 1, "mock"], ["order.changed", null, "mock"]]);
  await assert.rejects(guest.publish("order.changed"), RULE);
  await assert.rejects(shell.publish("page.opened"), { code: -32602 });
  await shell.close();
});

test("a guest knows its page, makes calls, finishes its page, and gets no token to join the session", async () => {
  const { shell, guest, page, other, first } = await party();
  const { joinToken, ...info } = await guest.ready;
  assert.deepEqual([info.session, info.guest, info.page, joinToken], ["mock-1", true, page, undefined]);
  assert.equal(await guest.invoke("action://share"), "shared");
  const opened = guest.open("native://a");
  await turn();
  assert.equal((await shell.stack()).pages.at(-1)?.opener, page);
  await shell.back();
  assert.equal((await opened).outcome, "dismissed");
  const own = guest.open("native://a");
  await turn();
  await assert.rejects(guest.finish({ picked: 1 }), RULE, "the other page is above it");
  await shell.finish(1, { page: other });
  assert.equal((await own).outcome, "dismissed");
  const above = guest.open("native://a");
  await turn();
  await guest.finish({ picked: 1 });
  assert.deepEqual([await resultOf(first), (await above).outcome], [{ picked: 1 }, "dismissed"]);
  await shell.close();
});

test("methods of a guest are called for its page, and it receives events", async () => {
  const { shell, guest, page, other } = await party({}, { methods: { title: () => "Shop" } });
  await guest.ready;
  assert.equal(await shell.call(page, "title"), "Shop");
  await assert.rejects(shell.call(other, "title"), { code: -32601 });
  /** @type {unknown[]} */
  const received = [];
  await guest.subscribe("cart", ({ data }) => received.push(data)).registered;
  shell.app.publish("cart", 1);
  await turn();
  assert.deepEqual(received, [1]);
  await shell.close();
});

test("a guest has no rights that its invitation does not grant", async () => {
  const { shell, guest, page, other, seen } = await party({ routes: ["action://share", "native://a/:id"] });
  await guest.ready;
  assert.equal(await guest.invoke("action://share"), "shared");
  await assert.rejects(guest.invoke("action://pay"), RULE);
  await assert.rejects(guest.open("native://b"), RULE);
  await assert.rejects(guest.deliver("native://b"), RULE);
  assert.deepEqual(await guest.canOpen("action://pay"), { canOpen: false });
  assert.deepEqual(await guest.canOpen("native://a/1"), { canOpen: true, kind: "page" });
  await assert.rejects(guest.invite(SHOP), RULE);
  await assert.rejects(guest.finish(1, { page: other }), RULE);
  await assert.rejects(guest.back(), RULE);
  await assert.rejects(guest.host("https", { open: () => {}, close: () => {} }).registered, RULE);
  await assert.rejects(guest.task("action://share", () => "mine").registered, RULE);
  assert.equal(await guest.invoke("action://share"), "shared");
  const { pages } = await guest.stack();
  assert.deepEqual(pages.map(({ id, uri, params }) => [id, uri, params]), [[page, SHOP, { secret: 1 }], [other, undefined, undefined]]);
  assert.deepEqual([(await guest.contains(page))?.id, await guest.contains(other), await guest.contains("https://shop.test/other")], [page, null, null]);
  await assert.rejects(guest.call(other, "m"), RULE);
  await shell.finish(1, { page: other });
  assert.equal((await guest.back()).page, page);
  assert.deepEqual(seen.slice(2), ["close https://shop.test/other?secret=2 finished"]);
  await shell.close();
});

test("a guest hosts what it was invited to host, until it leaves", async () => {
  const shell = mockBridge();
  const host = { open: () => {}, close: () => {} };
  const address = await shell.invite(SHOP, { hosts: ["flutter", "action://rate/:stars"] });
  await assert.rejects(shell.guest(address, { hosts: { native: host } }).ready, RULE);
  const guest = shell.guest(address, { hosts: { flutter: host }, tasks: { "action://rate/:stars": ({ stars }) => stars } });
  await guest.ready;
  assert.equal(await shell.invoke("action://rate/5"), "5");
  const page = shell.open("flutter://me");
  await turn();
  const [{ id }] = (await guest.stack()).pages;
  await guest.finish("mine", { page: id });
  assert.equal(await resultOf(page), "mine");
  const lost = shell.open("flutter://me");
  await turn();
  await guest.close();
  assert.deepEqual([(await lost).outcome, (await lost).code], ["failed", 2504]);
  assert.deepEqual(await shell.canOpen("flutter://me"), { canOpen: false });
  await shell.close();
});

test("the number of guests and the time are limited, and lost guests can return", async () => {
  const now = Date.now;
  let time = 1000;
  Date.now = () => time;
  try {
    const shell = mockBridge();
    const address = await shell.invite(SHOP, { uses: 2, expires: 500 });
    const guests = [shell.guest(address), shell.guest(address)];
    await Promise.all(guests.map(({ ready }) => ready));
    await assert.rejects(shell.guest(address).ready, { code: 2401 });
    await guests[0].close();
    await assert.rejects(shell.guest(address).ready, { code: 2401 }, "a guest that has closed its session cannot return");
    time += 501;
    shell.app.dropGuests();
    const again = shell.guest(address);
    await again.ready;
    shell.app.dropGuests();
    time += 120001;
    await assert.rejects(shell.guest(address).ready, { code: 2401 });
    const late = await shell.invite(SHOP, { expires: 1 });
    time += 2;
    await assert.rejects(shell.guest(late).ready, { code: 2401 });
    await Promise.all([shell, again, ...guests].map((each) => each.close()));
  } finally {
    Date.now = now;
  }
});

test("a guest in another page than its own, or of another session, is rejected", async () => {
  const { shell, page, other } = await party();
  const address = await shell.invite(SHOP, { page });
  await assert.rejects(shell.guest(address, { page: other }).ready, { code: -32602 });
  await assert.rejects(shell.guest(await shell.invite(SHOP), { page }).ready, { code: -32602 });
  await shell.guest(address, { page, reconnect: false }).ready;
  const join = { session: "mock-9", token: String(shell.session?.joinToken) };
  await assert.rejects(new Bridge({ url: "ws://mock.invalid/bridge", WebSocket: shell.app.WebSocket, join }).ready, { code: 2401 });
  await shell.close();
  await assert.rejects(shell.guest(address).ready, { code: 2401 });
});

test("a client that joins with the session's own token is not a guest", async () => {
  const shell = mockBridge();
  const { session, joinToken } = await shell.ready;
  const member = new Bridge({ url: "ws://mock.invalid/bridge", WebSocket: shell.app.WebSocket, join: { session, token: String(joinToken) } });
  const info = await member.ready;
  assert.deepEqual([info.guest, info.joinToken], [undefined, joinToken]);
  await member.host("native", { open: () => {}, close: () => {} }).registered;
  assert.deepEqual(await shell.canOpen("native://a"), { canOpen: true, kind: "page" });
  await member.invite(SHOP);
  await shell.close();
  await member.close();
});

test("a page's own script is tested unchanged", async () => {
  const shell = mockBridge({ tasks: { "action://share": () => "shared" } });
  // The mocked bridge has no host that a URL could name.
  const address = new URL(await shell.invite(SHOP));
  const page = Object.assign(new FakePage(address.href), { WebSocket: shell.app.WebSocket });
  const bridge = within(page, () => new Bridge({ WebSocket: page.WebSocket, bridges: ["ws://mock.invalid"] }));
  assert.equal(await bridge.invoke("action://share"), "shared");
  await shell.close();
  await bridge.close();
});

test("a handler calls for a guest only with the guest's rights, and for others with its own rights", async () => {
  /** @type {any[]} */
  const verdicts = [];
  const { shell, guest, other } = await party({ routes: ["action://delegation", "native://delegation", "action://share"] });
  const emit = async (/** @type {unknown} */ _, /** @type {import("../bridge/types/api.js").Delegation} */ delegation) => {
    const calls = [delegation.invoke("action://share"), delegation.invoke("action://pay"), delegation.open("action://pay"), delegation.call(other, "none")];
    const done = await Promise.all(calls.map((call) => call.then(() => "done", ({ code }) => code)));
    verdicts.push([...done, (await delegation.canOpen("action://pay")).canOpen]);
  };
  await shell.task("action://delegation", emit).registered;
  await shell.host("flutter", { open: emit, close: () => {}, methods: { emit } }).registered;
  shell.method("emit", emit);
  await guest.ready;
  const refused = ["done", 2403, 2403, 2403, false];
  const may = ["done", "done", "done", -32601, true];
  await guest.invoke("action://delegation");
  await guest.open("action://delegation");
  await shell.invoke("action://delegation");
  await shell.app.invoke("action://delegation");
  await shell.app.call("emit");
  assert.deepEqual(verdicts.splice(0), [refused, refused, may, may, may]);
  shell.open("flutter://me").catch(() => {});
  await turn();
  await shell.call(String((await shell.stack()).pages.at(-1)?.id), "emit");
  assert.deepEqual(verdicts, [may, may]);
  await assert.rejects(shell.request("router.invoke", { uri: "action://share", onBehalfOf: 99 }), { code: -32602, message: /onBehalfOf/ });
  await shell.close();
});
