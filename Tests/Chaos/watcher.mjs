import { Bridge } from "../../web/bridge/bridge.js";
import { heardSocket } from "./history.mjs";

/** How many questions of one watcher may wait for an answer, and the milliseconds between two. */
const MAX_WAITING = 8;
const ASK = 30;

/**
 * Asks who owns its session, again and again, over a connection that it keeps when nothing comes for long: what a server says that
 * was asleep, or apart from others, comes to it.
 */
export class Watcher {
  #run;
  #history;
  #waiting = 0;
  bridge;

  constructor(run, name, session, connection) {
    this.#run = run;
    this.#history = run.history(name);
    const WebSocket = heardSocket(connection.WebSocket, this.#history);
    this.bridge = new Bridge({ ...connection, WebSocket, join: session.join, ping: { after: 8000, timeout: 8000 } });
    this.bridge.addEventListener("statechange", ({ detail }) => {
      const { lost } = detail;
      run.checkClose(name, detail);
      if (lost && lost.reason !== "server") run.fault(`${name} lost ${JSON.stringify(lost)}`);
    });
  }

  async live() {
    for (; !this.#run.isOver; await this.#run.pause(ASK)) {
      if (this.#waiting >= MAX_WAITING) continue;
      this.#waiting += 1;
      void this.#run.askOwner(this.bridge, this.#history).finally(() => (this.#waiting -= 1));
    }
  }
}
