// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { CancelledError } from "../bridge/bridge.js";
import { connected, turn } from "./fake-socket.js";
import { numbered, resumableBridge, resumeSession } from "./resumable-session.js";

/** The outcome of a page whose opener has cancelled. */
const CANCELLED = { outcome: "cancelled", code: 0, message: "", data: null };

/**
 * Follows a promise without waiting for it.
 * @param {Promise<any>} promise
 */
function followed(promise) {
  /** @type {{value?: any, error?: any}} */
  const seen = {};
  promise.then((value) => (seen.value = value), (error) => (seen.error = error));
  return seen;
}

/** @type {Record<string, (made: Awaited<ReturnType<typeof resumableBridge>>) => void>} what keeps a response from arriving */
const SILENCES = {
  "no connection": ({ socket }) => socket.end(1006),
  "a connection on which nothing passes": () => {},
  "a connection that is closing": ({ socket }) => void (socket.readyState = 2),
};

for (const [name, silence] of Object.entries(SILENCES)) {
  for (const method of /** @type {("open" | "invoke" | "call")[]} */ (["open", "invoke", "call"])) {
    test(`with ${name}, an aborted ${method} rejects a second later`, async () => {
      const made = await resumableBridge();
      const { bridge, clock } = made;
      const controller = new AbortController();
      const options = { signal: controller.signal };
      const call = followed(method === "call" ? bridge.call("p1", "m", {}, options) : /** @type {any} */ (bridge)[method]("x://a", {}, options));
      silence(made);
      controller.abort();
      clock.advance(999);
      await turn();
      assert.deepEqual(call, {});
      clock.advance(1);
      await turn();
      assert(call.error instanceof CancelledError, method);
      assert.deepEqual([call.error.code, call.error.name], [-32800, "AbortError"]);
      void bridge.close();
    });
  }

  test(`with ${name}, aborting closes a page that is shown, a second later`, async () => {
    const made = await resumableBridge();
    const { bridge, socket, clock } = made;
    const controller = new AbortController();
    const call = followed(bridge.open("native://a", {}, { signal: controller.signal, timeout: 100 }));
    const { id } = socket.last("router.open");
    socket.receive({ method: "$/progress", params: { id, value: { opened: { page: "p1" } } } });
    silence(made);
    clock.advance(60000);
    await turn();
    assert.deepEqual(call, {});
    controller.abort();
    clock.advance(1000);
    await turn();
    assert.deepEqual(call, { value: CANCELLED });
    void bridge.close();
  });
}

test("a response within the second decides, and a later one has no effect", async () => {
  for (const [answer, check] of /** @type {[object, (call: any) => void][]} */ ([
    [{ error: { code: -32800, message: "cancelled" } }, (call) => assert.equal(call.error.code, -32800)],
    [{ result: CANCELLED }, (call) => assert.deepEqual(call, { value: CANCELLED })],
    [{ result: { outcome: "finished", code: 0, message: "", data: 1 } }, (call) => assert.equal(call.value.data, 1)],
  ])) {
    const { bridge, socket, clock, events } = await resumableBridge();
    const controller = new AbortController();
    const call = followed(bridge.open("native://a", {}, { signal: controller.signal }));
    const { id } = socket.last("router.open");
    controller.abort();
    clock.advance(999);
    socket.receive({ id, ...answer });
    await turn();
    check(call);
    clock.advance(100000);
    await turn();
    check(call);
    assert.deepEqual(socket.sent.filter(({ method }) => method === "$/cancelRequest").length, 1);

    const late = followed(bridge.open("native://b", {}, { signal: controller.signal }));
    await turn();
    assert.equal(late.error, controller.signal.reason, "an aborted signal sends nothing");
    const other = new AbortController();
    const second = followed(bridge.invoke("action://b", {}, { signal: other.signal }));
    const last = socket.last("router.invoke").id;
    other.abort();
    clock.advance(1000);
    await turn();
    assert.equal(second.error.code, -32800);
    socket.receive({ id: last, ...answer });
    await turn();
    assert.equal(second.error.code, -32800);
    assert.deepEqual(events, []);
    void bridge.close();
  }
});

test("a page that is shown after the abort still settles, and its progress is reported", async () => {
  const { bridge, socket, clock } = await connected();
  const controller = new AbortController();
  /** @type {unknown[]} */
  const progress = [];
  const call = followed(bridge.open("native://a", {}, { signal: controller.signal, onProgress: (value) => progress.push(value) }));
  const { id } = socket.last("router.open");
  controller.abort();
  socket.receive({ method: "$/progress", params: { id, value: { opened: { page: "p1" } } } });
  clock.advance(1000);
  await turn();
  assert.deepEqual([call, progress], [{ value: CANCELLED }, [{ opened: { page: "p1" } }]]);
});

test("the cancellation of a settled call is sent on the next connection", async () => {
  const { bridge, socket, clock } = await resumableBridge();
  const controller = new AbortController();
  const call = followed(bridge.invoke("action://a", {}, { signal: controller.signal }));
  const { id } = socket.last("router.invoke");
  socket.end(1006);
  controller.abort();
  clock.advance(1000);
  await turn();
  assert.equal(call.error.code, -32800);
  const { socket: next } = await resumeSession(bridge, { received: 1, pending: [{ id, method: "router.invoke" }] });
  assert.deepEqual(numbered(next), [{ seq: 2, method: "$/cancelRequest", params: { id } }]);
  next.receive({ id, error: { code: -32800, message: "cancelled" } });
  await turn();
  assert.equal(bridge.state, "open");
  void bridge.close();
});

test("aborted calls leave no timers and no listeners behind", async () => {
  const { bridge, socket, clock } = await connected();
  const before = clock.pending;
  const controller = new AbortController();
  const listeners = { added: 0, removed: 0 };
  const { signal } = controller;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (/** @type {any[]} */ ...how) => ((listeners.added += 1), Reflect.apply(add, signal, how));
  signal.removeEventListener = (/** @type {any[]} */ ...how) => ((listeners.removed += 1), Reflect.apply(remove, signal, how));
  const call = followed(bridge.invoke("action://a", {}, { signal, timeout: 5000 }));
  controller.abort();
  assert.equal(clock.pending, before + 1);
  socket.respond("$/cancelRequest", null);
  clock.advance(1000);
  await turn();
  assert.equal(call.error.code, -32800);
  assert.equal(clock.pending, before);
  assert.equal(listeners.added, 1);
  assert(listeners.removed >= 1);
});
