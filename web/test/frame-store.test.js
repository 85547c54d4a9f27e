// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { invitationURL } from "../bridge/session/invitation.js";
import { FakePage, FakeStorage } from "./fake-page.js";
import { FakeTab } from "./fake-tab.js";
import { GUEST, invitedURL, SHOP, readInvitation } from "./invited-page.js";

/** A reload keeps all of a page except its scripts: the second read of an invitation stands for the next load. */
for (const [kind, hasKeys] of /** @type {[string, boolean][]} */ ([["keys of entries", true], ["history.state alone", false]])) {
  /** @param {string} token @param {FakeStorage} storage */
  const frame = (token, storage) => new FakePage(invitedURL({ token }), storage, hasKeys);

  test(`with ${kind}, each frame of a tab finds its own invitation after a reload`, () => {
    const storage = new FakeStorage();
    const frames = ["a", "b", "c"].map((token) => frame(token, storage));
    const read = () => frames.map((each) => readInvitation(each)?.token);
    assert.deepEqual(read(), ["a", "b", "c"]);
    assert.deepEqual(read(), ["a", "b", "c"]);
    assert.equal(readInvitation(new FakePage(SHOP, storage, hasKeys)), undefined, "neither does a frame that was not invited");
    assert.equal(frames[0].location.href, SHOP);
  });

  test(`with ${kind}, another document of the frame finds no invitation until the user goes back`, () => {
    const page = frame("a", new FakeStorage());
    readInvitation(page);
    page.navigate("/other.html");
    assert.equal(readInvitation(page), undefined);
    page.move(-1);
    assert.equal(readInvitation(page)?.token, "a");
    page.navigate(invitationURL("https://shop.example/next.html", { ...GUEST, token: "b" }));
    assert.equal(readInvitation(page)?.token, "b");
    page.move(-1);
    assert.equal(readInvitation(page)?.token, "a");
  });

  test(`with ${kind}, the page's own history.state is kept`, () => {
    const page = frame("a", new FakeStorage());
    page.history.replaceState({ own: { deep: 1 } }, "");
    readInvitation(page);
    assert.deepEqual(page.history.state.own, { deep: 1 });
    for (const state of ["text", 0, ["a"], new Map([["a", 1]]), new Date(1)]) {
      const other = frame("a", new FakeStorage());
      other.history.replaceState(state, "");
      readInvitation(other);
      assert.deepEqual(other.history.state, state);
    }
  });

  test(`with ${kind}, a router that navigates and replaces the state ${hasKeys ? "has no effect" : "loses the invitation"}`, () => {
    const page = frame("a", new FakeStorage());
    readInvitation(page);
    page.history.pushState({ key: "r1" }, "", "/list");
    assert.equal(readInvitation(page)?.token, hasKeys ? "a" : undefined);
    page.history.replaceState({ key: "r2" }, "", "/list?sorted");
    page.history.pushState(null, "", "/item");
    assert.equal(readInvitation(page)?.token, hasKeys ? "a" : undefined);
    page.move(-2);
    assert.equal(readInvitation(page)?.token, "a", "the first entry is unchanged");
    page.history.replaceState({ key: "r0" }, "");
    assert.equal(readInvitation(page)?.token, hasKeys ? "a" : undefined);
  });

  test(`with ${kind}, each of two invitations to one document belongs to its own entry`, () => {
    const page = frame("a", new FakeStorage());
    readInvitation(page);
    page.history.pushState(null, "", invitedURL({ token: "b" }));
    assert.deepEqual([readInvitation(page)?.token, readInvitation(page)?.token], ["b", "b"]);
    page.move(-1);
    assert.equal(readInvitation(page)?.token, "a");
  });

  test(`with ${kind}, a router that keeps unknown properties keeps the invitation`, () => {
    const page = frame("a", new FakeStorage());
    readInvitation(page);
    page.history.pushState({ ...page.history.state, key: "r1" }, "", "/list");
    assert.equal(readInvitation(page)?.token, "a");
  });

  test(`with ${kind}, a tab stores only the newest entries`, () => {
    const storage = new FakeStorage();
    storage.setItem("other:1", "the page's own");
    const now = Date.now;
    let time = 0;
    Date.now = () => (time += 1);
    try {
      const frames = Array.from({ length: 130 }, (_, index) => frame(`t${index}`, storage));
      for (const each of frames) readInvitation(each);
      assert.equal(Object.keys(storage).length, 101);
      assert.deepEqual([readInvitation(frames[29]), readInvitation(frames[30])?.token, readInvitation(frames[129])?.token], [undefined, "t30", "t129"]);
    } finally {
      Date.now = now;
    }
  });
}

