import { Worker } from "node:worker_threads";

/**
 * A correct client in a thread of its own, so that it measures only the server. It makes a small call every 20 ms, and each
 * call must have a response within its timeout.
 */
export class Watcher {
  #worker;
  #report;

  /** Connects to a server; `fault` is called with each error. */
  static async start(url, { timeout, fault }) {
    const watcher = new Watcher(url, timeout, fault);
    await watcher.ready;
    return watcher;
  }

  constructor(url, timeout, fault) {
    this.#worker = new Worker(new URL("watcher-worker.mjs", import.meta.url), { workerData: { url, timeout } });
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

  /** Responses are counted under this name from now on. */
  during(name) {
    this.#worker.postMessage({ during: name });
  }

  /** Leaves; returns `{during, calls, median, p99, max}` for each name, in milliseconds. */
  stop() {
    this.#worker.postMessage({ isOver: true });
    return this.#report;
  }
}
