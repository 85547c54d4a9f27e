// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { accept, connected, connecting, FakeSocket, responses, turn } from "./fake-socket.js";
import { numbered, resumableBridge } from "./resumable-session.js";
import { HALF, nested, Random, strictFault, UNSENDABLE } from "./strict-json.js";

/** @typedef {import("../bridge/bridge.js").Bridge} Bridge */

/** @type {string[]} the texts that were sent since the start of a test */
const texts = [];

/** A socket that records each text. */
class RecordingSocket extends FakeSocket {
  /**
   * @override
   * @param {string} text
   */
  send(text) {
    super.send(text);
    texts.push(text);
  }
}

const RECORDED = { WebSocket: /** @type {any} */ (RecordingSocket) };

/** @type {Record<string, [path: string, call: (bridge: Bridge, value: any) => Promise<unknown>]>} the ways on which a client sends a value of its caller */
const WAYS = {
  "params of invoke": ["params.items[3].title", (b, value) => b.invoke("action://a", { items: [0, 1, 2, { title: value }] })],
  "params of open": ["params.x", (b, value) => b.open("native://a", { x: value })],
  "exts": ["exts.t", (b, value) => b.invoke("action://a", {}, { exts: { t: value } })],
  "params of a page's method": ["params.x", (b, value) => b.call("p1", "m", { x: value })],
  "the result of a page": ["result.data.t", (b, value) => b.finish({ t: value }, { page: "p1" })],
  "the result of back": ["result.data", (b, value) => b.back({ result: value })],
  "exts of finish": ["exts.t", (b, value) => b.finish(1, { page: "p1", exts: { t: value } })],
  "a deep link": ["params.t", (b, value) => b.deliver("native://a", { t: value })],
  "the exts of a deep link": ["exts.t", (b, value) => b.deliver({ action: "open" }, undefined, { exts: { t: value } })],
  "explain": ["params.t", (b, value) => b.explain("native://a", { t: value })],
  "adopt": ["params.t", (b, value) => b.adopt("native://a", { t: value })],
  "any request": ["deep.t", (b, value) => b.request("x.y", { deep: { t: value } })],
  "a request by position": ["params[1]", (b, value) => b.request("x.y", [1, value])],
  "a built call": ["params.t", (b, value) => b.build("native://a").with("t", value).open()],
};

/** @type {Record<string, [message: RegExp, call: (bridge: Bridge) => Promise<unknown>]>} the ways of a string that is not part of a value */
const STRINGS = {
  "the URI": [/ uri has /, (b) => b.invoke(`action://echo?x=${HALF}`)],
  "a parameter of the path": [/needs the parameter "id"/, (b) => b.open("native://address/:id", { id: HALF })],
  "a parameter of the rest of the path": [/needs the parameter "\*"/, (b) => b.open("native://address/*", { "*": ["a", HALF] })],
  "a name in params": [/ params\["\\ud83d"\] has /, (b) => b.invoke("action://echo", { [HALF]: 1 })],
  "a key": [/ key has /, (b) => b.invoke("action://echo", {}, { key: HALF })],
  "the key of a deep link": [/ key has /, (b) => b.deliver("native://a", {}, { key: HALF })],
  "an action": [/ action has /, (b) => b.deliver({ action: HALF })],
  "a topic": [/ topics\[0\] has /, (b) => b.subscribe(`cart.${HALF}`, () => {}).registered],
  "canOpen": [/ uri has /, (b) => b.canOpen(`native://x/${HALF}`)],
  "supports": [/ uri has /, (b) => b.supports(`native://x/${HALF}`)],
  "contains": [/ uri has /, (b) => b.contains(HALF)],
  "a page to remove": [/ remove\.page has /, (b) => b.editStack({ remove: { page: HALF } })],
  "selectTab": [/ uri has /, (b) => b.selectTab(HALF)],
  "a page to go back to": [/ to has /, (b) => b.back({ to: HALF })],
  "a message of a page": [/ result\.message has /, (b) => b.finish(1, { page: "p1", message: HALF })],
  "a page": [/ page has /, (b) => b.finish(1, { page: HALF })],
  "the opener": [/ from has /, (b) => b.open("native://a", {}, { from: HALF })],
  "the name of a page's method": [/ method has /, (b) => b.call("p1", HALF)],
  "the name of any method": [/ method has /, (b) => b.request(HALF)],
  "the rights of a guest": [/ routes\[0\] has /, (b) => b.invite("https://shop.example/", { routes: [HALF] })],
};

