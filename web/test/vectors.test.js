// @ts-check
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { OWN_SKIP, serve, serveDurable } from "./live-server.js";
import { LIVE_URL, SKIP } from "./node-ws.js";
import { replay } from "./replay.js";

/** Maximum number of milliseconds that a transcript can advance the time. */
const TRANSCRIPT_TIMEOUT = 45000;
const FOLDER = new URL("../../protocol/vectors/", import.meta.url);
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json")).sort();

test("there are transcripts to replay", () => {
  assert(files.length > 0);
});

for (const file of files) {
  const vector = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
  const passes = vector.steps.reduce((/** @type {number} */ sum, /** @type {any} */ { advance = 0 }) => sum + advance, 0);
  // The time of a live server cannot be advanced; the Swift tests play the transcript with a clock that can.
  const long = passes > TRANSCRIPT_TIMEOUT && `${passes / 1000} s would have to pass`;
  if (vector.steps.some((/** @type {any} */ { restart }) => restart === true)) {
    test(`${file}: ${vector.name}`, { skip: OWN_SKIP || long, timeout: 60000 }, async (context) => {
      const server = await serveDurable(context, ["--table", new URL("../routes/demo.json", FOLDER).pathname]);
      await replay(vector, server.url, async () => {
        await server.end("SIGKILL");
        await server.restart();
      });
    });
  } else if (vector.policy !== undefined) {
    test(`${file}: ${vector.name}`, { skip: OWN_SKIP || long, timeout: 60000 }, async (context) => {
      await replay(vector, await serve(context, vector.policy));
    });
  } else {
    test(`${file}: ${vector.name}`, { skip: SKIP || long, timeout: 60000 }, () => replay(vector, LIVE_URL ?? ""));
  }
}
