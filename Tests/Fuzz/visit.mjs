import { filled, mismatch } from "../../web/test/transcript-matcher.js";
import { Random } from "../Soak/random.mjs";
import { mutatedBytes } from "./bytes.mjs";
import { mutatedFrames } from "./frames.mjs";
import { keyOf } from "./expectations.mjs";
import { Peer } from "./peer.mjs";

/** How long to wait for a message that a transcript expects. An earlier change may have made it impossible. */
const TIMEOUT = 20;
/** How long to wait for owed responses at the end. This is longer than a host may be silent that responds between two pages. */
const FINAL_TIMEOUT = 25_000;

/** Plays one transcript, with some of its messages changed, on connections of its own. */
export class Visit {
  #captures = new Map();
  #peers = new Map();
  /** The connection that each client resumes, by the client's name. */
  clients = new Map();
  #sent = [];

  constructor(run, number) {
    this.run = run;
    this.number = number;
    this.server = run.server;
    this.counts = run.counts;
    this.random = new Random(run.seed, "visit", number);
    this.level = this.random.weighted([[5, "json"], [3, "bytes"], [2, "frames"]]);
    this.vector = this.random.pick(run.vectors);
  }

  count(kind, what) {
    const counts = this.run[kind];
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }

  /** Reports a fault; faults of one kind are counted together. */
  fault(kind, detail) {
    const sent = this.#sent.map(([name, bytes]) => `    ${name} ${JSON.stringify(bytes.toString("latin1"))}`);
    const lines = [`visit ${this.number}, “${this.vector.name}”: ${detail.slice(0, 500)}`, ...sent];
    this.run.fault(`${this.level}: ${kind}`, lines.join("\n"));
  }

  /** Stores the last sent messages, for the report of a fault. */
  remember(name, bytes) {
    this.#sent.push([name, bytes.subarray(0, 300)]);
    if (this.#sent.length > 8) this.#sent.shift();
  }

  async play() {
    this.counts.visits += 1;
    this.count("levels", this.level);
    for (const step of this.vector.steps) {
      if (this.run.isOver) break;
      if (step.send !== undefined) await this.#send(step, await this.#peer(step.send));
      else if (step.expect !== undefined) await this.#expect(step, await this.#peer(step.expect));
      else if (step.connect !== undefined) await this.#peer(step.connect);
      else if (typeof step.close === "string") await (await this.#peer(step.close)).leave("close");
    }
    const peers = [...this.#peers.values()];
    // A host that no longer responds would delay the responses to others.
    for (const peer of peers) peer.answerAll(() => this.#hostAnswer());
    await Promise.all(peers.map((peer) => this.#finish(peer)));
    await Promise.all(peers.map((peer) => peer.leave(this.random.pick(["close", "destroy", "reset"]))));
  }

  async #peer(name) {
    let peer = this.#peers.get(name);
    if (!peer) {
      peer = new Peer(this, name, this.vector.clients[name]?.subprotocol);
      this.#peers.set(name, peer);
      this.counts.connections += 1;
    }
    await peer.opened;
    return peer;
  }

  async #send(step, peer) {
    const { random } = this;
    if (step.message === undefined) {
      const text = step.text?.repeat(Math.min(step.repeat ?? 1, 1_048_577));
      const bytes = text === undefined ? Buffer.from(step.bytes ?? "", "hex") : Buffer.from(text);
      return peer.sendMessage(random.chance(0.5) ? bytes : mutatedBytes(bytes.toString(), random));
    }
    const message = this.#filled(step.message);
    // Most messages that open the session must stay valid, or nothing else is reached.
    const isChanged = random.chance(message.method === "session.open" ? 0.08 : 0.4);
    const bytes = Buffer.from(JSON.stringify(message));
    if (!isChanged) {
      if (message.method === undefined) peer.requests.delete(keyOf(message.id));
      return peer.sendMessage(bytes);
    }
    for (let times = random.chance(0.6) ? 1 + random.below(60) : 1; times > 0 && peer.isTalking; times -= 1) {
      this.counts.mutated += 1;
      if (this.level === "json") peer.sendMessage(Buffer.from(this.run.mutator.mutated(message, random)));
      else if (this.level === "bytes") peer.sendMessage(mutatedBytes(bytes.toString(), random));
      else peer.sendFrames(bytes, mutatedFrames(bytes, random));
    }
    // The next messages continue from here, as if nothing had been changed.
    if (!peer.isWild && random.chance(0.5)) peer.sendMessage(bytes);
  }

  /** Fills in the captured values, and other values if nothing was captured. */
  #filled(message) {
    const open = new Map(this.#captures);
    for (const [, name] of JSON.stringify(message).matchAll(/\{\{(\w+)\}\}/g)) {
      if (!open.has(name)) open.set(name, this.random.pick(["p1", "p2", 1, "unknown"]));
    }
    return filled(message, open);
  }

  /** Captures the values of received messages, as the transcript says. */
  async #expect(step, peer) {
    const wanted = step.any ?? (step.message === undefined ? [] : [step.message]);
    for (const expected of wanted) {
      await peer.until(() => {
        const index = peer.inbox.findIndex((message) => {
          const trial = new Map(this.#captures);
          if (mismatch(expected, message, trial) !== undefined) return false;
          for (const [name, value] of trial) this.#captures.set(name, value);
          return true;
        });
        if (index >= 0) peer.inbox.splice(index, 1);
        return index >= 0;
      }, TIMEOUT);
    }
  }

  /** Cancels running calls, and waits for the owed responses. */
  async #finish(peer) {
    const end = performance.now() + FINAL_TIMEOUT;
    peer.send({ id: "last", method: "$/ping" });
    while (peer.isTalking && !peer.isWild && performance.now() < end) {
      if (!peer.isOwed) break;
      for (const key of peer.owedKeys) peer.cancel(key);
      await peer.until(() => !peer.isOwed, 500);
    }
    // Once it has closed its side, the connection ends by itself.
    if (peer.mustClose) await peer.until(() => peer.code !== undefined, 5_000);
    if (peer.code !== undefined || this.run.isOver) return;
    if (peer.mustClose) peer.fault(`was not closed with ${peer.mustClose.join(" or ")}`);
    else if (peer.isOwed) peer.fault("no answer came", peer.owedKeys.join(", "));
  }

  #hostAnswer() {
    return this.random.weighted([
      [6, { result: null }], [1, { result: { a: [1, "x"] } }],
      [1, { error: { code: this.random.pick([1, 1999, 2404, 3000, -32603, -32800, 2 ** 40, 1.5, "x", null]), message: "no" } }],
      [1, { error: this.random.pick([null, 5, {}, { code: 7 }]) }], [1, { result: 1, error: { code: 1, message: "both" } }],
    ]);
  }
}
