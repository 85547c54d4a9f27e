import { connect, createServer } from "node:net";

/** Milliseconds within which a server has to accept a connection, before the next one is tried. */
const ACCEPT = 300;

/**
 * A proxy between clients and servers that treats their connections like real networks: it cuts them after a number of
 * bytes in either direction, splits and delays data, and ends one direction alone. Each connection goes to any server that
 * accepts it, whichever server the client used before. Random choices come from `random`.
 */
export class Proxy {
  /** The number of faults of each kind. */
  counts = { connections: 0, cuts: 0, stalls: 0, halves: 0, splits: 0 };
  /** Set when no more faults are to occur. */
  isCalm = false;
  #random;
  #server;
  #targets;
  #onAccept;
  #open = new Set();

  /** `targets`: the `{host, port}` of each server. `onAccept` is called with the port of each client, and the number of the server. */
  static async start(targets, random, onAccept) {
    const proxy = new Proxy(targets, random, onAccept);
    await new Promise((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  constructor(targets, random, onAccept = () => {}) {
    this.#targets = targets;
    this.#onAccept = onAccept;
    this.#random = random;
    this.#server = createServer({ allowHalfOpen: true }, (client) => void this.#pair(client));
  }

  get port() {
    return this.#server.address().port;
  }

  /** From now on it forwards everything, over new connections. */
  calm() {
    this.isCalm = true;
    this.cut();
  }

  /** Cuts all connections at once. */
  cut() {
    for (const cut of this.#open) cut();
  }

  async stop() {
    this.#server.close();
    this.cut();
  }

  async #pair(client) {
    this.counts.connections += 1;
    let server;
    const cut = () => {
      this.#open.delete(cut);
      client.destroy();
      server?.destroy();
    };
    this.#open.add(cut);
    client.on("error", cut);
    client.on("close", cut);
    server = await this.#accepted(client.remotePort);
    if (server === undefined || client.destroyed) {
      server?.destroy();
      return cut();
    }
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", cut);
      socket.on("close", cut);
    }
    this.#pass(client, server, cut);
    this.#pass(server, client, cut);
  }

  /** Opens a connection to one of the servers; undefined if none accepts it. */
  async #accepted(port) {
    const first = this.#random.below(this.#targets.length);
    for (let tried = 0; tried < this.#targets.length; tried += 1) {
      const number = (first + tried) % this.#targets.length;
      const server = connect({ ...this.#targets[number], allowHalfOpen: true });
      const isAccepted = await new Promise((resolve) => {
        server.once("connect", () => resolve(true)).once("error", () => resolve(false));
        setTimeout(() => resolve(false), ACCEPT).unref();
      });
      if (isAccepted) {
        this.#onAccept(port, number);
        return server;
      }
      server.destroy();
    }
    return undefined;
  }

  /** Forwards the data of one side, as long as it is allowed to. */
  #pass(from, to, cut) {
    const random = this.#random;
    // Often in the middle of the handshake, of the replay, or of the first messages after it.
    let left = random.chance(0.5) ? random.below(2_000) : random.below(60_000);
    let queue = Promise.resolve();
    from.on("end", () => (queue = queue.then(() => to.end())));
    from.on("data", (chunk) => {
      from.pause();
      queue = queue.then(async () => {
        await this.#write(chunk, to, left, cut);
        left -= chunk.length;
        from.resume();
      });
    });
  }

  async #write(chunk, to, left, cut) {
    const random = this.#random;
    if (this.isCalm) return void to.write(chunk);
    const isLast = chunk.length >= left;
    for (let at = 0, end = isLast ? left : chunk.length; at < end; ) {
      // At the first bytes of a frame as well as in the middle of it.
      const size = random.chance(0.2) ? 1 + random.below(8) : end - at;
      if (size < end - at) this.counts.splits += 1;
      to.write(chunk.subarray(at, Math.min(at + size, end)));
      at += size;
      if (random.chance(0.3)) await pause(0);
    }
    if (!isLast && random.chance(0.02)) {
      this.counts.stalls += 1;
      await pause(random.below(300));
    }
    if (!isLast) return;
    if (random.chance(0.3)) {
      this.counts.halves += 1;
      to.end();
      await pause(random.below(100));
    }
    this.counts.cuts += 1;
    cut();
  }
}

const pause = (milliseconds) => new Promise((resolve) => (milliseconds > 0 ? setTimeout(resolve, milliseconds) : setImmediate(resolve)));
