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

/** @typedef {import("../bridge/types.js").Deputy} Deputy */

/** A WebSocket as a page of another origin has it. */
function pageWebSocket() {
  return class extends nodeWebSockets().WebSocket {
    /** @param {string} url @param {string[]} protocols */
    constructor(url, protocols) {
      super(url, protocols, { origin: ORIGIN });
    }
  };
}

/**
 * A shell that tells, of whatever it is asked to serve, what comes of its calls on behalf of the caller, and of those of its own; and a
 * page in its session, which may not do all that the shell may.
 * @param {import("node:test").TestContext} context
 */
async function shellAndPage(context) {
  const url = await serve(context, POLICY);
  /** @type {unknown[]} */
  const told = [];
  let secret = "";
  /** @param {Deputy} each */
  const attempt = async (each) => {
    const calls = [each.invoke("action://echo", { a: 1 }), each.open("action://echo", { a: 1 }), each.call(secret, "title")];
    const done = await Promise.all(calls.map((call) => call.then(() => "done", ({ code, data }) => [code, data.rule])));
    return [...done, (await each.canOpen("action://echo")).canOpen];
  };
  const serving = async (/** @type {unknown} */ _, /** @type {Deputy} */ deputy) => {
    const verdicts = { behalf: await attempt(deputy), own: await attempt(shell) };
    told.push(verdicts);
    return verdicts;
  };
  /** @type {import("../bridge/bridge.js").PageHost} */
  const live = {
    open: ({ uri }, deputy) => (uri === "live://asking" ? serving(undefined, deputy) : undefined),
    close: () => {},
    methods: { title: ({ asks }, deputy) => (asks ? serving(undefined, deputy) : "Title") },
  };
  /** @type {Bridge} */
  const shell = new Bridge({ url, WebSocket: nodeWebSockets().WebSocket, hosts: { live }, tasks: { "action://deputy": serving } });
  context.after(() => shell.close());
  const join = key(await shell.ready);
  const page = new Bridge({ url, WebSocket: /** @type {any} */ (pageWebSocket()), join });
  context.after(() => page.close());
  await page.ready;
  secret = await shown(shell, "live://secret");
  return { shell, page, told };
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

test("live: who acts for a caller does what both of them may, and by itself what it may", OPTIONS, async (t) => {
  const { shell, page, told } = await shellAndPage(t);
  for (const [caller, behalf] of /** @type {[Bridge, unknown[]][]} */ ([[page, [REFUSED, REFUSED, REFUSED, false]], [shell, MAY]])) {
    assert.deepEqual(await caller.invoke("action://deputy"), { behalf, own: MAY });
    const id = await shown(caller, "live://asking");
    assert.deepEqual(await caller.call(id, "title", { asks: true }), { behalf, own: MAY });
    assert.deepEqual(told.splice(0), [{ behalf, own: MAY }, { behalf, own: MAY }, { behalf, own: MAY }]);
  }
});
