// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { atMost, whenOther } from "../inspector/dom.js";
import { maxBytes, Recording } from "../inspector/recording.js";
import { distance, nearestRoutes } from "../inspector/nearest-routes.js";
import { Records, textOf, waitingRecords } from "../inspector/records.js";
import { clockOffset, lanes, maxBars } from "../inspector/timeline.js";
import { turn } from "./fake-socket.js";

/** @param {Record<string, any>} members */
function call(members) {
  return /** @type {any} */ ({ type: "call", at: 1000, session: "s", client: "c", method: "router.invoke", ms: 1, code: 0, ...members });
}

test("the two records of a waiting call are one row, with the requests for it", () => {
  const records = new Records();
  const requests = /** @type {any} */ ({ type: "ask", at: 1002, session: "s", client: "h", method: "page.open", ms: 3, code: 0, call: 4 });
  records.add([call({ call: 4, state: "waits", ms: undefined, code: undefined }), requests, call({ call: 4, session: "other" })]);
  assert.equal(records.calls.length, 2);
  assert.equal(records.calls[0].ms, undefined);
  assert.deepEqual(records.calls[0].parts, [requests]);
  records.add([call({ call: 4, ms: 900, outcome: "dismissed" })]);
  assert.equal(records.calls.length, 2);
  assert.equal(records.calls[0].outcome, "dismissed");
  assert.match(textOf(records.calls[0]), /dismissed/);
});

test("the requests for a call can be reported before the call", () => {
  const records = new Records();
  const requests = /** @type {any} */ ({ type: "ask", at: 1001, session: "s", client: "h", method: "task.run", ms: 1, code: 0, call: 9 });
  records.add([requests]);
  records.add([call({ call: 9 })]);
  assert.deepEqual(records.calls[0].parts, [requests]);
  assert.deepEqual(records.others, []);
});

test("the number of stored records is limited, and dropped ones are counted", () => {
  const records = new Records();
  for (let batch = 0; batch < 12; batch += 1) records.add(Array.from({ length: 500 }, (_, number) => call({ call: batch * 500 + number })), 3);
  assert.equal(records.calls.length, Records.maxCalls);
  assert.equal(records.dropped, 36);
  // A record whose call was dropped begins a row of its own.
  records.add([call({ call: 0 })]);
  assert.equal(records.calls.at(-1)?.number, 6001);
});

test("a picture has lanes for pages, calls and requests, without overlapping bars", () => {
  const records = new Records();
  const page = { type: "page", session: "s", page: "p1", uri: "native://list", host: "h", style: "push" };
  records.add(/** @type {any[]} */ ([
    { ...page, event: "asked", at: 1010 }, { ...page, event: "opened", at: 1012 }, { ...page, event: "closed", at: 1900, ms: 888, outcome: "dismissed" },
    call({ method: "router.open", at: 1000, ms: 900, call: 1, page: "p1" }),
    { type: "interceptors", at: 1000, ms: 4, session: "s", client: "c", call: 1, names: ["login"], verdict: "pass" },
    { type: "ask", at: 1010, ms: 2, session: "s", client: "h", call: 1, method: "page.open", code: 0 },
    call({ at: 1100, ms: 50 }), call({ at: 1120, ms: 50, code: 2404 }), call({ at: 1300, session: "other" }),
    { type: "client", event: "away", at: 1400, session: "s", client: "c" }, { type: "client", event: "back", at: 1500, ms: 100, session: "s", client: "c" },
  ]));
  const { lanes: shown, left } = lanes(records, "s", 900, 2000);
  assert.equal(left, 0);
  assert.deepEqual(shown.map(({ title }) => title), ["Pages", "Interceptors", "Calls of c", "Requests to h", "Connection of c"]);
  const [pages, , calls, , connection] = shown;
  assert.deepEqual(pages.rows.flat().map(({ kind, from, to }) => [kind, from, to]), [["hold", 1004, 1010], ["page", 1012, 1900]]);
  assert.equal(calls.rows.length, 3);
  for (const row of calls.rows) for (let at = 1; at < row.length; at += 1) assert.equal(row[at - 1].to <= row[at].from, true);
  assert.deepEqual(connection.rows.flat().map(({ from, to }) => [from, to]), [[1400, 1500]]);
  assert.deepEqual(lanes(records, "s", 5000, 6000).lanes, []);
});

test("a picture of too many bars omits some and says how many", () => {
  const records = new Records();
  records.add(Array.from({ length: maxBars + 40 }, (_, number) => call({ at: 1000 + number * 2, ms: 1 })));
  const { lanes: shown, left } = lanes(records, "s", 0, 10_000);
  assert.equal(shown[0].rows.flat().length, maxBars);
  assert.equal(left, 40);
});

test("an ended session has no open page", () => {
  const records = new Records();
  records.add(/** @type {any[]} */ ([
    { type: "page", event: "opened", at: 1000, session: "s", page: "p1", uri: "native://list", host: "h", style: "push" },
    { type: "session", event: "ended", at: 1500, session: "s" },
  ]));
  assert.equal(records.pages.get("s/p1")?.closed, 1500);
});

