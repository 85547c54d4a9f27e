import { Bridge } from "../../web/bridge/bridge.js";
import { recordedSocket } from "./history.mjs";

/** Maximum number of waiting requests of one watcher, and the milliseconds between two requests. */
const MAX_WAITING = 8;
const ASK = 30;

/**
 * Requests the owner of its session repeatedly, over a connection that it keeps even if nothing arrives for long. So it also receives the
 * responses of a server that was stopped, or separated from others.
 */
export class Watcher {
  #run;
  #history;
  #waiting = 0;
  bridge;

  constructor(run, name, session, connection) {
    this.#run = run;
    this.#history = run.history(name);
    const WebSocket = recordedSocket(connection.WebSocket, this.#history);
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
      void this.#run.recordOwner(this.bridge, this.#history).finally(() => (this.#waiting -= 1));
    }
  }
}
