// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Records, textOf } from "../inspector/records.js";
import { lanes, maxBars } from "../inspector/timeline.js";

/** @param {Record<string, any>} members */
function call(members) {
  return /** @type {any} */ ({ type: "call", at: 1000, session: "s", client: "c", method: "router.invoke", ms: 1, code: 0, ...members });
}

test("the two records of a call that waits are one row, with what was asked for it", () => {
  const records = new Records();
  const asked = /** @type {any} */ ({ type: "ask", at: 1002, session: "s", client: "h", method: "page.open", ms: 3, code: 0, call: 4 });
  records.take([call({ call: 4, state: "waits", ms: undefined, code: undefined }), asked, call({ call: 4, session: "other" })]);
  assert.equal(records.calls.length, 2);
  assert.equal(records.calls[0].ms, undefined);
  assert.deepEqual(records.calls[0].parts, [asked]);
  records.take([call({ call: 4, ms: 900, outcome: "dismissed" })]);
  assert.equal(records.calls.length, 2);
  assert.equal(records.calls[0].outcome, "dismissed");
  assert.match(textOf(records.calls[0]), /dismissed/);
});

test("what was asked for a call may be told before the call", () => {
  const records = new Records();
  const asked = /** @type {any} */ ({ type: "ask", at: 1001, session: "s", client: "h", method: "task.run", ms: 1, code: 0, call: 9 });
  records.take([asked]);
  records.take([call({ call: 9 })]);
  assert.deepEqual(records.calls[0].parts, [asked]);
  assert.deepEqual(records.others, []);
});

test("what is kept is bounded, and what was dropped is counted", () => {
  const records = new Records();
  for (let batch = 0; batch < 12; batch += 1) records.take(Array.from({ length: 500 }, (_, number) => call({ call: batch * 500 + number })), 3);
  assert.equal(records.calls.length, Records.maxCalls);
  assert.equal(records.dropped, 36);
  assert.equal(records.total, 6000);
  // One that is forgotten begins a row of its own.
  records.take([call({ call: 0 })]);
  assert.equal(records.calls.at(-1)?.number, 6001);
});

test("a picture has lanes for pages, calls and what was asked, without bars upon each other", () => {
  const records = new Records();
  const page = { type: "page", session: "s", page: "p1", uri: "native://list", host: "h", style: "push" };
  records.take(/** @type {any[]} */ ([
    { ...page, event: "asked", at: 1010 }, { ...page, event: "opened", at: 1012 }, { ...page, event: "closed", at: 1900, ms: 888, outcome: "dismissed" },
    call({ method: "router.open", at: 1000, ms: 900, call: 1, page: "p1" }),
    { type: "interceptors", at: 1000, ms: 4, session: "s", client: "c", call: 1, names: ["login"], verdict: "pass" },
    { type: "ask", at: 1010, ms: 2, session: "s", client: "h", call: 1, method: "page.open", code: 0 },
    call({ at: 1100, ms: 50 }), call({ at: 1120, ms: 50, code: 2404 }), call({ at: 1300, session: "other" }),
    { type: "client", event: "away", at: 1400, session: "s", client: "c" }, { type: "client", event: "back", at: 1500, ms: 100, session: "s", client: "c" },
  ]));
  const { lanes: shown, left } = lanes(records, "s", 900, 2000);
  assert.equal(left, 0);
  assert.deepEqual(shown.map(({ title }) => title), ["Pages", "Interceptors", "Calls of c", "Asked of h", "Connection of c"]);
  const [pages, , calls, , connection] = shown;
  assert.deepEqual(pages.rows.flat().map(({ kind, from, to }) => [kind, from, to]), [["hold", 1004, 1010], ["page", 1012, 1900]]);
  assert.equal(calls.rows.length, 3);
  for (const row of calls.rows) for (let at = 1; at < row.length; at += 1) assert.equal(row[at - 1].to <= row[at].from, true);
  assert.deepEqual(connection.rows.flat().map(({ from, to }) => [from, to]), [[1400, 1500]]);
  assert.deepEqual(lanes(records, "s", 5000, 6000).lanes, []);
});

test("a picture of too much leaves bars out and says how many", () => {
  const records = new Records();
  records.take(Array.from({ length: maxBars + 40 }, (_, number) => call({ at: 1000 + number * 2, ms: 1 })));
  const { lanes: shown, left } = lanes(records, "s", 0, 10_000);
  assert.equal(shown[0].rows.flat().length, maxBars);
  assert.equal(left, 40);
});

test("a session that has ended has no page that goes on", () => {
  const records = new Records();
  records.take(/** @type {any[]} */ ([
    { type: "page", event: "opened", at: 1000, session: "s", page: "p1", uri: "native://list", host: "h", style: "push" },
    { type: "session", event: "ended", at: 1500, session: "s" },
  ]));
  assert.equal(records.pages.get("s/p1")?.closed, 1500);
});
