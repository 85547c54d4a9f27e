// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, BridgeAbsent, BridgeError, BridgeRefused } from "../bridge/bridge.js";
import { within } from "./fake-page.js";
import { accept, connecting, FakeSocket, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

const RECONNECT = { minDelay: 100, maxDelay: 1000 };
const URL_ = "ws://127.0.0.1:8080/bridge";

/** A page's way to ask, whose answers the test gives. */
function asking() {
  /** @type {{url: string, mode: string, answer: () => void, fail: () => void, signal: AbortSignal}[]} */
  const asked = [];
  const fetch = (/** @type {string} */ url, /** @type {any} */ { mode, signal }) =>
    new Promise((resolve, reject) => {
      asked.push({ url, mode, signal, answer: () => resolve({}), fail: () => reject(new TypeError("Failed to fetch")) });
    });
  return { asked, fetch };
}

/**
 * The server answers all that it is asked, and does not let the page read it.
 * @param {ReturnType<typeof asking>["asked"]} asked
 */
async function refuse(asked) {
  for (const index of asked.keys()) {
    asked[index][asked[index].mode === "cors" ? "fail" : "answer"]();
    await turn();
  }
}

/**
 * A bridge of a page that connects for the first time.
 * @param {{origin?: string, location?: unknown}} page
 * @param {Partial<BridgeOptions>} [options]
 */
function opening(page, options) {
  const { asked, fetch } = asking();
  const made = within({ location: page.origin?.startsWith("http") && new URL(page.origin), ...page }, () => connecting({ url: URL_, fetch, reconnect: RECONNECT, ...options }));
  /** @type {any[]} */
  const states = [];
  made.bridge.addEventListener("statechange", (event) => states.push(Reflect.get(event, "detail")));
  return { ...made, asked, states };
}

const LOCAL = { origin: "http://localhost:3000" };

test("a server that answers, but not to this page, refuses it: that ends it, and says what to do", async () => {
  const { bridge, socket, asked, states, events, clock } = opening(LOCAL);
  const call = assert.rejects(bridge.invoke("action://a"), (/** @type {any} */ error) => error instanceof BridgeAbsent && error.cause instanceof BridgeRefused);
  socket.end(1006);
  assert.equal(bridge.state, "connecting", "it is not known yet");
  assert.deepEqual(asked.map(({ url, mode }) => [url, mode]), [["http://127.0.0.1:8080/health", "cors"]]);
  await refuse(asked);
  assert.deepEqual(asked.slice(1).map(({ url, mode }) => [url, mode]), [
    ["http://127.0.0.1:8080/health", "no-cors"], ["http://127.0.0.1:8080/health", "cors"],
  ]);
  await assert.rejects(bridge.ready, (/** @type {any} */ error) => {
    assert(error instanceof BridgeRefused && error instanceof BridgeError);
    assert.deepEqual([error.name, error.kind, error.code, error.retryable], ["BridgeRefused", "refused", 2403, false]);
    assert.equal(error.data.origin, "http://localhost:3000");
    assert.equal(error.message, "the server at http://127.0.0.1:8080 does not let in pages of http://localhost:3000: " +
      "start it with --allow-origin http://localhost:3000");
    return true;
  });
  await call;
  assert.equal(states.length, 1);
  assert.equal(states[0].state, "closed");
  assert(states[0].error instanceof BridgeRefused);
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.code]), [["close", 1006]]);
  assert.equal(clock.pending, 0, "nothing is tried again");
});

