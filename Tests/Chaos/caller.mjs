import { Bridge } from "../../web/bridge/bridge.js";
import { FakeStorage } from "../../web/test/fake-page.js";
import { FakeLocks, FakeTab } from "../../web/test/fake-tab.js";
import { Random } from "../Soak/random.mjs";
import { recordedSocket, now } from "./history.mjs";

/** Maximum number of waiting calls of one page. */
const MAX_WAITING = 12;
/** Number of the last changes of its connection that are reported if it waits forever. */
const CHANGES = 4;
/** Number of the last results under a key that the members of a session can request again. */
const RECENT = 50;

/** A socket that never opens. */
const NOWHERE = { readyState: 0, addEventListener() {}, send() {}, close() {} };

/** A page that makes calls and is reloaded repeatedly. */
export class Caller {
  #run;
  #name;
  #session;
  #random;
  #history;
  #tab = new FakeTab("https://chaos.example/page.html", new FakeLocks(), new FakeStorage());
  #load = 0;
  #number = 0;
  /** The current page: its sockets, and whether it is closed. */
  #page;
  /** The calls that it waits for, by key or URI. */
  #waiting = new Map();
  /** The numbers of the received responses, by id. */
  #answers = new Map();
  #changes = [];
  bridge;

  /** `session`: the session to join; `recent`: the results under keys that its members know. */
  constructor(run, name, session) {
    this.#run = run;
    this.#name = name;
    this.#session = session;
    this.#history = run.history(name);
    this.#random = new Random(run.seed, name);
  }

