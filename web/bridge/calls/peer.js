// @ts-check
import { OutgoingRequests } from "./outgoing-requests.js";
import { codeOf } from "../codes.js";
import { bridgeError, failure, textOf } from "../values/errors.js";

/**
 * The properties of the client that a `Peer` uses.
 * @typedef {object} PeerClient
 * @property {{send: (text: string) => boolean}} connection `send` returns `false` if no socket is open
 * @property {Pick<import("../session/resumption.js").Resumption, "send" | "accepts" | "unknownResponse">} [resumption] numbers sent and received messages
 * @property {(error: import("../values/errors.js").BridgeError) => void} report reports an error that does not belong to a call
 * @property {Pick<import("../hosting/client-hosts.js").ClientHosts, "requestHandler" | "notify">} [hosts] handles requests and notifications
 * @property {Pick<import("../events/subscriptions.js").Subscriptions, "receive">} [events] receives events
 * @property {import("../connection/clock.js").Clock} clock
 */

/**
 * JSON-RPC 2.0 in both directions over text messages. Calls wait until `start` and again after `interrupt`; after `close` everything fails. It
 * does not depend on sockets or routes.
 */
export class Peer extends OutgoingRequests {
  /**
   * Receives one message.
   * @param {unknown} data
   */
  receive(data) {
    /** @type {any} */
    let message;
    try {
      message = typeof data === "string" && JSON.parse(data);
    } catch {
      // A text that is not JSON is reported below.
    }
    const { jsonrpc, id, method, params, result, error } = message ?? {};
    if (jsonrpc !== "2.0") return this.#ignore();
    if (this.client.resumption?.accepts(message, String(data).length) === false) return;
    const isCall = typeof method === "string" && typeof (params ?? {}) === "object";
    if (isCall && id === undefined) void this.#receiveNotification(method, params ?? {});
    else if (isCall && (id === null || ["string", "number"].includes(typeof id))) this.#receiveRequest(id, method, params);
    else if (method === undefined && id !== undefined && (result === undefined) !== (error === undefined)) this.settle(message);
    else this.#ignore();
  }

  /**
   * @param {import("./incoming-requests.js").RequestID} id
   * @param {string} method
   * @param {unknown} params
   */
  #receiveRequest(id, method, params) {
    const isPing = method === "$/ping";
    if (!isPing && this.incoming !== undefined) return void this.incoming.handle(id, method, params, this.client.hosts?.requestHandler(method));
    const response = isPing ? { result: null } : { error: { code: codeOf.methodNotFound, message: globalThis.__waybridgeBrief ? "No such method" : `This client has no method "${method}"` } };
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
