// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { mockBridge } from "../bridge/mock.js";
import { MockApp } from "../bridge/mock/app.js";
import { turn } from "./fake-socket.js";
import { filled, mismatch } from "./transcript-matcher.js";

const FOREVER = () => new Promise(() => {});
const ECHO = (/** @type {any} */ params) => params;
/** The app of the transcripts. */
const CONFORMANCE = {
  tasks: { "action://echo": ECHO, "action://later": ECHO, "conformance://gated": ECHO, "conformance://gated/twice": ECHO },
  gates: {
    "conformance.first": { opens: "native://walk/a", routes: ["conformance://gated", "conformance://gated/*"] },
    "conformance.second": { opens: "native://walk/b", routes: ["conformance://gated/twice"] },
  },
};
/** What a mocked app does not have: explanations, deadlines, and a session without its first client. */
const MISSING = ["router.explain", "session.close"];
/** Milliseconds within which the mocked app must send what a transcript expects. */
const TIMEOUT = 5000;

/**
 * Plays the steps of a transcript that a mocked app can play. Messages that follow one another can come in any order.
 * @param {string} name
 */
async function replay(name) {
  const { steps } = JSON.parse(readFileSync(new URL(`../../protocol/vectors/${name}.json`, import.meta.url), "utf8"));
  const app = new MockApp(CONFORMANCE);
  /** @type {Map<string, {socket: any, received: any[], expected: any[]}>} */
  const clients = new Map();
  /** @type {Map<string, unknown>} */
  const captures = new Map();
  const clientOf = async (/** @type {string} */ client) => {
    const known = clients.get(client);
    if (known !== undefined) return known;
    const made = { socket: new app.WebSocket(), received: /** @type {any[]} */ ([]), expected: /** @type {any[]} */ ([]) };
    made.socket.addEventListener("message", (/** @type {any} */ { data }) => made.received.push(JSON.parse(data)));
    await new Promise((resolve) => made.socket.addEventListener("open", resolve));
    clients.set(client, made);
    return made;
  };
  const settle = async () => {
    const end = Date.now() + TIMEOUT;
    for (const { received, expected } of clients.values()) {
      while (expected.length > 0) {
        assert(Date.now() < end, `${name}: expected ${JSON.stringify(expected)}, received ${JSON.stringify(received)}`);
        const index = received.findIndex((each) => mismatch(expected[0], each, new Map(captures)) === undefined);
        if (index === -1) await turn();
        else mismatch(expected.shift(), received.splice(index, 1)[0], captures);
      }
    }
  };
  let played = 0;
  /** @type {Set<unknown>} */
  const omitted = new Set();
  for (const { send, expect, advance, message, close } of steps) {
    if (message?.method === "session.close") break;
    const isMissing = MISSING.includes(message?.method) || message?.params?.deadlineMs !== undefined;
    if (isMissing) omitted.add(message.id);
    if (isMissing || close !== undefined || (expect !== undefined && omitted.has(message.id))) continue;
    played += 1;
    if (expect !== undefined) {
      (await clientOf(expect)).expected.push(message);
      continue;
    }
    await settle();
    if (advance !== undefined) await new Promise((resolve) => setTimeout(resolve, advance));
    else (await clientOf(send)).socket.send(JSON.stringify(filled(message, captures)));
  }
  await settle();
  for (const { socket, received } of clients.values()) {
    await turn();
    assert.deepEqual(received, [], "the transcript ends before");
    socket.close();
  }
  return played;
}

for (const name of ["gate", "gate-cancel", "gate-refused", "gate-second", "gate-set", "intercept", "intercept-wrong"]) {
  test(`a mocked app plays the transcript "${name}"`, async () => {
    assert((await replay(name)) > 10);
  });
}

test("calls that wait at a gate continue in their order, and later ones pass", async () => {
  /** @type {unknown[]} */
  const ran = [];
  const bridge = mockBridge({
    tasks: { "action://:n": ({ n }) => void ran.push(n) },
    pages: { native: FOREVER },
    gates: { signedIn: { opens: "native://login", params: { why: "orders" }, routes: ["action://:n"], passes: ({ user }) => user !== "guest" } },
  });
  const calls = ["a", "b", "c"].map((n) => bridge.invoke(`action://${n}`));
  await turn();
  const { pages: [login] } = await bridge.stack();
  assert.deepEqual([login.uri, login.params, login.exts], ["native://login", { why: "orders" }, { gate: { name: "signedIn", uri: "action://a" } }]);
  await bridge.finish({ user: "guest" }, { page: login.id });
  for (const call of calls) await assert.rejects(call, { code: 2423, kind: "refused", data: { kind: "refused", retryable: false, gate: "signedIn", reason: "the result of native://login is not accepted" } });
  const again = ["d", "e", "f"].map((n) => bridge.invoke(`action://${n}`));
  await turn();
  await bridge.finish({ user: "ann" }, { page: (await bridge.stack()).pages[0].id });
  await Promise.all(again);
  await bridge.invoke("action://g");
  assert.deepEqual(ran, ["d", "e", "f", "g"]);
  assert.deepEqual(await bridge.gates(), [{ name: "signedIn", open: true }]);
  await bridge.setGate("signedIn", false);
  const held = bridge.open("action://h");
  await turn();
  await bridge.setGate("signedIn", true);
  await held;
  assert.deepEqual(await bridge.stack(), { pages: [] });
  await bridge.close();
});

