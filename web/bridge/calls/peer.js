// @ts-check
import { check } from "../connection/backoff.js";
import { Call, isKeyed, MAX_TIMEOUT } from "./call.js";
import { codeOf } from "../codes.js";
import { attempt, bridgeError, closedError, failure, methodNotFound, textOf } from "../values/errors.js";
import { encode, sizeOf } from "../values/json-values.js";
import { randomID } from "../values/random-id.js";

/** @typedef {import("./call.js").CallInfo} CallInfo */
/** @typedef {import("./call.js").RequestOptions} RequestOptions */
/** @typedef {import("../connection/connection.js").Close} Close */

/**
 * The properties of the client that a `Peer` uses.
 * @typedef {object} PeerClient
 * @property {{send: (text: string) => boolean}} connection `send` returns `false` if no socket is open
 * @property {Pick<import("../session/resumption.js").Resumption, "send" | "accepts" | "unknownResponse">} [resumption] numbers sent and received messages
 * @property {(error: import("../values/errors.js").BridgeError) => void} report reports an error that does not belong to a call
 * @property {Pick<import("../hosting/client-hosts.js").ClientHosts, "notify">} [hosts] handles notifications
 * @property {Pick<import("../events/subscriptions.js").Subscriptions, "receive">} [events] receives events
 * @property {import("../connection/clock.js").Clock} clock
 */

/**
 * JSON-RPC 2.0 in both directions over text messages. Calls wait until `start` and again after `interrupt`; after `close` everything fails. It
 * does not depend on sockets or routes.
 */
export class Peer {
  /** Keeps the ids of two loads of one page different, because the server may treat both loads as one client. */
  #idPrefix = randomID();
  #lastID = 0;
  #started = false;
  /** Whether calls wait for room in the outbox although the session is open. */
  #isFull = false;
  /** @type {(Close & {absent?: boolean}) | undefined} */ #closed;
  /**
   * Sent and unsent calls without a response, in the order in which they were made.
   * @type {Map<unknown, Call>}
   */
  calls = new Map();
  /** @type {import("./incoming-requests.js").IncomingRequests | undefined} handles requests; `undefined`: there are no methods */ incoming;
  #maxMessage = Infinity;
  #queue;

  /**
   * @param {PeerClient} client
   * @param {{count?: number, bytes?: number}} queue limits of the calls that wait for `start`
   */
  constructor(client, { count = 256, bytes = 1 << 20 } = {}) {
    check("queue.count", count, 0);
    check("queue.bytes", bytes, 0);
    this.client = client;
    this.#queue = { count, bytes };
  }

  /**
   * Sends a message.
   * @param {string} text
   * @param {{bare?: boolean, canWait?: boolean}} [how] a `bare` message has no number; a message that `canWait` is sent later if there is no room
   * @returns {number | boolean} its number, if it has one; `false` if it cannot be sent now
   */
  send(text, how) {
    const { connection, resumption } = this.client;
    return resumption?.send(text, how) ?? connection.send(text);
  }

