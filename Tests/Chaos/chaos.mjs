#!/usr/bin/env node
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { closeCodes } from "../../web/bridge/codes.js";
import { Random } from "../Soak/random.mjs";
import { Caller, isDraining } from "./caller.mjs";
import { Host } from "./host.mjs";
import { Ledger } from "./ledger.mjs";
import { left, Lives } from "./lives.mjs";
import { Proxy } from "./proxy.mjs";

const HELP = `usage: node Tests/Chaos/chaos.mjs [--seconds 60 | --calls N] [--callers 12] [--seed N] [--kill]
Clients behind a proxy that cuts, stalls, halves and splits their connections, of which some are pages that are loaded
again and again, have tasks done and pages opened by a host behind the same proxy. The host writes what it does into a
file. At the end each call has one result, the right one; each task that was begun was done once, those of one load in
the order in which they were called; the server holds nothing.
With --kill the server keeps its sessions in a folder, and is killed and started again all the time, or ended by SIGTERM.
Then a call with a key has its result, its task was done at least once, and once where the server does it and keeps that
with the key; any other has its result or 2599, or was refused by a server that was about to end, and was done at most once.
It lasts so many seconds, or until so many calls were made. WAYBRIDGE names the command. The seed repeats the run, as far
as time lets it. The exit code is 0 when all held.`;
const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" }, calls: { type: "string", default: "0" }, callers: { type: "string", default: "12" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    kill: { type: "boolean", default: false }, help: { type: "boolean", default: false },
  },
});
const numbers = [options.seconds, options.calls, options.callers, options.seed].map(Number);
const [seconds, calls, callers, seed] = numbers;
if (options.help || !numbers.every(Number.isSafeInteger) || seconds < 1 || calls < 0 || callers < 2 || !process.env.WAYBRIDGE) {
  console.log(HELP);
  process.exit(options.help ? 0 : 64);
}
console.log(`seed ${seed}: ${calls > 0 ? `--calls ${calls}` : `--seconds ${seconds}`} --callers ${callers}${options.kill ? " --kill" : ""}`);
/** Milliseconds without a call that is made, after which a run that is to make so many is over. */
const PATIENCE = 60_000;

const faults = [];
const run = {
  seed,
  isKilling: options.kill,
  /** Whether a server may be left alone for a minute now and then. */
  isLong: calls === 0 && seconds >= 600,
  isOver: false,
  counts: { calls: 0, keyed: 0, pages: 0, effects: 0, loads: 0, recovered: 0, again: 0, resumed: 0, restored: 0, repeated: 0 },
  get mayCall() {
    return calls === 0 || run.counts.calls < calls;
  },
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  fault(text) {
    faults.push(text);
    if (faults.length <= 20) console.log(`FAULT ${text.slice(0, 500)}`);
  },
  /** Whatever is cut, no message is missing before one that comes. */
  checkClose(name, { code, reason }) {
    if (code === closeCodes.gap.code) run.fault(`${name} was closed for a gap: ${reason}`);
  },
  /** Whether a server that was restarted, or ends, may give that for what is then to be tried again. */
  isAmiss: (error) => run.isKilling && (error.code === 2599 || isDraining(error)),
};
run.ledger = new Ledger(run);
const folder = mkdtempSync(join(tmpdir(), "chaos-"));
const tasks = join(folder, "tasks");
const data = run.isKilling ? join(folder, "data") : undefined;
appendFileSync(tasks, "");
process.once("exit", () => (faults.length === 0 ? rmSync(folder, { recursive: true }) : console.log(`what was done, and what the server said, is in ${folder}`)));

const lives = await Lives.start(run, new Random(seed, "server"), { folder: data, log: join(folder, "server.log") });
const proxy = await Proxy.start(lives.port, new Random(seed, "proxy"));
const { WebSocket } = createRequire(import.meta.url)("ws");
/** A WebSocket through the proxy, which asks for the server by its own name. */
class ProxiedSocket extends WebSocket {
  constructor(address, protocols) {
    super(address, protocols, { headers: { Host: `127.0.0.1:${lives.port}` } });
  }
}
run.connection = {
  url: `ws://127.0.0.1:${proxy.port}/bridge`, WebSocket: ProxiedSocket, fetch: undefined, connectTimeout: 2000,
  ping: { after: 1000, timeout: 1000 }, reconnect: { minDelay: 1, maxDelay: 200 }, queue: { count: 100_000, bytes: 1 << 26 },
};
const host = new Host(run, tasks);
const { session, joinToken } = await host.bridge.ready;
run.join = { session, token: joinToken };

const all = Array.from({ length: callers }, (_, index) => new Caller(run, `caller${index}`));
const living = all.map((caller) => caller.live());
const changing = run.isKilling ? lives.change(proxy) : undefined;
if (calls === 0) await run.pause(seconds * 1000);
for (let made = 0, since = performance.now(); run.mayCall && calls > 0; await run.pause(50)) {
  if (made !== run.counts.calls) [made, since] = [run.counts.calls, performance.now()];
  else if (performance.now() - since > PATIENCE) break;
}
run.isOver = true;
await Promise.all([...living, changing]);
proxy.calm();

/** Waits until there is nothing any more, for so many milliseconds at most; gives what there is then. */
async function remains(milliseconds, what) {
  for (const end = performance.now() + milliseconds; ; await run.pause(50)) {
    const found = await what();
    if (!found || performance.now() > end) return found;
  }
}
await remains(30_000, () => all.some(({ waiting }) => waiting.length > 0));
for (const { waiting, story } of all) {
  if (waiting.length > 0) run.fault(`${waiting.length} calls have no result: ${waiting.slice(0, 5).join(", ")}; ${story}`);
}
const shown = await remains(5_000, () => host.shown);
if (shown > 0) run.fault(`the host still shows ${shown} pages`);
// Who has no connection cannot say that it leaves.
const leaving = [...all, host].map(({ bridge }) => bridge.request("$/ping", undefined, { timeout: 10_000 }).then(() => bridge.close()));
await Promise.all(leaving).catch((error) => run.fault(`a client could not leave: ${error}`));
// A client that was never told that it is there has 10 s.
const held = await remains(12_000, async () => left(await lives.held()));
if (held) run.fault(`the server holds ${held}`);
await proxy.stop();
await lives.end();
const done = run.ledger.check(tasks, join(data ?? folder, "effects.db"));

const { ledger, counts } = run;
const ends = Object.fromEntries(["unknown", "refused", "gone"].map((how) => [how, ledger.count(how)]));
const told = { ...counts, ...ends, "tasks done": done.task.length, "effects done": done.effect.length, ...lives.counts, ...proxy.counts };
console.log(Object.entries(told).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(", "));
console.log(lives.memory);
const isTried = counts.loads >= callers && counts.calls >= calls && done.task.length >= (calls > 0 ? calls / 2 : seconds * 10);
if (!isTried || proxy.counts.cuts < (calls > 0 ? 1 : seconds) || (run.isKilling && lives.counts.kills < 3)) run.fault("too little was tried");
console.log(faults.length === 0 ? "chaos: all held" : `chaos: ${faults.length} faults; to repeat: --seed ${seed}`);
process.exit(faults.length === 0 ? 0 : 1);
