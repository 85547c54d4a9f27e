#!/usr/bin/env node
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Bridge } from "../../web/bridge/bridge.js";
import { FakeStorage } from "../../web/test/fake-page.js";
import { FakeLocks, FakeTab } from "../../web/test/fake-tab.js";
import { Random } from "../Soak/random.mjs";
import { Server } from "../Soak/server.mjs";
import { Proxy } from "./proxy.mjs";

const HELP = `usage: node Tests/Chaos/chaos.mjs [--seconds 60] [--callers 12] [--seed N]
Clients behind a proxy that cuts, stalls, halves and splits their connections, of which some are pages that are loaded
again and again, have tasks done and pages opened by a host behind the same proxy. The host writes what it does into a
file. At the end each call has one result, the right one; each task that was begun was done once, those of one load in
the order in which they were called; the server holds nothing. WAYBRIDGE names the command. The seed repeats the run, as
far as time lets it. The exit code is 0 when all held.`;
const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" }, callers: { type: "string", default: "12" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) }, help: { type: "boolean", default: false },
  },
});
const [seconds, callers, seed] = [options.seconds, options.callers, options.seed].map(Number);
if (options.help || ![seconds, callers, seed].every(Number.isSafeInteger) || seconds < 1 || callers < 2 || !process.env.WAYBRIDGE) {
  console.log(HELP);
  process.exit(options.help ? 0 : 64);
}
console.log(`seed ${seed}: --seconds ${seconds} --callers ${callers}`);

const { WebSocket } = createRequire(import.meta.url)("ws");
const faults = [];
const fault = (text) => {
  faults.push(text);
  if (faults.length <= 20) console.log(`FAULT ${text.slice(0, 500)}`);
};
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const folder = mkdtempSync(join(tmpdir(), "chaos-"));
const effects = join(folder, "effects");
appendFileSync(effects, "");

const server = await Server.start(process.env.WAYBRIDGE, ["serve", "--conformance"], () => {}, { WAYBRIDGE_LIMITS_RESUME_MS: "120000" });
const proxy = await Proxy.start(Number(new URL(server.url("/")).port), new Random(seed, "proxy"));
const url = `ws://127.0.0.1:${proxy.port}/bridge`;
const allowed = { headers: { Host: new URL(server.url("/")).host } };
/** A WebSocket through the proxy, which asks for the server by its own name. */
class ProxiedSocket extends WebSocket {
  constructor(address, protocols) {
    super(address, protocols, allowed);
  }
}
const connection = {
  url, WebSocket: ProxiedSocket, fetch: undefined, connectTimeout: 2000, ping: { after: 1000, timeout: 1000 },
  reconnect: { minDelay: 1, maxDelay: 200 }, queue: { count: 100_000, bytes: 1 << 26 },
};
const counts = { calls: 0, keyed: 0, pages: 0, loads: 0, recovered: 0, lost: 0, again: 0 };

// The host: it does each task once, and writes that down before it says so.
const host = new Bridge({
  ...connection,
  tasks: {
    "action://chaos/:load/:number": async (params) => {
      appendFileSync(effects, `${params.load} ${params.number}\n`);
      if (params.slow) await pause(Number(params.slow));
      return `${params.load}-${params.number}`;
    },
  },
  hosts: {
    chaos: {
      open: (page) => void setTimeout(() => host.finish(page.params.token, { page: page.id }).catch((error) => error.kind === "notOnStack" || fault(`finish: ${error}`)), 5),
      close: () => {},
    },
  },
});
host.addEventListener("error", ({ detail }) => fault(`the host: ${detail}`));
host.addEventListener("statechange", ({ detail }) => detail.lost && fault(`the host lost ${JSON.stringify(detail.lost)}`));
const { session, joinToken } = await host.ready;

/** A page, or a program, that calls. */
class Caller {
  isOver = false;
  #name;
  #random;
  #tab;
  #bridge;
  #load = 0;
  #number = 0;
  /** What each load waits for: the text of the result by what is asked. */
  #waiting = new Map();

  constructor(name) {
    this.#name = name;
    this.#random = new Random(seed, name);
    this.#tab = new FakeTab("https://chaos.example/page.html", new FakeLocks(), new FakeStorage());
  }

