import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";
import { Server, slope } from "../Soak/server.mjs";

/** How much of its mean the memory of one process may grow by in the last half of its life, where that was long enough to tell. */
const MAX_SLOPE = 0.01;
/** Milliseconds that are long enough, and between two looks at it. */
const LONG = 60_000;
const LOOK = 250;

/** The server under test, which is killed and started again on the same port and folder. */
export class Lives {
  counts = { kills: 0, drains: 0, stillborn: 0 };
  #run;
  #random;
  #folder;
  #server;
  #port;
  #log;
  /** Of the process that runs, and of the one that has run longest. */
  #memory = [];
  #longest = [];
  #clock;

  /** `folder`: where it keeps its sessions; none: it keeps none. `log`: the file for what it says. */
  static async start(run, random, { folder, log }) {
    const lives = new Lives(run, random, { folder, log });
    lives.#port = await freePort();
    await lives.#start();
    lives.#clock = setInterval(() => lives.#look(), LOOK);
    return lives;
  }

  constructor(run, random, { folder, log }) {
    this.#run = run;
    this.#random = random;
    this.#folder = folder;
    this.#log = log;
  }

  get port() {
    return this.#port;
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
      await (random.chance(0.2) ? this.#drain() : this.#kill());
      if (random.chance(0.1)) await this.#startInVain();
      await this.#start();
    }
  }

  async held() {
    return this.#server.held();
  }

  /** Ends the last one, and starts it once more to see what it finds. */
  async end() {
    clearInterval(this.#clock);
    this.#bury();
    await this.#stop();
    if (this.#folder === undefined) return;
    await this.#start();
    const held = left(await this.held());
    if (held) this.#run.fault(`the folder holds ${held}`);
    await this.#stop();
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
    return ["serve", "--conformance", ...(this.#folder === undefined ? [] : ["--data", this.#folder])];
  }

  async #start() {
    // A disk that is busy with something else may keep the host away for seconds, in which much waits for it.
    const room = { WAYBRIDGE_LIMITS_MAX_OUTBOX_MESSAGES: "100000", WAYBRIDGE_LIMITS_MAX_OUTBOX: String(64 << 20) };
    const variables = { ...room, WAYBRIDGE_LIMITS_RESUME_MS: "120000", WAYBRIDGE_DRAIN: `${this.#random.below(2)}` };
    // A key must not be forgotten while a page that asks for it again is loaded.
    if (this.#folder !== undefined) variables.WAYBRIDGE_LIMITS_MAX_KEYS = "4096";
    const hear = (line) => appendFileSync(this.#log, `${line}\n`);
    try {
      this.#server = await Server.start(process.env.WAYBRIDGE, this.#arguments, hear, variables, this.#port);
    } catch (error) {
      this.#run.fault(`the server does not start: ${error.message}`);
      process.exit(1);
    }
  }

  /** One that is killed while it starts. */
  async #startInVain() {
    this.counts.stillborn += 1;
    const process = spawn(globalThis.process.env.WAYBRIDGE, [...this.#arguments, "--port", `${this.#port}`], { stdio: "ignore" });
    const ended = new Promise((resolve) => process.once("exit", resolve));
    await this.#run.pause(this.#random.below(80));
    process.kill("SIGKILL");
    await ended;
  }

  async #kill() {
    this.counts.kills += 1;
    this.#bury();
    await this.#server.kill();
  }

  async #drain() {
    this.counts.drains += 1;
    this.#bury();
    if (!this.#random.chance(0.3)) return this.#stop();
    // It dies while it drains.
    const isEnded = this.#server.stop();
    await this.#run.pause(this.#random.below(500));
    await this.#server.kill();
    await isEnded;
  }

  async #stop() {
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
async function freePort() {
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
