// @ts-check
import { element } from "./dom.js";

/** @typedef {import("../../bridge/bridge.js").Outcome} Outcome */
/** @typedef {{title: string, uri: string, show: (data: any) => Child}} Opening a call that opens a page, and the text of its result */

/** Shows how a call ended: an outcome, a value or an error. Screen readers announce it. */
export class ResultView {
  #busy = false;

  constructor() {
    this.element = element("output", { class: "result", "aria-live": "polite", hidden: true });
  }

  /**
   * Runs one call at a time and shows how it ends. A second call while the first is running is ignored, so that a double
   * click opens one page.
   * @template T
   * @param {string} title
   * @param {(report: (text: string) => void) => Promise<T>} call it can report its progress
   * @param {(value: T) => Child} show
   */
  async run(title, call, show) {
    if (this.#busy) return;
    this.#busy = true;
    this.#draw("waiting", title, "waiting…");
    try {
      const value = await call((text) => this.#draw("waiting", title, text));
      this.#draw("done", title, show(value));
    } catch (error) {
      this.#draw("error", title, explain(error));
    } finally {
      this.#busy = false;
    }
  }

  /**
   * Opens a page by `call` and shows its outcome; `show` returns the text of a finished one.
   * @param {string} title
   * @param {() => Promise<Outcome>} call
   * @param {(data: any) => Child} show
   */
  async open(title, call, show) {
    await this.run(title, call, (outcome) => {
      this.element.dataset.outcome = outcome.outcome;
      if (outcome.outcome === "finished") return show(outcome.data);
      if (outcome.outcome === "failed") return `${outcome.outcome} · ${outcome.code} ${outcome.message}`;
      return outcome.outcome;
    });
  }

  /**
   * Waits again for the page that was opened last before the reload.
   * @param {import("../../bridge/bridge.js").PendingCall[]} pending
   * @param {Opening[]} openings
   */
  async again(pending, openings) {
    const calls = pending.filter((call) => openings.some(({ uri }) => uri === call.uri));
    const call = calls[calls.length - 1];
    const opening = openings.find(({ uri }) => uri === call?.uri);
    if (call && opening) await this.open(opening.title, () => call.result, opening.show);
  }

  /**
   * @param {"waiting" | "done" | "error"} state
   * @param {string} title
   * @param {Child} content
   */
  #draw(state, title, content) {
    if (state === "waiting") delete this.element.dataset.outcome;
    this.element.dataset.state = state;
    this.element.hidden = false;
    this.element.replaceChildren(
      element("span", { class: "result-title" }, title),
      element("span", { class: "result-text" }, content));
    if (state === "waiting") return;
    const scroll = () => this.element.scrollIntoView({ block: "nearest" });
    scroll();
    // The end of a call may change the size of the phone beside the panels.
    addEventListener("resize", scroll);
    setTimeout(() => removeEventListener("resize", scroll), 1000);
  }
}

/** @typedef {import("./dom.js").Child} Child */

/**
 * A size in words.
 * @param {number} bytes
 */
export function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/**
 * An error in one line: its code and text.
 * @param {unknown} error
 * @returns {string}
 */
export function explain(error) {
  if (!(error instanceof Error)) return String(error);
  const code = Reflect.get(error, "code");
  return code === undefined ? error.message : `${code} ${error.message}`;
}
