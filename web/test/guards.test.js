// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { mockBridge } from "../bridge/mock.js";
import { connected, responses, turn } from "./fake-socket.js";

const LEAVE = { page: "p1", reason: "dismissed", caller: { session: "s" } };

for (const [name, guard, expected] of /** @type {[string, import("../bridge/types/api.js").LeaveGuard, any][]} */ ([
  ["true", () => true, { result: { allow: true } }],
  ["nothing", () => {}, { result: { allow: true } }],
  ["false", async () => false, { result: { allow: false } }],
  ["a reason", () => "unsaved changes", { result: { allow: false, reason: "unsaved changes" } }],
  ["the destination", ({ page, reason, to }) => `${page} ${reason} ${to}`, { result: { allow: false, reason: "p1 dismissed undefined" } }],
])) {
  test(`a guard that returns ${name} decides about its page`, async () => {
    const { bridge, socket } = await connected();
    const set = bridge.setGuard(guard, { page: "p1", timeout: 500 });
    await turn();
    assert.deepEqual(socket.last("page.setGuard").params, { page: "p1", enabled: true, timeoutMs: 500 });
    socket.respond("page.setGuard", null);
    await set;
    socket.receive({ id: 1, method: "page.leave", params: LEAVE });
    await turn();
    assert.deepEqual(responses(socket)[0].result, expected.result);
  });
}

test("a guard that throws keeps its page open", async () => {
  const { bridge, socket } = await connected();
  const set = bridge.setGuard(() => { throw new Error("no form"); }, { page: "p1" });
  await turn();
  socket.respond("page.setGuard", null);
  await set;
  socket.receive({ id: 1, method: "page.leave", params: LEAVE });
  await turn();
  assert.match(responses(socket)[0].error.message, /no form/);
});

test("a guard that was removed or rejected is not asked", async () => {
  const { bridge, socket } = await connected();
  const rejected = bridge.setGuard(() => false, { page: "p1" });
  await turn();
  socket.respondError("page.setGuard", { code: 2404, message: "no page" });
  await assert.rejects(rejected, { code: 2404 });
  socket.receive({ id: 1, method: "page.leave", params: LEAVE });
  await turn();
  assert.deepEqual(responses(socket)[0].result, { allow: true });
});

test("a guard is a function", async () => {
  const { bridge } = await connected();
  await assert.rejects(bridge.setGuard(/** @type {any} */ (true)), { kind: "invalidParams" });
});

test("setResult sends the result, or removes it", async () => {
  const { bridge, socket } = await connected();
  void bridge.setResult({ id: 3 }, { code: 7 });
  assert.deepEqual(socket.last("page.setResult").params, { result: { data: { id: 3 }, code: 7 } });
  void bridge.setResult(undefined, { page: "p2" });
  assert.deepEqual(socket.last("page.setResult").params, { page: "p2" });
});

test("a mocked app asks guards, and returns early results", async () => {
  const forever = () => new Promise(() => {});
  const bridge = mockBridge({ pages: { "native://home": forever, "native://form": forever } });
  /** @type {(uri: string) => Promise<{page: string, outcome: Promise<any>}>} */
  const opened = (uri) =>
    new Promise((resolve) => {
      /** @type {Promise<any>} */
      const outcome = bridge.open(uri, {}, { onProgress: ({ opened }) => resolve({ page: opened.page, outcome }) });
      outcome.catch(() => {});
    });
  await opened("native://home");
  const { page, outcome } = await opened("native://form");
  /** @type {any[]} */
  const asked = [];
  let verdict = "unsaved changes";
  await bridge.setGuard(({ reason, to }) => (asked.push([reason, to?.uri]), verdict === "" || verdict), { page });
  await assert.rejects(bridge.back(), { code: 2423, kind: "leaveRefused" });
  await assert.rejects(bridge.open("native://home", {}, { style: "replace" }), { code: 2423 });
  await bridge.setResult("draft", { page });
  verdict = "";
  await bridge.back();
  assert.deepEqual(await outcome, { outcome: "finished", code: 0, message: "", data: "draft" });
  assert.deepEqual(asked, [["dismissed", "native://home"], ["replaced", "native://home"], ["dismissed", "native://home"]]);
  await bridge.close();
});
