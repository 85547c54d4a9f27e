import { appendFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { closeCodes } from "../../web/bridge/codes.js";
import { isDraining } from "./caller.mjs";
import { recordOwner, History } from "./history.mjs";
import { Ledger } from "./ledger.mjs";

/** Milliseconds without a new call after which a run with a fixed number of calls ends. */
const TIMEOUT = 60_000;
/** Number of faults that are printed as they are found; a folder for results has all of them. */
const TOLD = 20;

const { WebSocket } = createRequire(import.meta.url)("ws");

/** The shared state of all clients of one run: its duration, the calls, and the faults. */
export class Run {
  isOver = false;
  counts = { calls: 0, keyed: 0, pages: 0, effects: 0, loads: 0, recovered: 0, again: 0, resumed: 0, restored: 0, repeated: 0 };
  faults = [];
  ledger = new Ledger(this);
  /** Set by `connect`. */
  connection;
  #folder;
  #isWriting;
  #histories = [];

  /**
   * `calls`: the number of calls to make, 0 for any number. `isKilling`: servers end and restart meanwhile. `hasEffects`: the server has
   * tasks of its own whose effects are stored with the keys of their calls. `folder`: for faults, and for histories if `isWriting`.
   */
  constructor({ seed, seconds, calls, isKilling, hasEffects, folder, isWriting = false }) {
    Object.assign(this, { seed, seconds, calls, isKilling, hasEffects });
    /** Whether a server may sometimes run undisturbed for a minute. */
    this.isLong = calls === 0 && seconds >= 600;
    this.#folder = folder;
    this.#isWriting = isWriting;
    if (isWriting) mkdirSync(this.histories);
  }

  get mayCall() {
    return this.calls === 0 || this.counts.calls < this.calls;
  }

  /** The folder of histories. */
  get histories() {
    return join(this.#folder, "histories");
  }

  pause(milliseconds) {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
  }

  fault(text) {
    this.faults.push(text);
    appendFileSync(join(this.#folder, "faults"), `${new Date().toISOString()} ${text}\n`);
    if (this.faults.length <= TOLD) console.log(`FAULT ${text.slice(0, 500)}`);
  }

  /** Whatever is cut, no message before a received one is missing. */
  checkClose(name, { code, reason }) {
    if (code === closeCodes.gap.code) this.fault(`${name} was closed for a gap: ${reason}`);
  }

  /** Whether a server that was restarted, or ends, may reject a call in this way so that it is tried again. */
  isAmiss(error) {
    return this.isKilling && (error.code === 2599 || isDraining(error));
  }

  /** Records the owner of a client's session; this can fail like any call without a key. */
  async recordOwner(bridge, history) {
    try {
      await recordOwner(bridge, history);
    } catch (error) {
      if (!this.isAmiss(error)) this.fault(`conformance.owner: ${error.code} ${error}`);
    }
  }

  /** Returns the history of a member; undefined if none are written. */
  history(name) {
    if (!this.#isWriting) return undefined;
    const history = new History(this.histories, name);
    this.#histories.push(history);
    return history;
  }

  closeHistories() {
    for (const history of this.#histories) history.close();
  }

  /** Clients connect to this port of this machine, and address the server by this name. */
  connect(port, name) {
    /** A WebSocket that addresses the server by its own name. */
    class NamedSocket extends WebSocket {
      constructor(address, protocols) {
        super(address, protocols, { headers: { Host: name } });
      }
    }
    this.connection = {
      url: `ws://127.0.0.1:${port}/bridge`, WebSocket: NamedSocket, fetch: undefined, connectTimeout: 2000,
      ping: { after: 1000, timeout: 1000 }, reconnect: { minDelay: 1, maxDelay: 200 }, queue: { count: 100_000, bytes: 1 << 26 },
    };
  }

  /** Waits until its seconds have passed or its calls are made, and ends the run. */
  async last() {
    if (this.calls === 0) await this.pause(this.seconds * 1000);
    for (let made = 0, since = performance.now(); this.mayCall && this.calls > 0; await this.pause(50)) {
      if (made !== this.counts.calls) [made, since] = [this.counts.calls, performance.now()];
      else if (performance.now() - since > TIMEOUT) break;
    }
    this.isOver = true;
  }

  /** Waits until `check` finds nothing, for at most this number of milliseconds; returns what it finds then. */
  async remains(milliseconds, what) {
    for (const end = performance.now() + milliseconds; ; await this.pause(50)) {
      const found = await what();
      if (!found || performance.now() > end) return found;
    }
  }

  /** Now that nothing is cut any more, all calls have to end, all pages have to close, and all clients have to leave. */
  async settle(callers, hosts, others = []) {
    await this.remains(30_000, () => callers.some(({ waiting }) => waiting.length > 0));
    for (const { waiting, story } of callers) {
      if (waiting.length > 0) this.fault(`${waiting.length} calls have no result: ${waiting.slice(0, 5).join(", ")}; ${story}`);
    }
    const busy = await this.remains(5_000, () => hosts.find((host) => host.isBusy));
    if (busy) this.fault(`a host still shows ${busy.shown} pages, or waits for the response to a finish`);
    await Promise.all([...callers, ...others, ...hosts].map(({ bridge }) => this.#leave(bridge)));
  }

  /** A client without a connection cannot report that it leaves; a connection may be lost just then. */
  async #leave(bridge) {
    const ping = () => bridge.request("$/ping", undefined, { timeout: 10_000 }).then(() => undefined, String);
    const why = await this.remains(10_000, ping);
    if (why !== undefined) this.fault(`a client could not leave: ${why}`);
    await bridge.close();
  }

  /** Prints the counts of calls and effects; `more`: other counts. */
  report(more) {
    const ends = Object.fromEntries(["unknown", "refused", "gone"].map((how) => [how, this.ledger.count(how)]));
    const all = { ...this.counts, ...ends, ...more };
    console.log(Object.entries(all).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(", "));
  }
}
