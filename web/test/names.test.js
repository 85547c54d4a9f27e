// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bridge } from "../bridge/bridge.js";
import { mockBridge } from "../bridge/mock.js";
import { turn } from "./fake-socket.js";
import { LIVE_URL, nodeWebSockets, SKIP } from "./node-ws.js";

/** Names with a meaning in JavaScript. */
const NAMES = ["then", "catch", "__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "toJSON"];

/** @type {[string, () => Bridge, string | boolean][]} */
const BRIDGES = [
  ["mocked", () => mockBridge(), false],
  ["live", () => new Bridge({ url: LIVE_URL, WebSocket: nodeWebSockets().WebSocket }), SKIP],
];

for (const [kind, make, skip] of BRIDGES) {
  /** @param {string} name @param {(bridge: Bridge, word: string) => Promise<unknown>} body */
  const each = (name, body) => {
    for (const word of NAMES) {
      test(`${kind}: ${word} ${name}`, { skip, timeout: 30000 }, async () => {
        const bridge = make();
        try {
          await bridge.ready;
          await body(bridge, word);
          assert.equal(Reflect.get({}, "polluted"), undefined);
        } finally {
          await bridge.close();
        }
      });
    }
  };

  each("is an ordinary name of a task", async (bridge, word) => {
    await assert.rejects(bridge.invoke(`action://names/${word}`), { code: 2404 });
    const task = bridge.task(`action://names/${word}`, () => word);
    await task.registered;
    assert.equal(await bridge.invoke(`action://names/${word}`), word);
    await task();
    await assert.rejects(bridge.invoke(`action://names/${word}`), { code: 2404 });
  });

  each("is an ordinary parameter in body, query and path", async (bridge, word) => {
    const task = bridge.task(`action://names/:${word.replaceAll("_", "")}`, (params) => JSON.stringify(params));
    await task.registered;
    const params = JSON.parse(`{${JSON.stringify(word)}: {"polluted": [1]}}`);
    const body = JSON.parse(await bridge.invoke("action://names/x", params));
    assert.deepEqual(Object.entries(body).sort(), Object.entries({ ...params, ...(word === "__proto__" ? { proto: "x" } : {}) }).sort());
    const query = JSON.parse(await bridge.invoke(`action://names/x?${word}=1&${word}=2&polluted=3`));
    // Values in the path override those in the query.
    assert.deepEqual(Object.entries(query).find(([key]) => key === word)?.[1], word === "__proto__" ? ["1", "2"] : "x");
  });

  each("is an ordinary property of a value", async (bridge, word) => {
    const value = JSON.parse(`{${JSON.stringify(word)}: {"polluted": 1}, "list": [{${JSON.stringify(word)}: null}]}`);
    const task = bridge.task("action://names", () => ({ ...value }));
    await task.registered;
    const given = await bridge.invoke("action://names");
    assert.equal(JSON.stringify(given), JSON.stringify(value));
  });

  each("is a scheme, a page or a topic only if the app has added it", async (bridge, word) => {
    const scheme = word.replaceAll("_", "").toLowerCase();
    assert.equal((await bridge.canOpen(`${scheme}://x`)).canOpen, false);
    const unregister = bridge.host(scheme, { open: () => {}, close: () => {} });
    await unregister.registered;
    assert.equal((await bridge.canOpen(`${scheme}://x`)).canOpen, true);
    assert.equal(await bridge.contains(word), null);
    await assert.rejects(bridge.call(word, word), { code: 2404 });
  });

  each("is no method of the server", async (bridge, word) => {
    await assert.rejects(bridge.request(word, { [word]: 1 }), { code: -32601 });
    assert.equal(await bridge.supports(word), false);
  });

  test(`${kind}: a bridge can be awaited and returned from async functions`, { skip, timeout: 30000 }, async () => {
    const bridge = await (async () => make())();
    assert(bridge instanceof Bridge);
    assert.equal(await Promise.resolve(bridge), bridge);
    await bridge.close();
  });
}

for (const word of NAMES) {
  test(`mocked: the topic and the method ${word} are ordinary names`, async () => {
    const bridge = mockBridge({ tasks: { [`action://${word.replaceAll("_", "")}`]: () => 1 } });
    await bridge.ready;
    /** @type {string[]} */
    const received = [];
    await bridge.subscribe(word, ({ topic }) => received.push(topic)).registered;
    for (const topic of NAMES) bridge.app.publish(topic);
    await turn();
    assert.deepEqual(received, [word]);
    await assert.rejects(bridge.app.call(word), { code: -32601 });
    bridge.method(word, () => word);
    assert.equal(await bridge.app.call(word), word);
    await bridge.close();
  });
}
