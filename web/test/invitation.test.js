// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { invitationIn, invitationURL } from "../bridge/session/invitation.js";
import { FakePage } from "./fake-page.js";
import { connected } from "./fake-socket.js";
import { GUEST, invitedURL, SHOP, readInvitation } from "./invited-page.js";

for (const [address, rest] of [
  [SHOP, SHOP],
  [`${SHOP}#`, SHOP],
  [`${SHOP}#chapter`, `${SHOP}#chapter`],
  [`${SHOP}#/route?a=1&b=2`, `${SHOP}#/route?a=1&b=2`],
  [`${SHOP}#ü%20&`, `${SHOP}#%C3%BC%20&`],
  ["app://shop/index.html#x", "app://shop/index.html#x"],
  [invitedURL({ token: "old" }), SHOP],
]) {
  test(`an invitation is in the fragment of ${address.replace(/waybridge=.*/, "…")}, and leaves the rest unchanged`, () => {
    const sent = invitationURL(address, GUEST);
    assert.deepEqual(invitationIn(sent), GUEST);
    const [before, fragment, ...more] = sent.split("#");
    assert.deepEqual([before, more], [rest.split("#")[0], []]);
    assert.match(fragment, /(?:^|&)waybridge=[A-Za-z0-9_-]+$/);
    const page = new FakePage(sent);
    page.history.replaceState({ own: 1 }, "");
    assert.deepEqual(readInvitation(page, { bridges: [GUEST.url] }), GUEST);
    assert.deepEqual([page.location.href, page.history.state], [rest, { own: 1 }]);
  });
}

test("an unreadable invitation is rejected, is removed from the URL, and is not quoted", () => {
  const secret = "c2VjcmV0";
  for (const text of [secret, "", "%%%", "e30", btoa("[]"), btoa('{"session":"s","token":"secret"}'), btoa('{"url":"ftp://x","session":"s","token":"secret"}'), "A".repeat(9000)]) {
    const page = new FakePage(`${SHOP}#a&waybridge=${text}`);
    assert.throws(() => readInvitation(page), (/** @type {any} */ error) => {
      assert.equal(error.code, -32602);
      assert(!error.message.includes("secret") && !error.message.includes(secret), error.message);
      return error.cause === undefined || !String(error.cause).includes("secret");
    });
    assert.equal(page.location.hash, "#a");
    assert.equal(readInvitation(page), undefined);
  }
  const long = new FakePage(invitedURL({ token: "secret".repeat(2000) }));
  assert.throws(() => readInvitation(long), { code: -32602 });
  for (const url of ["", "nowhere", "https://[/"]) assert.throws(() => invitationURL(url, GUEST), { code: -32602, message: /absolute URL of a page/ });
});

for (const [url, href, bridges, allowed] of /** @type {[string, string, string[], boolean][]} */ ([
  ["wss://shop.example/bridge", SHOP, [], true],
  ["wss://shop.example/app/bridge", SHOP, [], true],
  ["ws://127.0.0.1:8080/bridge", "http://127.0.0.1:8080/shop.html", [], true],
  ["ws://shop.example/bridge", SHOP, [], false],
  ["wss://shop.example:8443/bridge", SHOP, [], false],
  ["ws://127.0.0.1:8080/bridge", SHOP, [], false],
  ["ws://127.0.0.1:8081/bridge", "http://127.0.0.1:8080/shop.html", [], false],
  ["ws://localhost:8080/bridge", "http://127.0.0.1:8080/shop.html", [], false],
  ["ws://127.0.0.1:8080/bridge", "file:///home/shop.html", [], false],
  ["ws://127.0.0.1:8080/bridge", "file:///home/shop.html", ["ws://127.0.0.1:8080"], true],
  ["wss://bridge.example/bridge", SHOP, [], false],
  ["wss://shop.example.evil/bridge", SHOP, [], false],
  ["wss://bridge.example/bridge", "app://bridge.example/shop.html", [], false],
  ["wss://bridge.example/bridge", SHOP, ["wss://bridge.example"], true],
  ["wss://bridge.example/bridge", SHOP, ["https://other.example", "https://bridge.example/"], true],
  ["wss://bridge.example:444/bridge", SHOP, ["wss://bridge.example"], false],
])) {
  test(`the URL ${href} may ${allowed ? "" : "not "}invite to ${url}${bridges.length > 0 ? `, with ${bridges}` : ""}`, () => {
    const page = new FakePage(invitationURL(href, { ...GUEST, url }));
    if (allowed) assert.equal(readInvitation(page, { bridges })?.url, url);
    else assert.throws(() => readInvitation(page, { bridges }), { code: 2403, message: /add it to the option bridges/ });
    assert(!page.location.href.includes("waybridge"));
    const shell = Object.assign(new FakePage(href), { waybridgeInvitation: { ...GUEST, url } });
    assert.equal(readInvitation(shell)?.url, url, "an app shell can name any bridge");
  });
}

