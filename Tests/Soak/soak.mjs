#!/usr/bin/env node
// Clients that open, share, invoke, cancel, join, host, go back and vanish at random; at the end no resources may be left.
import { parseArgs } from "node:util";
import { App } from "./app.mjs";
import { makeCredentials } from "./credentials.mjs";
import { Hostile } from "./hostile.mjs";
import { Server, slope } from "./server.mjs";
import { Stranger } from "./stranger.mjs";

const HELP = `usage: node Tests/Soak/soak.mjs [--seconds 60] [--clients 40] [--think 8] [--seed N] [--demo]
                                [--hostile [--attacks NAME,…]] [--judge] [--sanitized]
The server is the command that WAYBRIDGE names, run as serve --conformance, or as demo, whose tasks are written in Swift.
--think is the mean pause of a client between two actions, in milliseconds. Each client's decisions are drawn from the
seed, which is printed. With --hostile other clients attack the server in the ways of the folder hostile, or in those
named, while a watcher calls it every 20 ms. The run then lasts until each attack was tried, up to six times
--seconds. Times and memory are printed. --judge also fails the run if they exceed their bounds, and is for a machine
that does nothing else: the memory under load must not grow (the run then lasts up to six times --seconds), each call of
the watcher must be answered within a second, and the memory must return after an
attack. --sanitized is for a server under a sanitizer, which may take sixty times as long. The exit code is 0 if all held.`;

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" }, clients: { type: "string", default: "40" },
    think: { type: "string", default: "8" }, seed: { type: "string" },
    demo: { type: "boolean", default: false }, hostile: { type: "boolean", default: false }, attacks: { type: "string" },
    judge: { type: "boolean", default: false }, sanitized: { type: "boolean", default: false }, help: { type: "boolean" },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}
options.seed ??= `${Date.now() % 1_000_000}`;
const numbers = [options.seconds, options.clients, options.think, options.seed].map(Number);
const [seconds, clients, think, seed] = numbers;
if (!numbers.every((value) => Number.isInteger(value) && value >= 0) || clients < 5) {
  console.error(`the options are whole numbers, of clients at least 5\n${HELP}`);
  process.exit(64);
}
/** Maximum growth of the memory in the last half of --seconds, relative to its mean. */
const MAX_SLOPE = 0.01;
/** Milliseconds between two measurements of it. */
const LOOK = 250;
/**
 * How often a run is extended by its duration while its memory grows more (fluctuations end, leaks continue), or until each
 * attack was tried.
 */
const MAX_MORE = 5;
/** Factor for the time of a server under a sanitizer: up to 27 s were measured for what otherwise takes at most one. */
const SLOWNESS = options.sanitized ? 60 : 1;
/** Maximum delay of a message in milliseconds: a limit to be judged, or so much that only a lost message exceeds it. */
const TIMEOUT = options.judge || options.sanitized ? 1_000 * SLOWNESS : 20_000;
/** Whether the slope of the memory is judged. */
const JUDGES_SLOPE = options.judge && seconds >= 20 && !options.hostile && !options.sanitized;
/** Maximum remaining memory in KiB that hostile clients have caused. */
const MAX_KEPT = 65_536;
const ROOT = new URL("../../", import.meta.url).pathname;

const faults = [];
const run = {
  seed, think,
  slowness: SLOWNESS,
  timeout: TIMEOUT,
  isDemo: options.demo,
  /** Milliseconds by which the server may process the last messages of a leaving client later than those of others. */
  lateness: options.judge && !options.hostile && !options.sanitized ? 0 : 1_000 * SLOWNESS,
  isOver: false,
  isDraining: false,
  counts: {
    sent: 0, received: 0, clients: 0, sessions: 0, strangers: 0,
    opens: 0, outcomes: 0, abandoned: 0, edits: 0, closed: 0, events: 0, settled: 0,
  },
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  fault(text) {
    faults.push(text);
    if (faults.length <= 20) console.log(`FAULT ${text.slice(0, 1500)}`);
    if (faults.length >= 20) run.isOver = true;
  },
};

