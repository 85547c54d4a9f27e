import { appendFileSync } from "node:fs";
import { Bridge } from "../../web/bridge/bridge.js";
import { heardSocket, now } from "./history.mjs";

/** Milliseconds between two questions who owns the session. */
const ASK = 100;

/**
 * What does the tasks and shows the pages of the callers of a session. It writes each task into a file before it says that it is
 * done, and finishes each page with the token that its opener gave.
 */
export class Host {
  /** The pages that it shows, by id. */
  #shown = new Set();
  /** The URI of each page that it was ever asked for. */
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
      WebSocket: history === undefined ? WebSocket : heardSocket(WebSocket, history),
      tasks: {
        "action://chaos/:load/:number": async (params) => {
          const name = `${params.load} ${params.number}`;
          appendFileSync(effects, `${name}\n`);
          history?.tell("done", { call: name, at: now() });
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
      // What it asks for it asks again.
      if (lost && !(run.isKilling && lost.reason === "server")) run.fault(`${name} lost ${JSON.stringify(lost)}`);
    });
  }

  /** Asks who owns its session, again and again, where a history is to have that. */
  async live() {
    while (this.#history !== undefined && !this.#run.isOver) {
      await Promise.all([this.#run.askOwner(this.bridge, this.#history), this.#run.pause(ASK)]);
    }
  }

  /** How many pages it shows. */
  get shown() {
    return this.#shown.size;
  }

  #open({ id, uri, params: { token } }, { restored, signal }) {
    if (this.#shown.has(id)) this.#run.fault(`the page ${id} was opened twice`);
    if (this.#uris.has(id) && this.#uris.get(id) !== uri) this.#run.fault(`${id} is two pages: ${uri}, ${this.#uris.get(id)}`);
    this.#uris.set(id, uri);
    if (restored) this.#run.counts.restored += 1;
    this.#shown.add(id);
    signal.addEventListener("abort", () => this.#shown.delete(id));
    setTimeout(() => void this.#finish(id, token), 5);
  }

  async #finish(page, token) {
    for (;;) {
      try {
        return await this.bridge.finish(token, { page });
      } catch (error) {
        if (error.kind === "notOnStack") return;
        // After a long stall more is sent at once than may be in flight: what was refused so is asked again.
        if (error.code !== 2429 && !this.#run.isAmiss(error)) return this.#run.fault(`finish: ${error}`);
        // Whether it was done, the next try tells.
        await this.#run.pause(20);
      }
    }
  }
}
