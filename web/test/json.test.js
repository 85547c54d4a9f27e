// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LIVE_URL, nodeWebSockets, SKIP } from "./node-ws.js";

const HEAD = '{"jsonrpc":"2.0","id":1,"method":"echo","params":[';

/** @type {{accepted: {name: string, text: string, comes?: string}[], rejected: {name: string, text: string, place: number}[]}} */
const table = JSON.parse(readFileSync(new URL("../../protocol/json.json", import.meta.url), "utf8"));

test("live: valid JSON is returned unchanged, invalid JSON is -32700 with its position", { skip: SKIP, timeout: 30000 }, async (t) => {
  const socket = new (nodeWebSockets().WebSocket)(LIVE_URL);
  t.after(() => socket.terminate());
  await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  /** @param {string} text */
  const echo = async (text) => {
    const answer = new Promise((resolve) => socket.once("message", (/** @type {any} */ data) => resolve(data.toString())));
    socket.send(`${HEAD}${text}]}`);
    return answer;
  };
  for (const { name, text, comes = text } of table.accepted) {
    assert.equal(await echo(text), `{"jsonrpc":"2.0","id":1,"result":[${comes}]}`, name);
  }
  for (const { name, text, place } of table.rejected) {
    const { id, error } = JSON.parse(await echo(text));
    assert.deepEqual([id, error?.code], [null, -32700], name);
    assert.match(error.message, new RegExp(`byte ${HEAD.length + place}:`), name);
  }
});
