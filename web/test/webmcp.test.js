// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { offerTools } from "../bridge/webmcp.js";
import { FakeModelContext } from "./fake-model-context.js";
import { accept, connected, connecting, turn } from "./fake-socket.js";
import { OWN_SKIP, serve } from "./live-server.js";
import { nodeWebSockets } from "./node-ws.js";

const AGENTS = { readOnly: false, destructive: false, idempotent: false };
const READS = { readOnly: true, destructive: false, idempotent: true };
const ADD = {
  name: "cartAdd", patterns: ["action://cart/add"], kind: "task", title: "Add", purpose: "Puts products into the cart.", agents: AGENTS,
  parameters: { sku: { type: "string" }, count: { type: "integer", default: 1 } }, required: ["sku"], strict: true,
};
const ADDRESS = {
  name: "address", patterns: ["/address/:id", "native://address/:id(/:part)"], kind: "page", purpose: "Shows one address", agents: READS,
  parameters: { id: { type: "integer", minimum: 5 }, zoom: { type: "number" } },
};
const FILES = { name: "files/of mine", patterns: ["files://box/*"], kind: "task", agents: { readOnly: false, destructive: true, idempotent: true } };
const HIDDEN = { name: "secret", patterns: ["action://secret"], kind: "task", purpose: "No tool." };

/**
 * Lets a socket respond like a server with these routes.
 * @param {import("./fake-socket.js").FakeSocket} socket
 * @param {{routes: any[], denied?: string[], call?: (method: string, params: any) => any}} app `call` returns `{result}` or `{error}`; otherwise calls wait
 */
function play(socket, app) {
  const send = socket.send.bind(socket);
  socket.send = (text) => {
    send(text);
    const { id, method, params } = JSON.parse(text);
    const response = respond(method, params, app);
    if (response !== undefined && id !== undefined) void Promise.resolve().then(() => socket.receive({ id, ...response }));
  };
}

/**
 * @param {string} method
 * @param {any} params
 * @param {{routes: any[], denied?: string[], call?: (method: string, params: any) => any}} app
 */
function respond(method, params, app) {
  if (method === "router.routes") return { result: app.routes };
  if (method === "events.subscribe") return { result: params };
  if (method === "router.canOpen") {
    const { uri } = params;
    const route = app.routes.find(({ patterns }) => patterns.some((/** @type {string} */ each) => uri.startsWith(each.split(/[:(*]/, 2).join(":").replace(/\/$/, ""))));
    return { result: { canOpen: route !== undefined && !app.denied?.includes(route.name) } };
  }
  return app.call?.(method, params);
}

/**
 * A page with tools of these routes.
 * @param {Parameters<typeof play>[1]} app
 * @param {import("../bridge/webmcp.js").OfferOptions} [options]
 */
async function offering(app, options) {
  const { bridge, socket, events } = await connected();
  play(socket, app);
  const context = new FakeModelContext();
  const offer = offerTools(bridge, context, options);
  await offer.ready;
  return { bridge, socket, events, context, offer };
}

/** @param {import("./fake-socket.js").FakeSocket} socket @param {string} topic */
async function publish(socket, topic) {
  socket.receive({ method: "event", params: { topic, data: {}, at: 1 } });
  for (let count = 0; count < 30; count += 1) await turn();
}

test("those routes become tools that the table marks and the policy allows", async () => {
  const { context, offer } = await offering({ routes: [ADD, HIDDEN, ADDRESS, FILES, { ...ADD, name: "other", patterns: ["action://other"] }], denied: ["other"] });
  assert(offer.isSupported);
  assert.deepEqual(offer.tools, ["cartAdd", "address", "files-of-mine"]);
  assert.deepEqual([...context.tools.keys()], offer.tools);
  const { execute, ...add } = /** @type {any} */ (context.tools.get("cartAdd"));
  assert.deepEqual(add, {
    name: "cartAdd", title: "Add", description: "Puts products into the cart.",
    inputSchema: { type: "object", properties: ADD.parameters, required: ["sku"], additionalProperties: false },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, consequentialHint: false, untrustedContentHint: false },
  });
  const { description, inputSchema, annotations } = /** @type {any} */ (context.tools.get("address"));
  assert.equal(description, "Shows one address. Opens a page, and returns what the user has entered or chosen there.");
  assert.deepEqual(inputSchema, { type: "object", properties: { part: { type: "string" }, ...ADDRESS.parameters }, required: ["id"] });
  assert.deepEqual([annotations.readOnlyHint, annotations.idempotentHint], [true, true]);
  const files = /** @type {any} */ (context.tools.get("files-of-mine"));
  assert.deepEqual([files.description, files.inputSchema.required, files.annotations.consequentialHint], ["files/of mine.", [], true]);
});

