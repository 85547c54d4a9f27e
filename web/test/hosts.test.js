// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { codes, DeclinedError } from "../bridge/bridge.js";
import { responses, connected, connecting, FakeSocket, INFO, turn } from "./fake-socket.js";
import { ManualClock } from "./manual-clock.js";

const PAGE = { id: "p1", uri: "native://a?x=1", route: "a", params: { x: "1" }, exts: {}, style: "push" };
const NOTHING = { open: () => {}, close: () => {} };

test("hosts added before the socket is open are part of session.open", async () => {
  const { bridge, socket } = connecting({ hosts: { flutter: NOTHING }, tasks: { "action://toast": () => {} } });
  const host = bridge.host("Native", { ...NOTHING, patterns: ["native://a/:id"] });
  const task = bridge.task("action://share", () => {});
  socket.accept();
  assert.deepEqual(socket.last("session.open").params.hosts, [
    { scheme: "flutter", kind: "page" },
    { scheme: "native", kind: "page", patterns: ["native://a/:id"] },
    { patterns: ["action://toast"], kind: "task" },
    { patterns: ["action://share"], kind: "task" },
  ]);
  socket.respond("session.open", INFO);
  await Promise.all([host.registered, task.registered]);
  assert.equal(socket.sent.length, 1);
});

test("a host added later is registered and removed", async () => {
  const { bridge, socket } = await connected();
  const unregister = bridge.host("native", NOTHING);
  const hosts = [{ scheme: "native", kind: "page" }];
  assert.deepEqual(socket.last("host.register").params, { hosts });
  socket.respond("host.register", { hosts });
  await unregister.registered;
  const removed = unregister();
  await turn();
  assert.deepEqual(socket.last("host.unregister").params, { hosts });
  socket.respond("host.unregister", { hosts: [] });
  await removed;
  socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
  await turn();
  assert.equal(responses(socket)[0].error.code, 2504);
});

test("a host added while the session opens is registered after it", async () => {
  const { bridge, socket } = connecting();
  socket.accept();
  void bridge.task("action://a", () => {});
  socket.respond("session.open", INFO);
  await bridge.ready;
  assert.deepEqual(socket.last("host.register").params, { hosts: [{ patterns: ["action://a"], kind: "task" }] });
});

test("a rejected registration rejects, causes an error event, and leaves no host behind", async () => {
  const { bridge, socket, events } = await connected();
  const { registered } = bridge.task("action://a", () => 1);
  socket.respondError("host.register", { code: 2403, message: "no" });
  await assert.rejects(registered, { code: 2403 });
  assert.equal(events[0].detail.code, 2403);
  void bridge.task("action://a", () => 2);
});

test("an invalid host is rejected at once", async () => {
  const { bridge, socket } = await connected();
  const any = /** @type {any} */ (bridge);
  assert.throws(() => any.host("native:", NOTHING), { code: -32602, message: /needs a scheme/ });
  assert.throws(() => any.host(undefined, NOTHING), { message: /needs a scheme/ });
  assert.throws(() => any.host("native", { open: () => {} }), { message: /open and close/ });
  assert.throws(() => any.host("native", { ...NOTHING, patterns: ["x"] }), { message: /not a pattern/ });
  assert.throws(() => any.task("action://a"), { message: /needs a function/ });
  assert.equal(socket.sent.length, 0);
  void bridge.host("native", NOTHING);
  assert.throws(() => any.host("NATIVE", NOTHING), { code: 2409 });
});

for (const options of [{ hosts: { "a b": NOTHING } }, { tasks: { x: () => {} } }, { methods: { "rpc.x": () => {} } }]) {
  test(`a bridge with ${JSON.stringify(Object.entries(options))} throws and leaves no connection behind`, () => {
    const clock = new ManualClock();
    const before = FakeSocket.made.length;
    assert.throws(() => connecting({ ...options, clock, reconnect: {} }), { code: -32602 });
    assert.deepEqual(FakeSocket.made.slice(before).map(({ closes }) => closes.length), [1]);
    assert.equal(clock.pending, 0);
  });
}

test("a page is opened, resumed and closed by its host", async () => {
  /** @type {unknown[]} */
  const seen = [];
  const { socket, events } = await connected({
    hosts: {
      native: {
        open: async (page) => void seen.push(["open", page]),
        close: (page, reason, exts) => void seen.push(["close", page.id, reason, exts]),
        resume: (page) => void seen.push(["resume", page.id]),
      },
    },
  });
  socket.receive({ id: "s-1", method: "page.open", params: { page: PAGE } });
  await turn();
  socket.receive({ method: "page.resume", params: { page: "p1" } });
  socket.receive({ method: "page.resume", params: { page: "elsewhere" } });
  socket.receive({ id: "s-2", method: "page.close", params: { page: "p1", reason: "dismissed" } });
  socket.receive({ id: "s-3", method: "page.close", params: { page: "p1", reason: "dismissed" } });
  await turn();
  assert.deepEqual(seen, [["open", PAGE], ["resume", "p1"], ["close", "p1", "dismissed", {}]]);
  assert.deepEqual(responses(socket).sort((a, b) => (a.id < b.id ? -1 : 1)), [
    { id: "s-1", result: null },
    { id: "s-2", result: null },
    { id: "s-3", result: null },
  ]);
  assert.deepEqual(events, [{ type: "resume", detail: { page: "p1" } }, { type: "resume", detail: { page: "elsewhere" } }]);
});