test("the global of an app shell is read once", () => {
  const page = Object.assign(new FakePage(SHOP), { waybridgeInvitation: GUEST });
  assert.deepEqual(readInvitation(page), GUEST);
  assert(!("waybridgeInvitation" in page));
  const declared = Object.defineProperty(new FakePage(SHOP), "waybridgeInvitation", { value: GUEST, writable: true, configurable: false });
  assert.deepEqual(readInvitation(declared), GUEST);
  assert.equal(declared.waybridgeInvitation, undefined);
  const constant = Object.defineProperty(new FakePage(SHOP), "waybridgeInvitation", { value: GUEST, writable: false, configurable: false });
  assert.deepEqual(readInvitation(constant), GUEST);
  assert.throws(() => readInvitation(Object.assign(new FakePage(SHOP), { waybridgeInvitation: "GUEST" })), { code: -32602, message: /waybridgeInvitation/ });
  const bare = { waybridgeInvitation: GUEST };
  assert.deepEqual(readInvitation(bare), GUEST, "outside of a browser too");
  assert.equal(readInvitation(bare), undefined);
});

test("an invitation that comes with each load is recognized as an earlier one", () => {
  const page = new FakePage(SHOP);
  /** @param {string} token */
  const load = (token) => readInvitation(Object.assign(page, { waybridgeInvitation: { ...GUEST, token } }))?.isStored;
  assert.deepEqual(["a", "a", "b", "b"].map(load), [undefined, true, undefined, true]);
  page.history.replaceState(null, "", invitedURL({ token: "b" }));
  assert.equal(readInvitation(page)?.isStored, true);
});

test("the global of an app shell takes precedence over storage and URL", () => {
  const page = new FakePage(invitedURL({ token: "first" }));
  assert.equal(readInvitation(page)?.token, "first");
  Object.assign(page, { waybridgeInvitation: { ...GUEST, session: "s2", token: "second" } });
  page.history.replaceState(null, "", invitedURL({ token: "third" }));
  assert.deepEqual([readInvitation(page)?.token, readInvitation(page)?.token], ["second", "second"]);
  assert.equal(page.location.href, SHOP, "the invitation is removed from the URL all the same");
});

test("a URL never replaces an invitation by one to another session", () => {
  const page = new FakePage(invitedURL());
  readInvitation(page);
  page.history.replaceState(null, "", invitedURL({ session: "s2", token: "other" }));
  assert.deepEqual(readInvitation(page), { ...GUEST, isStored: true });
  assert.equal(page.location.href, SHOP);
});

test("a shell invites a page again to the same session", () => {
  const page = new FakePage(invitedURL());
  readInvitation(page);
  page.history.replaceState(null, "", invitedURL({ token: "new" }));
  assert.deepEqual([readInvitation(page)?.token, readInvitation(page)?.isStored], ["new", true]);
});

test("a page that only its app shell invites ignores its URL and its earlier loads", () => {
  const page = new FakePage(invitedURL());
  assert.equal(readInvitation(page)?.token, GUEST.token);
  const only = { onlyShellInvites: true };
  assert.equal(readInvitation(page, only), undefined);
  page.history.replaceState(null, "", invitedURL({ token: "other" }));
  assert.equal(readInvitation(page, only), undefined);
  assert.equal(page.location.href, SHOP);
  Object.assign(page, { waybridgeInvitation: { ...GUEST, token: "shell" } });
  assert.equal(readInvitation(page, only)?.token, "shell");
});

test("a page without an invitation has none, and neither does a worker or a program", () => {
  assert.equal(readInvitation(new FakePage(`${SHOP}#a&b=waybridge=1`)), undefined);
  assert.equal(readInvitation({ location: new URL(invitedURL()) }), undefined);
  assert.equal(readInvitation({}), undefined);
});

test("a shell invites with the rights that it grants, and receives the page's URL", async () => {
  const { bridge, socket } = await connected();
  const rights = { page: "p1", hosts: ["flutter"], routes: ["native://a/:b"], groups: ["g"], uses: 2 };
  const made = bridge.invite(`${SHOP}#chapter`, { ...rights, expires: 5000 });
  assert.deepEqual(socket.last("session.invite").params, { ...rights, expiresMs: 5000 });
  socket.respond("session.invite", { session: "s1", token: "g1", expiresAt: 5 });
  const address = await made;
  assert.match(address, /^https:\/\/shop\.example\/shop\.html\?x=1#chapter&waybridge=/);
  assert.deepEqual(invitationIn(address), { url: "ws://test/bridge", session: "s1", token: "g1", frame: "p1" });

  const plain = bridge.invite(new URL(SHOP));
  assert.deepEqual(socket.last("session.invite").params, {});
  socket.respondError("session.invite", { code: 2403, message: "no", data: { rule: "invitation" } });
  await assert.rejects(plain, { code: 2403, data: { rule: "invitation" } });
  for (const expires of [0, -1, 1.5, NaN]) await assert.rejects(bridge.invite(SHOP, { expires }), { code: -32602, message: /expires/ });
});