test("a call opens the page or runs the task, and returns the result as a value and as text", async () => {
  /** @type {any[]} */
  const calls = [];
  const { context } = await offering({
    routes: [ADD, ADDRESS, FILES],
    call: (method, { key, ...params }) => {
      calls.push([method, params, typeof key]);
      return { result: method === "router.open" ? { outcome: "finished", code: 0, message: "", data: { id: 7 } } : params.uri };
    },
  });
  assert.deepEqual(await context.call("cartAdd", { sku: "mug" }), { content: [{ type: "text", text: "action://cart/add" }], structuredContent: "action://cart/add" });
  assert.deepEqual(await context.call("address", { id: 7, zoom: 2 }), { content: [{ type: "text", text: '{"id":7}' }], structuredContent: { id: 7 } });
  await context.call("address", { id: 7, part: "map" });
  await context.call("files-of-mine", { "*": ["a", "b"] });
  await context.call("files-of-mine", {});
  assert.deepEqual(calls, [
    ["router.invoke", { uri: "action://cart/add", params: { sku: "mug" } }, "string"],
    ["router.open", { uri: "native://address/7", params: { zoom: 2 } }, "string"],
    ["router.open", { uri: "native://address/7/map", params: {} }, "string"],
    ["router.invoke", { uri: "files://box/a/b", params: {} }, "string"],
  ]);
});

/** @type {[string, any, RegExp][]} */
const FAILURES = [
  ["a refusal by the policy", { error: { code: 2403, message: "forbidden by the rule staff" } }, /^forbidden by the rule staff\. The app does not allow this call\. Do not repeat it/],
  ["wrong arguments", { error: { code: 2422, message: "1 fault", data: { errors: [{ path: "$.sku", message: "too long" }] } } }, /^1 fault\. \$\.sku: too long\. Change the arguments/],
  ["no host", { error: { code: 2504, message: "no host" } }, /Ask the user to open the app/],
  ["too many calls", { error: { code: 2429, message: "too many" } }, /^too many\. Call again later\.$/],
  ["an unknown outcome", { error: { code: 2599, message: "lost" } }, /Find out before you repeat it/],
  ["an error of the app", { error: { code: 7, message: "Sold out!" } }, /^Sold out!$/],
  ["a dismissed page", { result: { outcome: "dismissed", code: 0, message: "" } }, /^The user closed the page without a result/],
  ["a failed page", { result: { outcome: "failed", code: 2504, message: "the host left" } }, /^The page failed and returned no result\. the host left\.$/],
];

for (const [name, response, text] of FAILURES) {
  test(`${name} is a result with advice, not an exception`, async () => {
    const { context } = await offering({ routes: [ADD, ADDRESS], call: () => response });
    const result = await (response.error ? context.call("cartAdd", { sku: "a" }) : context.call("address", { id: 7 }));
    assert.equal(result.isError, true);
    assert.match(result.content[0].text, text);
    assert(!("structuredContent" in result));
  });
}

