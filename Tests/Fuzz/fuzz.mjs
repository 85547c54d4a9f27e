#!/usr/bin/env node
// Transcripts of protocol/vectors with changed JSON, bytes and frames. The server must handle all of them.
import { readFileSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { Server } from "../Soak/server.mjs";
import { Watcher } from "../Soak/watcher.mjs";
import { ValueMutator } from "./values.mjs";
import { Visit } from "./visit.mjs";

const HELP = `usage: node Tests/Fuzz/fuzz.mjs [--seconds 60] [--lanes 32] [--seed N] [--visit N] [--judge] [--sanitized]
The server is the command that WAYBRIDGE names, run as serve --conformance. Each visit plays one transcript on connections
of its own, as many at a time as there are lanes. Its changes are drawn from the seed, which is printed, and the number of
the visit. --visit plays this visit alone. A watcher calls the server meanwhile; times and memory are printed. --judge also
fails the run if they exceed their bounds (a second for a call; growth of the memory within 60 s or more), and is for a
machine that does nothing else. --sanitized is for a server under a sanitizer, which may take twenty times as long, and any
memory. The exit code is 0 if all held.`;

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" }, lanes: { type: "string", default: "32" }, seed: { type: "string" },
    visit: { type: "string" }, judge: { type: "boolean", default: false }, sanitized: { type: "boolean", default: false }, help: { type: "boolean" },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}
const numbers = [options.seconds, options.lanes, options.seed ?? `${Date.now() % 1_000_000}`, options.visit ?? "0"].map(Number);
const [seconds, lanes, seed, only] = numbers;
if (!numbers.every((value) => Number.isInteger(value) && value >= 0) || lanes < 1) {
  console.error(`the options are whole numbers\n${HELP}`);
  process.exit(64);
}

const ROOT = new URL("../../", import.meta.url).pathname;
/** Maximum duration of a call of the watcher in milliseconds: a limit to be judged, or so much that only a call that never settles exceeds it. */
const TIMEOUT = options.sanitized || !options.judge ? 20_000 : 1_000;
/** Maximum memory of the server at any time, and its maximum growth from the second to the last quarter, in KiB. */
const MAX_MEMORY = 524_288;
const MAX_GROWTH = 32_768;
const MAX_KINDS = 30;

const vectors = readdirSync(`${ROOT}protocol/vectors`)
  .filter((name) => name.endsWith(".json"))
  .map((name) => JSON.parse(readFileSync(`${ROOT}protocol/vectors/${name}`, "utf8")));
const messages = vectors.flatMap(({ steps }) => steps.filter(({ send, message }) => send && message).map(({ message }) => message));

/** The number of faults of each kind; the first two of a kind are reported with the messages that led to them. */
const faults = new Map();
const run = {
  seed, vectors,
  mutator: new ValueMutator(messages),
  isOver: false,
  counts: { visits: 0, connections: 0, messages: 0, mutated: 0, received: 0 },
  levels: new Map(), closes: new Map(), errors: new Map(),
  fault(kind, detail = "") {
    const times = (faults.get(kind) ?? 0) + 1;
    faults.set(kind, times);
    if (times <= 2 && faults.size <= MAX_KINDS) console.log(`FAULT ${kind}\n  ${detail}`);
  },
};

console.log(`seed ${seed}: --seconds ${seconds} --lanes ${lanes}`);
run.server = await Server.start(
  process.env.WAYBRIDGE ?? `${ROOT}.build/release/waybridge`,
  ["serve", "--conformance", "--table", `${ROOT}protocol/routes/demo.json`, "--log-level", "error"], (line) => {
    console.log(line);
    run.fault("the server wrote to standard error");
  });
let isEnding = false;
void run.server.ended.then((code) => {
  run.isOver = true;
  if (!isEnding) run.fault(`the server ended with ${code}`);
});
const watcher = await Watcher.start(run.server.url("/bridge"), { timeout: TIMEOUT, fault: run.fault });
watcher.during("fuzzing");

const memory = [];
const sampler = setInterval(() => {
  if (!run.server.hasEnded) memory.push(run.server.memory());
}, 250);
const health = setInterval(async () => {
  const begun = performance.now();
  const status = await fetch(`${run.server.address}/health`).then((answer) => answer.status, (error) => error.message);
  if (!isEnding && status !== 200) run.fault(`/health answered ${status} after ${Math.round(performance.now() - begun)} ms`);
}, 1000);

let next = 0;
async function lane() {
  while (!run.isOver) {
    next += 1;
    await new Visit(run, next).play();
  }
}
const clock = setTimeout(() => (run.isOver = true), seconds * 1000);
if (options.visit === undefined) await Promise.all(Array.from({ length: lanes }, lane));
else await new Visit(run, only).play();
for (const timer of [clock, sampler, health]) clearInterval(timer);

const times = await watcher.stop();
for (const { calls, median, p99, max } of times) {
  console.log(`watcher: ${calls} calls, median / p99 / max ${[median, p99, max].map((time) => time.toFixed(1)).join(" / ")} ms`);
  if (max > TIMEOUT) run.fault(`a call of the watcher took ${Math.round(max)} ms`);
}

// No resources are left after all clients have left.
for (const end = performance.now() + 10_000 + 2 * TIMEOUT; !run.server.hasEnded; ) {
  const held = Object.entries(await run.server.held()).filter(([, count]) => count !== 0);
  if (held.length === 0) break;
  if (performance.now() > end) {
    run.fault(`the server holds ${held.map(([name, count]) => `${count} ${name}`).join(", ")}, although every client is gone`);
    break;
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const processor = run.server.hasEnded ? NaN : run.server.processorTime();
isEnding = true;
const code = await run.server.stop();
if (code !== 0) run.fault(`the server ended with ${code} after SIGTERM`);

const quarter = (which) => Math.max(...memory.slice((which * memory.length) / 4, ((which + 1) * memory.length) / 4));
if (!options.sanitized && Math.max(...memory) > MAX_MEMORY) run.fault(`the server took ${Math.max(...memory)} KiB`);
if (options.judge && !options.sanitized && options.visit === undefined && seconds >= 60 && quarter(3) > quarter(1) + MAX_GROWTH) run.fault(`the memory grew from ${quarter(1)} to ${quarter(3)} KiB`);
if (options.visit === undefined && seconds >= 5 && run.counts.mutated === 0) run.fault("nothing was changed");

const list = (counts) => [...counts].sort(([, one], [, other]) => other - one).map(([what, count]) => `${what} ${count}`).join(", ");
console.log(Object.entries(run.counts).map(([name, count]) => `${count} ${name}`).join(", "));
console.log(`visits by level: ${list(run.levels)}\ncloses by code: ${list(run.closes)}\nerrors by code: ${list(run.errors)}`);
console.log(`memory in KiB, the most of each quarter: ${[0, 1, 2, 3].map(quarter).join(" ")}; processor ${processor} s`);
for (const [kind, count] of faults) console.log(`${count} × ${kind}`);
console.log(faults.size === 0 ? "fuzz: all held" : `fuzz: ${faults.size} kinds of faults; to repeat: --seed ${seed}, one visit with --visit`);
process.exit(faults.size === 0 ? 0 : 1);
