// @ts-check
import { filled, mismatch, unnumbered } from "./transcript-matcher.js";
import { nodeWebSockets } from "./node-ws.js";

/** Milliseconds within which the server must send what a transcript expects. */
const RESPONSE_TIMEOUT = 10000;

/** @typedef {{message?: any, close?: number, reason?: string}} Received a parsed message, or the close */

/** The socket of one client of a transcript, with its received messages that were not processed yet. */
class Socket {
  /** @type {Received[]} */ #inbox = [];
  /** @type {(() => void) | undefined} */ #arrived;
  #name;
  #socket;
  /** @type {Promise<void>} */ opened;
  isSessionOpen = false;

  /**
   * @param {string} name
   * @param {string} url
   * @param {string | undefined} subprotocol
   */
  constructor(name, url, subprotocol) {
    this.#name = name;
    const { WebSocket } = nodeWebSockets();
    this.subprotocol = subprotocol;
    this.#socket = new WebSocket(url, subprotocol === undefined ? [] : [subprotocol]);
    this.opened = new Promise((resolve, reject) => {
      this.#socket.on("open", resolve);
      this.#socket.on("error", reject);
    });
    this.#socket.on("message", (/** @type {any} */ data, /** @type {boolean} */ isBinary) => {
      this.#push({ message: isBinary ? { binary: data.toString("hex") } : JSON.parse(data.toString()) });
    });
    this.#socket.on("close", (/** @type {number} */ close, /** @type {any} */ reason) => this.#push({ close, reason: reason.toString() }));
  }

  get isOpen() {
    return this.#socket.readyState === 1;
  }

  /**
   * @param {any} data
   * @param {boolean} [binary] whether the message is binary; its data can be bytes in both cases
   */
  send(data, binary = false) {
    this.#socket.send(data, { binary });
  }

  /** @returns {Promise<Received>} */
  async next() {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${this.#name} received nothing within ${RESPONSE_TIMEOUT} ms`)), RESPONSE_TIMEOUT);
    });
    try {
      while (this.#inbox.length === 0) {
        await Promise.race([late, new Promise((resolve) => (this.#arrived = () => resolve(undefined)))]);
      }
    } finally {
      clearTimeout(timer);
    }
    return /** @type {Received} */ (this.#inbox.shift());
  }

  /** @param {number} code */
  close(code) {
    this.#socket.close(code);
  }

  end() {
    this.#socket.terminate();
  }

  /** @param {Received} received */
  #push(received) {
    this.#inbox.push(received);
    this.#arrived?.();
  }
}

/**
 * Plays one transcript of protocol/vectors against a server. Rejects with an error that names the failed step.
 * @param {any} vector
 * @param {string} url
 * @param {() => Promise<void>} [restart] kills the server and starts it again
 */
export async function replay(vector, url, restart) {
  /** @type {Map<string, Socket>} */
  const sockets = new Map();
  /** @type {Map<string, unknown>} */
  const captures = new Map();
  /** @param {string} name */
  const socketOf = async (name) => {
    let socket = sockets.get(name);
    if (socket === undefined) {
      if (!Object.hasOwn(vector.clients, name)) throw new Error(`the transcript has no client "${name}"`);
      sockets.set(name, (socket = new Socket(name, url, vector.clients[name].subprotocol)));
    }
    await socket.opened;
    return socket;
  };
  try {
    for (const [index, step] of vector.steps.entries()) {
      await located(`step ${index + 1}, ${JSON.stringify(step).slice(0, 200)}`, async () => {
        if (step.restart !== true) return play(step, socketOf, captures);
        for (const socket of sockets.values()) socket.end();
        sockets.clear();
        await restart?.();
      });
    }
    for (const [name, socket] of sockets) await located(`the end of ${name}`, () => checkEnd(socket, vector.noEnd === true));
  } finally {
    for (const socket of sockets.values()) socket.end();
  }
}

/**
 * @param {any} step
 * @param {(name: string) => Promise<Socket>} socketOf
 * @param {import("./transcript-matcher.js").Captures} captures
 */
async function play(step, socketOf, captures) {
  if (step.connect !== undefined) {
    await socketOf(step.connect);
  } else if (step.advance !== undefined) {
    await new Promise((resolve) => setTimeout(resolve, step.advance));
  } else if (typeof step.close === "string") {
    (await socketOf(step.close)).close(step.code ?? 1000);
  } else if (step.send !== undefined) {
    const socket = await socketOf(step.send);
    if (step.message !== undefined) {
      socket.isSessionOpen ||= ["session.open", "session.resume"].includes(step.message.method);
      socket.send(JSON.stringify(filled(step.message, captures)));
    } else if (step.text !== undefined) {
      socket.send(filled(step.text, captures).repeat(step.repeat ?? 1));
    } else {
      socket.send(Buffer.from(step.binary ?? step.bytes, "hex"), step.binary !== undefined);
    }
  } else if (step.expect !== undefined) {
    await expect(step, await socketOf(step.expect), captures);
  } else {
    throw new Error("no such step");
  }
}

/**
 * @param {any} step
 * @param {Socket} socket
 * @param {import("./transcript-matcher.js").Captures} captures
 */
async function expect(step, socket, captures) {
  if (step.any !== undefined) {
    const open = [...step.any];
    while (open.length > 0) {
      const received = await socket.next();
      const index = open.findIndex((each) => {
        const attempt = new Map(captures);
        if (mismatch({ message: each }, numberless(each, received), attempt) !== undefined) return false;
        for (const [name, value] of attempt) captures.set(name, value);
        return true;
      });
      if (index === -1) throw new Error(`received ${JSON.stringify(received)}, which is not one of ${JSON.stringify(open)}`);
      open.splice(index, 1);
    }
    return;
  }
  const expected =
    step.close === undefined ? { message: step.message } : { close: step.close, reason: step.reason ?? "{{*}}" };
  const found = mismatch(expected, numberless(step.message, await socket.next()), captures);
  if (found !== undefined) throw new Error(found);
}

/**
 * @param {any} expected
 * @param {Received} received
 * @returns {Received}
 */
function numberless(expected, received) {
  return received.message === undefined ? received : { message: unnumbered(expected, received.message) };
}

/**
 * Checks that a client received no further messages: the next message is the response to a ping.
 * @param {Socket} socket
 * @param {boolean} onlyGreeted
 */
async function checkEnd(socket, onlyGreeted) {
  if (!socket.isOpen || (onlyGreeted && socket.subprotocol !== undefined && !socket.isSessionOpen)) return;
  socket.send(JSON.stringify({ jsonrpc: "2.0", id: "end", method: "$/ping" }));
  const found = mismatch({ message: { jsonrpc: "2.0", id: "end", result: null } }, await socket.next(), new Map());
  if (found !== undefined) throw new Error(`one more message: ${found}`);
}

/**
 * @param {string} where
 * @param {() => Promise<void>} body
 */
async function located(where, body) {
  try {
    await body();
  } catch (cause) {
    throw new Error(`${where}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}