test("a call without a value in the path is not sent, and says what is missing", async () => {
  const { context, socket } = await offering({ routes: [ADDRESS] });
  const count = socket.sent.length;
  const { isError, content: [{ text }] } = await context.call("address", {});
  assert.equal(isError, true);
  assert.match(text, /"native:\/\/address\/:id" needs the parameter "id".* Change the arguments/);
  assert.equal(socket.sent.length, count);
});

test("aborting the signal of the agent cancels the call", async () => {
  const { context, socket } = await offering({ routes: [ADD] });
  const abort = new AbortController();
  const result = context.call("cartAdd", { sku: "a" }, abort.signal);
  await turn();
  const { id } = socket.last("router.invoke");
  abort.abort();
  await turn();
  assert.deepEqual(socket.last("$/cancelRequest").params, { id });
  socket.receive({ id, error: { code: -32800, message: "cancelled by the caller" } });
  assert.equal((await result).isError, true);
});

test("the tools follow the route table, and tools that stay the same stay registered", async () => {
  /** @type {{routes: any[]}} */
  const app = { routes: [ADD, ADDRESS] };
  const { context, offer, socket } = await offering(app);
  app.routes = [ADD, { ...ADDRESS, purpose: "Shows an address" }, FILES];
  await publish(socket, "table.changed");
  assert.deepEqual(offer.tools, ["cartAdd", "address", "files-of-mine"]);
  assert.deepEqual(context.log, ["+cartAdd", "+address", "-address", "+address", "+files-of-mine"]);
  app.routes = [];
  await publish(socket, "table.changed");
  assert.deepEqual([offer.tools, context.tools.size], [[], 0]);
});

test("stopping or aborting removes the tools, and the table has no effect any more", async () => {
  for (const how of ["stop", "abort"]) {
    const abort = new AbortController();
    /** @type {{routes: any[]}} */
    const app = { routes: [ADD] };
    const { context, offer, socket } = await offering(app, { signal: abort.signal });
    if (how === "stop") offer.stop();
    else abort.abort();
    await turn();
    assert.deepEqual([offer.tools, context.tools.size], [[], 0]);
    const unsubscribed = socket.sent.filter(({ method }) => method === "events.unsubscribe").flatMap(({ params }) => params.topics);
    assert.deepEqual(unsubscribed, ["table.changed", "session.joined", "session.left"]);
    app.routes = [ADD, ADDRESS];
    await publish(socket, "table.changed");
    await offer.refresh();
    assert.deepEqual(context.log, ["+cartAdd", "-cartAdd"]);
  }
});

test("without WebMCP nothing is offered or sent", async () => {
  const { bridge, socket } = await connected();
  for (const missing of [undefined, null, /** @type {any} */ ({})]) {
    const offer = offerTools(bridge, missing);
    await offer.ready;
    await offer.refresh();
    assert.deepEqual([offer.isSupported, offer.tools], [false, []]);
    offer.stop();
  }
  assert.deepEqual(socket.sent, []);
});

test("options choose the routes, the origins and the hints", async () => {
  const exposedTo = ["https://agent.example"];
  const { context, offer } = await offering({ routes: [ADD, ADDRESS] }, { filter: ({ kind }) => kind === "task", exposedTo, untrusted: true });
  assert.deepEqual([offer.tools, context.exposedTo], [["cartAdd"], [exposedTo]]);
  assert.equal(context.tools.get("cartAdd")?.annotations.untrustedContentHint, true);
});

test("equal names get a number, and a name without letters is the kind", async () => {
  const long = "x".repeat(80);
  const names = ["a b", "a/b", "a b", "✓", long, `${long}y`];
  const { offer } = await offering({ routes: names.map((name, index) => ({ ...ADD, name, patterns: [`action://r${index}/x`] })) });
  assert.deepEqual(offer.tools, ["a-b", "a-b-2", "a-b-3", "task", "x".repeat(64), `${"x".repeat(60)}-2`]);
});