  get waiting() {
    return [...this.#waiting.keys()];
  }

  async live() {
    this.#connect();
    while (!this.isOver) {
      for (let left = this.#random.below(6); left >= 0 && this.#waiting.size < 12; left -= 1) this.#call();
      await pause(this.#random.below(30));
      if (this.#random.chance(0.01)) await this.#reload();
    }
  }

  get bridge() {
    return this.#bridge;
  }

  #connect() {
    this.#load += 1;
    this.#number = 0;
    counts.loads += 1;
    const load = (this.load = { sockets: [], isGone: false });
    class Socket extends ProxiedSocket {
      constructor(...how) {
        super(...how);
        if (load.isGone) this.terminate();
        load.sockets.push(this);
      }

      /** What is left of a load in this process does not act any more. */
      send(text) {
        if (!load.isGone) super.send(text);
      }

      addEventListener(...how) {
        super.addEventListener(...(load.isGone ? ["error", () => {}] : how));
      }
    }
    const options = { ...connection, WebSocket: Socket, join: { session, token: joinToken }, keep: "reload" };
    const bridge = (this.#bridge = this.#tab.run(() => new Bridge(options)));
    const own = `/${this.#name}.${this.#load}/`;
    bridge.addEventListener("statechange", ({ detail: { lost } }) => {
      // What the load before had not brought to the server went with it.
      if (lost && !(lost.reason === "server" && lost.calls.every(({ uri }) => !uri.includes(own)))) fault(`${this.#name} lost ${JSON.stringify(lost)}`);
    });
  }

  /** The page is loaded again: what it waited for comes to the next load. */
  async #reload() {
    // What was not sent goes with a page, as it does in a browser: it ends when it has nothing that waits to be.
    await this.#bridge.request("$/ping").catch(() => {});
    const left = new Map(this.#waiting);
    for (const one of left.values()) one.isOld = true;
    this.#waiting.clear();
    this.#tab.unload();
    this.load.isGone = true;
    for (const socket of this.load.sockets) socket.terminate();
    this.#connect();
    const bridge = this.#bridge;
    await bridge.ready.catch((error) => fault(`${this.#name}: ${error}`));
    for (const { uri, key, result } of bridge.pending) {
      const asked = left.get(key ?? uri);
      if (asked === undefined) continue;
      left.delete(key ?? uri);
      counts.recovered += 1;
      this.#expect(key ?? uri, asked.expected, result, undefined, true);
    }
    // Those with a key may be asked again, whatever became of them.
    for (const [name, { expected, ask }] of left) {
      if (ask === undefined) counts.lost += 1;
      else {
        counts.again += 1;
        this.#expect(name, expected, ask(bridge), ask);
      }
    }
  }

  #call() {
    const number = (this.#number += 1);
    const load = `${this.#name}.${this.#load}`;
    const bridge = this.#bridge;
    counts.calls += 1;
    if (this.#random.chance(0.1)) {
      counts.pages += 1;
      const uri = `chaos://page/${load}/${number}`;
      return this.#expect(uri, uri, bridge.open(uri, { token: uri }));
    }
    const uri = `action://chaos/${load}/${number}${this.#random.chance(0.1) ? "?slow=20" : ""}`;
    if (!this.#random.chance(0.3)) return this.#expect(uri, `${load}-${number}`, bridge.invoke(uri));
    counts.keyed += 1;
    const key = `${load}-${number}`;
    const ask = (current) => current.invoke(uri, {}, { key });
    this.#expect(key, `${load}-${number}`, ask(bridge), ask);
  }

  #expect(name, expected, result, ask, mayBeLost = false) {
    const entry = { expected, ask, isOld: false };
    this.#waiting.set(name, entry);
    result.then(
      (value) => {
        if (entry.isOld) return;
        // A page over which another was opened, whose result came first, has gone with it.
        const got = value?.outcome === "dismissed" ? expected : value?.outcome === "finished" ? value.data : value;
        if (got !== expected) fault(`${name} gave ${JSON.stringify(value)}`);
        if (this.#waiting.get(name) !== entry) fault(`${name} was answered twice`);
        this.#waiting.delete(name);
      },
      (error) => {
        if (entry.isOld) return;
        this.#waiting.delete(name);
        if (mayBeLost && error.code === 2599) counts.lost += 1;
        else fault(`${name}: ${error.code} ${error.message}`);
      },
    );
  }
}

const all = Array.from({ length: callers }, (_, index) => new Caller(`caller${index}`));
const living = all.map((caller) => caller.live());
await pause(seconds * 1000);
for (const caller of all) caller.isOver = true;
await Promise.all(living);
proxy.calm();
for (const end = performance.now() + 30_000; performance.now() < end && all.some(({ waiting }) => waiting.length > 0); ) await pause(20);
for (const { waiting } of all) if (waiting.length > 0) fault(`${waiting.length} calls have no result: ${waiting.slice(0, 5).join(", ")}`);
// Who has no connection cannot say that it leaves.
const leaving = [...all.map(({ bridge }) => bridge), host].map((bridge) => bridge.request("$/ping").then(() => bridge.close()));
await Promise.all(leaving).catch((error) => fault(`a client could not leave: ${error}`));

// What was done, as the disk has it.
const done = readFileSync(effects, "utf8").split("\n").filter(Boolean).map((line) => line.split(" "));
const seen = new Set();
const last = new Map();
let disorder = 0;
for (const [load, number] of done) {
  if (seen.has(`${load} ${number}`)) fault(`${load} ${number} was done twice`);
  seen.add(`${load} ${number}`);
  if (Number(number) < (last.get(load) ?? 0)) disorder += 1;
  last.set(load, Number(number));
}
// A call with a key that is asked again by the next load stands behind what that has asked before.
if (disorder > counts.again) fault(`${disorder} tasks were not done in the order of their calls`);
// A client that was never told that it is there has 10 s.
for (const end = performance.now() + 12_000; performance.now() < end; await pause(50)) {
  if (Object.values(await server.held()).every((count) => count === 0)) break;
}
const held = Object.entries(await server.held()).filter(([, count]) => count !== 0);
if (held.length > 0) fault(`the server holds ${held.map(([name, count]) => `${count} ${name}`).join(", ")}`);
await proxy.stop();
const code = await server.stop();
if (code !== 0) fault(`the server ended with ${code}`);
rmSync(folder, { recursive: true });

const told = { ...counts, done: done.length, ...proxy.counts };
console.log(Object.entries(told).map(([name, count]) => `${count} ${name}`).join(", "));
if (counts.loads < callers || proxy.counts.cuts < seconds || done.length < seconds * 10) fault("too little was tried");
console.log(faults.length === 0 ? "chaos: all held" : `chaos: ${faults.length} faults; to repeat: --seed ${seed}`);
process.exit(faults.length === 0 ? 0 : 1);
