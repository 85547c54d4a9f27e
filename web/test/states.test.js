// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { connecting, newest, turn } from "./fake-socket.js";
import { openSession, resumeSession, RECONNECT, RESUMABLE } from "./resumable-session.js";
import { followCall, followedHost, followLink, MACHINES, seen, ObservedSocket } from "./state-machines.js";

const OPENED = { opened: { page: "p1" } };

/** @param {Partial<import("../bridge/bridge.js").BridgeOptions>} [options] */
function followed(options) {
  const made = connecting({ WebSocket: /** @type {any} */ (ObservedSocket), reconnect: RECONNECT, ...options });
  return { ...made, trace: followLink(made.bridge) };
}

/**
 * Makes another attempt to connect.
 * @param {import("./manual-clock.js").ManualClock} clock
 */
async function retried(clock) {
  clock.advance(RECONNECT.maxDelay);
  await turn();
}

/**
 * Loses the session and opens another.
 * @param {import("./manual-clock.js").ManualClock} clock
 */
async function renewed(clock) {
  newest().end(1006);
  await retried(clock);
  const socket = newest();
  socket.accept();
  await turn();
  const { id } = socket.last("session.resume");
  socket.receive({ id, result: { ...RESUMABLE, session: "s2", resumed: false, reason: "unknown" } });
  socket.seq = 0;
  await turn();
  return socket;
}

test("a link that never opens", async () => {
  const { bridge, clock, trace } = followed();
  newest().end(1006);
  await retried(clock);
  newest().end(1006);
  assert.equal(trace.state, "waiting");
  await bridge.close();
  assert.equal(trace.state, "closed");
  const other = followed();
  await Promise.all([other.bridge.close(), newest().end(1000)]);
  assert.equal(other.trace.state, "closed");
});

test("a link whose session does not open", async () => {
  const { clock, trace } = followed();
  for (const answer of ["lost", "refused"]) {
    newest().accept();
    await turn();
    assert.equal(trace.state, "opening");
    if (answer === "lost") newest().end(1006);
    else newest().respondError("session.open", { code: 2401, message: "no" });
    await turn();
    if (answer === "lost") await retried(clock);
  }
  assert.equal(trace.state, "closed");
});

test("a link whose session is resumed, until it cannot be", async () => {
  const { bridge, clock, trace } = followed();
  await openSession(bridge);
  newest().end(1006);
  await retried(clock);
  await resumeSession(bridge, { received: 0 });
  assert.equal(trace.state, "open");
  for (const answer of ["lost", "refused"]) {
    newest().end(1006);
    await retried(clock);
    newest().accept();
    await turn();
    assert.equal(trace.state, "resuming");
    if (answer === "lost") continue;
    newest().respondError("session.resume", { code: 2403, message: "no" });
    await turn();
  }
  assert.equal(trace.state, "closed");
  const ended = followed();
  await openSession(ended.bridge);
  newest().end(4001);
  assert.equal(ended.trace.state, "closed");
});

test("a call that is never sent", async () => {
  const { bridge, clock } = followed();
  const cancelled = followCall(bridge);
  cancelled.cancel();
  const late = followCall(bridge, { timeout: 100 });
  clock.advance(1100);
  const failed = followCall(bridge);
  await turn();
  const closed = bridge.close();
  newest().end(1000);
  await Promise.all([closed, cancelled.settled, late.settled, failed.settled]);
  for (const { trace } of [cancelled, late, failed]) assert.equal(trace.state, "settled");
});

for (const isShown of [false, true]) {
  for (const isCancelled of [false, true]) {
    for (const end of ["answer", "late", "fail", "again"]) {
      test(`a sent call${isShown ? ", shown" : ""}${isCancelled ? ", cancelled" : ""}: ${end}`, async () => {
        const { bridge, clock } = followed();
        await openSession(bridge);
        const call = followCall(bridge, { timeout: 500, ...(end === "again" && { key: "k" }) });
        await turn();
        if (isShown) newest().receive({ method: "$/progress", params: { id: call.id(), value: OPENED } });
        if (isCancelled) call.cancel();
        if (isShown) newest().receive({ method: "$/progress", params: { id: call.id(), value: OPENED } });
        if (end === "late") clock.advance(1500);
        if (end === "again") await renewed(clock);
        if (end === "fail") {
          const closed = bridge.close();
          newest().end(1000);
          await closed;
        } else {
          const isOver = call.trace.state === "settled";
          if (!isOver) newest().receive({ id: call.id(), result: { outcome: "finished", code: 0, message: "", data: null } });
        }
        await call.settled;
        assert.equal(call.trace.state, "settled");
        const closed = bridge.close();
        newest().end(1000);
        await closed;
      });
    }
  }
}

test("pages of a host", async () => {
  const { host, traces, opening } = followedHost();
  const { bridge } = followed({ hosts: { native: host } });
  const socket = await openSession(bridge);
  const open = async (/** @type {string} */ id) => {
    socket.receive({ id, method: "page.open", params: { page: { id, uri: "native://a" } } });
    await turn();
  };
  const close = async (/** @type {string} */ page) => {
    socket.receive({ id: `${page} closes`, method: "page.close", params: { page, reason: "dismissed" } });
    await turn();
  };
  for (const id of ["shown", "refused", "leaves", "fails"]) await open(id);
  opening[0].show();
  opening[1].refuse(new Error("no"));
  await turn();
  for (const id of ["shown", "leaves", "fails"]) await close(id);
  opening[2].show();
  opening[3].refuse(new Error("no"));
  await turn();
  for (const [id, { state }] of traces) assert.equal(state, "gone", id);
  const closed = bridge.close();
  socket.end(1000);
  await closed;
});

test("each transition of protocol/states.json occurred, and no other", () => {
  for (const [name, { transitions }] of Object.entries(MACHINES)) {
    const all = transitions.map((transition) => transition.join(" ")).sort();
    assert.deepEqual([...seen[name]].sort(), all, name);
  }
});
