// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connecting, newest, turn } from "./fake-socket.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { ManualClock } from "./manual-clock.js";
import { begun, goesOn, RECONNECT } from "./resumable.js";

test("a page that is loaded again goes on though its first connection is lost before the answer", async () => {
  const tab = new FakeTab("https://shop.example/shop.html", new FakeLocks());
  const clock = new ManualClock();
  const script = () => tab.run(() => connecting({ url: "ws://test/bridge", reconnect: RECONNECT, clock }));
  const before = script();
  await begun(before.bridge);
  tab.unload();
  before.socket.end(1001);
  const { bridge } = script();
  const first = newest();
  first.accept();
  await turn();
  assert.equal(first.sent[0].method, "session.resume");
  first.end(1006);
  await turn();
  clock.advance(2000);
  await turn();
  assert.notEqual(newest(), first);
  const { greeting } = await goesOn(bridge, { received: 0, sent: 0 });
  assert.deepEqual([greeting.method, greeting.params.reloaded], ["session.resume", true]);
  assert.equal((await bridge.ready).session, "s1");
});
