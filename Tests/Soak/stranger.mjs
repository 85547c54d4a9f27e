import { connect } from "node:net";
import { GARBAGE } from "./actions.mjs";
import { Connection } from "./connection.mjs";
import { Random } from "./random.mjs";

/** A client frame (RFC 6455 §5.2) with a mask of zeros; `first` is its first byte. */
function frame(first, payload) {
  const length = payload.length < 126 ? [0x80 | payload.length] : [0xfe, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
}

/** Frames that no WebSocket library sends, and the code with which the server closes. */
const BROKEN = [
  [frame(0x81, Buffer.from([0xff, 0xfe])), 1007],
  [frame(0x82, Buffer.from("{}")), 1003],
  [frame(0x83, Buffer.from("{}")), 1002],
  [frame(0xc1, Buffer.from("{}")), 1002],
  [Buffer.concat([frame(0x01, Buffer.from('"')), frame(0x80, Buffer.from([0xc3]))]), 1007],
];

const HANDSHAKE = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/** A client without a session: sends plain JSON-RPC, garbage or half a handshake, and leaves. */
export class Stranger {
  constructor(run, name) {
    this.run = run;
    this.name = name;
  }

  async live() {
    for (let life = 1; !this.run.isOver; life += 1) {
      const name = `${this.name}.${life}`;
      this.random = new Random(this.run.seed, name);
      this.run.counts.strangers += 1;
      const visit = this.random.weighted([
        [10, this.plain], [6, this.broken], [3, this.large], [2, this.early], [2, this.greedy], [3, this.halfway],
      ]);
      await visit.call(this, name);
      await this.run.pause(this.random.below(4 * this.run.think));
    }
  }

  async #connected(name, work, protocols = []) {
    const connection = new Connection(this.run, name, "/bridge", protocols);
    if (!(await connection.opened)) return;
    await work(connection);
    connection.leave(this.random.pick(["close", "terminate", "reset"]));
    await connection.ended;
  }

  /** JSON-RPC as in its specification, and garbage in between. */
  plain(name) {
    return this.#connected(name, async (connection) => {
      const last = 1 + this.random.below(40);
      for (let sent = 0; sent < last; sent += 1) {
        if (this.random.chance(0.2)) connection.provoke(...this.random.pick(GARBAGE));
        else if (this.run.isDemo) connection.request("$/ping", undefined, { isAtOnce: true });
        else this.#subtract(connection);
      }
      if (this.random.chance(0.7)) await connection.request("$/ping", undefined, { isAtOnce: true }).answer;
    });
  }

  #subtract(connection) {
    const numbers = [this.random.below(1000), this.random.below(1000)];
    const call = connection.request("subtract", numbers, { id: connection.nextID(this.random), isAtOnce: true });
    call.whenAnswered((answer) => {
      if (answer && answer.result !== numbers[0] - numbers[1]) connection.fault(`subtract gave ${JSON.stringify(answer)}`);
    });
  }

  broken(name) {
    return this.#connected(name, async (connection) => {
      const [bytes, code] = this.random.pick(BROKEN);
      connection.expectedClose = code;
      connection.socket._socket.write(bytes);
      await Promise.race([connection.ended, this.run.pause(10_000)]);
      if (!connection.isLeaving) connection.fault(`was not closed with ${code}`);
    });
  }

  /** A message that is too large, complete or incomplete. */
  large(name) {
    return this.#connected(name, async (connection) => {
      connection.expectedClose = 1009;
      connection.socket.send("x".repeat(1_048_577));
      await Promise.race([connection.ended, this.run.pause(10_000)]);
      if (!connection.isLeaving) connection.fault("was not closed with 1009");
    });
  }

  /** Calls before it has opened its session. */
  early(name) {
    return this.#connected(name, async (connection) => {
      const answer = await connection.request("$/ping", undefined, { isAtOnce: true }).answer;
      if (answer && answer.error?.code !== -32002) connection.fault(`before session.open came ${JSON.stringify(answer)}`);
    }, ["waybridge.v1"]);
  }

  /** Requests much, reads nothing, and leaves. */
  greedy(name) {
    return this.#connected(name, async (connection) => {
      connection.socket.pause();
      for (let sent = 0; sent < 60; sent += 1) connection.request("rpc.discover", undefined, { isAtOnce: true });
      await this.run.pause(this.random.below(50));
    });
  }

  /** Leaves in the middle of a handshake. */
  halfway() {
    const { hostname, port, host } = new URL(this.run.server.address);
    const text = `GET /bridge HTTP/1.1\r\nHost: ${host}\r\n${HANDSHAKE}\r\n`;
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(text.slice(0, this.random.below(text.length)));
        setTimeout(() => (this.random.chance(0.5) ? socket.destroy() : socket.resetAndDestroy()), this.random.below(20));
      });
      socket.resume();
      socket.on("error", () => {});
      socket.once("close", resolve);
    });
  }
}