/**
 * @param {Bridge} bridge
 * @param {import("./fake-socket.js").FakeSocket} socket
 */
async function worksStill(bridge, socket) {
  const next = bridge.invoke("action://good");
  socket.respond("router.invoke", 1);
  assert.equal(await next, 1);
  assert.deepEqual(numbered(socket).map(({ seq }) => seq), [1], "no number was used before");
}

for (const [way, [path, call]] of Object.entries(WAYS)) {
  test(`${way}: values that cannot be sent reject with their path, and nothing is sent`, async () => {
    for (const [name, value] of Object.entries(UNSENDABLE)) {
      const { bridge, socket } = await resumableBridge();
      await assert.rejects(call(bridge, value), (/** @type {any} */ error) => {
        assert.deepEqual([error.name, error.code, error.kind, error.retryable], ["InvalidParametersError", -32602, "invalidParams", false], name);
        const [, method, what] = /^([a-z]+\.\w+) cannot be sent: (.*)$/s.exec(error.message) ?? [];
        assert.equal(method, error.method, name);
        // A value that throws has no path.
        if (!/throws/.test(name)) assert(what.startsWith(path) && " .[".includes(what.charAt(path.length)), error.message);
        return true;
      });
      await worksStill(bridge, socket);
      void bridge.close();
    }
  });
}

for (const [way, [message, call]] of Object.entries(STRINGS)) {
  test(`${way} with half of an emoji rejects, and nothing is sent`, async () => {
    const { bridge, socket } = await resumableBridge();
    await assert.rejects(call(bridge), { code: -32602, name: "InvalidParametersError", message });
    await worksStill(bridge, socket);
    void bridge.close();
  });
}

test("a call that waits for the connection is checked at once", async () => {
  const { bridge, socket } = connecting();
  await assert.rejects(bridge.invoke("action://a", { t: HALF }), { code: -32602 });
  const good = bridge.invoke("action://a", { t: 1 });
  await accept(bridge);
  assert.deepEqual(socket.sent.map(({ params }) => params.params), [{ t: 1 }]);
  socket.respond("router.invoke", 1);
  await good;
});

test("hosts, tasks and patterns with half of an emoji are rejected when they are added", async () => {
  const { bridge, socket } = await connected();
  const host = { open: () => {}, close: () => {}, patterns: [`native://${HALF}`] };
  assert.throws(() => bridge.host("native", host), { code: -32602, message: /not a pattern/ });
  assert.throws(() => bridge.task(`action://${HALF}`, () => {}), { code: -32602, message: /not a pattern/ });
  assert.deepEqual(socket.sent, []);
});

test("a session that cannot be requested ends the bridge with the path", async () => {
  for (const [options, path] of /** @type {[any, RegExp][]} */ ([
    [{ token: HALF }, / token has /], [{ client: { name: HALF, version: "1" } }, / client\.name has /], [{ join: { session: "s", token: HALF } }, / join\.token has /],
  ])) {
    const { bridge, socket } = connecting({ ...options, reconnect: {} });
    socket.accept();
    await assert.rejects(bridge.ready, { code: -32602, message: path });
    assert.equal(bridge.state, "closed");
  }
});