  /**
   * @param {string} method
   * @param {any} [params] an object, an array or `undefined`
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, params, options = {}) {
    const { signal, timeout, onBehalfOf } = options;
    // A call on behalf of another client is sent at once or not at all: in the next session that id belongs to another request.
    const first = options.first || onBehalfOf !== undefined;
    if (this.#closed !== undefined) throw closedError(this.#closed, false, method);
    if (signal?.aborted) throw signal.reason;
    if (timeout !== undefined) check("timeout", timeout, 1, MAX_TIMEOUT);
    this.#lastID += 1;
    const id = `${this.#idPrefix}-${this.#lastID}`;
    const { uri, key } = isKeyed(method) ? params : /** @type {any} */ ({});
    const text = requestText(id, method, onBehalfOf === undefined ? params : { ...params, onBehalfOf: onBehalfOf.id(method) });
    const call = this.add({ id, method, uri, key }, text, { ...options, first });
    if (first || (this.#started && !this.#isFull)) this.#transmit(call);
    if (!call.sent && this.calls.has(id)) {
      if (first) call.fail(closedError({ code: 1006, reason: "" }, false, method));
      else this.#checkQueue(call);
    }
    return call.promise;
  }

  /**
   * Sends the waiting calls, in the order in which they were made.
   * @param {unknown} [maxMessage] the maximum size of a message in bytes, if the peer stated it
   * @param {number} [overhead] the number of these bytes that the sequence number needs
   */
  start(maxMessage, overhead = 0) {
    if (typeof maxMessage === "number") this.#maxMessage = maxMessage - overhead;
    this.incoming?.start();
    this.#started = true;
    this.flush();
  }

  /** Sends the waiting calls as far as there is room. */
  flush() {
    if (!this.#started) return;
    this.#isFull = false;
    for (const call of this.#unsent) if (!this.#isFull) this.#transmit(call);
  }

  /**
   * Whether the peer accepts a message of that size.
   * @param {string} text
   */
  fits(text) {
    return sizeOf(text) <= this.#maxMessage;
  }

  /** Called when the connection has closed and another one will continue: calls wait again. */
  pause() {
    this.#started = false;
    this.incoming?.pause();
  }

  /**
   * Called when the connection has closed and another one will follow: sent calls fail, others wait, and received requests are aborted.
   * @param {Close} close
   * @returns {CallInfo[]} the failed calls of methods that accept a key
   */
  interrupt(close) {
    this.#started = false;
    return this.#fail(close, (call) => call.sent).filter(({ method }) => isKeyed(method));
  }

  /**
   * Fails every call, including future ones, and aborts received requests.
   * @param {Close & {absent?: boolean}} close
   */
  close(close) {
    this.#closed ??= close;
    this.#fail(close, () => true);
  }

  /**
   * Sends a notification. It is dropped if it cannot be sent now.
   * @param {string} method
   * @param {unknown} [params]
   */
  notify(method, params) {
    this.send(encode({ jsonrpc: "2.0", method, params }));
  }

  /**
   * Receives one message.
   * @param {unknown} data
   */
  receive(data) {
    const message = typeof data === "string" ? attempt(() => JSON.parse(data)) : undefined;
    const { jsonrpc, id, method, params, result, error } = message ?? {};
    if (jsonrpc !== "2.0") return this.#ignore();
    if (this.client.resumption?.accepts(message, String(data).length) === false) return;
    const isCall = typeof method === "string" && typeof (params ?? {}) === "object";
    if (isCall && id === undefined) void this.#receiveNotification(method, params ?? {});
    else if (isCall && (id === null || ["string", "number"].includes(typeof id))) this.#receiveRequest(id, method, params);
    else if (method === undefined && id !== undefined && (result === undefined) !== (error === undefined)) this.settle(message);
    else this.#ignore();
  }

  /** @param {any} response */
  settle({ id, result, error }) {
    const call = this.calls.get(id);
    if (call === undefined) return this.client.resumption?.unknownResponse(id, error);
    const { method } = call.info;
    if (error !== undefined) {
      const { code, message = "", data } = error ?? {};
      return call.fail(Number.isInteger(code) ? bridgeError(code, String(message), { data, method })
        : bridgeError(codeOf.internal, globalThis.__waybridgeBrief ? "The error has no code" : "The server's error has no code", { kind: "malformed", data: error, method }));
    }
    try {
      call.options.onResult?.(result);
      call.succeed(result);
    } catch (cause) {
      call.fail(cause);
    }
  }

  get #unsent() {
    return [...this.calls.values()].filter((call) => !call.sent);
  }

  /**
   * @param {CallInfo} info
   * @param {string} text the request as it is sent
   * @param {RequestOptions} options
   */
  add(info, text, options) {
    const call = new Call(info, text, options, this);
    this.calls.set(info.id, call);
    return call;
  }

  /**
   * @param {Close & {absent?: boolean}} close
   * @param {(call: Call) => boolean} which
   */
  #fail(close, which) {
    this.incoming?.interrupt(closedError(close, true));
    return [...this.calls.values()].filter(which).map((call) => {
      call.fail(closedError(close, call.sent, call.info.method));
      return call.info;
    });
  }

  /** @param {Call} call the most recent call */
  #checkQueue(call) {
    const { count, bytes } = this.#queue;
    const waiting = this.#unsent;
    if (waiting.length <= count && waiting.reduce((sum, each) => sum + sizeOf(each.text), 0) <= bytes) return;
    const { method } = call.info;
    const reached = globalThis.__waybridgeBrief ? "Too many calls" : waiting.length > count ? `${count} calls` : `${bytes} bytes`;
    call.fail(failure("tooMany", `${reached} already wait for the connection`, { method }));
  }