test("the invitation works if nothing can be stored, or the URL cannot be changed", () => {
  const sandboxed = Object.defineProperty(new FakePage(invitedURL()), "sessionStorage", { get: () => { throw new Error("SecurityError"); } });
  assert.deepEqual(readInvitation(sandboxed), GUEST);
  assert.equal(readInvitation(sandboxed), undefined);
  const full = new FakePage(invitedURL());
  full.sessionStorage.setItem = () => { throw new Error("QuotaExceededError"); };
  assert.deepEqual(readInvitation(full), GUEST);
  const fixed = new FakePage(invitedURL());
  fixed.mayChange = false;
  assert.deepEqual(readInvitation(fixed), GUEST);
  assert.deepEqual(readInvitation(fixed), { ...GUEST, isStored: true });
});

test("stored values are validated", () => {
  const page = new FakePage(invitedURL());
  readInvitation(page);
  for (const key of Object.keys(page.sessionStorage)) page.sessionStorage.setItem(key, "1 {token: secret");
  assert.throws(() => readInvitation(page), { code: -32602, message: /storage has no valid invitation/ });
});

test("without keys, a mark that WebKit has removed is restored when the page is left", () => {
  const tab = new FakeTab(invitedURL({ token: "a" }), undefined, new FakeStorage(), false);
  /** What WebKit does to a frame whose parent adds an entry to its own history. */
  const parentPushes = () => tab.history.replaceState(null, "");
  assert.equal(readInvitation(tab)?.token, "a");
  for (let load = 0; load < 3; load += 1) {
    parentPushes();
    tab.unload();
    assert.equal(readInvitation(tab)?.token, "a", `load ${load}`);
  }
  tab.history.replaceState({ own: 1 }, "");
  tab.unload();
  assert.deepEqual([readInvitation(tab)?.token, tab.history.state.own], ["a", 1], "the page's own state is kept");
  parentPushes();
  tab.unload({ crashes: true });
  assert.equal(readInvitation(tab), undefined, "a page that crashes cannot restore it");
});

test("without keys, a router that navigates keeps the invitation when the page is left, and other documents do not get it", () => {
  const tab = new FakeTab(invitedURL({ token: "a" }), undefined, new FakeStorage(), false);
  readInvitation(tab);
  tab.history.pushState({ key: "r1" }, "", "/list");
  tab.unload();
  assert.equal(readInvitation(tab)?.token, "a");
  tab.unload();
  tab.navigate("/other.html");
  assert.equal(readInvitation(tab), undefined);
  tab.unload();
  assert.equal(readInvitation(tab), undefined);
  tab.move(-1);
  assert.equal(readInvitation(tab)?.token, "a");
});

test("without keys, an entry with a mark of its own keeps that", () => {
  const tab = new FakeTab(invitedURL({ token: "a" }), undefined, new FakeStorage(), false);
  readInvitation(tab);
  tab.history.pushState(null, "", invitedURL({ token: "b" }));
  assert.equal(readInvitation(tab)?.token, "b");
  tab.move(-1);
  tab.unload();
  assert.equal(readInvitation(tab)?.token, "a");
});

test("a page that was not invited, and one whose browser has keys, listens to nothing", () => {
  for (const [url, hasKeys] of /** @type {[string, boolean][]} */ ([[SHOP, false], [invitedURL(), true]])) {
    const page = Object.assign(new FakePage(url, new FakeStorage(), hasKeys), { addEventListener: () => assert.fail("listens") });
    readInvitation(page);
    readInvitation(page);
  }
});