for (const [name, value] of Object.entries(UNSENDABLE)) {
  test(`a host that returns, throws or reports ${name} sends what can be read`, async () => {
    texts.length = 0;
    const { bridge, socket, events } = await resumableBridge({
      ...RECORDED,
      tasks: {
        "action://result": () => ({ list: [{ t: value }] }),
        "action://error": () => { throw Object.assign(new Error(`wrong: ${typeof value === "string" ? value : HALF}`), { code: 7, data: { t: value } }); },
        "action://progress": (_, { progress }) => (progress({ t: value }), progress("fine"), 1),
        "action://good": () => 2,
      },
    });
    for (const [id, task] of ["result", "error", "progress", "good"].entries()) {
      socket.receive({ id, method: "task.run", params: { uri: `action://${task}` } });
      await turn();
    }
    const [result, failed, progressed, good] = responses(socket).filter(({ id }) => id !== undefined);
    assert.equal(result.error.code, -32603);
    assert.match(result.error.message, /throws/.test(name) ? /^The result of task\.run cannot be sent: no / : /^The result of task\.run cannot be sent: result\.list\[0\]\.t/);
    assert.deepEqual(failed.error, { code: 7, message: `wrong: ${typeof value === "string" ? value.replace(/\p{Cs}/u, "\ufffd") : "\ufffd"}` });
    assert.deepEqual([progressed.result, good.result], [1, 2]);
    assert.deepEqual(socket.sent.filter(({ method }) => method === "$/progress").map(({ params }) => params.value), ["fine"]);
    assert.deepEqual(events.map(({ type, detail }) => [type, detail.code]), [["error", -32603]]);
    assert.match(events[0].detail.message, /^A progress value cannot be sent: /);
    for (const text of texts) assert.equal(strictFault(text), undefined, text);
    assert.deepEqual(numbered(socket).map(({ seq }) => seq), [1, 2, 3, 4, 5]);
    void bridge.close();
  });
}

test("a result whose toJSON returns nothing is null, and a large message of an error is shortened", async () => {
  const { socket } = await connected({
    tasks: {
      "action://nothing": () => ({ toJSON: () => undefined }),
      "action://large": () => { throw Object.assign(new Error(`${"x".repeat(1023)}😀${"y".repeat(3000)}`), { code: 7, data: "z".repeat(3000) }); },
      "action://data": () => { throw Object.assign(new Error("short"), { code: 7, data: "z".repeat(3000) }); },
    },
  });
  for (const [id, task] of ["nothing", "large", "data"].entries()) {
    socket.receive({ id, method: "task.run", params: { uri: `action://${task}` } });
    await turn();
  }
  assert.deepEqual(responses(socket), [
    { id: 0, result: null },
    { id: 1, error: { code: 7, message: `${"x".repeat(1023)}\ufffd` } },
    { id: 2, error: { code: 7, message: "short" } },
  ]);
});

test("whatever is called, returned and reported, each sent message can be read, and each number is used once", async () => {
  for (let seed = 0; seed < 300; seed += 1) {
    texts.length = 0;
    const random = new Random(seed);
    const task = (/** @type {unknown} */ _, /** @type {any} */ { progress }) => {
      progress(random.value());
      if (random.below(2) === 0) return random.value();
      throw Object.assign(new Error(random.text()), { code: random.one([1, 7, 2404, "x"]), data: random.value() });
    };
    const { bridge, socket } = await resumableBridge({ ...RECORDED, tasks: { "action://t": task } });
    const calls = [];
    for (let count = 0; count < 12; count += 1) {
      const [, call] = random.one([...Object.values(WAYS), ...Object.values(STRINGS)]);
      calls.push(call(bridge, random.value()).catch(() => {}));
      calls.push(bridge.invoke(`action://a/${random.text()}`, /** @type {any} */ (random.value()), { key: random.text(), exts: /** @type {any} */ (random.value()) }).catch(() => {}));
      socket.receive({ id: count, method: "task.run", params: { uri: "action://t" } });
    }
    await turn();
    for (const text of texts) assert.equal(strictFault(text), undefined, `seed ${seed}: ${text}`);
    const numbers = numbered(socket).map(({ seq }) => seq);
    assert.deepEqual(numbers, numbers.map((_, index) => index + 1));
    assert.equal(socket.sent.filter(({ id, method }) => method === undefined && id < 12).length, 12, "each request has a response");
    void bridge.close();
    await Promise.all(calls);
  }
});

test("a value that is deep enough for the message itself is sent", async () => {
  const { bridge, socket } = await connected();
  const call = bridge.invoke("action://a", { deep: nested(125) });
  assert.deepEqual(socket.last("router.invoke").params.params.deep, nested(125));
  socket.respond("router.invoke", 1);
  await call;
  await assert.rejects(bridge.invoke("action://a", { deep: nested(126) }), { code: -32602, message: /params\.deep\S+… is nested too deeply/ });
});
