// @ts-check

/** How much of a recording is kept: what comes later is left out, and the last line says so. */
const maxLines = 100_000;
const maxBytes = 64 << 20;
/** Bytes of each message in a recording: the most that the server tells. */
export const recordedLimit = 64 << 10;

/** What happens in one session, as lines of JSON: the first says what there was, the others are records as `admin.records` tells them. */
export class Recording {
  /** @type {string[]} */
  #lines = [];
  #bytes = 0;
  #left = 0;

  /**
   * @param {any} detail what `admin.session` has told
   */
  constructor(detail) {
    this.session = detail.session;
    this.at = detail.at;
    const { records, ...rest } = detail;
    this.#add({ type: "recording", version: 1, ...rest });
  }

  /**
   * @param {import("./records.js").WatchRecord[]} records
   * @param {number} dropped
   */
  take(records, dropped) {
    this.#left += dropped;
    for (const record of records) if (record.session === this.session) this.#add(record);
  }

  /** @param {object} value */
  #add(value) {
    const line = JSON.stringify(value);
    if (this.#lines.length >= maxLines || this.#bytes + line.length > maxBytes) return void (this.#left += 1);
    this.#lines.push(line);
    this.#bytes += line.length;
  }

  get count() {
    return this.#lines.length - 1;
  }

  /** @returns {string} the whole of it */
  get text() {
    const end = this.#left > 0 ? [JSON.stringify({ type: "incomplete", left: this.#left })] : [];
    return [...this.#lines, ...end].join("\n") + "\n";
  }
}

/**
 * Has the browser keep a text as a file.
 * @param {string} name
 * @param {string} text
 */
export function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
