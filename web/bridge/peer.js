// @ts-check
import { Calling } from "./calling.js";
import { codeOf } from "./codes.js";
import { bridgeError, closedError, failure, textOf } from "./errors.js";

/** @typedef {(params: any) => unknown} NotificationHandler */
/** @typedef {import("./connection.js").Close} Close */
/**
 * What it needs of its client.
 * @typedef {object} Wiring
 * @property {{send: (text: string) => boolean}} link false when it could not be handed to an open socket
 * @property {Pick<import("./resumption.js").Resumption, "send" | "takes" | "acknowledged">} [resumption] numbers what is sent and comes
 * @property {(error: import("./errors.js").BridgeError) => void} report what went wrong where no caller waits
 * @property {Pick<import("./duties.js").Duties, "request" | "notification">} [duties] who answers requests, and hears notifications
 * @property {Pick<import("./news.js").News, "hear">} [events] who hears of events
 * @property {import("./clock.js").Clock} clock
 */

/**
 * JSON-RPC 2.0 in both directions over texts. Calls wait until `start`; after `interrupt` they wait again; after `close`
 * everything fails. It knows no socket and no route.
 */
export class Peer extends Calling {
  #client;
  /** What it was asked. */
  serving;

  /**
   * @param {Wiring} client
   * @param {{count?: number, bytes?: number}} [queue] how much may wait for `start`
   * @param {typeof import("./serving.js").Serving} [Serving] what answers requests; without, this side has no methods
   */
  constructor(client, queue, Serving) {
    super(client, queue);
    this.#client = client;
    this.serving = Serving && new Serving(this, client.report);
  }

  /**
   * @override
   * @param {unknown} [maxMessage]
   * @param {number} [overhead]
   */
  start(maxMessage, overhead) {
    this.serving?.start();
    super.start(maxMessage, overhead);
  }

  /**
   * The connection ended, and the session goes on with another.
   * @override
   */
  pause() {
    super.pause();
    this.serving?.pause();
  }

  /**
   * Fails every call that was sent, and aborts every request that is being served.
   * @override
   * @param {Close} close
   */
  interrupt(close) {
    this.serving?.interrupt(closedError(close, true));
    return super.interrupt(close);
  }

  /**
   * Fails every call, and aborts every request that is being served.
   * @override
   * @param {Close & {absent?: boolean}} close
   */
  close(close) {
    super.close(close);
    this.serving?.interrupt(closedError(close, true));
  }

  /**
   * Takes one incoming message.
   * @param {unknown} data
   */
  receive(data) {
    /** @type {any} */
    let message;
    try {
      message = typeof data === "string" && JSON.parse(data);
    } catch {
      // Then it is none.
    }
    const { jsonrpc, id, method, params, result, error } = message ?? {};
    if (jsonrpc !== "2.0") return this.#ignore();
    if (method === "$/ack" && id === undefined) return this.#client.resumption?.acknowledged(params ?? {});
    if (this.#client.resumption?.takes(message, String(data).length) === false) return;
    const isCall = typeof method === "string" && (params === undefined || (typeof params === "object" && params !== null));
    if (isCall && id === undefined) void this.#notified(method, params ?? {});
    else if (isCall && (id === null || typeof id === "string" || typeof id === "number")) this.#asked(id, method, params);
    else if (method === undefined && id !== undefined && (result === undefined) !== (error === undefined)) this.answered(message);
    else this.#ignore();
  }

  /**
   * @param {import("./serving.js").RequestID} id
   * @param {string} method
   * @param {unknown} params
   */
  #asked(id, method, params) {
    const bare = method === "$/ping";
    if (!bare && this.serving !== undefined) return void this.serving.serve(id, method, params, this.#client.duties?.request(method));
    const answer = bare ? { result: null } : { error: { code: codeOf.methodNotFound, message: `this client has no method ${method}` } };
    this.send(JSON.stringify({ jsonrpc: "2.0", id, ...answer }), { bare });
  }

  /**
   * @param {string} method
   * @param {any} params
   */
  async #notified(method, params) {
    let what = method;
    try {
      if (method === "$/cancelRequest") return this.serving?.cancel(params.id);
      if (method === "event") return this.#client.events?.hear(params);
      if (method !== "$/progress") return void (await this.#client.duties?.notification(method)?.(params));
      const call = this.running(params.id);
      what = `onProgress of ${call?.asked.method}`;
      call?.progress(params.value);
    } catch (cause) {
      // The application's code, whose failure must not stop the connection's.
      this.#client.report(failure("internal", `${what} failed: ${textOf(cause)}`, { cause }));
    }
  }

  #ignore() {
    this.#client.report(bridgeError(codeOf.invalidRequest, "ignored a message that is no JSON-RPC 2.0", { kind: "malformed" }));
  }
}
