// @ts-check
import { inWords } from "./format.js";

/** Ends sessions and disconnects clients, after a confirmation. */
export class ClientRemoval {
  #connection;
  #dialog;
  #notify;

  /**
   * @param {import("./connection.js").InspectorConnection} connection
   * @param {import("./confirm-dialog.js").ConfirmDialog} dialog
   * @param {(text: string) => void} notify shows the result
   */
  constructor(connection, dialog, notify) {
    this.#connection = connection;
    this.#dialog = dialog;
    this.#notify = notify;
  }

  /**
   * Whether the clients of a session can be removed: the inspector cannot remove itself.
   * @param {string | undefined} session
   */
  isPossible(session) {
    return session !== undefined && session !== this.#connection.session;
  }

  /** @param {string} session */
  async end(session) {
    await this.#remove("session.end", { session }, {
      title: "End the session?", yes: "End session", no: "Keep the session",
      text: `All clients of ${session} are disconnected and cannot resume. Its pages and calls end.`,
    });
  }

  /**
   * @param {string} session
   * @param {string} client
   * @param {string} name
   */
  async disconnect(session, client, name) {
    await this.#remove("client.disconnect", { session, client }, {
      title: "Disconnect the client?", yes: "Disconnect", no: "Keep the client",
      text: `${name} (${client}) is disconnected and cannot resume. Its pages and calls end. The guests that it has invited are disconnected too.`,
    });
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {Parameters<import("./confirm-dialog.js").ConfirmDialog["ask"]>[0]} question
   */
  async #remove(method, params, question) {
    if (!(await this.#dialog.ask(question))) return;
    try {
      const { clients } = await this.#connection.request(method, params);
      this.#notify(clients.length === 1 ? "One client is disconnected." : `${clients.length} clients are disconnected.`);
    } catch (error) {
      this.#notify(inWords(error));
    }
  }
}