for (const [name, answers] of /** @type {[string, ("answer" | "fail")[]][]} */ ([
  ["that lets it read, and so is busy", ["answer"]],
  ["that is away", ["fail", "fail"]],
  ["that has just started, and lets it read,", ["fail", "answer", "answer"]],
])) {
  test(`a server ${name} is tried again`, async () => {
    const { bridge, socket, asked, states, clock } = opening(LOCAL);
    socket.end(1006, "why");
    for (const [index, answer] of answers.entries()) {
      asked[index][answer]();
      await turn();
    }
    assert.equal(asked.length, answers.length);
    assert.deepEqual(states, [{ state: "waiting", attempt: 2, delay: 100, code: 1006, reason: "why" }]);
    clock.advance(100);
    await accept(bridge);
    assert.equal(bridge.state, "open");
    assert.equal(clock.pending, 0);
  });
}

/** @type {[string, {origin: string, location?: unknown}, string, RegExp][]} */
const ADVICE = [
  ["a page of a file", { origin: "null", location: new URL("file:///home/x.html") }, URL_, /^the server at \S+ does not let in pages without an origin.*--allow-origin null, which lets in all such/],
  ["a sandboxed frame", { origin: "null", location: new URL("http://localhost:3000/") }, URL_, /--allow-origin null/],
  ["a public page", { origin: "https://shop.example" }, URL_, /--allow-origin https:\/\/shop\.example; besides, the browser has to permit this page the local network/],
  ["a public page and a name of this machine", { origin: "https://shop.example" }, "ws://localhost:8080/bridge", /local network/],
  ["a public page and IPv6", { origin: "https://shop.example" }, "ws://[::1]:8080/bridge", /local network/],
];

for (const [name, page, url, message] of ADVICE) {
  test(`${name} that is refused is told what would let it in`, async () => {
    const { bridge, socket, asked } = opening(page, { url });
    socket.end(1006);
    await refuse(asked);
    await assert.rejects(bridge.ready, { kind: "refused", message });
  });
}

for (const [name, page, url] of /** @type {[string, {origin: string, location?: unknown}, string][]} */ ([
  ["a page of this machine", LOCAL, URL_],
  ["a page of a file", { origin: "null", location: new URL("file:///x.html") }, URL_],
  ["a bridge elsewhere", { origin: "https://shop.example" }, "wss://127.bridge.example/bridge"],
])) {
  test(`${name} is told nothing of the local network`, async () => {
    const { bridge, socket, asked } = opening(page, { url });
    socket.end(1006);
    await refuse(asked);
    await assert.rejects(bridge.ready, (/** @type {any} */ error) => error.kind === "refused" && !error.message.includes("local network"));
  });
}