test("a result that does not fit is a row of its own", () => {
  const records = new Records();
  const fault = /** @type {any} */ ({
    type: "result", at: 1005, session: "s", client: "c", source: "method", host: "c", uri: "native://cart", route: "cart", method: "pay",
    errors: [{ path: "$.result.total", message: "must be a number" }], rejected: true,
  });
  records.add([call({ name: "shop" }), fault, { ...fault, at: 1006, method: undefined, source: "page", rejected: false }]);
  const [, rejected, logged] = records.calls;
  assert.deepEqual([rejected.name, rejected.method, rejected.code, rejected.error], ["shop", "invalid result of method pay", 2502, "$.result.total: must be a number"]);
  assert.deepEqual([logged.method, logged.code, logged.outcome], ["invalid result of page", undefined, "only logged: $.result.total: must be a number"]);
  assert.match(textOf(rejected), /pay native:\/\/cart cart .*must be a number/);
  const [lane] = lanes(records, "s", 0, 2000).lanes.filter(({ title }) => title === "Calls of shop");
  assert.deepEqual(lane.rows.flat().map(({ isError }) => isError), [false, true, true]);
  // The server's stored records are the same rows, and so is one that comes again.
  records.restore("s", [call({}), fault]);
  assert.equal(records.calls.length, 3);
  const restored = new Records();
  restored.restore("s", [fault]);
  restored.add([fault]);
  assert.equal(restored.calls.length, 1);
});

test("a number that is used again belongs to another call", () => {
  const records = new Records();
  records.add([call({ call: 4, uri: "native://one" })]);
  records.add([call({ call: 4, uri: "native://two", at: 5000, ms: undefined, state: "waits" }), call({ call: 4, uri: "native://two", at: 5000, ms: 70 })]);
  assert.deepEqual(records.calls.map(({ uri, ms }) => [uri, ms]), [["native://one", 1], ["native://two", 70]]);
});

test("a call that was waiting on an earlier server has no end, and its number belongs to another call", () => {
  const records = new Records();
  const waits = { call: 4, ms: undefined, code: undefined, state: "waits" };
  const requests = /** @type {any} */ ({ type: "ask", at: 1001, session: "s", client: "h", method: "task.run", ms: 1, code: 0, call: 5 });
  records.add([call(waits), requests]);
  records.interrupt();
  records.add([call({ ...waits, at: 9000 }), call({ call: 5, at: 9000 }), call({ call: 4, at: 9000, ms: 10 })]);
  assert.deepEqual(records.calls.map(({ at, ms, lostAt }) => [at, ms, lostAt]), [[1000, undefined, 1002], [9000, 10, undefined], [9000, 1, undefined]]);
  assert.deepEqual(records.calls[2].parts, []);
  const [{ rows }] = lanes(records, "s", 0, 20_000).lanes;
  assert.deepEqual(rows.flat().map(({ to, isOpen }) => [to, isOpen])[0], [1002, false]);
});

test("the server's stored records are merged once, and reported calls get their messages", () => {
  const records = new Records();
  const request = /** @type {any} */ ({ type: "ask", at: 1501, session: "s", client: "h", id: 1, method: "page.open", ms: 2, code: 0, call: 7 });
  const reported = [call({ id: 3, at: 2000, params: { n: 3 } }), call({ call: 7, id: 2, at: 1500, ms: undefined, state: "waits", params: { n: 2 } }), { ...request, params: 1 }];
  const away = /** @type {any[]} */ ([
    { type: "client", event: "away", at: 1600, session: "s", client: "c" }, { type: "client", event: "back", at: 1700, ms: 100, session: "s", client: "c" },
  ]);
  records.add([...reported, ...away]);
  /** @type {any[]} */
  const changes = [];
  records.addEventListener("change", (event) => changes.push(Reflect.get(event, "detail")));
  const remembered = [
    call({ id: 1, at: 1000 }), call({ call: 7, id: 2, at: 1500, ms: undefined, state: "waits" }), request, ...away, call({ id: 3, at: 2000 }),
    call({ call: 7, id: 2, at: 1500, ms: 900, page: "p1" }), call({ id: 4, at: 3000 }), call({ id: 4, at: 3000 }),
  ];
  records.restore("s", remembered);
  const seen = () => records.calls.map(({ id, at, ms }) => [id, at, ms]);
  const all = [[1, 1000, 1], [2, 1500, 900], [3, 2000, 1], [4, 3000, 1], [4, 3000, 1]];
  assert.deepEqual(seen(), all);
  assert.equal(records.calls.every(({ number }, place) => place === 0 || number > records.calls[place - 1].number), true);
  assert.equal(changes[0].isInOrder, true);
  assert.deepEqual(records.calls[1].parts, [{ ...request, params: 1 }]);
  assert.deepEqual([records.calls[1].params, records.calls[2].params, records.others, records.absences.length], [{ n: 2 }, { n: 3 }, [], 1]);
  records.restore("s", remembered);
  assert.deepEqual(seen(), all);
  // The record was on its way to the inspector when the server sent its stored records.
  records.restore("s", [call({ id: 5, at: 4000 }), call({ id: 5, at: 4000 })]);
  records.add([call({ id: 5, at: 4000, params: "one" }), call({ id: 5, at: 4000, params: "two" }), call({ id: 5, at: 4000, params: "three" })]);
  assert.deepEqual(records.calls.slice(5).map(({ params }) => params), ["one", "two", "three"]);
});

