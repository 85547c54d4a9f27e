// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge, BridgeAbsentError, BridgeError, BridgeRejectedError } from "../bridge/bridge.js";
import { within } from "./fake-page.js";
import { accept, connecting, FakeSocket, newest, turn } from "./fake-socket.js";

/** @typedef {import("../bridge/bridge.js").BridgeOptions} BridgeOptions */

const RECONNECT = { minDelay: 100, maxDelay: 1000 };
const URL_ = "ws://127.0.0.1:8080/bridge";

/** A page's `fetch`, to which the test responds. */
function fakeFetch() {
  /** @type {{url: string, mode: string, answer: (status?: number) => void, fail: () => void, signal: AbortSignal}[]} */
  const requests = [];
  const fetch = (/** @type {string} */ url, /** @type {any} */ { mode, signal }) =>
    new Promise((resolve, reject) => {
      requests.push({ url, mode, signal, answer: (status) => resolve({ status }), fail: () => reject(new TypeError("Failed to fetch")) });
    });
  return { requests, fetch };
}

/**
 * The server responds to all requests, and does not let the page read the responses.
 * @param {ReturnType<typeof fakeFetch>["requests"]} requested
 */
async function reject(requested) {
  for (const index of requested.keys()) {
    requested[index][requested[index].mode === "cors" ? "fail" : "answer"]();
    await turn();
  }
}

/**
 * A bridge of a page that connects for the first time.
 * @param {{origin?: string, location?: unknown, document?: unknown, navigator?: unknown}} page
 * @param {Partial<BridgeOptions>} [options]
 */
function opening(page, options) {
  const { requests, fetch } = fakeFetch();
  const made = within({ location: page.origin?.startsWith("http") && new URL(page.origin), ...page }, () => connecting({ url: URL_, fetch, reconnect: RECONNECT, ...options }));
  /** @type {any[]} */
  const states = [];
  made.bridge.addEventListener("statechange", (event) => states.push(Reflect.get(event, "detail")));
  return { ...made, requests, states };
}

const LOCAL = { origin: "http://localhost:3000" };

test("a server that responds but rejects this page ends the bridge, and the error says what to do", async () => {
  const { bridge, socket, requests, states, events, clock } = opening(LOCAL);
  const call = assert.rejects(bridge.invoke("action://a"), (/** @type {any} */ error) => error instanceof BridgeAbsentError && error.cause instanceof BridgeRejectedError);
  socket.end(1006);
  assert.equal(bridge.state, "connecting", "the reason is not known yet");
  assert.deepEqual(requests.map(({ url, mode }) => [url, mode]), [["http://127.0.0.1:8080/health", "cors"]]);
  await reject(requests);
  assert.deepEqual(requests.slice(1).map(({ url, mode }) => [url, mode]), [
    ["http://127.0.0.1:8080/health", "no-cors"], ["http://127.0.0.1:8080/health", "cors"],
  ]);
  await assert.rejects(bridge.ready, (/** @type {any} */ error) => {
    assert(error instanceof BridgeRejectedError && error instanceof BridgeError);
    assert.deepEqual([error.name, error.kind, error.code, error.retryable], ["BridgeRejectedError", "refused", 2403, false]);
    assert.equal(error.data.origin, "http://localhost:3000");
    assert.equal(error.message, "The server at http://127.0.0.1:8080 rejects pages of http://localhost:3000; " +
      "start it with --allow-origin http://localhost:3000");
    return true;
  });
  await call;
  assert.equal(states.length, 1);
  assert.equal(states[0].state, "closed");
  assert(states[0].error instanceof BridgeRejectedError);
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.code]), [["close", 1006]]);
  assert.equal(clock.pending, 0, "there are no retries");
});

for (const [name, answers] of /** @type {[string, ("answer" | "fail")[]][]} */ ([
  ["that allows the page and is busy", ["answer"]],
  ["that cannot be reached", ["fail", "fail"]],
  ["that has just started, and allows the page,", ["fail", "answer", "answer"]],
])) {
  test(`a server ${name} is tried again`, async () => {
    const { bridge, socket, requests, states, clock } = opening(LOCAL);
    socket.end(1006, "why");
    for (const [index, answer] of answers.entries()) {
      requests[index][answer]();
      await turn();
    }
    assert.equal(requests.length, answers.length);
    assert.deepEqual(states, [{ state: "waiting", attempt: 2, delay: 100, code: 1006, reason: "why" }]);
    clock.advance(100);
    await accept(bridge);
    assert.equal(bridge.state, "open");
    assert.equal(clock.pending, 0);
  });
}

