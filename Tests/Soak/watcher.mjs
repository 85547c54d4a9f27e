import { Worker } from "node:worker_threads";

/**
 * A good client in a thread of its own, so that what it measures is the server: it makes a small call every 20 ms, each
 * of which must be answered within its patience.
 */
export class Watcher {
  #worker;
  #report;

  /** Connects to a server; `fault` is told what goes wrong. */
  static async start(url, { patience, fault }) {
    const watcher = new Watcher(url, patience, fault);
    await watcher.ready;
    return watcher;
  }

  constructor(url, patience, fault) {
    this.#worker = new Worker(new URL("watching.mjs", import.meta.url), { workerData: { url, patience } });
    this.#worker.on("error", (error) => fault(`the watcher failed: ${error.message}`));
    let isReady = () => {};
    this.ready = new Promise((resolve) => (isReady = resolve));
    this.#report = new Promise((resolve) => {
      this.#worker.on("message", (message) => {
        if (message.isReady) isReady();
        else if (message.fault) fault(`watcher: ${message.fault}`);
        else resolve(message.report);
      });
      this.#worker.once("exit", () => (isReady(), resolve([])));
    });
  }

  /** Calls that are answered from now on count under this name. */
  during(name) {
    this.#worker.postMessage({ during: name });
  }

  /** Leaves; gives `{during, calls, median, p99, max}` for each name, in milliseconds. */
  stop() {
    this.#worker.postMessage({ isOver: true });
    return this.#report;
  }
}
