// @ts-check
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { OWN_SKIP, serve, serveDurable } from "./live-server.js";
import { LIVE_URL, SKIP } from "./node-ws.js";
import { replay } from "./replay.js";

/** Maximum number of milliseconds that a transcript can advance the time. */
const TRANSCRIPT_TIMEOUT = 45000;
/** From this number of milliseconds on, a transcript waits beside others. */
const LONG = 2000;
const FOLDER = new URL("../../protocol/vectors/", import.meta.url);
/** The table of the vectors' server, as flags. */
const TABLE = ["--table", new URL("../routes/demo.json", FOLDER).pathname];
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json")).sort();

test("there are transcripts to replay", () => {
  assert(files.length > 0);
});

/**
 * Returns the milliseconds that pass within a transcript.
 * @param {any} vector
 */
const passing = ({ steps }) => steps.reduce((/** @type {number} */ sum, /** @type {any} */ { advance = 0 }) => sum + advance, 0);

/**
 * Replays a transcript with a live server.
 * @param {string} file
 * @param {any} vector
 */
function play(file, vector) {
  const passes = passing(vector);
  // The time of a live server cannot be advanced; the Swift tests play the transcript with a clock that can.
  const long = passes > TRANSCRIPT_TIMEOUT && `${passes / 1000} s would have to pass`;
  if (vector.steps.some((/** @type {any} */ { restart }) => restart === true)) {
    test(`${file}: ${vector.name}`, { skip: OWN_SKIP || long, timeout: 60000 }, async (context) => {
      const server = await serveDurable(context, TABLE);
      await replay(vector, server.url, async () => {
        await server.end("SIGKILL");
        await server.restart();
      });
    });
  } else if (vector.policy !== undefined) {
    test(`${file}: ${vector.name}`, { skip: OWN_SKIP || long, timeout: 60000 }, async (context) => {
      await replay(vector, await serve(context, vector.policy, TABLE));
    });
  } else {
    test(`${file}: ${vector.name}`, { skip: SKIP || long, timeout: 60000 }, () => replay(vector, LIVE_URL ?? ""));
  }
}

const vectors = files.map((file) => ({ file, vector: JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) }));

// Each transcript has sessions of its own, so that those that mostly wait can wait at the same time.
suite("transcripts that wait", { concurrency: true }, () => {
  for (const { file, vector } of vectors.filter(({ vector }) => passing(vector) >= LONG)) play(file, vector);
});
for (const { file, vector } of vectors.filter(({ vector }) => passing(vector) < LONG)) play(file, vector);