/** @type {[string, {origin: string, location?: unknown}, string, RegExp][]} */
const ADVICE = [
  ["a page of a file", { origin: "null", location: new URL("file:///home/x.html") }, URL_, /^The server at \S+ rejects pages without an origin.*--allow-origin null, which allows all such/],
  ["a sandboxed frame", { origin: "null", location: new URL("http://localhost:3000/") }, URL_, /--allow-origin null/],
  ["a public page", { origin: "https://shop.example" }, URL_, /--allow-origin https:\/\/shop\.example; also, the browser must allow this page to use the local network/],
  ["a public page and a name of this machine", { origin: "https://shop.example" }, "ws://localhost:8080/bridge", /local network/],
  ["a public page and IPv6", { origin: "https://shop.example" }, "ws://[::1]:8080/bridge", /local network/],
];

for (const [name, page, url, message] of ADVICE) {
  test(`${name} that is rejected gets advice on how to allow it`, async () => {
    const { bridge, socket, requests } = opening(page, { url });
    socket.end(1006);
    await reject(requests);
    await assert.rejects(bridge.ready, { kind: "refused", message });
  });
}

for (const [name, page, url] of /** @type {[string, {origin: string, location?: unknown}, string][]} */ ([
  ["a page of this machine", LOCAL, URL_],
  ["a page of a file", { origin: "null", location: new URL("file:///x.html") }, URL_],
  ["a bridge elsewhere", { origin: "https://shop.example" }, "wss://127.bridge.example/bridge"],
])) {
  test(`the error for ${name} does not mention the local network`, async () => {
    const { bridge, socket, requests } = opening(page, { url });
    socket.end(1006);
    await reject(requests);
    await assert.rejects(bridge.ready, (/** @type {any} */ error) => error.kind === "refused" && !error.message.includes("local network"));
  });
}