/** @type {object[]} what a call can change of a page that is open */
const CHANGES = [
  {}, { uri: "native://a?x=2", params: { x: "2" } }, { exts: { animated: false } }, { uri: "native://a?x=2", params: { x: "2" }, exts: { animated: false } },
];

for (const changes of CHANGES) {
  test(`a page that is resumed with ${JSON.stringify(changes)} has these from then on`, async () => {
    /** @type {any[]} */
    const seen = [];
    const { socket, events } = await connected({
      hosts: {
        native: {
          open: (page) => void seen.push(page),
          resume: (page, given) => void seen.push(page, given, { ...page }),
          close: (page) => void seen.push(page),
        },
      },
    });
    socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
    await turn();
    socket.receive({ method: "page.resume", params: { page: "p1", ...changes } });
    socket.receive({ id: 2, method: "page.close", params: { page: "p1", reason: "dismissed" } });
    await turn();
    const [opened, resumed, given, copy, closed] = seen;
    assert.deepEqual([given, copy], [changes, { ...PAGE, ...changes }]);
    assert.equal(resumed, opened, "a host can identify the page by the object");
    assert.equal(closed, opened);
    assert.deepEqual(events, [{ type: "resume", detail: { page: "p1", ...changes } }]);
  });
}

/** @type {[unknown, object][]} */
const CLOSING = [
  [undefined, {}],
  [null, {}],
  [{ animated: false, by: ["a", null] }, { animated: false, by: ["a", null] }],
];

for (const [exts, expected] of CLOSING) {
  test(`a page that closes with the exts ${JSON.stringify(exts)} is closed by its host with ${JSON.stringify(expected)}`, async () => {
    /** @type {unknown[]} */
    const closed = [];
    const close = (/** @type {unknown[]} */ ...how) => void closed.push(how);
    const { socket } = await connected({ hosts: { native: { ...NOTHING, close } } });
    socket.receive({ id: 1, method: "page.open", params: { page: { ...PAGE, exts: { own: 1 } } } });
    await turn();
    socket.receive({ id: 2, method: "page.close", params: { page: "p1", reason: "replaced", exts } });
    await turn();
    assert.deepEqual(closed, [[{ ...PAGE, exts: { own: 1 } }, "replaced", expected]]);
  });
}

/** @type {[string, unknown, object][]} */
const FAILURES = [
  ["an error", new Error("no room"), { code: 2502, message: "no room", data: { kind: "hostFailed", retryable: false } }],
  ["a code of the application", Object.assign(new Error("mine"), { code: 17, data: [1] }), { code: 17, message: "mine", data: [1] }],
  ["a high code of the application", { code: 3000, message: "mine" }, { code: 3000, message: "mine" }],
  ["a code of the protocol", Object.assign(new Error("x"), { code: 2404 }), { code: 2502, message: "x", data: { kind: "hostFailed", retryable: false } }],
  ["a code that is a string", Object.assign(new Error("x"), { code: "ENOENT" }), { code: 2502, message: "x", data: { kind: "hostFailed", retryable: false } }],
  ["nothing", undefined, { code: codes.hostFailed.code, message: codes.hostFailed.message, data: { kind: "hostFailed", retryable: false } }],
  ["data that is not JSON", Object.assign(new Error("x"), { code: 5, data: 1n }), { code: 5, message: "x" }],
];

for (const [name, thrown, error] of FAILURES) {
  test(`a host and a task that throw ${name} respond with the error`, async () => {
    const fail = async () => {
      throw thrown;
    };
    const { socket } = await connected({ hosts: { native: { ...NOTHING, open: fail } }, tasks: { "action://a": fail } });
    socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
    socket.receive({ id: 2, method: "task.run", params: { uri: "action://a" } });
    await turn();
    for (const id of [1, 2]) assert.deepEqual(responses(socket).filter((each) => each.id === id), [{ id, error }]);
  });
}

test("the error of a host that fails to close is in the response", async () => {
  const { socket } = await connected({ hosts: { native: { open: () => {}, close: () => assert.fail("stuck") } } });
  socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
  await turn();
  socket.receive({ id: 2, method: "page.close", params: { page: "p1", reason: "replaced" } });
  await turn();
  assert.equal(responses(socket)[1].error.message, "stuck");
});