const flags = ["demo", "hostile", "sanitized"].filter((name) => options[name]).map((name) => ` --${name}`);
console.log(`seed ${seed}: --seconds ${seconds} --clients ${clients} --think ${think}${flags.join("")}`);
const serve = options.demo ? ["demo"] : ["serve", "--conformance", "--table", `${ROOT}protocol/routes/demo.json`];
// Some attacks need a server that knows its users.
if (options.hostile && !options.demo) serve.push(...makeCredentials());
run.server = await Server.start(
  process.env.WAYBRIDGE ?? `${ROOT}.build/release/waybridge`, [...serve, "--log-level", "error"], run.fault);
run.server.ended.then((code) => run.isDraining || run.fault(`the server ended with ${code}`));
const descriptors = run.server.descriptors();

const memory = [run.server.memory()];
const growth = () => slope(memory.slice(-(seconds * 1000) / 2 / LOOK));
const hostile = options.hostile && (await Hostile.start(run, { timeout: TIMEOUT, only: options.attacks?.split(",") }));
const sampler = setInterval(() => {
  if (run.server.hasEnded) return;
  const now = run.server.memory();
  // The final judgement is about the time until the clients left: they all leave at once, which no real load does.
  if (!run.isOver) memory.push(now);
  if (hostile) hostile.sample(now);
}, LOOK);
const strangers = Math.max(1, Math.floor(clients / 10));
const apps = Math.max(1, Math.floor((clients - strangers) / 4));
let turns = 0;
const clock = setInterval(() => {
  turns += 1;
  const isDone = (!JUDGES_SLOPE || growth() < MAX_SLOPE) && (!hostile || hostile.hasTriedAll);
  run.isOver ||= turns > MAX_MORE || isDone;
}, seconds * 1000);
await Promise.all([
  ...Array.from({ length: apps }, (_, index) => new App(run, `app${index}`).live()),
  ...Array.from({ length: strangers }, (_, index) => new Stranger(run, `stranger${index}`).live()),
]);
clearInterval(sampler);
clearInterval(clock);
if (hostile) await hostile.stop();

/** Waits until `left` returns nothing. The server itself waits 10 s for the response of a host to page.close. */
async function untilNothing(left) {
  for (const end = performance.now() + 10_000 + 2 * TIMEOUT; ; await run.pause(50)) {
    const found = await left();
    if (found === undefined) return;
    if (performance.now() > end) return run.fault(`${found}, although every client is gone`);
  }
}

if (!run.server.hasEnded) {
  await untilNothing(async () => {
    const held = Object.entries(await run.server.held()).filter(([, count]) => count !== 0);
    return held.length === 0 ? undefined : `the server holds ${held.map(([name, count]) => `${count} ${name}`).join(", ")}`;
  });
  await untilNothing(() => {
    const now = run.server.descriptors();
    return now <= descriptors ? undefined : `${now - descriptors} descriptors are open`;
  });
  if (hostile && options.judge && !options.sanitized) {
    await untilNothing(() => {
      const kept = run.server.memory() - memory[0];
      return kept <= MAX_KEPT ? undefined : `the server keeps ${kept} KiB`;
    });
  }
}

const { counts } = run;
if (counts.opens !== counts.outcomes + counts.abandoned) run.fault(`${counts.opens} opens, ${counts.outcomes} answered`);
if (seconds >= 5 && faults.length === 0 && (counts.settled === 0 || counts.closed === 0 || counts.edits === 0)) run.fault("nothing was tested");
if (JUDGES_SLOPE && !(growth() < MAX_SLOPE)) run.fault(`the memory of the last ${seconds / 2} s grew by ${(growth() * 100).toFixed(2)} %`);

const processor = run.server.hasEnded ? NaN : run.server.processorTime();
run.isDraining = true;
const code = await run.server.stop();
if (code !== 0) run.fault(`the server ended with ${code} after SIGTERM`);

console.log(Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(", "));
const tenths = Array.from({ length: 11 }, (_, tenth) => memory[Math.round((tenth * (memory.length - 1)) / 10)]);
console.log(
  `memory in KiB, each tenth of the time: ${tenths.join(" ")}; slope of the last ${seconds / 2} s ${(growth() * 100).toFixed(2)} %; ` +
    `processor ${processor} s`,
);
console.log(faults.length === 0 ? "soak: all held" : `soak: ${faults.length} faults; to repeat: --seed ${seed}`);
process.exit(faults.length === 0 ? 0 : 1);
