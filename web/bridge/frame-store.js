// @ts-check
import { isPlain, randomID } from "./plain.js";

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
  /** @type {string | undefined} */ #key;
  #isGiven;
  #stays;

  /**
   * @param {string} name what is put away
   * @param {Frame} frame
   * @param {object} how
   * @param {string} [how.key] the frame's name, where one is known that no other frame has
   * @param {boolean} [how.stays] whether what is put away takes the place of what was found, instead of one at the entry of the history
   *   that is the current one
   */
  constructor(name, frame, { key, stays = false } = {}) {
    this.#name = name;
    this.#frame = frame;
    this.#key = key;
    this.#isGiven = key !== undefined;
    this.#stays = stays;
  }

  /** @param {string} text */
  put(text) {
    try {
      const storage = this.#frame.sessionStorage;
      const key = storage && this.#ownKey();
      if (!key) return;
      const isNew = storage.getItem(this.#slot(key)) === null;
      storage.setItem(this.#slot(key), `${Date.now()} ${text}`);
      this.#mark(key);
      if (!isNew) return;
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
      const text = (/** @type {string} */ key) => this.#frame.sessionStorage?.getItem(this.#slot(key));
      const found = this.#keys.find((key) => typeof text(key) === "string");
      if (this.#stays) this.#key ??= found;
      return found === undefined ? undefined : text(found)?.replace(/^\d+ /, "");
    } catch {
      return undefined;
    }
  }

  remove() {
    try {
      for (const key of this.#keys) this.#frame.sessionStorage?.removeItem(this.#slot(key));
    } catch {
      // Nor was anything put away there.
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
    if (this.#key !== undefined) return [this.#key];
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
    // What the page has put there stays; where that is no plain object, there is no room beside it.
    if (this.#key === undefined && navigation?.currentEntry) this.#key = navigation.currentEntry.key;
    if (this.#key === undefined && history !== undefined && hasRoom(history.state)) this.#key = randomID();
    return this.#key;
  }

  /**
   * Where a browser has no keys, the entry has to say it; a router may have taken it away.
   * @param {string} key
   */
  #mark(key) {
    const { navigation, history } = this.#frame;
    if (this.#isGiven || navigation?.currentEntry || history === undefined || !hasRoom(history.state)) return;
    if (history.state?.[this.#name] !== key) history.replaceState({ ...history.state, [this.#name]: key }, "");
  }
}

/** @param {unknown} state of an entry */
function hasRoom(state) {
  return state === null || isPlain(state);
}