test("cleared records do not return", () => {
  const records = new Records();
  records.add([call({ id: 1 })]);
  records.clear();
  records.restore("s", [call({ id: 1 }), call({ id: 2, at: 1500 })]);
  assert.deepEqual(records.calls.map(({ id }) => id), [2]);
});

test("an interrupted call has the end that the server has stored", () => {
  const records = new Records();
  const waits = call({ call: 7, id: 2, ms: undefined, state: "waits" });
  records.add([waits]);
  records.interrupt();
  records.restore("s", [waits, call({ call: 7, id: 2, ms: 5 })]);
  assert.deepEqual(records.calls.map(({ ms, lostAt }) => [ms, lostAt]), [[5, undefined]]);
});

test("the server's clock is estimated from its responses, ahead or behind", () => {
  assert.equal(clockOffset(undefined, 1000, 4990, 5010), -4000);
  assert.equal(clockOffset(-4000, 9000, 4990, 5010), 4000);
  // Perhaps only the response was slow.
  assert.equal(clockOffset(-4000, 1008, 4990, 5010), -4000);
});

test("a recording is limited to the bytes that replay reads, and says what it omits", () => {
  const recording = new Recording({ session: "s", at: 1000, records: [1] });
  assert.equal(recording.text, "{\"type\":\"recording\",\"version\":1,\"session\":\"s\",\"at\":1000}\n");
  const params = "ä€😀".repeat(1 << 18);
  for (let at = 0; at < 40; at += 1) recording.add([call({ at, params }), call({ session: "other" })], 0);
  const { text, count } = recording;
  assert.equal(count, 28);
  assert.equal(new TextEncoder().encode(text).length <= maxBytes, true);
  assert.deepEqual(JSON.parse(text.trimEnd().split("\n").at(-1) ?? ""), { type: "incomplete", left: 12, gaps: 0 });
});

test("a recording says that the connection was lost", () => {
  const recording = new Recording({ session: "s", at: 1000 });
  recording.gap();
  recording.add([call({})], 2);
  assert.deepEqual(recording.text.trimEnd().split("\n").slice(2).map((line) => JSON.parse(line)), [{ type: "incomplete", left: 3, gaps: 1 }]);
});

test("a frequent request is sent again only after its response", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {(() => void)[]} */
  const answers = [];
  const sendRequest = atMost(0, () => new Promise((resolve) => answers.push(() => resolve(undefined))));
  const count = async () => {
    await turn();
    context.mock.timers.tick(1);
    return answers.length;
  };
  sendRequest();
  assert.equal(await count(), 1);
  sendRequest();
  sendRequest();
  assert.equal(await count(), 1);
  answers[0]();
  assert.equal(await count(), 2);
  answers[1]();
  assert.equal(await count(), 2);
});

test("an unchanged value is not drawn again", () => {
  /** @type {any[]} */
  const drawn = [];
  const draw = whenOther((/** @type {any} */ value) => void drawn.push(value));
  for (const value of [{ a: 1 }, { a: 1 }, { a: 2 }, { a: 1 }]) draw(value);
  assert.deepEqual(drawn, [{ a: 1 }, { a: 2 }, { a: 1 }]);
});

test("calls that are waiting when the inspector is opened are rows, and end with their record", () => {
  const records = new Records();
  const waiting = { call: 4, client: "c", id: 2, method: "router.open", uri: "native://list", page: "p1", ms: 300, waitsFor: "page" };
  const detail = { session: "s", at: 1300, clients: [{ client: "c", name: "shop" }], calls: [waiting, { client: "c", method: "page.call" }] };
  records.restore("s", waitingRecords(detail));
  records.restore("s", waitingRecords(detail));
  assert.deepEqual(records.calls.map(({ at, name, uri, ms }) => [at, name, uri, ms]), [[1000, "shop", "native://list", undefined]]);
  records.add([call({ call: 4, at: 1000.25, method: "router.open", ms: 900, outcome: "finished" })]);
  assert.deepEqual(records.calls.map(({ ms, outcome }) => [ms, outcome]), [[900, "finished"]]);
});

test("the nearest routes of a URI come first, with its segments as their parameters", () => {
  const patterns = ["native://home", "native://address/:id", "native://address/list", "action://share", "native://documents/*", "native://a(/:id)/edit"];
  const routes = patterns.map((pattern) => ({ route: pattern, pattern }));
  const nearest = (/** @type {string} */ uri) => nearestRoutes(uri, routes, 2).map(({ pattern }) => pattern);
  assert.deepEqual(nearest("native://addres/7?from=a"), ["native://address/:id", "native://address/list"]);
  assert.equal(nearest("action://shar")[0], "action://share");
  assert.equal(nearest("native://document/a/b/c")[0], "native://documents/*");
  assert.equal(distance("kitten", "sitting"), 3);
  assert.equal(distance("", "abc"), 3);
});