  /** @param {Call} call */
  #transmit(call) {
    const { text, info: { method } } = call;
    if (!this.fits(text)) {
      return call.fail(failure("tooLarge", globalThis.__waybridgeBrief ? "The call is too large" : `The call has ${sizeOf(text)} bytes, more than the server accepts (limits.maxMessage)`, { method }));
    }
    const sent = this.send(text, { bare: call.isBare, canWait: !call.isOnce });
    call.sent = sent !== false;
    call.seq = Number(sent);
    this.#isFull ||= this.#started && !call.sent;
  }

  /**
   * Tells the peer that the response to a call is not needed any more.
   * @param {Call} call
   */
  cancel({ info: { id } }) {
    this.notify("$/cancelRequest", { id });
  }

  /**
   * @param {import("./incoming-requests.js").RequestID} id
   * @param {string} method
   * @param {unknown} params
   */
  #receiveRequest(id, method, params) {
    const isPing = method === "$/ping";
    if (!isPing && this.incoming !== undefined) return void this.incoming.handle(id, method, params);
    const { code, message } = methodNotFound(method);
    const response = isPing ? { result: null } : { error: { code, message } };
    this.send(JSON.stringify({ jsonrpc: "2.0", id, ...response }), { bare: isPing });
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  async #receiveNotification(method, params) {
    let what = method;
    try {
      if (method === "event") return this.client.events?.receive(params);
      if (method === "$/cancelRequest") return this.incoming?.cancel(params.id);
      if (method !== "$/progress") return void (await this.client.hosts?.notify(method, params));
      const call = this.calls.get(params.id);
      if (!globalThis.__waybridgeBrief) what = `onProgress of ${call?.info.method}`;
      call?.progress(params.value);
    } catch (cause) {
      // An error in code of the application must not affect the connection.
      this.client.report(failure("internal", `${what} failed: ${textOf(cause)}`, { cause }));
    }
  }

  #ignore() {
    this.client.report(bridgeError(codeOf.invalidRequest, globalThis.__waybridgeBrief ? "Not JSON-RPC 2.0" : "A received message is not JSON-RPC 2.0", { kind: "malformed" }));
  }
}

/**
 * Sends a ping, at once or not at all.
 * @param {Peer} peer
 * @returns {Promise<any>}
 */
export function ping(peer) {
  return peer.request("$/ping", undefined, { first: true });
}

/**
 * Adds a call that an earlier load of the page has sent.
 * @param {Peer} peer
 * @param {CallInfo} info
 * @returns {Promise<any>}
 */
export function adopt(peer, info) {
  const call = peer.add(info, "", { first: true });
  call.sent = true;
  return call.promise;
}

/**
 * @param {string} id
 * @param {string} method
 * @param {unknown} params
 */
function requestText(id, method, params) {
  try {
    return encode({ jsonrpc: "2.0", id, method, params });
  } catch (cause) {
    throw failure("invalidParams", `${method} cannot be sent: ${textOf(cause)}`, { method, cause });
  }
}