test("a route that nobody serves is offered when a client that serves it joins, until it leaves", async () => {
  const app = { routes: [ADD, ADDRESS], denied: ["address"] };
  const { context, offer, socket } = await offering(app);
  assert.deepEqual(offer.tools, ["cartAdd"]);
  app.denied = [];
  await publish(socket, "session.joined");
  assert.deepEqual(offer.tools, ["cartAdd", "address"]);
  app.denied = ["address"];
  await publish(socket, "session.left");
  assert.deepEqual(context.log, ["+cartAdd", "+address", "-address"]);
});

test("the file works with the client of another file", async () => {
  // The type checker uses the module itself.
  const minified = `../bridge/${"webmcp"}.min.js`;
  /** @type {typeof import("../bridge/webmcp.js")} */
  const { offerTools: offer } = await import(minified);
  const { bridge, socket } = await connected();
  play(socket, { routes: [ADD, ADDRESS], denied: ["address"], call: () => ({ error: { code: 2403, message: "no" } }) });
  const context = new FakeModelContext();
  await offer(bridge, context).ready;
  assert.deepEqual([...context.tools.keys()], ["cartAdd"]);
  assert.match((await context.call("cartAdd", { sku: "a" })).content[0].text, /^no\. The app does not allow this call/);
});

test("a tool that the browser rejects leaves the others, and is reported", async () => {
  const { bridge, socket, events } = await connected();
  const app = { routes: [ADD, ADDRESS] };
  play(socket, app);
  const context = new FakeModelContext();
  await context.registerTool(/** @type {any} */ ({ name: "cartAdd", description: "the page's own" }));
  const offer = offerTools(bridge, context);
  await assert.rejects(offer.ready, /The browser rejects the tool "cartAdd": Duplicate tool name/);
  assert.deepEqual(offer.tools, ["address"]);
  assert.deepEqual(events, []);
  await publish(socket, "table.changed");
  assert.deepEqual(events.map(({ type, detail }) => [type, detail.kind, detail.message.slice(0, 12)]), [["error", "internal", "The browser "]]);
});

test("a new session is asked again", async () => {
  const { bridge } = connecting({ reconnect: { minDelay: 1 } });
  /** @type {{routes: any[]}} */
  const app = { routes: [ADD] };
  const context = new FakeModelContext();
  const socket = await accept(bridge);
  play(socket, app);
  const offer = offerTools(bridge, context);
  await offer.ready;
  app.routes = [ADD, ADDRESS];
  bridge.dispatchEvent(new CustomEvent("statechange", { detail: { state: "open", attempt: 0, lost: { reason: "unknown", calls: [], pages: [] } } }));
  for (let count = 0; count < 30; count += 1) await turn();
  assert.deepEqual(offer.tools, ["cartAdd", "address"]);
});

test("the policy of a server decides which tools a client offers", { skip: OWN_SKIP }, async (context) => {
  const table = new URL("../../protocol/routes/demo.json", import.meta.url).pathname;
  const policy = { rules: [{ name: "all", allow: ["*"] }, { name: "cart", deny: ["*"], routes: ["action://cart/*"] }] };
  const url = await serve(context, policy, ["--table", table]);
  const { WebSocket } = nodeWebSockets();
  const tasks = { "action://share": () => ({ shared: true }), "action://cart/add": () => assert.fail("the policy denies it") };
  const bridge = new Bridge({ url, WebSocket, tasks });
  context.after(() => bridge.close());
  const model = new FakeModelContext();
  const offer = offerTools(bridge, model);
  await offer.ready;
  assert.deepEqual(offer.tools, ["share"]);
  const shared = await model.call("share", { title: "Tea" });
  assert.deepEqual(shared.structuredContent, { shared: true });
  assert.match((await model.call("share", { title: 7 })).content[0].text, /Change the arguments/);
  // A host that is registered later has no event.
  await bridge.task("action://location", () => ({ lat: 60, lon: 5, accuracy: 9 })).registered;
  await offer.refresh();
  assert.deepEqual(offer.tools, ["share", "location"]);
});
