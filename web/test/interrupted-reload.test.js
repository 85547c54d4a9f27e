// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connecting, newest, turn } from "./fake-socket.js";
import { FakeLocks, FakeTab } from "./fake-tab.js";
import { ManualClock } from "./manual-clock.js";
import { openSession, resumeSession, RECONNECT } from "./resumable-session.js";

test("a reloaded page resumes although its first connection is lost before the response", async () => {
  const tab = new FakeTab("https://shop.example/shop.html", new FakeLocks());
  const clock = new ManualClock();
  const script = () => tab.run(() => connecting({ url: "ws://test/bridge", reconnect: RECONNECT, clock }));
  const before = script();
  await openSession(before.bridge);
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
  const { openingRequest } = await resumeSession(bridge, { received: 0, sent: 0 });
  assert.deepEqual([openingRequest.method, openingRequest.params.reloaded], ["session.resume", true]);
  assert.equal((await bridge.ready).session, "s1");
});
