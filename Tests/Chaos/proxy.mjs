import { connect, createServer } from "node:net";

/**
 * A proxy between clients and the server that does to their connections what networks do: it cuts them after so many
 * bytes, either way, splits what passes, holds it back, and ends one direction alone. What it does is drawn from `random`.
 */
export class Proxy {
  /** What was done how often. */
  counts = { connections: 0, cuts: 0, stalls: 0, halves: 0, splits: 0 };
  /** Set when nothing is to go wrong any more. */
  isCalm = false;
  #random;
  #server;
  #target;
  #open = new Set();

  static async start(target, random) {
    const proxy = new Proxy(target, random);
    await new Promise((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  constructor(target, random) {
    this.#target = target;
    this.#random = random;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#pair(client));
  }

  get port() {
    return this.#server.address().port;
  }

  /** From now on all passes, over new connections. */
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

  #pair(client) {
    this.counts.connections += 1;
    const server = connect({ port: this.#target, host: "127.0.0.1", allowHalfOpen: true });
    const cut = () => {
      this.#open.delete(cut);
      client.destroy();
      server.destroy();
    };
    this.#open.add(cut);
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", cut);
      socket.on("close", cut);
    }
    this.#pass(client, server, cut);
    this.#pass(server, client, cut);
  }

  /** Passes on what comes from one side, for as long as it is to. */
  #pass(from, to, cut) {
    const random = this.#random;
    // Often in the midst of the greeting, of the replay, or of the first messages behind it.
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
      // At the first bytes of a frame as well as in the midst of it.
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
