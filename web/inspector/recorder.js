// @ts-check
import { byId, write } from "./dom.js";
import { inWords } from "./format.js";
import { Recording, download, recordedLimit } from "./recording.js";

/** The button that records the chosen session. Meanwhile the server sends no records of other sessions, so that whole messages fit. */
export class Recorder {
  #button = byId("record", HTMLButtonElement);
  #connection;
  #sessions;
  #notify;
  /** @type {Recording | undefined} */
  #recording;
  #isBusy = false;

  /**
   * @param {import("./connection.js").InspectorConnection} connection
   * @param {import("./sessions-view.js").SessionsView} sessions
   * @param {(text: string) => void} notify
   */
  constructor(connection, sessions, notify) {
    this.#connection = connection;
    this.#sessions = sessions;
    this.#notify = notify;
    connection.addEventListener("records", (/** @type {any} */ { detail: { records, dropped } }) => {
      this.#recording?.add(records, dropped);
      this.#draw();
    });
    connection.addEventListener("gap", () => this.#recording?.gap());
    sessions.addEventListener("choose", (/** @type {any} */ { detail: session }) => {
      const recorded = this.#recording?.session;
      if (recorded && session !== recorded) notify(`While ${recorded} is recorded, the inspector shows no new calls of other sessions. Stop the recording to see them.`);
    });
    this.#button.addEventListener("click", async () => {
      if (this.#isBusy) return;
      this.#isBusy = true;
      try {
        await (this.#recording ? this.#stop(this.#recording) : this.#start());
      } catch (error) {
        notify(inWords(error));
      }
      this.#isBusy = false;
      this.#draw();
    });
  }

  async #start() {
    const session = this.#sessions.chosen;
    if (!session) return this.#notify("Select the session to record.");
    const { otherServer } = this.#sessions;
    if (otherServer) return this.#notify(`${session} is on the server ${otherServer}: record it with the inspector there.`);
    try {
      await this.#connection.watch({ session, limit: recordedLimit });
      this.#recording = new Recording(await this.#connection.request("admin.session", { session, records: false }));
      this.#notify(`Recording ${session}. Meanwhile the inspector shows no new calls of other sessions.`);
    } catch (error) {
      await this.#connection.watch({});
      throw error;
    }
  }

  /** @param {Recording} recording */
  async #stop(recording) {
    this.#recording = undefined;
    const { session, text, count, gaps } = recording;
    download(`${session}.jsonl`, text);
    const note = gaps > 0 ? ` The connection was lost meanwhile, so records are missing.` : "";
    this.#notify(`The file has ${count} records of ${session}. To replay them against a server, run waybridge replay.${note}`);
    await this.#connection.watch({});
    this.#sessions.restoreHistory();
  }

  #draw() {
    write(this.#button, this.#recording ? `Stop (${this.#recording.count})` : "Record");
    this.#button.setAttribute("aria-pressed", String(Boolean(this.#recording)));
  }
}
