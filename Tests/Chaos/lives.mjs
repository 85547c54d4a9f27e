import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";
import { Server, slope } from "../Soak/server.mjs";

/** How much of its mean the memory of one process may grow by in the last half of its life, where that was long enough to tell. */
const MAX_SLOPE = 0.01;
/** Milliseconds that are long enough, and between two looks at it. */
const LONG = 60_000;
const LOOK = 250;
/** Milliseconds before one that cannot start is started again. */
const RETRY = 250;

/** A server under test, which is killed and started again at the same place. */
export class Lives {
  counts = { kills: 0, drains: 0, stillborn: 0 };
  #run;
  #random;
  #options;
  #server;
  /** Of the process that runs, and of the one that has run longest. */
  #memory = [];
  #longest = [];
  #clock;

  /**
   * `arguments`: more of `waybridge serve`; `variables`: more settings of all its lives; `log`: the file for what it says; `inside`: the words of a command before, which runs it
   * elsewhere; `host`: the address that it has there; `patience`: milliseconds in which it is started again where it cannot start.
   */
  static async start(run, random, options) {
    const lives = new Lives(run, random, { inside: [], host: "127.0.0.1", patience: 0, port: await freePort(), ...options });
    await lives.begin();
    lives.#clock = setInterval(() => lives.#look(), LOOK);
    return lives;
  }

  constructor(run, random, options) {
    this.#run = run;
    this.#random = random;
    this.#options = options;
  }

  /** Where it listens: `{host, port}`. */
  get place() {
    const { host, port } = this.#options;
    return { host, port };
  }

  /** Ends it and starts it again, until the run is over; now and then it is left alone for long. */
  async change(proxy) {
    const { pause } = this.#run;
    const random = this.#random;
    while (!this.#run.isOver) {
      const isLong = this.#run.isLong && random.chance(0.01);
      const end = performance.now() + (isLong ? LONG + 5_000 : random.weighted([[3, 300], [3, 1500], [1, 5000]]) * random.fraction());
      while (!this.#run.isOver && performance.now() < end) await pause(20);
      if (random.chance(0.3)) proxy.cut();
      await (random.chance(0.2) ? this.drain() : this.kill());
      if (random.chance(0.1)) await this.#startInVain();
      await this.begin();
    }
  }

  async held() {
    return this.#server.held(this.#options.inside);
  }

  signal(name) {
    this.#server.process.kill(name);
  }

  /** Ends the last one. */
  async end() {
    clearInterval(this.#clock);
    await this.stop();
  }

  /** The memory of the longest life, in words. */
  get memory() {
    const series = this.#longest;
    const growth = slope(series.slice(series.length / 2));
    const isLong = series.length * LOOK >= LONG * 0.95;
    if (isLong && !(growth < MAX_SLOPE)) this.#run.fault(`the memory of the last half grew by ${(growth * 100).toFixed(2)} %`);
    const tenths = Array.from({ length: 11 }, (_, tenth) => series[Math.round((tenth * (series.length - 1)) / 10)]);
    const judged = isLong ? "" : ", too short a life to judge it by";
    return `memory in KiB, each tenth of ${Math.round((series.length * LOOK) / 1000)} s: ${tenths.join(" ")}; slope of the last half ${(growth * 100).toFixed(2)} %${judged}`;
  }

  get #arguments() {
    return [...this.#options.inside, process.env.WAYBRIDGE, "serve", "--conformance", ...this.#options.arguments];
  }

  /** Starts it; `more`: variables of this life alone. */
  async begin(more = {}) {
    // A disk that is busy with something else may keep the host away for seconds, in which much waits for it.
    const room = { WAYBRIDGE_LIMITS_MAX_OUTBOX_MESSAGES: "100000", WAYBRIDGE_LIMITS_MAX_OUTBOX: String(64 << 20) };
    // A key must not be forgotten while a page that asks for it again is loaded.
    const keys = this.#run.isKilling ? { WAYBRIDGE_LIMITS_MAX_KEYS: "4096" } : {};
    const { variables: own } = this.#options;
    const variables = { ...room, ...keys, WAYBRIDGE_LIMITS_RESUME_MS: "120000", WAYBRIDGE_DRAIN: `${this.#random.below(2)}`, ...own, ...more };
    const hear = (line) => appendFileSync(this.#options.log, `${new Date().toISOString()} ${line}\n`);
    const [command, ...words] = this.#arguments;
    for (const end = performance.now() + this.#options.patience; ; await this.#run.pause(RETRY)) {
      try {
        this.#server = await Server.start(command, words, hear, variables, this.#options.port);
        return;
      } catch (error) {
        if (performance.now() < end) continue;
        this.#run.fault(`the server does not start: ${error.message}`);
        this.#run.closeHistories();
        process.exit(1);
      }
    }
  }

  /** One that is killed while it starts. */
  async #startInVain() {
    this.counts.stillborn += 1;
    const [command, ...words] = this.#arguments;
    const stillborn = spawn(command, [...words, "--port", `${this.#options.port}`], { stdio: "ignore" });
    const ended = new Promise((resolve) => stillborn.once("exit", resolve));
    await this.#run.pause(this.#random.below(80));
    stillborn.kill("SIGKILL");
    await ended;
  }

  /** Ends it as a crash does. */
  async kill() {
    this.counts.kills += 1;
    this.#bury();
    await this.#server.kill();
  }

  /** Ends it so, and now and then kills it meanwhile. */
  async drain() {
    this.counts.drains += 1;
    if (!this.#random.chance(0.3)) return this.stop();
    this.#bury();
    const isEnded = this.#server.stop();
    await this.#run.pause(this.#random.below(500));
    await this.#server.kill();
    await isEnded;
  }

  /** Ends it as a service manager does. */
  async stop() {
    this.#bury();
    const code = await this.#server.stop();
    if (code !== 0) this.#run.fault(`the server ended with ${code} after SIGTERM`);
  }

  #look() {
    const now = this.#server.hasEnded ? NaN : this.#server.memory();
    if (Number.isFinite(now)) this.#memory.push(now);
  }

  #bury() {
    if (this.#memory.length >= this.#longest.length) this.#longest = this.#memory;
    this.#memory = [];
  }
}

/** A free port below those that the system gives to connections: while the server is away one of them might be given its own. */
export async function freePort() {
  for (;;) {
    const server = createServer();
    const isFree = new Promise((resolve) => server.once("listening", () => resolve(true)).once("error", () => resolve(false)));
    server.listen(10_000 + Math.floor(Math.random() * 22_000), "127.0.0.1");
    if (!(await isFree)) continue;
    const { port } = server.address();
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** What is held, in words; empty for nothing. */
export function left(held) {
  return Object.entries(held).filter(([, count]) => count !== 0).map(([name, count]) => `${count} ${name}`).join(", ");
}
