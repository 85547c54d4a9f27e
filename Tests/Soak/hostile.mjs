import { Worker } from "node:worker_threads";
import { Watcher } from "./watcher.mjs";

/** Hostile clients in a thread of their own, and a watcher that must not be affected by them. */
export class Hostile {
  #run;
  #watcher;
  #worker;
  #counts = new Map();
  /** Maximum resident memory in KiB, by attack. */
  #memory = new Map();
  #during = "";
  #over;

  /** `only` names the attacks; undefined for all. */
  static async start(run, { timeout, only }) {
    return new Hostile(run, await Watcher.start(run.server.url("/bridge"), { timeout, fault: run.fault }), timeout, only);
  }

  constructor(run, watcher, timeout, only) {
    this.#run = run;
    this.#watcher = watcher;
    this.timeout = timeout;
    this.#worker = new Worker(new URL("hostile/attack-worker.mjs", import.meta.url), {
      workerData: { url: run.server.url("/bridge"), seed: run.seed, timeout, only },
    });
    this.#worker.on("message", (message) => (message.isOver ? void this.#worker.terminate() : this.#receive(message)));
    this.#worker.on("error", (error) => run.fault(`the hostile clients failed: ${error.stack}`));
    this.#over = new Promise((resolve) => this.#worker.once("exit", resolve));
  }

  #receive({ fault, attacks, during, attack, counts, hasEnded }) {
    for (const name of attacks ?? []) this.#counts.set(name, { times: 0 });
    if (fault) this.#run.fault(fault);
    if (during) {
      this.#during = during;
      this.#watcher.during(during);
    }
    if (!attack) return;
    const sum = this.#counts.get(attack);
    if (hasEnded) sum.times += 1;
    for (const [what, count] of Object.entries(counts)) sum[what] = (sum[what] ?? 0) + count;
  }

  /** Receives the server's resident memory from time to time. */
  sample(memory) {
    this.#memory.set(this.#during, Math.max(memory, this.#memory.get(this.#during) ?? 0));
  }

  /** Whether each attack has ended at least once. */
  get hasTriedAll() {
    return this.#counts.size > 0 && [...this.#counts.values()].every(({ times }) => times > 0);
  }

  /** Ends the attacks and reports the results. */
  async stop() {
    this.#worker.postMessage({ isOver: true });
    await this.#over;
    for (const { during, calls, median, p99, max } of await this.#watcher.stop()) {
      const times = [median, p99, max].map((time) => time.toFixed(1)).join(" / ");
      const memory = this.#memory.get(during) ?? 0;
      console.log(`${during || "before"}: ${calls} calls of the watcher, median / p99 / max ${times} ms; memory at most ${memory} KiB`);
      if (max > this.timeout) this.#run.fault(`during ${during} a call of the watcher took ${Math.round(max)} ms`);
    }
    for (const [attack, { times, ...counts }] of this.#counts) {
      const list = Object.entries(counts).map(([what, count]) => `${count} ${what}`).join(", ");
      console.log(`${attack}, ${times} times: ${list}`);
      if (times === 0) this.#run.fault(`the attack ${attack} was not tried`);
    }
  }
}
