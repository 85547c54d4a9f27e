// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { BridgeAbsent } from "../bridge/bridge.js";
import { invitationIn, inviting, takeInvitation } from "../bridge/invitation.js";
import { FakePage, FakeStorage, within } from "./fake-page.js";
import { accept, connected, connecting, FakeSocket, INFO, newest, turn } from "./fake-socket.js";

const GUEST = { url: "ws://127.0.0.1:8080/bridge", session: "s1", token: "sécret~?>~?>ÿÿ" };
const SHOP = "https://shop.example/shop.html?x=1";

/** @param {object} [changes] */
const invited = (changes) => inviting(SHOP, { ...GUEST, ...changes });

/**
 * What a page takes.
 * @param {any} page
 * @param {string[]} [bridges]
 */
const take = (page, bridges) => takeInvitation(bridges, page);

for (const [address, rest] of [
  [SHOP, SHOP],
  [`${SHOP}#`, SHOP],
  [`${SHOP}#chapter`, `${SHOP}#chapter`],
  [`${SHOP}#/route?a=1&b=2`, `${SHOP}#/route?a=1&b=2`],
  [`${SHOP}#ü%20&`, `${SHOP}#%C3%BC%20&`],
  ["app://shop/index.html#x", "app://shop/index.html#x"],
  [invited({ token: "old" }), SHOP],
]) {
  test(`an invitation travels in the fragment of ${address.replace(/waybridge=.*/, "…")}, and leaves the rest of it alone`, () => {
    const sent = inviting(address, GUEST);
    assert.deepEqual(invitationIn(sent), GUEST);
    const [before, fragment, ...more] = sent.split("#");
    assert.deepEqual([before, more], [rest.split("#")[0], []]);
    assert.match(fragment, /(?:^|&)waybridge=[A-Za-z0-9_-]+$/);
    const page = new FakePage(sent);
    page.history.replaceState({ own: 1 }, "");
    assert.deepEqual(take(page), GUEST);
    assert.deepEqual([page.location.href, page.history.state], [rest, { own: 1 }]);
  });
}

test("what can not be read is refused, is gone from the address, and is not repeated", () => {
  const secret = "c2VjcmV0";
  for (const text of [secret, "", "%%%", "e30", btoa("[]"), btoa('{"session":"s","token":"secret"}'), btoa('{"url":"ftp://x","session":"s","token":"secret"}'), "A".repeat(9000)]) {
    const page = new FakePage(`${SHOP}#a&waybridge=${text}`);
    assert.throws(() => take(page), (/** @type {any} */ error) => {
      assert.equal(error.code, -32602);
      assert(!error.message.includes("secret") && !error.message.includes(secret), error.message);
      return error.cause === undefined || !String(error.cause).includes("secret");
    });
    assert.equal(page.location.hash, "#a");
    assert.equal(take(page), undefined);
  }
  const long = new FakePage(invited({ token: "secret".repeat(2000) }));
  assert.throws(() => take(long), { code: -32602 });
  for (const url of ["", "nowhere", "https://[/"]) assert.throws(() => inviting(url, GUEST), { code: -32602, message: /no address of a page/ });
});

for (const [url, href, bridges, allowed] of /** @type {[string, string, string[], boolean][]} */ ([
  ["ws://127.0.0.1:8080/bridge", SHOP, [], true],
  ["ws://localhost:8080/bridge", SHOP, [], true],
  ["ws://[::1]:8080/bridge", SHOP, [], true],
  ["ws://127.0.0.1:8080/bridge", "file:///home/shop.html", [], true],
  ["wss://shop.example:8443/bridge", SHOP, [], true],
  ["wss://bridge.example/bridge", SHOP, [], false],
  ["wss://shop.example.evil/bridge", SHOP, [], false],
  ["wss://127.0.0.1.evil/bridge", SHOP, [], false],
  ["wss://localhost.evil/bridge", SHOP, [], false],
  ["wss://bridge.example/bridge", "file:///home/shop.html", [], false],
  ["wss://bridge.example/bridge", SHOP, ["wss://bridge.example"], true],
  ["wss://bridge.example/bridge", SHOP, ["https://other.example", "https://bridge.example/"], true],
  ["wss://bridge.example:444/bridge", SHOP, ["wss://bridge.example"], false],
])) {
  test(`the address ${href} may ${allowed ? "" : "not "}invite to ${url}${bridges.length > 0 ? `, with ${bridges}` : ""}`, () => {
    const page = new FakePage(inviting(href, { ...GUEST, url }));
    if (allowed) assert.equal(take(page, bridges)?.url, url);
    else assert.throws(() => take(page, bridges), { code: 2403, message: /list it in `bridges`/ });
    assert(!page.location.href.includes("waybridge"));
    const shell = Object.assign(new FakePage(href), { waybridgeInvitation: { ...GUEST, url } });
    assert.equal(take(shell)?.url, url, "an app may name any");
  });
}