test("an opening that the server cancelled is rejected, and its page is closed if it was shown anyway", async () => {
  for (const ends of ["throws", "shows"]) {
    /** @type {string[]} */
    const closed = [];
    /** @type {() => void} */
    let go = () => {};
    const { socket } = await connected({
      hosts: {
        native: {
          open: (_, { signal }) => new Promise((resolve, reject) => {
            signal.addEventListener("abort", () => ends === "throws" && reject(signal.reason));
            go = () => resolve(undefined);
          }),
          close: (page, ...how) => void closed.push(`${page.id} ${JSON.stringify(how)}`),
        },
      },
    });
    socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
    socket.receive({ method: "$/cancelRequest", params: { id: "1" } });
    await turn();
    assert.deepEqual(responses(socket), []);
    socket.receive({ method: "$/cancelRequest", params: { id: 1 } });
    go();
    await turn();
    assert.equal(responses(socket)[0].error.code, -32800);
    assert.equal(responses(socket).length, 1);
    assert.deepEqual(closed, ends === "shows" ? ['p1 ["cancelled",{}]'] : []);
  }
});

test("a page that is closed while it opens is closed when it has opened", async () => {
  /** @type {unknown[]} */
  const seen = [];
  /** @type {() => void} */
  let go = () => {};
  const { socket } = await connected({
    hosts: { native: { open: () => new Promise((resolve) => (go = () => resolve(seen.push("open")))), close: () => void seen.push("close") } },
  });
  socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
  socket.receive({ id: 2, method: "page.close", params: { page: "p1", reason: "cancelled" } });
  await turn();
  assert.deepEqual(seen, []);
  go();
  await turn();
  assert.deepEqual(seen, ["open", "close"]);
  assert.deepEqual(responses(socket), [{ id: 1, result: null }, { id: 2, result: null }]);
});

test("the host that the server has chosen handles the call", async () => {
  /** @type {unknown[]} */
  const seen = [];
  const { socket } = await connected({
    tasks: { "action://:any": () => "any", "action://a/:x": (params) => params },
    hosts: {
      native: { ...NOTHING, open: ({ params }) => void seen.push(params), patterns: ["native://a/*", "native://b"] },
      flutter: NOTHING,
    },
  });
  const params = { uri: "action://a/1", params: { x: "1" } };
  socket.receive({ id: 1, method: "task.run", params: { ...params, host: { pattern: "action://a/:x", kind: "task" } } });
  socket.receive({ id: 2, method: "task.run", params: { ...params, host: { pattern: "action://:any", kind: "task" } } });
  const host = { scheme: "native", pattern: "native://a/*", kind: "page" };
  socket.receive({ id: 3, method: "page.open", params: { page: { ...PAGE, params: { "*": ["b"] } }, host } });
  socket.receive({ id: 4, method: "page.open", params: { page: { ...PAGE, id: "p2" }, host: { scheme: "native", kind: "page" } } });
  socket.receive({ id: 5, method: "page.open", params: { page: { ...PAGE, id: "p3" }, host: { ...host, pattern: "native://c" } } });
  socket.receive({ id: 6, method: "task.run", params: { ...params, host: null } });
  await turn();
  const given = Object.fromEntries(responses(socket).map(({ id, result, error }) => [id, error?.code ?? result]));
  assert.deepEqual(given, { 1: { x: "1" }, 2: "any", 3: null, 4: 2504, 5: 2504, 6: -32602 });
  assert.deepEqual(seen, [{ "*": ["b"] }]);
});

test("a DeclinedError of a host or a task is in the response", async () => {
  const decline = () => {
    throw new DeclinedError();
  };
  const { socket } = await connected({ hosts: { native: { ...NOTHING, open: decline } }, tasks: { "action://a": decline } });
  socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
  socket.receive({ id: 2, method: "task.run", params: { uri: "action://a" } });
  await turn();
  const error = { code: 2404, message: "The host declined", data: { kind: "declined", retryable: false } };
  assert.deepEqual(responses(socket).sort((a, b) => a.id - b.id), [{ id: 1, error }, { id: 2, error }]);
});

test("a resume that fails causes an error event", async () => {
  const { socket, events } = await connected({ hosts: { native: { ...NOTHING, resume: () => assert.fail("asleep") } } });
  socket.receive({ id: 1, method: "page.open", params: { page: PAGE } });
  socket.receive({ method: "page.resume", params: { page: "p1" } });
  await turn();
  assert.match(events[1].detail.message, /asleep/);
});

test("an adopted page is closed by its host", async () => {
  /** @type {string[]} */
  const closed = [];
  const { bridge, socket } = await connected({ hosts: { native: { open: () => {}, close: ({ uri }) => void closed.push(uri) } } });
  const host = { ...NOTHING, close: (/** @type {any} */ { uri }) => void closed.push(`given for ${uri}`) };
  for (const uri of ["native://own", "elsewhere://own", "native://other"]) {
    const adopting = bridge.adopt(uri, {}, uri === "native://other" ? { host } : {});
    socket.respond("navigation.adopt", { ...PAGE, id: uri, uri });
    assert.equal((await adopting).uri, uri);
    socket.receive({ id: uri, method: "page.close", params: { page: uri, reason: "dismissed" } });
    await turn();
  }
  assert.deepEqual(closed, ["native://own", "given for native://other"]);
});