test("a public page learns that it may lack the permission for the local network", async () => {
  const { socket, requests, states } = opening({ origin: "https://shop.example" });
  socket.dispatchEvent(new Event("error"));
  requests[0].fail();
  await turn();
  requests[1].fail();
  await turn();
  assert.equal(states[0].state, "waiting");
  assert.match(states[0].reason, /^The connection failed \(the browser must allow this page to use the local network/);
});

for (const [url, health] of [
  ["wss://host.example/app/bridge", "https://host.example/app/health"],
  ["ws://host.example:81/bridge?x=1", "http://host.example:81/health"],
]) {
  test(`the health check of ${url} is ${health}`, () => {
    const { socket, requests } = opening(LOCAL, { url });
    socket.end(1006);
    assert.equal(requests[0].url, health);
  });
}

test("no request is sent when nothing could be found out", () => {
  for (const [name, page, options] of /** @type {[string, object, Partial<BridgeOptions>][]} */ ([
    ["outside of a page", { origin: undefined, location: undefined }, {}],
    ["of the page's own server", { origin: "http://127.0.0.1:8080" }, {}],
  ])) {
    const { bridge, socket, requests } = opening(page, options);
    socket.end(1006);
    assert.equal(bridge.state, "waiting", name);
    assert.equal(requests.length, 0, name);
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
  assert.equal(bridge.state, "waiting", "without fetch");
});

test("the platform's own fetch is used by default", async () => {
  const { requests, fetch } = fakeFetch();
  const own = globalThis.fetch;
  // The browser's function throws if it is called as a method of another object.
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
  assert.equal(requests.length, 1);
});

test("a connection that opens, or had been open before, causes no request", async () => {
  const { bridge, socket, requests, clock } = opening(LOCAL);
  await accept(bridge);
  socket.end(1006);
  clock.advance(100);
  newest().end(1006);
  assert.equal(bridge.state, "waiting");
  assert.equal(requests.length, 0, "a proxy whose server restarts would look as if it rejected the page");
  const greeted = opening(LOCAL);
  greeted.socket.accept();
  greeted.socket.end(4101);
  assert.equal(greeted.bridge.state, "waiting");
  assert.equal(greeted.requests.length, 0);
});

test("the diagnosis ends with the time for a connection, and later responses are ignored", async () => {
  const { bridge, socket, requests, states, clock } = opening(LOCAL, { connectTimeout: 50 });
  clock.advance(20);
  socket.end(1006);
  clock.advance(29);
  assert.equal(bridge.state, "connecting");
  clock.advance(1);
  await turn();
  assert.deepEqual([states.map(({ state }) => state), requests[0].signal.aborted], [["waiting"], true]);
  requests[0].fail();
  await turn();
  assert.equal(requests.length, 1);
  clock.advance(100);
  assert.equal(bridge.state, "connecting");
  await accept(bridge);
});

test("a page whose time for a connection ends before the diagnosis is not rejected", async () => {
  const { bridge, socket, requests, clock } = opening({ origin: "https://shop.example" }, { connectTimeout: 50 });
  socket.end(1006, "why");
  requests[0].fail();
  await turn();
  requests[1].answer();
  await turn();
  clock.advance(50);
  await turn();
  assert.equal(requests[2].signal.aborted, true);
  assert.equal(bridge.state, "waiting");
});

test("a handshake that takes too long is not treated as failed", async () => {
  const { bridge, requests, clock } = opening(LOCAL, { connectTimeout: 50 });
  clock.advance(50);
  assert.equal(bridge.state, "waiting");
  assert.equal(requests.length, 0);
});

test("close ends the diagnosis and leaves nothing behind", async () => {
  const { bridge, socket, requests, states, clock } = opening(LOCAL);
  socket.end(1006);
  await bridge.close();
  assert.equal(requests[0].signal.aborted, true);
  requests[0].fail();
  await turn();
  assert.deepEqual([requests.length, clock.pending], [1, 0]);
  assert.deepEqual(states, [{ state: "closed", attempt: 1, code: 1000, reason: "" }]);
});

test("without retries the error has the reason too, and a fallback is used", async () => {
  const { bridge, socket, requests } = opening(LOCAL, { fallback: { "action://a": () => 1 } });
  const call = bridge.invoke("action://a");
  socket.end(1006);
  await reject(requests);
  await assert.rejects(bridge.ready, { kind: "refused" });
  assert.equal(await call, 1);
});

test("a fetch that throws counts as failed", async () => {
  const { bridge, socket } = opening(LOCAL, { fetch: () => { throw new Error("blocked"); } });
  socket.end(1006);
  await turn();
  assert.equal(bridge.state, "waiting");
  assert(FakeSocket.made.length > 0 && bridge instanceof Bridge);
});

/** A page that another server than the bridge's serves, without a URL in the options. */
const SHOP = { origin: "https://shop.example", location: new URL("https://shop.example/deep/page.html") };

for (const status of [404, 200, 204]) {
  test(`a page whose own server responds with ${status} at the endpoint learns that it needs the URL of its bridge`, async () => {
    const { bridge, socket, requests, states, clock } = opening(SHOP, { url: undefined });
    const call = assert.rejects(bridge.invoke("action://a"), (/** @type {any} */ error) => error instanceof BridgeAbsentError && error.cause instanceof BridgeAbsentError);
    assert.equal(socket.url, "wss://shop.example/bridge");
    socket.end(1006);
    assert.deepEqual(requests.map(({ url, mode }) => [url, mode]), [["https://shop.example/bridge", "cors"]]);
    requests[0].answer(status);
    await assert.rejects(bridge.ready, {
      name: "BridgeAbsentError", kind: "noBridge", code: 2503, retryable: false,
      message: `There is no bridge at wss://shop.example/bridge (HTTP status ${status}); if it is elsewhere, pass its URL: new Bridge({ url: "ws://127.0.0.1:8080/bridge" })`,
    });
    await call;
    assert.deepEqual(states.map(({ state }) => state), ["closed"]);
    assert.equal(clock.pending, 0, "there are no retries");
  });
}

for (const [name, respond] of /** @type {[string, (request: ReturnType<typeof fakeFetch>["requests"][0]) => void][]} */ ([
  ["is an endpoint", ({ answer }) => answer(426)],
  ["is a proxy without its server", ({ answer }) => answer(502)],
  ["is full", ({ answer }) => answer(503)],
  ["requires a token", ({ answer }) => answer(401)],
  ["cannot be reached", ({ fail }) => fail()],
])) {
  test(`a page whose own server ${name} tries again`, async () => {
    const { bridge, socket, requests, states, clock } = opening(SHOP, { url: undefined });
    socket.end(1006, "why");
    respond(requests[0]);
    await turn();
    assert.deepEqual(states, [{ state: "waiting", attempt: 2, delay: 100, code: 1006, reason: "why" }]);
    clock.advance(100);
    await accept(bridge);
    assert.equal(requests.length, 1);
  });
}

/**
 * An event about something that the content security policy has blocked.
 * @param {string} blockedURI
 * @param {string} [disposition]
 */
const violation = (blockedURI, disposition = "enforce") => Object.assign(new Event("securitypolicyviolation"), { blockedURI, disposition });

/** @type {[string, object, Partial<BridgeOptions>, string][]} */
const POLICIES = [
  ["another server", LOCAL, {}, URL_],
  ["the page's own server", SHOP, { url: undefined }, "wss://shop.example/bridge"],
];

for (const [name, page, options, endpoint] of POLICIES) {
  for (const isThrown of [false, true]) {
    for (const blocked of [endpoint, new URL(endpoint).origin]) {
      test(`a policy that forbids the connection to ${name} ends the bridge: ${blocked}, ${isThrown ? "with an exception" : "with an event"}`, async () => {
        const document = new EventTarget();
        const WebSocket = /** @type {any} */ (isThrown ? class { constructor() { throw new Error("The operation is insecure."); } } : FakeSocket);
        const { bridge, requests, states, clock } = opening({ ...page, document }, { ...options, WebSocket });
        if (!isThrown) document.dispatchEvent(violation(blocked));
        if (!isThrown) newest().dispatchEvent(new Event("error"));
        await turn();
        requests[0].fail();
        await turn();
        if (isThrown) document.dispatchEvent(violation(blocked));
        await assert.rejects(bridge.ready, { kind: "noBridge", message: `The page's content security policy does not allow ${endpoint}; add it to connect-src` });
        assert.deepEqual([states.map(({ state }) => state), clock.pending, requests.length], [["closed"], 0, 1]);
      });
    }
  }

  test(`violations that are about something else, or only reported, do not end the bridge: ${name}`, async () => {
    const document = new EventTarget();
    const { bridge, socket, requests } = opening({ ...page, document }, options);
    for (const event of [violation(endpoint, "report"), violation("https://cdn.example/x.js"), violation("inline"), violation("")]) document.dispatchEvent(event);
    socket.end(1006);
    for (let index = 0; index < requests.length; index += 1) {
      requests[index].fail();
      await turn();
    }
    assert.equal(bridge.state, "waiting");
    void bridge.close();
  });
}

test("a bridge that ends stops listening for violations", async () => {
  const listening = new Set();
  const document = {
    addEventListener: (/** @type {string} */ type) => void listening.add(type),
    removeEventListener: (/** @type {string} */ type) => void listening.delete(type),
  };
  const { bridge } = opening({ ...LOCAL, document });
  assert(listening.has("securitypolicyviolation"));
  await Promise.all([bridge.close(), newest().end(1000)]);
  assert(!listening.has("securitypolicyviolation"));
});

const SECURE = { origin: "https://shop.example", location: new URL("https://shop.example/") };
const WEBKIT = { vendor: "Apple Computer, Inc." };

/** @type {[string, object, string, (socket: FakeSocket) => void, boolean][]} what happens, and whether the browser refuses the connection */
const INSECURE = [
  ["WebKit reports only an error", { ...SECURE, navigator: WEBKIT }, URL_, (socket) => void socket.dispatchEvent(new Event("error")), true],
  ["WebKit reports the end too", { ...SECURE, navigator: WEBKIT }, URL_, (socket) => (socket.dispatchEvent(new Event("error")), socket.end(1006)), false],
  ["another browser reports only an error", { ...SECURE, navigator: { vendor: "Google Inc." } }, URL_, (socket) => void socket.dispatchEvent(new Event("error")), false],
  ["the page is not secure", { ...LOCAL, navigator: WEBKIT }, URL_, (socket) => void socket.dispatchEvent(new Event("error")), false],
  ["the bridge has TLS", { ...SECURE, navigator: WEBKIT }, "wss://127.0.0.1:8080/bridge", (socket) => void socket.dispatchEvent(new Event("error")), false],
];

for (const [name, page, url, end, isRefused] of INSECURE) {
  test(`if ${name}, the bridge ${isRefused ? "ends with an error" : "tries again"}`, async () => {
    const { bridge, socket, requests, clock } = opening(page, { url });
    end(socket);
    for (let index = 0; index < 2; index += 1) {
      requests[index].fail();
      await turn();
    }
    assert.equal(bridge.state, isRefused ? "closed" : "waiting");
    if (!isRefused) return void bridge.close();
    await assert.rejects(bridge.ready, {
      kind: "noBridge", message: `This browser does not allow an https page to open ${URL_}; load the page over http, or connect to the bridge over wss`,
    });
    assert.equal(clock.pending, 0);
  });
}

test("a browser that throws for an insecure connection is explained too", async () => {
  const WebSocket = /** @type {any} */ (class { constructor() { throw new Error("The operation is insecure."); } });
  const { bridge, requests } = opening(SECURE, { url: "ws://bridge.example/bridge", WebSocket, fetch: async () => { throw new Error("blocked"); } });
  assert.deepEqual(requests, []);
  await assert.rejects(bridge.ready, { kind: "noBridge", message: /^This browser does not allow an https page to open ws:\/\/bridge\.example\/bridge; / });
});