test("a native shell's global is taken once", () => {
  const page = Object.assign(new FakePage(SHOP), { waybridgeInvitation: GUEST });
  assert.deepEqual(take(page), GUEST);
  assert(!("waybridgeInvitation" in page));
  const declared = Object.defineProperty(new FakePage(SHOP), "waybridgeInvitation", { value: GUEST, writable: true, configurable: false });
  assert.deepEqual(take(declared), GUEST);
  assert.equal(declared.waybridgeInvitation, undefined);
  assert.throws(() => take(Object.assign(new FakePage(SHOP), { waybridgeInvitation: "GUEST" })), { code: -32602, message: /global/ });
  const bare = { waybridgeInvitation: GUEST };
  assert.deepEqual(take(bare), GUEST, "outside of a browser too");
  assert.equal(take(bare), undefined);
});

test("the address comes before the global, and both before what is kept", () => {
  const page = new FakePage(invited({ token: "first" }));
  take(page);
  Object.assign(page, { waybridgeInvitation: { ...GUEST, token: "second" } });
  page.history.replaceState(null, "", invited({ token: "third" }));
  assert.deepEqual([take(page)?.token, take(page)?.token, take(page)?.token], ["third", "second", "second"]);
});

/** A reload keeps all of a page but its scripts: what takes an invitation a second time is the next load. */
for (const [kind, hasKeys] of /** @type {[string, boolean][]} */ ([["keys of entries", true], ["history.state alone", false]])) {
  /** @param {string} token @param {FakeStorage} storage */
  const frame = (token, storage) => new FakePage(invited({ token }), storage, hasKeys);

  test(`with ${kind}, each frame of a tab finds its own invitation after a reload`, () => {
    const storage = new FakeStorage();
    const frames = ["a", "b", "c"].map((token) => frame(token, storage));
    const taken = () => frames.map((each) => take(each)?.token);
    assert.deepEqual(taken(), ["a", "b", "c"]);
    assert.deepEqual(taken(), ["a", "b", "c"]);
    assert.equal(take(new FakePage(SHOP, storage, hasKeys)), undefined, "nor does one that was not invited");
    assert.equal(frames[0].location.href, SHOP);
  });

  test(`with ${kind}, another document of the frame finds none, until the user goes back`, () => {
    const page = frame("a", new FakeStorage());
    take(page);
    page.go("/other.html");
    assert.equal(take(page), undefined);
    page.move(-1);
    assert.equal(take(page)?.token, "a");
    page.go(inviting("https://shop.example/next.html", { ...GUEST, token: "b" }));
    assert.equal(take(page)?.token, "b");
    page.move(-1);
    assert.equal(take(page)?.token, "a");
  });

  test(`with ${kind}, what the page keeps in history.state stays`, () => {
    const page = frame("a", new FakeStorage());
    page.history.replaceState({ own: { deep: 1 } }, "");
    take(page);
    assert.deepEqual(page.history.state.own, { deep: 1 });
    const text = frame("a", new FakeStorage());
    text.history.replaceState("text", "");
    take(text);
    assert.equal(text.history.state, "text");
  });

  test(`with ${kind}, a router that goes elsewhere and replaces the state ${hasKeys ? "does no harm" : "loses it"}`, () => {
    const page = frame("a", new FakeStorage());
    take(page);
    page.history.pushState({ key: "r1" }, "", "/list");
    assert.equal(take(page)?.token, hasKeys ? "a" : undefined);
    page.history.replaceState({ key: "r2" }, "", "/list?sorted");
    page.history.pushState(null, "", "/item");
    assert.equal(take(page)?.token, hasKeys ? "a" : undefined);
    page.move(-2);
    assert.equal(take(page)?.token, "a", "the entry in which it came is as it was");
    page.history.replaceState({ key: "r0" }, "");
    assert.equal(take(page)?.token, hasKeys ? "a" : undefined);
  });

  test(`with ${kind}, of two invitations to one document each belongs to its entry`, () => {
    const page = frame("a", new FakeStorage());
    take(page);
    page.history.pushState(null, "", invited({ token: "b" }));
    assert.deepEqual([take(page)?.token, take(page)?.token], ["b", "b"]);
    page.move(-1);
    assert.equal(take(page)?.token, "a");
  });

  test(`with ${kind}, a router that keeps what it does not know keeps it`, () => {
    const page = frame("a", new FakeStorage());
    take(page);
    page.history.pushState({ ...page.history.state, key: "r1" }, "", "/list");
    assert.equal(take(page)?.token, "a");
  });

  test(`with ${kind}, a tab keeps the newest of many`, () => {
    const storage = new FakeStorage();
    storage.setItem("other:1", "the page's own");
    const now = Date.now;
    let time = 0;
    Date.now = () => (time += 1);
    try {
      const frames = Array.from({ length: 130 }, (_, index) => frame(`t${index}`, storage));
      for (const each of frames) take(each);
      assert.equal(Object.keys(storage).length, 101);
      assert.deepEqual([take(frames[29]), take(frames[30])?.token, take(frames[129])?.token], [undefined, "t30", "t129"]);
    } finally {
      Date.now = now;
    }
  });
}