  get waiting() {
    return [...this.#waiting.keys()];
  }

  /** The recent states of its connection. */
  get story() {
    return JSON.stringify(this.#changes);
  }

  async live() {
    this.#connect();
    while (!this.#run.isOver) {
      for (let left = this.#random.below(6); left >= 0 && this.#waiting.size < MAX_WAITING && this.#run.mayCall; left -= 1) this.#call();
      await this.#run.pause(this.#random.below(30));
      if (this.#random.chance(0.01)) await this.#reload();
      if (this.#history === undefined) continue;
      if (this.#random.chance(0.1)) void this.#run.recordOwner(this.bridge, this.#history);
      if (this.#random.chance(0.02) && this.#waiting.size < MAX_WAITING) this.#repeatRecent();
    }
  }

  #connect() {
    this.#load += 1;
    this.#number = 0;
    this.#run.counts.loads += 1;
    const page = (this.#page = { sockets: [], isGone: false });
    const receive = (text) => this.#receive(text);
    const { WebSocket } = this.#run.connection;
    class Socket extends (this.#history === undefined ? WebSocket : recordedSocket(WebSocket, this.#history)) {
      constructor(...how) {
        // Objects of an earlier load cannot connect.
        if (page.isGone) return NOWHERE;
        super(...how);
        page.sockets.push(this);
        this.on("message", receive);
      }

      /** Disables the objects of an earlier load that still exist in this process. */
      send(text) {
        if (!page.isGone) super.send(text);
      }

      addEventListener(...how) {
        super.addEventListener(...(page.isGone ? ["error", () => {}] : how));
      }
    }
    const options = { ...this.#run.connection, WebSocket: Socket, join: this.#session.join, keep: "reload" };
    const bridge = (this.bridge = this.#tab.run(() => new Bridge(options)));
    const own = `/${this.#name}.${this.#load}/`;
    // Messages that the previous load had not delivered to the server are lost with it; a call without a key can be lost with a server.
    const mayGo = ({ uri, key }) => !uri?.includes(own) || (this.#run.isKilling && key === undefined);
    bridge.addEventListener("statechange", ({ detail }) => {
      const { lost } = detail;
      this.#run.checkClose(this.#name, detail);
      this.#changes = [...this.#changes, detail].slice(-CHANGES);
      if (lost && !(lost.reason === "server" && lost.calls.every(mayGo))) this.#run.fault(`${this.#name} lost ${JSON.stringify(lost)}`);
    });
  }

  /** Each response has one number; a server that was restarted may not know which number it has used. */
  #receive(text) {
    const { id, seq, method } = JSON.parse(text);
    if (id === undefined || seq === undefined || method !== undefined) return;
    if (this.#answers.has(id) && this.#answers.get(id) !== seq) {
      this.#run.counts.repeated += 1;
      if (!this.#run.isKilling) this.#run.fault(`${this.#name} has two answers to ${id}: ${this.#answers.get(id)}, ${seq}`);
    }
    this.#answers.set(id, seq);
  }

  /** Reloads the page: the next load gets the results of its calls. */
  async #reload() {
    // Messages that were not sent are lost with a page, as in a browser. It closes when no message waits to be sent.
    await this.bridge.request("$/ping").catch(() => {});
    const left = new Map(this.#waiting);
    for (const one of left.values()) one.isOld = true;
    this.#waiting.clear();
    this.#tab.unload();
    this.#page.isGone = true;
    this.#history?.record("reload");
    for (const socket of this.#page.sockets) socket.terminate();
    this.#connect();
    await this.bridge.ready.catch((error) => this.#run.fault(`${this.#name}: ${error}`));
    for (const { uri, key, result } of this.bridge.pending) {
      const earlier = left.get(key ?? uri);
      if (earlier === undefined) {
        result.catch(() => {});
        continue;
      }
      left.delete(key ?? uri);
      this.#run.counts.recovered += 1;
      this.#expect(key ?? uri, earlier, result, true);
    }
    // Calls with a key can be made again in any case.
    for (const [name, earlier] of left) {
      if (earlier.request === undefined) this.#run.ledger.ended(earlier.call, "gone");
      else this.#repeat(name, earlier);
    }
  }

  /** The result under a key is returned to every member that requests it again. */
  #repeatRecent() {
    const recent = this.#random.pick(this.#session.recent);
    if (recent === undefined) return;
    const name = `${recent.name}, asked for again`;
    if (!this.#waiting.has(name)) this.#repeat(name, { ...recent, isRecent: true });
  }

  #call() {
    const number = (this.#number += 1);
    const load = `${this.#name}.${this.#load}`;
    const { counts, hasEffects, ledger } = this.#run;
    counts.calls += 1;
    const isPage = this.#random.chance(0.1);
    const isEffect = !isPage && hasEffects && this.#random.chance(0.2);
    const isSlow = !isPage && !isEffect && this.#random.chance(0.1);
    const isKeyed = this.#random.chance(0.3);
    // Longer than the time between two ends of a server.
    const slow = isKeyed && this.#random.chance(0.3) ? 1000 + this.#random.below(3000) : 20;
    const kind = isPage ? "page" : isEffect ? "effect" : "task";
    const uri = { page: `chaos://page/${load}/${number}`, effect: `action://effect/${load}/${number}`, task: `action://chaos/${load}/${number}${isSlow ? `?slow=${slow}` : ""}` }[kind];
    if (isKeyed) counts.keyed += 1;
    if (isPage) counts.pages += 1;
    if (isEffect) counts.effects += 1;
    const key = isKeyed ? `${load}-${number}` : undefined;
    const make = (bridge) => (isPage ? bridge.open(uri, { token: uri }, { key }) : bridge.invoke(uri, {}, { key }));
    const call = ledger.made(load, number, { kind, isKeyed, isPrompt: kind === "task" && !isSlow && !isKeyed });
    const expected = isPage ? uri : `${load}-${number}`;
    this.#expect(key ?? uri, { call, expected, request: isKeyed ? make : undefined }, make(this.bridge), false);
  }

  #repeat(name, earlier) {
    this.#run.counts.again += 1;
    this.#expect(name, earlier, earlier.request(this.bridge), false);
  }

  /**
   * `earlier`: the call, its expected result, how to make it again, where it can be, and whether its result is known. `isAdopted`: the
   * previous load made the call.
   */
  #expect(name, { call, expected, request, isRecent = false }, result, isAdopted) {
    const entry = { call, expected, request, isRecent, isOld: false };
    this.#waiting.set(name, entry);
    const { kind, isKeyed, load, number } = call;
    const key = isKeyed ? `${load}-${number}` : undefined;
    const callNumber = this.#history?.recordCall({ session: this.#session.id, call: call.name, kind, key });
    const record = (how, value) => this.#history?.record("end", { ask: callNumber, how, value, at: now() });
    const ended = (how) => {
      if (this.#waiting.get(name) !== entry) this.#run.fault(`${name} was answered twice`);
      this.#waiting.delete(name);
      if (!isRecent) this.#run.ledger.ended(call, how, isAdopted);
    };
    result.then(
      (value) => {
        if (entry.isOld) return;
        record("result", value?.outcome === undefined ? value : [value.outcome, value.data]);
        // The page below has finished first, so this page has closed with it.
        const got = value?.outcome === "dismissed" ? expected : value?.outcome === "finished" ? value.data : value;
        // A host reports the number of the attempt if it runs a task once more.
        if (got !== expected && !String(got).startsWith(`${expected}#`)) this.#run.fault(`${name} gave ${JSON.stringify(value)}`);
        ended("result");
        if (request !== undefined && !isRecent) this.#session.recent = [...this.#session.recent, { name, call, expected, request }].slice(-RECENT);
      },
      async (error) => {
        if (entry.isOld) return;
        const isRefused = this.#run.isKilling && isDraining(error);
        record(isRefused && error.retryable ? "refused" : "unknown");
        const isUnknown = error.code === 2599 && (isAdopted || (this.#run.isKilling && request === undefined));
        if (!isRefused && !isUnknown) {
          this.#run.fault(`${name}: ${error.code} ${error.message} ${JSON.stringify(error.data)}; ${this.story}`);
          return ended("fault");
        }
        if (request === undefined) return ended(isRefused && error.retryable ? "refused" : "unknown");
        await this.#run.pause(20);
        if (!entry.isOld) this.#repeat(name, entry);
      },
    );
  }
}

/** Whether a server that ends has rejected a call, or cancelled it. */
export function isDraining(error) {
  return error.code === -32802 || (error.code === 2503 && ["draining", "unavailable"].includes(error.kind));
}
