#!/usr/bin/env node
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Random } from "../Soak/random.mjs";
import { Caller } from "./caller.mjs";
import { Engine } from "./engines.mjs";
import { Faults } from "./faults.mjs";
import { now } from "./history.mjs";
import { Host } from "./host.mjs";
import { Intruder } from "./intruder.mjs";
import { describeHeld, ServerProcess } from "./server-process.mjs";
import { Network } from "./network.mjs";
import { Proxy } from "./proxy.mjs";
import { Run } from "./run.mjs";
import { Watcher } from "./watcher.mjs";

const HELP = `usage: node Tests/Chaos/cluster.mjs [--seconds 60 | --calls N] [--servers 3] [--engines 1|3] [--callers 12] [--seed N] [--loopback] [--without-secret] [--only KIND,…]
Servers share the sessions of the same clients as those of chaos.mjs, through one nats-server or three. Each server and
engine has a network namespace of its own; with --loopback, and where those cannot be made, which takes root, iproute2 and
/dev/net/tun, all are on loopback, and no link fails; the first line tells. Clients come in by a proxy that spreads their connections over the servers
and cuts them. One or two things at a time go wrong, in an order that is drawn, and pass, with engines one, and none before they
have caught up: servers and engines are killed, with their links or alone, stopped and continued, or ended by SIGTERM, one or all in turn; a server is cut off from the engines, in
one direction or both, or from clients, or engines from one another; a link takes 200 ms each way; the clock of a server is
minutes off (an engine's cannot be: it asks the kernel itself).
The servers share a secret. An intruder without it, which reaches the engines, publishes what it observes between the servers again, changed,
cut and to other receivers; each server has to reject some of it. With --without-secret there is neither secret nor intruder.
At the end holds what does after chaos.mjs --kill, no server holds anything, nor does the engines' stream of sessions. And what
all members saw of who owned their session when, of calls and of numbers, is written down and judged by Tests/Chaos/histories.
It lasts so many seconds, or until so many calls were made; with --only nothing else goes wrong than these kinds, by the names
under which the last lines count them, or "none". WAYBRIDGE names the command. The seed repeats the run, as far as
time lets it. The exit code is 0 when all held; else the logs and histories stay in a folder, which is told.`;
const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" }, calls: { type: "string", default: "0" }, servers: { type: "string", default: "3" },
    engines: { type: "string", default: "1" }, callers: { type: "string", default: "12" }, seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    loopback: { type: "boolean", default: false }, "without-secret": { type: "boolean", default: false }, only: { type: "string" }, help: { type: "boolean", default: false },
  },
});
const numbers = [options.seconds, options.calls, options.servers, options.engines, options.callers, options.seed].map(Number);
const [seconds, calls, serverCount, engineCount, callers, seed] = numbers;
const isRight = numbers.every(Number.isSafeInteger) && seconds >= 1 && calls >= 0 && serverCount >= 1 && [1, 3].includes(engineCount) && callers >= 3;
if (options.help || !isRight || !process.env.WAYBRIDGE) {
  console.log(HELP);
  process.exit(options.help ? 0 : 64);
}
/** The number of sessions, and the name by which their clients address a server. */
const SESSIONS = 3;
const NAME = "chaos.example";
/** Milliseconds within which a server has to start. It cannot start while the engines have no leader, and after a partition the election takes long. */
const START_TIMEOUT = 120_000;
/** Seconds in which at least one fault passes. */
const FAULT_SECONDS = 8;

const names = (kind, count) => Array.from({ length: count }, (_, index) => `${kind}${index + 1}`);
const serverNames = names("server", serverCount);
const engineNames = names("engine", engineCount);
const folder = mkdtempSync(join(tmpdir(), "chaos-"));
const run = new Run({ seed, seconds, calls, isKilling: true, hasEffects: false, folder, isWriting: true });
process.once("exit", (code) => (code === 0 ? rmSync(folder, { recursive: true }) : console.log(`logs and histories are in ${folder}`)));
const secret = join(folder, "secret");
writeFileSync(secret, randomBytes(48).toString("base64"), { mode: 0o600 });
const tasks = join(folder, "tasks");
appendFileSync(tasks, "");