test("where nothing can be kept, or the address not be changed, the page is invited all the same", () => {
  const sandboxed = Object.defineProperty(new FakePage(invited()), "sessionStorage", { get: () => { throw new Error("SecurityError"); } });
  assert.deepEqual(take(sandboxed), GUEST);
  assert.equal(take(sandboxed), undefined);
  const full = new FakePage(invited());
  full.sessionStorage.setItem = () => { throw new Error("QuotaExceededError"); };
  assert.deepEqual(take(full), GUEST);
  const fixed = new FakePage(invited());
  fixed.mayChange = false;
  assert.deepEqual(take(fixed), GUEST);
  assert.deepEqual(take(fixed), GUEST);
});

test("a page without an invitation has none, nor has a worker or a program", () => {
  assert.equal(take(new FakePage(`${SHOP}#a&b=waybridge=1`)), undefined);
  assert.equal(take({ location: new URL(invited()) }), undefined);
  assert.equal(take({}), undefined);
});

test("what the storage holds is read with care", () => {
  const page = new FakePage(invited());
  take(page);
  for (const key of Object.keys(page.sessionStorage)) page.sessionStorage.setItem(key, "1 {token: secret");
  assert.throws(() => take(page), { code: -32602, message: /storage has an invitation that can not be read/ });
});

test("a bridge in an invited page joins with no more than the invitation, and runs in its page", async () => {
  const page = new FakePage(`${invited()}&x`);
  const { bridge, socket } = within(page, () => connecting({ url: undefined, methods: { title: () => "Shop" } }));
  assert.equal(socket.url, GUEST.url);
  socket.accept();
  const { join, page: bound } = socket.last("session.open").params;
  assert.deepEqual([join, bound], [{ session: "s1", token: GUEST.token }, undefined]);
  const { joinToken, ...info } = INFO;
  socket.answer("session.open", { ...info, guest: true, page: "p4" });
  const ready = await bridge.ready;
  assert.deepEqual([ready.guest, ready.page, ready.joinToken], [true, "p4", undefined]);
  socket.receive({ id: 1, method: "page.call", params: { page: "p4", method: "title", params: {} } });
  socket.receive({ id: 2, method: "page.call", params: { page: "p5", method: "title", params: {} } });
  await turn();
  assert.deepEqual(socket.sent.slice(-2).map(({ id, result, error }) => [id, result ?? error.code]).sort(), [[1, "Shop"], [2, 2404]]);
  assert.equal(page.location.hash, "#x");
});

test("a guest that lost its connection comes with the same invitation again", async () => {
  const { bridge, socket, clock } = within(new FakePage(invited()), () => connecting({ url: undefined, reconnect: { minDelay: 10 } }));
  socket.accept();
  socket.answer("session.open", { ...INFO, joinToken: undefined, guest: true });
  await bridge.ready;
  socket.end(1006);
  clock.advance(10);
  newest().accept();
  assert.deepEqual(newest().last("session.open").params.join, { session: "s1", token: GUEST.token });
  void bridge.close();
});

