import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { now } from "./history.mjs";

/** Delay of a slow link in milliseconds, in each direction. */
const SLOW = 200;
/** Maximum shift of a clock, in minutes. */
const MAX_OFF = 10;
/** Maximum number of milliseconds between two faults in a row. */
const CALM = 1500;
/** Milliseconds within which engines have to be complete again. */
const TIMEOUT = 60_000;

/**
 * The faults of servers, engines and the links between them: one or two at a time, each of which passes, and one at a time for
 * engines, which have caught up before the next. Each kind occurs once before one occurs again. Random choices come from
 * `random`; a history records the time of each fault.
 */
export class Faults {
  /** The number of faults of each kind. */
  counts = {};
  #run;
  #random;
  #servers;
  #engines;
  #network;
  #cut;
  #history;
  /** The library that is preloaded into a server with a shifted clock; undefined if it cannot be built. */
  #clock;
  #busy = new Set();
  #kinds;
  #deck = [];

  /**
   * `servers` and `engines`, by name. `cut` cuts the connections of all clients. `folder`: for created files.
   * `only`: the kinds to use, of all possible kinds.
   */
  constructor(run, random, { servers, engines, network, cut, folder, only }) {
    this.#run = run;
    this.#random = random;
    this.#servers = servers;
    this.#engines = engines;
    this.#network = network;
    this.#cut = cut;
    this.#history = run.history("faults");
    const clock = join(folder, "clock.so");
    const source = fileURLToPath(new URL("clock.c", import.meta.url));
    const made = spawnSync("clang", ["-shared", "-fPIC", "-O1", "-o", clock, source], { encoding: "utf8" });
    if (made.status === 0) this.#clock = clock;
    const kinds = this.#possible();
    this.#kinds = only === undefined ? kinds : Object.fromEntries(Object.entries(kinds).filter(([kind]) => only.includes(kind)));
  }

  /** Describes which faults besides those of links are not possible here, and why; undefined if all are. */
  get missing() {
    return this.#clock === undefined ? "no clock is off: clang cannot make clock.c" : undefined;
  }