test("a public page to which a server of this machine looks away is told of the permission that it may lack", async () => {
  const { socket, asked, states } = opening({ origin: "https://shop.example" });
  socket.dispatchEvent(new Event("error"));
  asked[0].fail();
  await turn();
  asked[1].fail();
  await turn();
  assert.equal(states[0].state, "waiting");
  assert.match(states[0].reason, /^the connection failed \(the browser has to permit this page the local network/);
});

for (const [url, health] of [
  ["wss://host.example/app/bridge", "https://host.example/app/health"],
  ["ws://host.example:81/bridge?x=1", "http://host.example:81/health"],
]) {
  test(`${url} is asked at ${health}`, () => {
    const { socket, asked } = opening(LOCAL, { url });
    socket.end(1006);
    assert.equal(asked[0].url, health);
  });
}

test("nobody is asked where nothing could be found out", () => {
  for (const [name, page, options] of /** @type {[string, object, Partial<BridgeOptions>][]} */ ([
    ["outside of a page", { origin: undefined, location: undefined }, {}],
    ["of the page's own server", { origin: "http://127.0.0.1:8080" }, {}],
  ])) {
    const { bridge, socket, asked } = opening(page, options);
    socket.end(1006);
    assert.equal(bridge.state, "waiting", name);
    assert.equal(asked.length, 0, name);
  }
  const { bridge, socket } = within(LOCAL, () => {
    const fetch = globalThis.fetch;
    Reflect.deleteProperty(globalThis, "fetch");
    try {
      return connecting({ url: URL_, reconnect: RECONNECT });
    } finally {
      Reflect.set(globalThis, "fetch", fetch);
    }
  });
  socket.end(1006);
  assert.equal(bridge.state, "waiting", "where there is no fetch");
});

test("the platform's own fetch is asked where none is given", async () => {
  const { asked, fetch } = asking();
  const own = globalThis.fetch;
  // The browser's refuses to be called as the method of something else.
  Reflect.set(globalThis, "fetch", /** @this {unknown} @param {[any, any]} how */ function (...how) {
    assert(this === undefined || this === globalThis);
    return fetch(...how);
  });
  try {
    const { socket } = within(LOCAL, () => connecting({ url: URL_ }));
    socket.end(1006);
  } finally {
    Reflect.set(globalThis, "fetch", own);
  }
  assert.equal(asked.length, 1);
});

test("a connection that comes about, or once had come about, costs no question", async () => {
  const { bridge, socket, asked, clock } = opening(LOCAL);
  await accept(bridge);
  socket.end(1006);
  clock.advance(100);
  newest().end(1006);
  assert.equal(bridge.state, "waiting");
  assert.equal(asked.length, 0, "a proxy whose server restarts would look as if it refused the page");
  const greeted = opening(LOCAL);
  greeted.socket.accept();
  greeted.socket.end(4101);
  assert.equal(greeted.bridge.state, "waiting");
  assert.equal(greeted.asked.length, 0);
});

test("the question ends with the time for a connection, and what then answers is too late", async () => {
  const { bridge, socket, asked, states, clock } = opening(LOCAL, { connectTimeout: 50 });
  clock.advance(20);
  socket.end(1006);
  clock.advance(29);
  assert.equal(bridge.state, "connecting");
  clock.advance(1);
  await turn();
  assert.deepEqual([states.map(({ state }) => state), asked[0].signal.aborted], [["waiting"], true]);
  asked[0].fail();
  await turn();
  assert.equal(asked.length, 1);
  clock.advance(100);
  assert.equal(bridge.state, "connecting");
  await accept(bridge);
});

test("a page whose time for a connection ends before it is told for sure is not refused", async () => {
  const { bridge, socket, asked, clock } = opening({ origin: "https://shop.example" }, { connectTimeout: 50 });
  socket.end(1006, "why");
  asked[0].fail();
  await turn();
  asked[1].answer();
  await turn();
  clock.advance(50);
  await turn();
  assert.equal(asked[2].signal.aborted, true);
  assert.equal(bridge.state, "waiting");
});

test("a handshake that takes too long is not one that failed", async () => {
  const { bridge, asked, clock } = opening(LOCAL, { connectTimeout: 50 });
  clock.advance(50);
  assert.equal(bridge.state, "waiting");
  assert.equal(asked.length, 0);
});

test("close ends the question, and leaves nothing behind", async () => {
  const { bridge, socket, asked, states, clock } = opening(LOCAL);
  socket.end(1006);
  await bridge.close();
  assert.equal(asked[0].signal.aborted, true);
  asked[0].fail();
  await turn();
  assert.deepEqual([asked.length, clock.pending], [1, 0]);
  assert.deepEqual(states, [{ state: "closed", attempt: 1, code: 1000, reason: "" }]);
});

test("the only connection says why too, and what stands in for a bridge does so", async () => {
  const { bridge, socket, asked } = opening(LOCAL, { fallback: { "action://a": () => 1 } });
  const call = bridge.invoke("action://a");
  socket.end(1006);
  await refuse(asked);
  await assert.rejects(bridge.ready, { kind: "refused" });
  assert.equal(await call, 1);
});

test("a fetch that throws is one that fails", async () => {
  const { bridge, socket } = opening(LOCAL, { fetch: () => { throw new Error("blocked"); } });
  socket.end(1006);
  await turn();
  assert.equal(bridge.state, "waiting");
  assert(FakeSocket.made.length > 0 && bridge instanceof Bridge);
});
