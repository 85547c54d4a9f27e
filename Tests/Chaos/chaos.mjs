#!/usr/bin/env node
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../Soak/random.mjs";
import { Caller } from "./caller.mjs";
import { Host } from "./host.mjs";
import { describeHeld, ServerProcess } from "./server-process.mjs";
import { Proxy } from "./proxy.mjs";
import { Run } from "./run.mjs";

const HELP = `usage: node Tests/Chaos/chaos.mjs [--seconds 60 | --calls N] [--callers 12] [--seed N] [--kill]
Clients behind a proxy that cuts, stalls, halves and splits their connections, of which some are pages that are loaded
again and again, have tasks done and pages opened by a host behind the same proxy. The host writes what it does into a
file. At the end each call has one result, the right one; each task that was begun was done once, those of one load in
the order in which they were called; the server holds nothing.
With --kill the server keeps its sessions in a folder, and is killed and started again all the time, or ended by SIGTERM.
Then a call with a key has its result, and its task was done once: some tasks of the host last for seconds, longer than a
server. Any other call has its result or 2599, or was refused by a server that was about to end, and was done at most once.
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

const folder = mkdtempSync(join(tmpdir(), "chaos-"));
const run = new Run({ seed, seconds, calls, isKilling: options.kill, hasEffects: options.kill, folder });
const tasks = join(folder, "tasks");
const data = run.isKilling ? join(folder, "data") : undefined;
appendFileSync(tasks, "");
process.once("exit", () => (run.faults.length === 0 ? rmSync(folder, { recursive: true }) : console.log(`what was done, and what the server said, is in ${folder}`)));

const kept = data === undefined ? [] : ["--data", data];
const server = await ServerProcess.start(run, new Random(seed, "server"), { arguments: kept, log: join(folder, "server.log") });
const proxy = await Proxy.start([server.place], new Random(seed, "proxy"));
run.connect(proxy.port, `127.0.0.1:${server.place.port}`);
const host = new Host(run, "host", tasks);
const { session, joinToken } = await host.bridge.ready;

const all = Array.from({ length: callers }, (_, index) => new Caller(run, `caller${index}`, { join: { session, token: joinToken }, recent: [] }));
const living = all.map((caller) => caller.live());
const changing = run.isKilling ? server.change(proxy) : undefined;
await run.last();
await Promise.all([...living, changing]);
proxy.calm();
await run.settle(all, [host]);
// A client that never received the response to its opening is removed after 10 s.
const held = await run.remains(12_000, async () => describeHeld(await server.held()));
if (held) run.fault(`the server holds ${held}`);
await proxy.stop();
await server.end();
if (run.isKilling) {
  // The folder, as the next server finds it.
  await server.begin();
  const found = describeHeld(await server.held());
  if (found) run.fault(`the folder holds ${found}`);
  await server.end();
}
const done = run.ledger.check(tasks, join(data ?? folder, "effects.db"));

run.report({ "tasks done": done.task.length, "effects done": done.effect.length, ...server.counts, ...proxy.counts });
console.log(server.memory);
const { counts, faults } = run;
const isTried = counts.loads >= callers && counts.calls >= calls && done.task.length >= (calls > 0 ? calls / 2 : seconds * 10);
if (!isTried || proxy.counts.cuts < (calls > 0 ? 1 : seconds) || (run.isKilling && server.counts.kills < 3)) run.fault("too little was tried");
console.log(faults.length === 0 ? "chaos: all held" : `chaos: ${faults.length} faults; to repeat: --seed ${seed}`);
process.exit(faults.length === 0 ? 0 : 1);