  get kinds() {
    return Object.keys(this.#kinds);
  }

  /** Causes faults until the run is over, and waits until all have passed. */
  async live() {
    await Promise.all([this.#lane(0), this.#lane(CALM * 4)]);
  }

  async #lane(more) {
    while (!this.#run.isOver) {
      await this.#hold(this.#random.below(CALM) + this.#random.below(more));
      if (this.#run.isOver) return;
      if (this.kinds.length === 0) continue;
      if (this.#deck.length === 0) this.#deck = this.#shuffled(this.kinds);
      const kind = this.#deck.pop();
      const [[nodes, count], body] = this.#kinds[kind];
      const idle = this.#shuffled([...nodes.keys()].filter((name) => !this.#busy.has(name)));
      // Engines lose acknowledged data if a second one fails before the first has caught up.
      const isOfEngines = nodes === this.#engines;
      if (idle.length < (isOfEngines ? nodes.size : count)) continue;
      const free = idle.slice(0, count);
      this.counts[kind] = (this.counts[kind] ?? 0) + 1;
      if (this.#random.chance(0.2)) this.#cut();
      for (const name of free) this.#busy.add(name);
      this.#history.record("told", { what: kind, of: free, at: now() });
      await body(...free);
      if (isOfEngines) await this.#run.remains(TIMEOUT, () => this.#apart());
      this.#history.record("told", { what: kind, of: free, isOver: true, at: now() });
      for (const name of free) this.#busy.delete(name);
    }
  }

  /** The kinds by name: the number of their targets, and the fault. */
  #possible() {
    const [servers, engines, random] = [this.#servers, this.#engines, this.#random];
    const all = ["", ...servers.keys(), ...engines.keys()];
    const [oneServer, oneEngine] = [[servers, 1], [engines, 1]];
    const kinds = {
      kill: [oneServer, (name) => this.#killed(name, random.chance(0.5) ? 300 : 6_000)],
      sleep: [oneServer, (name) => this.#asleep(servers.get(name), 1_000, 12_000)],
      drain: [oneServer, async (name) => void (await servers.get(name).drain(), await servers.get(name).begin())],
      rolling: [[servers, servers.size], (...names) => this.#rolling(names)],
      "engine kill": [oneEngine, (name) => this.#engineKilled(engines.get(name))],
      "engine sleep": [oneEngine, (name) => this.#asleep(engines.get(name), 500, 5_000)],
    };
    if (this.#clock !== undefined) kinds.clock = [oneServer, (name) => this.#offClock(name)];
    if (this.#network.missing) return kinds;
    const apart = (some, others, isOneWay = false) => some.flatMap((name) => others.filter((other) => other !== name).flatMap((other) => [
      { from: name, to: other, lost: true }, ...(isOneWay ? [] : [{ from: other, to: name, lost: true }])]));
    Object.assign(kinds, {
      power: [oneServer, (name) => this.#killed(name, 8_000, apart([name], all))],
      "server from engines": [oneServer, (name) => this.#ruled(apart([name], [...engines.keys()]))],
      "server to engines, one way": [oneServer, (name) => this.#ruled(apart([name], [...engines.keys()], true))],
      "engines to server, one way": [oneServer, (name) => this.#ruled(apart([...engines.keys()], [name], true))],
      "server from clients": [oneServer, (name) => this.#ruled(apart([name], [""]))],
      "slow link": [oneServer, (name) => this.#ruled(apart([name], [...engines.keys()]).map(({ from, to }) => ({ from, to, delay: SLOW / 1000 })))],
    });
    if (engines.size > 1) {
      Object.assign(kinds, {
        "server from one engine": [oneServer, (name) => this.#ruled(apart([name], [random.pick([...engines.keys()])]))],
        "two engines": [[engines, 2], (one, other) => this.#ruled(apart([one], [other]))],
        "engine from all": [oneEngine, (name) => this.#ruled(apart([name], all))],
      });
    }
    return kinds;
  }

  /** Describes what is wrong with the engines; empty if nothing is. */
  async #apart() {
    for (const engine of this.#engines.values()) {
      const why = await engine.behind();
      if (why) return why;
    }
    return "";
  }

  async #killed(name, longest, rules = []) {
    const restored = rules.length > 0 ? await this.#network.rule(...rules) : undefined;
    await this.#servers.get(name).kill();
    await this.#hold(this.#random.below(longest));
    await restored?.();
    await this.#servers.get(name).begin();
  }

  async #asleep(node, shortest, longest) {
    node.signal("SIGSTOP");
    await this.#hold(shortest + this.#random.below(longest - shortest));
    node.signal("SIGCONT");
  }

  /** Each is ended and restarted before the next. */
  async #rolling(names) {
    for (const name of names) {
      const server = this.#servers.get(name);
      await server.stop();
      await server.begin();
    }
  }

  async #engineKilled(engine) {
    await engine.kill();
    await this.#hold(this.#random.below(5_000));
    engine.begin();
    await engine.isReady();
  }

  /** A life of a server whose wall clock is shifted by minutes. */
  async #offClock(name) {
    const minutes = (1 + this.#random.below(MAX_OFF)) * (this.#random.chance(0.5) ? 1 : -1);
    const server = this.#servers.get(name);
    await server.kill();
    await server.begin({ LD_PRELOAD: this.#clock, CLOCK_OFF_SECONDS: `${minutes * 60}` });
    await this.#hold(4_000 + this.#random.below(8_000));
    await server.kill();
    await server.begin();
  }

  async #ruled(rules) {
    const restored = await this.#network.rule(...rules);
    await this.#hold(1_000 + this.#random.below(9_000));
    await restored();
  }

  /** Waits this number of milliseconds, or less if the run is over. */
  async #hold(milliseconds) {
    for (const end = performance.now() + milliseconds; !this.#run.isOver && performance.now() < end; ) await this.#run.pause(20);
  }

  #shuffled(elements) {
    const left = [...elements];
    return elements.map(() => left.splice(this.#random.below(left.length), 1)[0]);
  }
}
