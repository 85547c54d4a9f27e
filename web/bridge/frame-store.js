// @ts-check
import { isPlain } from "./call.js";
import { randomID } from "./calling.js";

/**
 * What it needs of a window, each of which may be missing, or refused to the page.
 * @typedef {{history?: History, sessionStorage?: Storage, navigation?: {currentEntry: Entry | null, entries: () => Entry[]}}} Frame
 * @typedef {{key: string, index: number, sameDocument: boolean}} Entry
 */

/** How many texts all frames of a tab keep together; the oldest go first. */
const MOST = 100;

/**
 * What one document of one frame puts away for its own next load, and for nobody else's.
 *
 * `sessionStorage` lasts as long as it should, until the tab closes, but all frames of one origin in a tab share it. So each
 * needs a name in it that no other frame has, and that a reload leaves alone:
 *
 * - The key of its entry in the frame's own history (Navigation API) is both. It outlives `history.replaceState`, and where a
 *   router pushes entries, the first one is still among those of the same document. Entries of other documents do not count:
 *   a frame that the next load of its parent makes may find in its history those of the frame that was there before. A
 *   document that takes the place of another in its entry (`location.replace`) gets the key, and passes for the next load.
 * - Where a browser has no such keys (WebKit before 26.2, Firefox before 147), a random one stands in `history.state`. A router
 *   that replaces the state, and does not keep what it does not know, loses it: after a reload the page is like one that was
 *   never invited. Nor can it be put back as the page is left: by then the browser no longer takes it.
 * - Not the frame's place among its siblings, which changes as they come and go; not its address, which two frames may share;
 *   not `window.name`, which is the page's own, and told to the next origin.
 */
export class FrameStore {
  #name;
  #frame;

  /**
   * @param {string} name what is put away
   * @param {Frame} frame
   */
  constructor(name, frame) {
    this.#name = name;
    this.#frame = frame;
  }

  /** @param {string} text */
  put(text) {
    try {
      const storage = this.#frame.sessionStorage;
      const key = storage && this.#ownKey();
      if (!key) return;
      storage.setItem(this.#slot(key), `${Date.now()} ${text}`);
      const all = Object.keys(storage).filter((slot) => slot.startsWith(this.#slot("")));
      const age = (/** @type {string} */ slot) => parseInt(storage.getItem(slot) ?? "");
      for (const slot of all.sort((one, other) => age(other) - age(one)).slice(MOST)) storage.removeItem(slot);
    } catch {
      // A sandboxed frame has no storage, nor has a browser that was told to keep none: there the next load finds nothing.
    }
  }

  /** @returns {string | undefined} */
  get() {
    try {
      const found = this.#keys.map((key) => this.#frame.sessionStorage?.getItem(this.#slot(key)));
      return found.find((kept) => typeof kept === "string")?.replace(/^\d+ /, "");
    } catch {
      return undefined;
    }
  }

  /** @param {string} key */
  #slot(key) {
    return `${this.#name}:${key}`;
  }

  /**
   * Those that this document may have used, the nearest first.
   * @returns {string[]}
   */
  get #keys() {
    const { navigation, history } = this.#frame;
    const current = navigation?.currentEntry;
    if (!current) return [history?.state?.[this.#name]].filter((key) => typeof key === "string");
    const distance = (/** @type {Entry} */ { index }) => Math.abs(index - current.index);
    const entries = navigation.entries().filter(({ sameDocument }) => sameDocument);
    return entries.sort((one, other) => distance(one) - distance(other)).map(({ key }) => key);
  }

  /** @returns {string | undefined} */
  #ownKey() {
    const { navigation, history } = this.#frame;
    if (navigation?.currentEntry) return navigation.currentEntry.key;
    // What the page has put there stays; where that is no plain object, there is no room beside it.
    const state = history?.state;
    if (history === undefined || (state !== null && !isPlain(state))) return undefined;
    const key = randomID();
    history.replaceState({ ...state, [this.#name]: key }, "");
    return key;
  }
}
