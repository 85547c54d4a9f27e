// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { mockBridge } from "../bridge/mock.js";
import { FakePage, within } from "./fake-page.js";
import { turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

const FOREVER = () => new Promise(() => {});
const SHOP = "https://shop.test/shop.html";
const RULE = { code: 2403, data: { kind: "forbidden", retryable: false, rule: "invitation" } };

/**
 * A shell with two pages of its own, and a guest in the first of them.
 * @param {import("../bridge/types.js").InviteOptions} [rights]
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
  // It does not wait for a shell that is gone.
  const guest = shell.guest(await shell.invite(SHOP, { page, ...rights }), { reconnect: false, ...options });
  return { shell, guest, page, other, first, second, seen };
}

test("a guest knows its page, calls, finishes its page, and gets no key to the session", async () => {
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
  await assert.rejects(guest.finish({ picked: 1 }), RULE, "the other page lies above");
  await shell.finish(1, { page: other });
  assert.equal((await own).outcome, "dismissed");
  const above = guest.open("native://a");
  await turn();
  await guest.finish({ picked: 1 });
  assert.deepEqual([(await first).data, (await above).outcome], [{ picked: 1 }, "dismissed"]);
  await shell.close();
});

test("a guest's methods are called of its page, and events reach it", async () => {
  const { shell, guest, page, other } = await party({}, { methods: { title: () => "Shop" } });
  await guest.ready;
  assert.equal(await shell.call(page, "title"), "Shop");
  await assert.rejects(shell.call(other, "title"), { code: -32601 });
  /** @type {unknown[]} */
  const heard = [];
  await guest.subscribe("cart", ({ data }) => heard.push(data)).registered;
  shell.app.publish("cart", 1);
  await turn();
  assert.deepEqual(heard, [1]);
  await shell.close();
});

test("a guest can not do what it was not invited to", async () => {
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

test("a guest hosts what it was invited to, until it leaves", async () => {
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
  assert.equal((await page).data, "mine");
  const lost = shell.open("flutter://me");
  await turn();
  await guest.close();
  assert.deepEqual([(await lost).outcome, (await lost).code], ["failed", 2504]);
  assert.deepEqual(await shell.canOpen("flutter://me"), { canOpen: false });
  await shell.close();
});

test("so many guests come as were invited, for as long as they were, and again when they were lost", async () => {
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
    await assert.rejects(shell.guest(address).ready, { code: 2401 }, "who has closed its session is done");
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

test("a guest in another page than its own, or of another session, is refused", async () => {
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

test("who joins with the session's own key is a member, and no guest", async () => {
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

test("a page's own script is tested as it is", async () => {
  const shell = mockBridge({ tasks: { "action://share": () => "shared" } });
  // Such a bridge is of no host that an address could name.
  const address = new URL(await shell.invite(SHOP));
  const page = Object.assign(new FakePage(address.href), { WebSocket: shell.app.WebSocket });
  const bridge = within(page, () => new Bridge({ WebSocket: page.WebSocket, bridges: ["ws://mock.invalid"] }));
  assert.equal(await bridge.invoke("action://share"), "shared");
  await shell.close();
  await bridge.close();
});

test("who acts for a guest does no more than the guest may, and for others what it may itself", async () => {
  /** @type {any[]} */
  const verdicts = [];
  const { shell, guest, other } = await party({ routes: ["action://deputy", "native://deputy", "action://share"] });
  const tell = async (/** @type {unknown} */ _, /** @type {import("../bridge/types.js").Deputy} */ deputy) => {
    const calls = [deputy.invoke("action://share"), deputy.invoke("action://pay"), deputy.open("action://pay"), deputy.call(other, "none")];
    const done = await Promise.all(calls.map((call) => call.then(() => "done", ({ code }) => code)));
    verdicts.push([...done, (await deputy.canOpen("action://pay")).canOpen]);
  };
  await shell.task("action://deputy", tell).registered;
  await shell.host("flutter", { open: tell, close: () => {}, methods: { tell } }).registered;
  shell.method("tell", tell);
  await guest.ready;
  const refused = ["done", 2403, 2403, 2403, false];
  const may = ["done", "done", "done", -32601, true];
  await guest.invoke("action://deputy");
  await guest.open("action://deputy");
  await shell.invoke("action://deputy");
  await shell.app.invoke("action://deputy");
  await shell.app.call("tell");
  assert.deepEqual(verdicts.splice(0), [refused, refused, may, may, may]);
  shell.open("flutter://me").catch(() => {});
  await turn();
  await shell.call(String((await shell.stack()).pages.at(-1)?.id), "tell");
  assert.deepEqual(verdicts, [may, may]);
  await assert.rejects(shell.request("router.invoke", { uri: "action://share", onBehalfOf: 99 }), { code: -32602, message: /onBehalfOf/ });
  await shell.close();
});
