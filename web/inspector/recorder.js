// @ts-check
import { byId, write } from "./dom.js";
import { inWords } from "./format.js";
import { Recording, download, recordedLimit } from "./recording.js";

/** The button that records the chosen session. Meanwhile nothing is told of the others, so that there is room for all of its messages. */
export class Recorder {
  #button = byId("record", HTMLButtonElement);
  #link;
  #sessions;
  #say;
  /** @type {Recording | undefined} */
  #recording;
  #isBusy = false;

  /**
   * @param {import("./link.js").Link} link
   * @param {import("./sessions-view.js").SessionsView} sessions
   * @param {(text: string) => void} say
   */
  constructor(link, sessions, say) {
    this.#link = link;
    this.#sessions = sessions;
    this.#say = say;
    link.addEventListener("records", (/** @type {any} */ { detail: { records, dropped } }) => {
      this.#recording?.take(records, dropped);
      this.#draw();
    });
    link.addEventListener("gap", () => this.#recording?.gap());
    sessions.addEventListener("choose", (/** @type {any} */ { detail: session }) => {
      const recorded = this.#recording?.session;
      if (recorded && session !== recorded) say(`What happens there is not told while ${recorded} is recorded. Stop the recording to see it.`);
    });
    this.#button.addEventListener("click", async () => {
      if (this.#isBusy) return;
      this.#isBusy = true;
      try {
        await (this.#recording ? this.#stop(this.#recording) : this.#begin());
      } catch (error) {
        say(inWords(error));
      }
      this.#isBusy = false;
      this.#draw();
    });
  }

  async #begin() {
    const session = this.#sessions.chosen;
    if (!session) return this.#say("Choose the session that is to be recorded.");
    const { elsewhere } = this.#sessions;
    if (elsewhere) return this.#say(`${session} is at the server ${elsewhere}: record it with the inspector there.`);
    try {
      await this.#link.watch({ session, limit: recordedLimit });
      this.#recording = new Recording(await this.#link.request("admin.session", { session, records: false }));
      this.#say(`${session} is recorded. The other sessions are not told meanwhile.`);
    } catch (error) {
      await this.#link.watch({});
      throw error;
    }
  }

  /** @param {Recording} recording */
  async #stop(recording) {
    this.#recording = undefined;
    const { session, text, count, gaps } = recording;
    download(`${session}.jsonl`, text);
    const note = gaps > 0 ? ` The connection was lost meanwhile: what happened then is not in it.` : "";
    this.#say(`${count} records of ${session} are in the file. waybridge replay plays them against a server.${note}`);
    await this.#link.watch({});
    this.#sessions.recall();
  }

  #draw() {
    write(this.#button, this.#recording ? `Stop (${this.#recording.count})` : "Record");
    this.#button.setAttribute("aria-pressed", String(Boolean(this.#recording)));
  }
}