test("a guest that was here before is patient while its place is held by its last connection", async () => {
  const held = { code: 2401, message: "no invitation that can still be used" };
  const guest = (page = new FakePage(invited())) => within(page, () => connecting({ url: undefined, reconnect: { minDelay: 10 } }));
  const refuse = async () => {
    newest().accept();
    newest().refuse("session.open", held);
    await turn();
  };
  const page = new FakePage(invited());
  const first = guest(page);
  await refuse();
  assert.equal(first.bridge.state, "closed", "who never was here has no place");

  const again = guest(page);
  for (let count = 0; count < 9; count += 1) {
    assert.notEqual(again.bridge.state, "closed");
    await refuse();
    again.clock.advance(30000);
  }
  assert.equal(again.bridge.state, "closed");
  await assert.rejects(again.bridge.ready, { code: 2401 });

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
  newest().refuse("session.open", { code: 2403, message: "no", data: { kind: "forbidden", rule: "guests" } });
  await turn();
  assert.equal(lost.bridge.state, "closed", "what the policy refuses it will refuse again");
});

for (const options of /** @type {Partial<import("../bridge/bridge.js").BridgeOptions>[]} */ ([{ url: "ws://test/bridge" }, { url: undefined, join: { session: "s0", token: "t0" } }, { url: null }])) {
  test(`the options ${JSON.stringify(options)} win over an invitation, which stays where it is`, () => {
    const page = Object.assign(new FakePage(invited()), { waybridgeInvitation: GUEST });
    const before = FakeSocket.made.length;
    within(page, () => connecting(options));
    const sockets = FakeSocket.made.slice(before).map(({ url }) => url);
    const own = options.url === undefined ? "wss://shop.example/bridge" : options.url;
    assert.deepEqual(sockets, own === null ? [] : [own]);
    assert.equal(page.location.href, invited());
    assert.deepEqual(page.waybridgeInvitation, GUEST);
  });
}

test("without an invitation a page begins a session at its own server", () => {
  const { socket } = within(new FakePage(SHOP), () => connecting({ url: undefined }));
  assert.equal(socket.url, "wss://shop.example/bridge");
  socket.accept();
  assert.equal(socket.last("session.open").params.join, undefined);
});

test("a page whose invitation can not be followed has no bridge, and says why", async () => {
  const page = new FakePage(inviting(SHOP, { ...GUEST, url: "wss://evil.example/bridge" }));
  const before = FakeSocket.made.length;
  const { bridge } = within(page, () => connecting({ url: undefined, fallback: { "action://a": () => 1 } }));
  await assert.rejects(bridge.ready, { code: 2403, message: /wss:\/\/evil\.example/ });
  assert.equal(bridge.state, "closed");
  await assert.rejects(bridge.stack(), (/** @type {any} */ error) => error instanceof BridgeAbsent && Reflect.get(Object(error.cause), "code") === 2403);
  assert.equal(await bridge.invoke("action://a"), 1);
  assert.equal(FakeSocket.made.length, before);
});

test("a shell invites with what it grants, and gets the page's address", async () => {
  const { bridge, socket } = await connected();
  const rights = { page: "p1", hosts: ["flutter"], routes: ["native://a/:b"], groups: ["g"], uses: 2 };
  const made = bridge.invite(`${SHOP}#chapter`, { ...rights, expires: 5000 });
  assert.deepEqual(socket.last("session.invite").params, { ...rights, expiresMs: 5000 });
  socket.answer("session.invite", { session: "s1", token: "g1", expiresAt: 5 });
  const address = await made;
  assert.match(address, /^https:\/\/shop\.example\/shop\.html\?x=1#chapter&waybridge=/);
  assert.deepEqual(invitationIn(address), { url: "ws://test/bridge", session: "s1", token: "g1", frame: "p1" });

  const plain = bridge.invite(new URL(SHOP));
  assert.deepEqual(socket.last("session.invite").params, {});
  socket.refuse("session.invite", { code: 2403, message: "no", data: { rule: "invitation" } });
  await assert.rejects(plain, { code: 2403, data: { rule: "invitation" } });
  for (const expires of [0, -1, 1.5, NaN]) await assert.rejects(bridge.invite(SHOP, { expires }), { code: -32602, message: /expires/ });
});
