// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, connected, connecting, FakeSocket, INFO, newest, turn } from "./fake-socket.js";

const RECONNECT = { minDelay: 100, maxDelay: 1000 };
const EXPIRING = { topic: "session.expiring", data: { session: "s1", client: "c1", expiresAt: 2000 }, at: 1000 };

/**
 * Sends a message of the server that needs no response.
 * @param {FakeSocket} socket
 * @param {object} event
 */
async function sendEvent(socket, event) {
  socket.receive({ method: "event", params: event });
  await turn();
}

/** @param {import("../bridge/bridge.js").Bridge} bridge */
function expirings(bridge) {
  /** @type {unknown[]} */
  const seen = [];
  bridge.addEventListener("expiring", (event) => seen.push(Reflect.get(event, "detail")));
  return seen;
}

/** A bridge whose tokens are t1, t2 and so on; t1 expires at 2000. */
async function renewing() {
  let count = 0;
  const made = connecting({ reconnect: RECONNECT, token: async () => `t${(count += 1)}` });
  await accept(made.bridge, { expiresAt: 2000 });
  assert.equal(made.bridge.session?.expiresAt, 2000);
  return made;
}

test("the function for tokens renews an expiring token, and the event expiring is dispatched", async () => {
  const { bridge, socket, events } = await renewing();
  const reported = expirings(bridge);
  const before = bridge.session;
  await sendEvent(socket, EXPIRING);
  assert.deepEqual(reported, [{ expiresAt: 2000 }]);
  assert.deepEqual(socket.last("session.renew").params, { token: "t2" });
  socket.respond("session.renew", { expiresAt: 9000 });
  await turn();
  assert.equal(bridge.session?.expiresAt, 9000);
  assert.equal(bridge.session, before);
  await sendEvent(socket, EXPIRING);
  assert.deepEqual(socket.last("session.renew").params, { token: "t3" });
  socket.respond("session.renew", { expiresAt: null });
  await turn();
  assert.equal(bridge.session?.expiresAt, null);
  assert.deepEqual(events, []);
});

test("without a function only the event expiring is dispatched", async () => {
  const { bridge, socket, events } = await connected({ token: "t1" });
  const notified = expirings(bridge);
  await sendEvent(socket, EXPIRING);
  assert.deepEqual(notified, [{ expiresAt: 2000 }]);
  assert.deepEqual([socket.sent, events], [[], []]);
});

test("subscribers receive the event for another client's token, and nothing is renewed", async () => {
  const { bridge, socket } = await renewing();
  const expiries = expirings(bridge);
  /** @type {unknown[]} */
  const received = [];
  bridge.subscribe("session.*", ({ data }) => received.push(data));
  socket.respond("events.subscribe", {});
  for (const data of [{ ...EXPIRING.data, client: "c2" }, null]) await sendEvent(socket, { ...EXPIRING, data });
  assert.deepEqual([received.length, expiries], [2, []]);
  socket.last("events.subscribe");
});

test("a failed renewal causes an error event, and the connection continues", async () => {
  let works = true;
  const { bridge, socket, events } = await connected({ token: () => {
    if (works) return "t";
    throw new Error("logged out");
  } });
  works = false;
  await sendEvent(socket, EXPIRING);
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.code, detail.message]), [["error", 2401, "The token could not be renewed: logged out"]]);
  works = true;
  await sendEvent(socket, EXPIRING);
  socket.respondError("session.renew", { code: 2401, message: "not yours" });
  await turn();
  assert.deepEqual(events.slice(1).map(({ type, detail }) => [type, detail.code, detail.method]), [["error", 2401, "session.renew"]]);
  assert.equal(bridge.state, "open");
});

test("a token that arrives after its session has ended is not sent in the next one", async () => {
  /** @type {((token: string) => void)[]} */
  const given = [];
  const token = () => new Promise((resolve) => given.push(resolve));
  const { bridge, socket, clock, events } = connecting({ reconnect: RECONNECT, token });
  const open = async () => {
    newest().accept();
    given.at(-1)?.("t");
    await turn();
    newest().respond("session.open", INFO);
    await bridge.ready;
  };
  await open();
  await sendEvent(socket, EXPIRING);
  socket.end(1006);
  clock.advance(100);
  await open();
  newest().sent = [];
  given[1]("t2");
  await turn();
  assert.deepEqual(newest().sent, []);
  assert.deepEqual(events, []);
});

test("after 4203 a client with a function reconnects with a new token, and any other client closes", async () => {
  const { bridge, socket, clock } = await renewing();
  socket.end(4203, "the token has expired");
  assert.equal(bridge.state, "waiting");
  clock.advance(0);
  newest().accept();
  await turn();
  assert.equal(newest().last("session.open").params.token, "t2");
  for (const options of [{}, { token: "t" }, { join: () => ({ session: "s", token: "j" }) }]) {
    const other = connecting({ reconnect: RECONNECT, ...options });
    await accept(other.bridge);
    other.socket.end(4203, "the token has expired");
    assert.equal(other.bridge.state, "closed");
    assert.equal(other.clock.pending, 0);
    assert.deepEqual(other.events, [{ type: "close", detail: { code: 4203, reason: "the token has expired" } }]);
  }
});
