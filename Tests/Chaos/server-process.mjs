import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createServer } from "node:net";
import { Server, slope } from "../Soak/server.mjs";

/** Maximum growth of the memory of one process in the last half of its life, relative to its mean, if it lived long enough. */
const MAX_SLOPE = 0.01;
/** Milliseconds that are long enough, and milliseconds between two measurements. */
const LONG_LIFE = 60_000;
const SAMPLE_INTERVAL = 250;
/** Milliseconds before a server that cannot start is started again. */
const RETRY_DELAY = 250;

/** A server under test, which is killed and restarted with the same address and folder. */
export class ServerProcess {
  counts = { kills: 0, drains: 0, stillborn: 0 };
  #run;
  #random;
  #options;
  #server;
  /** The memory of the running process, and of the one that has run longest. */
  #memory = [];
  #longest = [];
  #clock;

  /**
   * `arguments`: more of `waybridge serve`. `variables`: settings of all its lives. `log`: the file for its output. `inside`: the words of a command prefix that runs it
   * elsewhere. `host`: its address there. `startTimeout`: milliseconds within which it is started again if it cannot start.
   */
  static async start(run, random, options) {
    const server = new ServerProcess(run, random, { inside: [], host: "127.0.0.1", startTimeout: 0, port: await freePort(), ...options });
    await server.begin();
    server.#clock = setInterval(() => server.#sampleMemory(), SAMPLE_INTERVAL);
    return server;
  }

  constructor(run, random, options) {
    this.#run = run;
    this.#random = random;
    this.#options = options;
  }

  /** Its address: `{host, port}`. */
  get place() {
    const { host, port } = this.#options;
    return { host, port };
  }

  /** Ends and restarts it until the run is over; sometimes it runs undisturbed for long. */
  async change(proxy) {
    const { pause } = this.#run;
    const random = this.#random;
    while (!this.#run.isOver) {
      const isLong = this.#run.isLong && random.chance(0.01);
      const end = performance.now() + (isLong ? LONG_LIFE + 5_000 : random.weighted([[3, 300], [3, 1500], [1, 5000]]) * random.fraction());
      while (!this.#run.isOver && performance.now() < end) await pause(20);
      if (random.chance(0.3)) proxy.cut();
      await (random.chance(0.2) ? this.drain() : this.kill());
      if (random.chance(0.1)) await this.#startAndKill();
      await this.begin();
    }
  }

  async held() {
    return this.#server.held(this.#options.inside);
  }

  /** The number of messages of others in the cluster that it has rejected since it started. */
  async rejectedMessages() {
    const name = "cluster_rejected_messages_total";
    return (await this.#server.metrics([name], this.#options.inside))[name];
  }

  signal(name) {
    this.#server.process.kill(name);
  }

  /** Ends the last process. */
  async end() {
    clearInterval(this.#clock);
    await this.stop();
  }

  /** Describes the memory of the longest life. */
  get memory() {
    const series = this.#longest;
    const growth = slope(series.slice(series.length / 2));
    const isLong = series.length * SAMPLE_INTERVAL >= LONG_LIFE * 0.95;
    if (isLong && !(growth < MAX_SLOPE)) this.#run.fault(`the memory of the last half grew by ${(growth * 100).toFixed(2)} %`);
    const tenths = Array.from({ length: 11 }, (_, tenth) => series[Math.round((tenth * (series.length - 1)) / 10)]);
    const judged = isLong ? "" : ", too short a life to judge it by";
    return `memory in KiB, each tenth of ${Math.round((series.length * SAMPLE_INTERVAL) / 1000)} s: ${tenths.join(" ")}; slope of the last half ${(growth * 100).toFixed(2)} %${judged}`;
  }

  get #arguments() {
    return [...this.#options.inside, process.env.WAYBRIDGE, "serve", "--conformance", ...this.#options.arguments];
  }

  /** Starts it; `more`: variables of this life only. */
  async begin(more = {}) {
    // A busy disk can delay the host for seconds, in which many calls wait for it.
    const room = { WAYBRIDGE_LIMITS_MAX_OUTBOX_MESSAGES: "100000", WAYBRIDGE_LIMITS_MAX_OUTBOX: String(64 << 20) };
    // A key must not be forgotten while the page that uses it again is loading.
    const keys = this.#run.isKilling ? { WAYBRIDGE_LIMITS_MAX_KEYS: "4096" } : {};
    const { variables: own } = this.#options;
    const variables = { ...room, ...keys, WAYBRIDGE_LIMITS_RESUME_MS: "120000", WAYBRIDGE_DRAIN: `${this.#random.below(2)}`, ...own, ...more };
    const log = (line) => appendFileSync(this.#options.log, `${new Date().toISOString()} ${line}\n`);
    const [command, ...words] = this.#arguments;
    for (const end = performance.now() + this.#options.startTimeout; ; await this.#run.pause(RETRY_DELAY)) {
      try {
        const server = (this.#server = await Server.start(command, words, log, variables, this.#options.port));
        void server.ended.then((code) => server.isEnding || this.#fail(`the server ended by itself with ${code}`));
        return;
      } catch (error) {
        if (performance.now() < end) continue;
        this.#fail(`the server does not start: ${error.message}`);
      }
    }
  }

  /** Ends the run, which cannot go on without this server. */
  #fail(reason) {
    this.#run.fault(reason);
    this.#run.closeHistories();
    process.exit(1);
  }

  /** A process that is killed while it starts. */
  async #startAndKill() {
    this.counts.stillborn += 1;
    const [command, ...words] = this.#arguments;
    const stillborn = spawn(command, [...words, "--port", `${this.#options.port}`], { stdio: "ignore" });
    const ended = new Promise((resolve) => stillborn.once("exit", resolve));
    await this.#run.pause(this.#random.below(80));
    stillborn.kill("SIGKILL");
    await ended;
  }

  /** Ends it like a crash. */
  async kill() {
    this.counts.kills += 1;
    this.#endSeries();
    await this.#server.kill();
  }

  /** Ends it with a signal, and sometimes kills it meanwhile. */
  async drain() {
    this.counts.drains += 1;
    if (!this.#random.chance(0.3)) return this.stop();
    this.#endSeries();
    const isEnded = this.#server.stop();
    await this.#run.pause(this.#random.below(500));
    await this.#server.kill();
    await isEnded;
  }

  /** Ends it like a service manager. */
  async stop() {
    this.#endSeries();
    const code = await this.#server.stop();
    if (code !== 0) this.#run.fault(`the server ended with ${code} after SIGTERM`);
  }

  #sampleMemory() {
    const now = this.#server.hasEnded ? NaN : this.#server.memory();
    if (Number.isFinite(now)) this.#memory.push(now);
  }

  #endSeries() {
    if (this.#memory.length >= this.#longest.length) this.#longest = this.#memory;
    this.#memory = [];
  }
}

/** A free port below those that the system assigns to connections. Otherwise a connection could get the port while the server is down. */
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

/** Describes the resources that it holds; empty if there are none. */
export function describeHeld(held) {
  return Object.entries(held).filter(([, count]) => count !== 0).map(([name, count]) => `${count} ${name}`).join(", ");
}