const network = await Network.start([...serverNames, ...engineNames], options.loopback ? "--loopback" : undefined);
const where = network.missing ? `all on loopback, where no link fails (${network.missing})` : "each in a network namespace";
const hasSecret = !options["without-secret"];
const limits = calls > 0 ? `--calls ${calls}` : `--seconds ${seconds}`;
console.log(`seed ${seed}: ${limits} --servers ${serverCount} --engines ${engineCount} --callers ${callers}${hasSecret ? "" : " --without-secret"}; ${where}`);
const engines = new Map((await Engine.start(run, engineNames, network, folder)).map((engine) => [engine.name, engine]));
const urls = [...engines.values()].map(({ url }) => url).join(",");
const servers = new Map();
for (const name of serverNames) {
  const host = network.address(name);
  const cluster = ["--cluster", urls, ...(engineCount > 1 ? ["--cluster-replicas", `${engineCount}`] : [])];
  if (hasSecret) cluster.push("--cluster-secret-file", secret);
  // In a namespace the network reaches it; programs outside of it use loopback.
  const words = [...cluster, "--allow-host", NAME, "--host", ...(network.missing ? [host] : ["0.0.0.0", "--allow-anonymous"])];
  const place = { inside: network.inside(name), host, log: join(folder, `${name}.log`) };
  // Clients are not removed during a fault.
  const variables = { WAYBRIDGE_LIMITS_PAGE_OPEN_MS: "60000" };
  servers.set(name, await ServerProcess.start(run, new Random(seed, name), { ...place, arguments: words, variables, startTimeout: START_TIMEOUT }));
}
const places = [...servers.values()].map(({ place }) => place);
const passed = run.history("proxy");
const recordAccept = (port, number) => passed.record("told", { what: "accepted", at: now(), port, server: serverNames[number] });
const proxy = await Proxy.start(places, new Random(seed, "proxy"), recordAccept);
const calm = await Proxy.start(places, new Random(seed, "calm"), recordAccept);
calm.calm();
const faults = new Faults(run, new Random(seed, "faults"), { servers, engines, network, cut: () => proxy.cut(), folder, only: options.only?.split(",") });
if (faults.missing) console.log(faults.missing);

run.connect(calm.port, NAME);
const watched = run.connection;
run.connect(proxy.port, NAME);
const hosts = Array.from({ length: SESSIONS }, (_, index) => new Host(run, `host${index}`, tasks));
const sessions = await Promise.all(hosts.map(async ({ bridge }) => {
  const { session, joinToken } = await bridge.ready;
  return { id: session, join: { session, token: joinToken }, recent: [] };
}));
const all = Array.from({ length: callers }, (_, index) => new Caller(run, `caller${index}`, sessions[index % SESSIONS]));
const watchers = sessions.map((session, index) => new Watcher(run, `watcher${index}`, session, watched));
const living = [...all, ...watchers, ...hosts, faults].map((one) => one.live());
const intruder = hasSecret ? new Intruder(run, new Random(seed, "intruder"), engines) : undefined;
const intrusion = intruder?.live();
await run.last();
await Promise.all(living);
proxy.calm();
await run.settle(all, hosts, watchers);

// A client that never received the response to its opening is removed after 10 s. If its server was killed, this time begins when
// another server has taken over its session; until then no server holds it.
const [engine] = engines.values();
await run.remains(40_000, () => engine.left());
for (const [name, server] of servers) {
  const held = await run.remains(12_000, async () => describeHeld(await server.held()));
  if (held) run.fault(`${name} holds ${held}`);
}
if (hasSecret) {
  for (const [name, server] of servers) {
    const isUntried = await run.remains(30_000, async () => (await server.rejectedMessages()) === 0);
    if (isUntried) run.fault(`${name} has rejected no message of the intruder`);
  }
}
await Promise.all([proxy.stop(), calm.stop()]);
for (const server of servers.values()) await server.end();
const kept = await run.remains(5_000, () => engine.left());
if (kept) run.fault(`the engine holds ${kept}`);
intruder?.end();
await intrusion;
for (const engine of engines.values()) await engine.kill();
await network.stop();
run.closeHistories();

const done = run.ledger.check(tasks, "");
run.report({ "tasks done": done.task.length, ...proxy.counts });
if (intruder) console.log(`messages of the intruder: ${Object.entries(intruder.counts).map(([name, count]) => `${count} ${name}`).join(", ")}`);
console.log(Object.entries({ ...faults.counts, ...network.counts }).map(([name, count]) => `${count} ${name}`).join(", "));
const checked = spawnSync(fileURLToPath(new URL("histories", import.meta.url)), [run.histories], { encoding: "utf8", maxBuffer: 1 << 28 });
const lines = (checked.stdout || checked.stderr || String(checked.error)).trim().split("\n");
console.log(lines.at(-1));
if (checked.status !== 0) for (const line of checked.status === 1 ? lines.slice(0, -1) : ["the histories cannot be judged"]) run.fault(line);
const total = Object.values(faults.counts).reduce((sum, count) => sum + count, 0);
const isTried = run.counts.loads >= callers && run.counts.calls >= calls && proxy.counts.cuts > 0;
if (!isTried || (calls === 0 && options.only === undefined && total < Math.floor(seconds / FAULT_SECONDS))) run.fault("too little was tried");
console.log(run.faults.length === 0 ? "cluster chaos: all held" : `cluster chaos: ${run.faults.length} faults; to repeat: --seed ${seed}`);
process.exit(run.faults.length === 0 ? 0 : 1);
