// @ts-check

/**
 * Keeps the browser's history as deep as the stack: one entry for each page above the root, so that the browser's own
 * back goes back in the app. Moving in the history is asynchronous; a change that comes meanwhile waits for its end.
 */
export class BackHistory {
  /** Tells our entries from those that another load of this document left behind. */
  #load = crypto.randomUUID();
  #depth = 0;
  #wanted = 0;
  #moving = false;

  /** @param {(count: number) => void} back called when the user went back by `count` entries */
  constructor(back) {
    history.replaceState({ load: this.#load, depth: 0 }, "");
    addEventListener("popstate", (event) => this.#moved(event.state, back));
  }

  /**
   * @param {number} depth how many pages lie on the root
   */
  follow(depth) {
    this.#wanted = Math.max(0, depth);
    this.#settle();
  }

  #settle() {
    if (this.#moving) return;
    while (this.#depth < this.#wanted) {
      this.#depth += 1;
      history.pushState({ load: this.#load, depth: this.#depth }, "");
    }
    if (this.#depth > this.#wanted) this.#navigate(this.#wanted - this.#depth);
  }

  /** @param {number} distance */
  #navigate(distance) {
    this.#moving = true;
    history.go(distance);
  }

  /**
   * @param {any} state
   * @param {(count: number) => void} back
   */
  #moved(state, back) {
    const depth = state?.load === this.#load ? state.depth : 0;
    if (this.#moving) {
      this.#moving = false;
      this.#depth = depth;
      this.#settle();
    } else if (depth < this.#depth) {
      const count = this.#depth - depth;
      this.#depth = depth;
      this.#wanted = depth;
      back(count);
    } else if (depth > this.#depth) {
      // Forward: a page that was closed does not come back.
      this.#navigate(this.#depth - depth);
    }
  }
}
