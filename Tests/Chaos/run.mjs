import { appendFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { closeCodes } from "../../web/bridge/codes.js";
import { isDraining } from "./caller.mjs";
import { askOwner, History } from "./history.mjs";
import { Ledger } from "./ledger.mjs";

/** Milliseconds without a call that is made, after which a run that is to make so many is over. */
const PATIENCE = 60_000;
/** How many faults are printed as they are found; a folder that is kept has them all. */
const TOLD = 20;

const { WebSocket } = createRequire(import.meta.url)("ws");

/** What all clients of one run share: how long it lasts, what was made, and what was wrong. */
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
   * `calls`: how many are to be made, 0 for any number; `isKilling`: servers end and begin meanwhile; `hasEffects`: the server has
   * tasks of its own that are kept with the key of their calls; `folder`: for what was wrong, and histories, which are written where `isWriting`.
   */
  constructor({ seed, seconds, calls, isKilling, hasEffects, folder, isWriting = false }) {
    Object.assign(this, { seed, seconds, calls, isKilling, hasEffects });
    /** Whether a server may be left alone for a minute now and then. */
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

  /** Whatever is cut, no message is missing before one that comes. */
  checkClose(name, { code, reason }) {
    if (code === closeCodes.gap.code) this.fault(`${name} was closed for a gap: ${reason}`);
  }

  /** Whether a server that was restarted, or ends, may give that for what is then to be tried again. */
  isAmiss(error) {
    return this.isKilling && (error.code === 2599 || isDraining(error));
  }

  /** Has a member ask who owns its session, which may fail as any call without a key. */
  async askOwner(bridge, history) {
    try {
      await askOwner(bridge, history);
    } catch (error) {
      if (!this.isAmiss(error)) this.fault(`conformance.owner: ${error.code} ${error}`);
    }
  }

  /** That of a member; undefined where none are written. */
  history(name) {
    if (!this.#isWriting) return undefined;
    const history = new History(this.histories, name);
    this.#histories.push(history);
    return history;
  }

  closeHistories() {
    for (const history of this.#histories) history.close();
  }

  /** Clients come in by this port of this machine, and ask for the server by this name. */
  connect(port, name) {
    /** A WebSocket that asks for the server by its own name. */
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

  /** Waits for its seconds to pass, or its calls to be made, and ends it. */
  async last() {
    if (this.calls === 0) await this.pause(this.seconds * 1000);
    for (let made = 0, since = performance.now(); this.mayCall && this.calls > 0; await this.pause(50)) {
      if (made !== this.counts.calls) [made, since] = [this.counts.calls, performance.now()];
      else if (performance.now() - since > PATIENCE) break;
    }
    this.isOver = true;
  }

  /** Waits until there is nothing any more, for so many milliseconds at most; gives what there is then. */
  async remains(milliseconds, what) {
    for (const end = performance.now() + milliseconds; ; await this.pause(50)) {
      const found = await what();
      if (!found || performance.now() > end) return found;
    }
  }

  /** All that was called has to end, all pages go, and everybody leave, now that nothing is cut any more. */
  async settle(callers, hosts, others = []) {
    await this.remains(30_000, () => callers.some(({ waiting }) => waiting.length > 0));
    for (const { waiting, story } of callers) {
      if (waiting.length > 0) this.fault(`${waiting.length} calls have no result: ${waiting.slice(0, 5).join(", ")}; ${story}`);
    }
    const shown = await this.remains(5_000, () => hosts.reduce((sum, host) => sum + host.shown, 0));
    if (shown > 0) this.fault(`hosts still show ${shown} pages`);
    await Promise.all([...callers, ...others, ...hosts].map(({ bridge }) => this.#leave(bridge)));
  }

  /** Who has no connection cannot say that it leaves; one may be lost just then. */
  async #leave(bridge) {
    const ping = () => bridge.request("$/ping", undefined, { timeout: 10_000 }).then(() => undefined, String);
    const why = await this.remains(10_000, ping);
    if (why !== undefined) this.fault(`a client could not leave: ${why}`);
    await bridge.close();
  }

  /** Prints what was made and done; `more`: other counts. */
  tell(more) {
    const ends = Object.fromEntries(["unknown", "refused", "gone"].map((how) => [how, this.ledger.count(how)]));
    const told = { ...this.counts, ...ends, ...more };
    console.log(Object.entries(told).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(", "));
  }
}
