import { Bridge } from "../../web/bridge/bridge.js";
import { FakeStorage } from "../../web/test/fake-page.js";
import { FakeLocks, FakeTab } from "../../web/test/fake-tab.js";
import { Random } from "../Soak/random.mjs";
import { heardSocket, now } from "./history.mjs";

/** How many calls of one page may wait. */
const MAX_WAITING = 12;
/** How many of the last changes of its connection are told where it waits for ever. */
const CHANGES = 4;
/** How many of the last results under a key the members of a session may ask for again. */
const RECENT = 50;

/** A socket that nothing ever comes of. */
const NOWHERE = { readyState: 0, addEventListener() {}, send() {}, close() {} };

/** A page that calls, and is loaded again and again. */
export class Caller {
  #run;
  #name;
  #session;
  #random;
  #history;
  #tab = new FakeTab("https://chaos.example/page.html", new FakeLocks(), new FakeStorage());
  #load = 0;
  #number = 0;
  /** The page that is there: its sockets, and whether it is gone. */
  #page;
  /** What it waits for, by the key or the URI. */
  #waiting = new Map();
  /** The numbers of the answers that came, by id. */
  #answers = new Map();
  #changes = [];
  bridge;

  /** `session`: what it joins, and `recent`, the results under keys that its members know. */
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

  /** How its connection was lately. */
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
      if (this.#random.chance(0.1)) void this.#run.askOwner(this.bridge, this.#history);
      if (this.#random.chance(0.02) && this.#waiting.size < MAX_WAITING) this.#askRecent();
    }
  }