test("the gate's page and a deep link do not wait for other calls", async () => {
  const bridge = mockBridge({
    pages: { native: FOREVER },
    gates: { signedIn: { opens: "native://login", routes: ["native"] }, paid: { opens: "action://pay", routes: ["native://shop"] } },
    tasks: { "action://pay": () => assert.fail("no card") },
  });
  await bridge.deliver("native://orders");
  await turn();
  const [{ id, uri }] = (await bridge.stack()).pages;
  assert.equal(uri, "native://login");
  await bridge.finish(null, { page: id });
  await turn();
  assert.deepEqual((await bridge.stack()).pages.map((page) => page.uri), ["native://orders"]);
  await assert.rejects(bridge.open("native://shop"), { code: 2423, data: { kind: "refused", retryable: false, gate: "paid", reason: "no card" } });
  await bridge.close();
});

test("interceptors of the app see calls before those of clients, and those with a higher priority first", async () => {
  /** @type {unknown[]} */
  const seen = [];
  const bridge = mockBridge({
    tasks: { "action://echo/:id": (params, { uri }) => ({ uri, params }) },
    interceptors: {
      "action://echo/:id": ({ uri, params, route }) => (seen.push(["app", uri, params, route]), { params: { n: 1 } }),
    },
  });
  await bridge.intercept("late", { patterns: ["action://echo/:id"] }, ({ params }) => void seen.push(["late", params])).registered;
  await bridge.intercept("early", { scheme: "action", priority: 1 }, ({ uri }) => void seen.push(["early", uri])).registered;
  assert.deepEqual(await bridge.invoke("action://echo/7?m=2"), { uri: "action://echo/7?m=2", params: { n: 1 } });
  assert.deepEqual(seen, [["early", "action://echo/7?m=2"], ["app", "action://echo/7?m=2", { id: "7", m: "2" }, null], ["late", { n: 1 }]]);
  await bridge.close();
});

test("interceptors redirect at most eight times, fail with their own errors, and see the pages of an edit of the stack", async () => {
  const bridge = mockBridge({
    tasks: { "action://:name": ECHO },
    pages: { native: FOREVER },
    interceptors: {
      "action://round": () => ({ redirect: "action://round" }),
      "action://fail": () => { throw Object.assign(new Error("mine"), { code: 17 }); },
      "native://a": () => ({ redirect: "native://b", params: { n: 1 } }),
      "native://c": () => ({ refuse: "closed" }),
    },
  });
  await assert.rejects(bridge.invoke("action://round"), { code: 2508, kind: "redirectLoop" });
  await assert.rejects(bridge.invoke("action://fail"), { code: 17, message: "mine" });
  await bridge.editStack({ open: [{ uri: "native://a" }] });
  assert.deepEqual((await bridge.stack()).pages.map(({ uri, params }) => [uri, params]), [["native://b", { n: 1 }]]);
  await assert.rejects(bridge.editStack({ open: [{ uri: "native://c" }] }), { code: 2423, data: { kind: "refused", retryable: false, interceptor: "native://c", reason: "closed" } });
  const controller = new AbortController();
  await bridge.intercept("held", { patterns: ["action://held"] }, FOREVER).registered;
  const held = bridge.invoke("action://held", {}, { signal: controller.signal });
  await turn();
  controller.abort();
  await assert.rejects(held, { code: -32800 });
  await bridge.close();
});

test("a guest neither intercepts nor sets gates, and a redirect gives it no rights", async () => {
  const bridge = mockBridge({
    tasks: { "action://:name": ECHO },
    gates: { signedIn: { opens: "action://login", routes: [] } },
    interceptors: { "action://a": () => ({ redirect: "action://b" }) },
  });
  const guest = bridge.guest(await bridge.invite("https://shop.test", { hosts: ["action"], routes: ["action://a"] }));
  await guest.ready;
  const forbidden = { code: 2403, data: { kind: "forbidden", retryable: false, rule: "invitation" } };
  await assert.rejects(guest.setGate("signedIn", true), forbidden);
  await assert.rejects(guest.intercept("mine", { scheme: "action" }, () => {}).registered, forbidden);
  await assert.rejects(guest.invoke("action://a"), forbidden);
  assert.deepEqual(await guest.gates(), [{ name: "signedIn", open: false }]);
  await guest.close();
  await bridge.close();
});
