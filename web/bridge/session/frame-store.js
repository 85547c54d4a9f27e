// @ts-check
import { attempt } from "../values/errors.js";
import { isPlain } from "../values/json-values.js";
import { randomID } from "../values/random-id.js";

/**
 * The properties of a window that it uses. Each can be missing, and the browser can deny access to it.
 * @typedef {{history?: History, sessionStorage?: Storage, navigation?: {currentEntry: Entry | null, entries: () => Entry[]},
 *   addEventListener?: (type: string, listener: () => void) => void}} Frame
 * @typedef {{key: string, index: number, sameDocument: boolean}} Entry
 */

/** Maximum number of entries of all frames of a tab. The oldest are removed first. */
const MAX_ENTRIES = 100;

/**
 * Storage that one document of one frame writes for its own next load.
 *
 * `sessionStorage` has the right lifetime: it lasts until the tab closes. But all frames of one origin in a tab share it. So each frame needs a
 * key that no other frame has and that a reload keeps:
 *
 * - The key of the document's entry in the frame's history (Navigation API) has both properties. It survives `history.replaceState`. If a router
 *   pushes entries, the first one still belongs to the same document. Entries of other documents are ignored: when the parent is reloaded and
 *   creates a frame, the history of that frame can contain entries of the frame that was there before. A document that replaces another one in
 *   its entry (`location.replace`) gets the key, and is treated as the next load.
 * - In a browser without such keys (WebKit before 26.2, Firefox before 147), a random key is stored in `history.state`. The state loses it if a
 *   router replaces it and drops unknown properties and, in WebKit, if the parent of the frame adds an entry to its own history. So the key is
 *   restored when the page is left. Firefox no longer accepts it at that time: there, a page that has lost it is like one that was never invited.
 * - These are not usable: the frame's index among its siblings, which changes when frames are added or removed; its URL, which two frames can
 *   share; `window.name`, which belongs to the page and is visible to the next origin.
 */
export class FrameStore {
  #name;
  #frame;
  /** @type {string | undefined} */ #key;
  #hasGivenKey;
  #keepsKey;
  /** @type {string | undefined} the last key of this document that `history.state` has or had */ #markedKey;

  /**
   * @param {string} name the name of the stored value
   * @param {Frame} frame
   * @param {object} how
   * @param {string} [how.key] a name of the frame that no other frame has, if one is known
   * @param {boolean} [how.keepsKey] whether `put` overwrites the entry that `get` found. Otherwise it writes to the entry of the current history
   *   entry
   */
  constructor(name, frame, { key, keepsKey = false } = {}) {
    this.#name = name;
    this.#frame = frame;
    this.#key = key;
    this.#hasGivenKey = key !== undefined;
    this.#keepsKey = keepsKey;
  }

  /**
   * @param {string} text
   * @param {string} [part] the name of a further value under the same key
   */
  put(text, part) {
    // A sandboxed frame has no storage, and users can disable it. The next load then finds nothing.
    attempt(() => {
      const storage = this.#frame.sessionStorage;
      const key = storage && this.#ownKey();
      if (!key) return;
      const isNew = storage.getItem(this.#slot(key, part)) === null;
      storage.setItem(this.#slot(key, part), `${Date.now()} ${text}`);
      this.#mark(key);
      if (!isNew) return;
      const all = Object.keys(storage).filter((slot) => slot.startsWith(this.#slot("", part)));
      const age = (/** @type {string} */ slot) => parseInt(storage.getItem(slot) ?? "");
      for (const slot of all.sort((one, other) => age(other) - age(one)).slice(MAX_ENTRIES)) storage.removeItem(slot);
    });
  }

  /**
   * @param {string} [part]
   * @returns {string | undefined}
   */
  get(part) {
    return attempt(() => {
      const text = (/** @type {string} */ key) => this.#frame.sessionStorage?.getItem(this.#slot(key, part));
      const found = this.#keys.find((key) => typeof text(key) === "string");
      if (this.#keepsKey) this.#key ??= found;
      if (found !== undefined && !this.#frame.navigation?.currentEntry) this.#remember(found);
      return found === undefined ? undefined : text(found)?.replace(/^\d+ /, "");
    });
  }

  /** @param {string[]} [parts] the names of further values */
  remove(parts = []) {
    // Without storage there is nothing to remove.
    attempt(() => {
      for (const key of this.#keys) for (const part of ["", ...parts]) this.#frame.sessionStorage?.removeItem(this.#slot(key, part));
    });
  }

  /**
   * @param {string} key
   * @param {string} [part]
   */
  #slot(key, part = "") {
    return `${this.#name}${part}:${key}`;
  }

  /**
   * The keys that this document may have used, the nearest entry first.
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
    // The page's own state must be kept. A state that is not a plain object cannot take another property.
    if (this.#key === undefined && navigation?.currentEntry) this.#key = navigation.currentEntry.key;
    if (this.#key === undefined && history !== undefined && hasRoom(history.state)) this.#key = randomID();
    return this.#key;
  }

  /**
   * Stores the key in the history entry, if the browser has no keys. A router may have removed it.
   * @param {string} key
   */
  #mark(key) {
    const { navigation, history } = this.#frame;
    if (this.#hasGivenKey || navigation?.currentEntry || history === undefined || !hasRoom(history.state)) return;
    this.#remember(key);
    if (history.state?.[this.#name] !== key) history.replaceState({ ...history.state, [this.#name]: key }, "");
  }

  /** @param {string} key of the history entry */
  #remember(key) {
    if (this.#markedKey === undefined) this.#frame.addEventListener?.("pagehide", () => this.#restoreMark());
    this.#markedKey = key;
  }

  /** Stores the last key again if the history entry has none. */
  #restoreMark() {
    // Some browsers do not allow a page without an origin to change its history.
    attempt(() => {
      if (this.#markedKey !== undefined && this.#frame.history?.state?.[this.#name] === undefined) this.#mark(this.#markedKey);
    });
  }
}

/** @param {unknown} state the state of a history entry */
function hasRoom(state) {
  return state === null || isPlain(state);
}