  #connect() {
    this.#load += 1;
    this.#number = 0;
    this.#run.counts.loads += 1;
    const page = (this.#page = { sockets: [], isGone: false });
    const hear = (text) => this.#hear(text);
    const { WebSocket } = this.#run.connection;
    class Socket extends (this.#history === undefined ? WebSocket : heardSocket(WebSocket, this.#history)) {
      constructor(...how) {
        // What is left of a load connects nowhere.
        if (page.isGone) return NOWHERE;
        super(...how);
        page.sockets.push(this);
        this.on("message", hear);
      }

      /** What is left of a load in this process does not act any more. */
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
    // What the load before had not brought to the server went with it; a call without a key may go with a server.
    const mayGo = ({ uri, key }) => !uri?.includes(own) || (this.#run.isKilling && key === undefined);
    bridge.addEventListener("statechange", ({ detail }) => {
      const { lost } = detail;
      this.#run.checkClose(this.#name, detail);
      this.#changes = [...this.#changes, detail].slice(-CHANGES);
      if (lost && !(lost.reason === "server" && lost.calls.every(mayGo))) this.#run.fault(`${this.#name} lost ${JSON.stringify(lost)}`);
    });
  }

  /** Each answer comes under one number; a server that was restarted may not know which it has given. */
  #hear(text) {
    const { id, seq, method } = JSON.parse(text);
    if (id === undefined || seq === undefined || method !== undefined) return;
    if (this.#answers.has(id) && this.#answers.get(id) !== seq) {
      this.#run.counts.repeated += 1;
      if (!this.#run.isKilling) this.#run.fault(`${this.#name} has two answers to ${id}: ${this.#answers.get(id)}, ${seq}`);
    }
    this.#answers.set(id, seq);
  }

  /** The page is loaded again: what it waited for comes to the next load. */
  async #reload() {
    // What was not sent goes with a page, as it does in a browser: it ends when it has nothing that waits to be.
    await this.bridge.request("$/ping").catch(() => {});
    const left = new Map(this.#waiting);
    for (const one of left.values()) one.isOld = true;
    this.#waiting.clear();
    this.#tab.unload();
    this.#page.isGone = true;
    this.#history?.tell("reload");
    for (const socket of this.#page.sockets) socket.terminate();
    this.#connect();
    await this.bridge.ready.catch((error) => this.#run.fault(`${this.#name}: ${error}`));
    for (const { uri, key, result } of this.bridge.pending) {
      const asked = left.get(key ?? uri);
      if (asked === undefined) {
        result.catch(() => {});
        continue;
      }
      left.delete(key ?? uri);
      this.#run.counts.recovered += 1;
      this.#expect(key ?? uri, asked, result, true);
    }
    // Those with a key may be asked again, whatever became of them.
    for (const [name, asked] of left) {
      if (asked.ask === undefined) this.#run.ledger.ended(asked.call, "gone");
      else this.#again(name, asked);
    }
  }

  /** A result under a key is given to whoever asks for it again. */
  #askRecent() {
    const recent = this.#random.pick(this.#session.recent);
    if (recent === undefined) return;
    const name = `${recent.name}, asked for again`;
    if (!this.#waiting.has(name)) this.#again(name, { ...recent, isRecent: true });
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
    const kind = isPage ? "page" : isEffect ? "effect" : "task";
    const uri = { page: `chaos://page/${load}/${number}`, effect: `action://effect/${load}/${number}`, task: `action://chaos/${load}/${number}${isSlow ? "?slow=20" : ""}` }[kind];
    if (isKeyed) counts.keyed += 1;
    if (isPage) counts.pages += 1;
    if (isEffect) counts.effects += 1;
    const key = isKeyed ? `${load}-${number}` : undefined;
    const make = (bridge) => (isPage ? bridge.open(uri, { token: uri }, { key }) : bridge.invoke(uri, {}, { key }));
    const call = ledger.made(load, number, { kind, isKeyed, isPrompt: kind === "task" && !isSlow && !isKeyed });
    const expected = isPage ? uri : `${load}-${number}`;
    this.#expect(key ?? uri, { call, expected, ask: isKeyed ? make : undefined }, make(this.bridge), false);
  }

  #again(name, asked) {
    this.#run.counts.again += 1;
    this.#expect(name, asked, asked.ask(this.bridge), false);
  }

  /**
   * `asked`: the call, what it is to give, how it is asked again, where it may be, and whether its result is known; `isAdopted`: the
   * load before made it.
   */
  #expect(name, { call, expected, ask, isRecent = false }, result, isAdopted) {
    const entry = { call, expected, ask, isRecent, isOld: false };
    this.#waiting.set(name, entry);
    const { kind, isKeyed, load, number } = call;
    const key = isKeyed ? `${load}-${number}` : undefined;
    const asking = this.#history?.ask({ session: this.#session.id, call: call.name, kind, key });
    const tell = (how, value) => this.#history?.tell("end", { ask: asking, how, value, at: now() });
    const ended = (how) => {
      if (this.#waiting.get(name) !== entry) this.#run.fault(`${name} was answered twice`);
      this.#waiting.delete(name);
      if (!isRecent) this.#run.ledger.ended(call, how, isAdopted);
    };
    result.then(
      (value) => {
        if (entry.isOld) return;
        tell("result", value?.outcome === undefined ? value : [value.outcome, value.data]);
        // A page over which another was opened, whose result came first, has gone with it.
        const got = value?.outcome === "dismissed" ? expected : value?.outcome === "finished" ? value.data : value;
        // A host says which time it is where it does a task once more.
        if (got !== expected && !String(got).startsWith(`${expected}#`)) this.#run.fault(`${name} gave ${JSON.stringify(value)}`);
        ended("result");
        if (ask !== undefined && !isRecent) this.#session.recent = [...this.#session.recent, { name, call, expected, ask }].slice(-RECENT);
      },
      async (error) => {
        if (entry.isOld) return;
        const isRefused = this.#run.isKilling && isDraining(error);
        tell(isRefused && error.retryable ? "refused" : "unknown");
        const isUnknown = error.code === 2599 && (isAdopted || (this.#run.isKilling && ask === undefined));
        if (!isRefused && !isUnknown) {
          this.#run.fault(`${name}: ${error.code} ${error.message} ${JSON.stringify(error.data)}; ${this.story}`);
          return ended("fault");
        }
        if (ask === undefined) return ended(isRefused && error.retryable ? "refused" : "unknown");
        await this.#run.pause(20);
        if (!entry.isOld) this.#again(name, entry);
      },
    );
  }
}

/** Whether a server that ends has refused a call, or given it up. */
export function isDraining(error) {
  return error.code === -32802 || (error.code === 2503 && ["draining", "unavailable"].includes(error.kind));
}
