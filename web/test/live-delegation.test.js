// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { OWN_SKIP, serve } from "./live-server.js";
import { key, nodeWebSockets } from "./node-ws.js";

const OPTIONS = { skip: OWN_SKIP, timeout: 30000 };
const ORIGIN = "https://page.test";
const POLICY = {
  origins: [ORIGIN],
  rules: [
    { name: "all", allow: ["*"] },
    { name: "pages keep out", deny: ["router.*", "page.call"], origins: [ORIGIN], routes: ["action://echo", "live://secret"] },
  ],
};

/** @typedef {import("../bridge/types/api.js").Delegation} Delegation */

/** A WebSocket like that of a page of another origin. */
function pageWebSocket() {
  return class extends nodeWebSockets().WebSocket {
    /** @param {string} url @param {string[]} protocols */
    constructor(url, protocols) {
      super(url, protocols, { origin: ORIGIN });
    }
  };
}

/**
 * A shell that records the results of its calls on behalf of callers and of its own calls, and a page in its session with fewer rights than
 * the shell.
 * @param {import("node:test").TestContext} context
 */
async function shellAndPage(context) {
  const url = await serve(context, POLICY);
  /** @type {unknown[]} */
  const seen = [];
  let secret = "";
  /** @param {Delegation} each */
  const attempt = async (each) => {
    const calls = [each.invoke("action://echo", { a: 1 }), each.open("action://echo", { a: 1 }), each.call(secret, "title")];
    const done = await Promise.all(calls.map((call) => call.then(() => "done", ({ code, data }) => [code, data.rule])));
    return [...done, (await each.canOpen("action://echo")).canOpen];
  };
  const makeCalls = async (/** @type {unknown} */ _, /** @type {Delegation} */ delegation) => {
    const verdicts = { behalf: await attempt(delegation), own: await attempt(shell) };
    seen.push(verdicts);
    return verdicts;
  };
  /** @type {import("../bridge/bridge.js").PageHost} */
  const live = {
    open: ({ uri }, delegation) => (uri === "live://asking" ? makeCalls(undefined, delegation) : undefined),
    close: () => {},
    methods: { title: ({ isNested }, delegation) => (isNested ? makeCalls(undefined, delegation) : "Title") },
  };
  /** @type {Bridge} */
  const shell = new Bridge({ url, WebSocket: nodeWebSockets().WebSocket, hosts: { live }, tasks: { "action://delegation": makeCalls } });
  context.after(() => shell.close());
  const join = key(await shell.ready);
  const page = new Bridge({ url, WebSocket: /** @type {any} */ (pageWebSocket()), join });
  context.after(() => page.close());
  await page.ready;
  secret = await shown(shell, "live://secret");
  return { shell, page, seen };
}

/**
 * @param {Bridge} bridge
 * @param {string} uri
 * @returns {Promise<string>} its id, once it is shown
 */
function shown(bridge, uri) {
  return new Promise((resolve, reject) => {
    bridge.open(uri, {}, { onProgress: ({ opened }) => resolve(opened.page) }).catch(reject);
  });
}

const MAY = ["done", "done", "done", true];
const REFUSED = [2403, "pages keep out"];

test("live: a handler calls for its caller with the rights of both, and by itself with its own rights", OPTIONS, async (t) => {
  const { shell, page, seen } = await shellAndPage(t);
  for (const [caller, behalf] of /** @type {[Bridge, unknown[]][]} */ ([[page, [REFUSED, REFUSED, REFUSED, false]], [shell, MAY]])) {
    assert.deepEqual(await caller.invoke("action://delegation"), { behalf, own: MAY });
    const id = await shown(caller, "live://asking");
    assert.deepEqual(await caller.call(id, "title", { isNested: true }), { behalf, own: MAY });
    assert.deepEqual(seen.splice(0), [{ behalf, own: MAY }, { behalf, own: MAY }, { behalf, own: MAY }]);
  }
});
