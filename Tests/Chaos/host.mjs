import { appendFileSync } from "node:fs";
import { Bridge } from "../../web/bridge/bridge.js";
import { recordedSocket, now } from "./history.mjs";

/** Milliseconds between two requests for the owner of the session. */
const ASK = 100;

/**
 * Runs the tasks and shows the pages of the callers of a session. It writes each task to a file before it responds, and finishes
 * each page with the token from its opener.
 */
export class Host {
  /** The ids of the shown pages. */
  #shown = new Set();
  /** The number of requests to finish a page that have no response yet. A page can close before its response arrives. */
  #finishing = 0;
  /** The URI of each page that it ever had to open. */
  #uris = new Map();
  /** How often each task was done. */
  #times = new Map();
  #run;
  #history;
  bridge;

  constructor(run, name, effects) {
    this.#run = run;
    const history = (this.#history = run.history(name));
    const { WebSocket } = run.connection;
    const bridge = (this.bridge = new Bridge({
      ...run.connection,
      WebSocket: history === undefined ? WebSocket : recordedSocket(WebSocket, history),
      tasks: {
        "action://chaos/:load/:number": async (params) => {
          const name = `${params.load} ${params.number}`;
          appendFileSync(effects, `${name}\n`);
          history?.record("done", { call: name, at: now() });
          const times = (this.#times.get(name) ?? 0) + 1;
          this.#times.set(name, times);
          if (params.slow) await run.pause(Number(params.slow));
          return `${params.load}-${params.number}${times > 1 ? `#${times}` : ""}`;
        },
      },
      hosts: { chaos: { open: (page, call) => this.#open(page, call), close: ({ id }) => void this.#shown.delete(id) } },
    }));
    bridge.addEventListener("error", ({ detail }) => run.fault(`${name}: ${detail}`));
    bridge.addEventListener("statechange", ({ detail }) => {
      const { lost, restarted } = detail;
      run.checkClose(name, detail);
      if (restarted) run.counts.resumed += 1;
      // It makes its own requests again.
      if (lost && !(run.isKilling && lost.reason === "server")) run.fault(`${name} lost ${JSON.stringify(lost)}`);
    });
  }

  /** Requests the owner of its session repeatedly, if a history has to record that. */
  async live() {
    while (this.#history !== undefined && !this.#run.isOver) {
      await Promise.all([this.#run.recordOwner(this.bridge, this.#history), this.#run.pause(ASK)]);
    }
  }

  /** The number of shown pages. */
  get shown() {
    return this.#shown.size;
  }

  /** Whether it shows a page or finishes one. */
  get isBusy() {
    return this.#shown.size > 0 || this.#finishing > 0;
  }

  #open({ id, uri, params: { token } }, { restored, signal }) {
    if (this.#shown.has(id)) this.#run.fault(`the page ${id} was opened twice`);
    if (this.#uris.has(id) && this.#uris.get(id) !== uri) this.#run.fault(`${id} is two pages: ${uri}, ${this.#uris.get(id)}`);
    this.#uris.set(id, uri);
    if (restored) this.#run.counts.restored += 1;
    this.#shown.add(id);
    signal.addEventListener("abort", () => this.#shown.delete(id));
    void this.#finish(id, token);
  }

  async #finish(page, token) {
    this.#finishing += 1;
    await this.#run.pause(5);
    await this.#finishUntilDone(page, token);
    this.#finishing -= 1;
  }

  async #finishUntilDone(page, token) {
    for (;;) {
      try {
        return await this.bridge.finish(token, { page });
      } catch (error) {
        if (error.kind === "notOnStack") return;
        // After a long stall more is sent at once than may be in flight. A request that was rejected for that reason is sent again.
        if (error.code !== 2429 && !this.#run.isAmiss(error)) return this.#run.fault(`finish: ${error}`);
        // The next attempt shows whether it was done.
        await this.#run.pause(20);
      }
    }
  }
}
