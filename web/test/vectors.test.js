// @ts-check
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { LIVE_URL, SKIP } from "./node-ws.js";
import { replay } from "./replay.js";

const FOLDER = new URL("../../protocol/vectors/", import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json")).sort();

test("there are transcripts to replay", () => {
  assert(files.length > 0);
});

for (const file of files) {
  const vector = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
  test(`${file}: ${vector.name}`, { skip: SKIP, timeout: 60000 }, () => replay(vector, LIVE_URL ?? ""));
}
