// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { inviting } from "../bridge/invitation.js";
import { FakePage, FakeStorage } from "./fake-page.js";
import { GUEST, invited, SHOP, take } from "./invited.js";

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
    for (const state of ["text", 0, ["a"], new Map([["a", 1]]), new Date(1)]) {
      const other = frame("a", new FakeStorage());
      other.history.replaceState(state, "");
      take(other);
      assert.deepEqual(other.history.state, state);
    }
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
  assert.deepEqual(take(fixed), { ...GUEST, isKept: true });
});

test("what the storage holds is read with care", () => {
  const page = new FakePage(invited());
  take(page);
  for (const key of Object.keys(page.sessionStorage)) page.sessionStorage.setItem(key, "1 {token: secret");
  assert.throws(() => take(page), { code: -32602, message: /storage has an invitation that can not be read/ });
});
