import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./server-process.mjs";
import { requestEngine, leftInStream, replicaBehind } from "./nats.mjs";

/** Milliseconds within which engines have to be ready, alone or after others. */
const TIMEOUT = 20_000;

/** The running engines: none outlives its test. */
const running = new Set();
process.once("exit", () => running.forEach((engine) => engine.kill("SIGKILL")));

/** A nats-server with JetStream, alone or in a cluster. It can be killed and restarted with the same address and folder. */
export class Engine {
  #run;
  #name;
  #options;
  #process;
  #ended;

  /** One engine for each name. `network`: where they run; `folder`: their data and logs. */
  static async start(run, names, network, folder) {
    const places = new Map();
    for (const name of names) places.set(name, { host: network.address(name), port: await freePort(), routes: await freePort() });
    const routes = [...places.values()].map(({ host, routes }) => `nats://${host}:${routes}`).join(",");
    const engines = names.map((name) => {
      const place = places.get(name);
      const together = ["-cluster", `nats://${place.host}:${place.routes}`, "-cluster_name", "chaos", "-routes", routes];
      return new Engine(run, name, { ...place, inside: network.inside(name), folder, more: names.length > 1 ? together : [] });
    });
    for (const engine of engines) engine.begin();
    await Promise.all(engines.map((engine) => engine.isReady()));
    return engines;
  }

  constructor(run, name, options) {
    this.#run = run;
    this.#name = name;
    this.#options = options;
  }

  get name() {
    return this.#name;
  }

  get place() {
    const { host, port } = this.#options;
    return { host, port };
  }

  get url() {
    return `nats://${this.#options.host}:${this.#options.port}`;
  }

  begin() {
    const { inside, host, port, folder, more } = this.#options;
    const log = openSync(join(folder, `${this.#name}.log`), "a");
    const words = ["nats-server", "-a", host, "-p", `${port}`, "-js", "-sd", join(folder, this.#name), "-n", this.#name, ...more];
    const [command, ...rest] = [...inside, ...words];
    const engine = (this.#process = spawn(command, rest, { stdio: ["ignore", log, log] }));
    running.add(engine);
    this.#ended = new Promise((resolve) => engine.once("exit", resolve));
    engine.once("error", (error) => this.#run.fault(`${this.#name} does not start: ${error.message}`));
    engine.once("exit", () => running.delete(engine));
  }

  /** Waits until it accepts data to store. */
  async isReady() {
    const why = await this.#run.remains(TIMEOUT, () => requestEngine(this.place, "$JS.API.INFO").then(({ error }) => error?.description, String));
    if (why) throw new Error(`${this.#name} is not ready: ${why}`);
  }

  signal(name) {
    this.#process.kill(name);
  }

  kill() {
    this.#process.kill("SIGKILL");
    return this.#ended;
  }

  /** Describes why not all replicas are present and up to date, as this engine sees it; empty if they are. */
  behind() {
    return replicaBehind(this.place).catch(String);
  }

  /** Describes the content of the stream of sessions; empty if it has none. */
  left() {
    return leftInStream(this.place).catch(String);
  }
}
