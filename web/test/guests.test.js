// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { BridgeAbsentError } from "../bridge/bridge.js";
import { invitationURL } from "../bridge/session/invitation.js";
import { FakePage, within } from "./fake-page.js";
import { accept, connecting, FakeSocket, INFO, newest, turn } from "./fake-socket.js";
import { GUEST, invitedURL, SHOP } from "./invited-page.js";

test("a bridge in an invited page joins with only the rights of the invitation, and runs in its page", async () => {
  const page = new FakePage(`${invitedURL()}&x`);
  const { bridge, socket } = within(page, () => connecting({ url: undefined, methods: { title: () => "Shop" } }));
  assert.equal(socket.url, GUEST.url);
  socket.accept();
  const { join, page: bound } = socket.last("session.open").params;
  assert.deepEqual([join, bound], [{ session: "s1", token: GUEST.token }, undefined]);
  const { joinToken, ...info } = INFO;
  socket.respond("session.open", { ...info, guest: true, page: "p4" });
  const ready = await bridge.ready;
  assert.deepEqual([ready.guest, ready.page, ready.joinToken], [true, "p4", undefined]);
  socket.receive({ id: 1, method: "page.call", params: { page: "p4", method: "title", params: {} } });
  socket.receive({ id: 2, method: "page.call", params: { page: "p5", method: "title", params: {} } });
  await turn();
  assert.deepEqual(socket.sent.slice(-2).map(({ id, result, error }) => [id, result ?? error.code]).sort(), [[1, "Shop"], [2, 2404]]);
  assert.equal(page.location.hash, "#x");
});

test("a guest that lost its connection reconnects with the same invitation", async () => {
  const { bridge, socket, clock } = within(new FakePage(invitedURL()), () => connecting({ url: undefined, reconnect: { minDelay: 10 } }));
  socket.accept();
  socket.respond("session.open", { ...INFO, joinToken: undefined, guest: true });
  await bridge.ready;
  socket.end(1006);
  clock.advance(10);
  newest().accept();
  assert.deepEqual(newest().last("session.open").params.join, { session: "s1", token: GUEST.token });
  void bridge.close();
});

test("a returning guest retries while its last connection still uses its place", async () => {
  const held = { code: 2401, message: "no invitation that can still be used" };
  const guest = (page = new FakePage(invitedURL())) => within(page, () => connecting({ url: undefined, reconnect: { minDelay: 10 } }));
  const refuse = async () => {
    newest().accept();
    newest().respondError("session.open", held);
    await turn();
  };
  const page = new FakePage(invitedURL());
  const first = guest(page);
  await refuse();
  assert.equal(first.bridge.state, "closed", "a guest that was never here does not retry");

  const again = guest(page);
  for (let count = 0; count < 9; count += 1) {
    assert.notEqual(again.bridge.state, "closed");
    await refuse();
    again.clock.advance(30000);
  }
  assert.equal(again.bridge.state, "closed");
  await assert.rejects(again.bridge.ready, { code: 2401 });

  const shown = Object.assign(new FakePage(SHOP), { waybridgeInvitation: GUEST });
  await accept(guest(shown).bridge, { guest: true });
  const loaded = guest(shown);
  await refuse();
  assert.equal(loaded.bridge.state, "waiting", "an app shell sets the same invitation again");
  void loaded.bridge.close();

  const lost = guest();
  await accept(lost.bridge, { guest: true });
  for (let count = 0; count < 3; count += 1) {
    newest().end(1006);
    lost.clock.advance(30000);
    for (let refusals = 0; refusals < 8; refusals += 1) {
      await refuse();
      lost.clock.advance(30000);
    }
    await accept(lost.bridge, { guest: true });
  }
  newest().end(1006);
  lost.clock.advance(30000);
  newest().accept();
  newest().respondError("session.open", { code: 2403, message: "no", data: { kind: "forbidden", rule: "guests" } });
  await turn();
  assert.equal(lost.bridge.state, "closed", "the policy would reject it again");
});

for (const options of /** @type {Partial<import("../bridge/bridge.js").BridgeOptions>[]} */ ([{ url: "ws://test/bridge" }, { url: undefined, join: { session: "s0", token: "t0" } }, { url: null }])) {
  test(`the options ${JSON.stringify(options)} take precedence over an invitation, which stays in the URL`, () => {
    const page = Object.assign(new FakePage(invitedURL()), { waybridgeInvitation: GUEST });
    const before = FakeSocket.made.length;
    within(page, () => connecting(options));
    const sockets = FakeSocket.made.slice(before).map(({ url }) => url);
    const own = options.url === undefined ? "wss://shop.example/bridge" : options.url;
    assert.deepEqual(sockets, own === null ? [] : [own]);
    assert.equal(page.location.href, invitedURL());
    assert.deepEqual(page.waybridgeInvitation, GUEST);
  });
}

test("without an invitation a page opens a session on its own server", () => {
  const { socket } = within(new FakePage(SHOP), () => connecting({ url: undefined }));
  assert.equal(socket.url, "wss://shop.example/bridge");
  socket.accept();
  assert.equal(socket.last("session.open").params.join, undefined);
});

test("a page with an unusable invitation has no bridge, and the error has the reason", async () => {
  const page = new FakePage(invitationURL(SHOP, { ...GUEST, url: "wss://evil.example/bridge" }));
  const before = FakeSocket.made.length;
  const { bridge } = within(page, () => connecting({ url: undefined, fallback: { "action://a": () => 1 } }));
  await assert.rejects(bridge.ready, { code: 2403, message: /wss:\/\/evil\.example/ });
  assert.equal(bridge.state, "closed");
  await assert.rejects(bridge.stack(), (/** @type {any} */ error) => error instanceof BridgeAbsentError && Reflect.get(Object(error.cause), "code") === 2403);
  assert.equal(await bridge.invoke("action://a"), 1);
  assert.equal(FakeSocket.made.length, before);
});
