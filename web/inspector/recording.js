// @ts-check

/** How much of a recording is kept: what comes later is left out, and the last line says so. `waybridge replay` reads no more bytes. */
const maxLines = 100_000;
export const maxBytes = 64 << 20;
/** Bytes of the last line. */
const endBytes = 128;
/** Bytes of each message in a recording: the most that the server tells. */
export const recordedLimit = 64 << 10;

const encoder = new TextEncoder();

/** What happens in one session, as lines of JSON: the first says what there was, the others are records as `admin.records` tells them. */
export class Recording {
  /** @type {string[]} */
  #lines = [];
  #bytes = 0;
  #left = 0;
  /** How often it is not known what has happened. */
  gaps = 0;

  /**
   * @param {any} detail what `admin.session` has told
   */
  constructor(detail) {
    this.session = detail.session;
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

  /** For some time nobody told what happened. */
  gap() {
    this.gaps += 1;
  }

  /** @param {object} value */
  #add(value) {
    const line = JSON.stringify(value);
    const bytes = encoder.encode(line).length + 1;
    if (this.#lines.length >= maxLines || this.#bytes + bytes + endBytes > maxBytes) return void (this.#left += 1);
    this.#lines.push(line);
    this.#bytes += bytes;
  }

  get count() {
    return this.#lines.length - 1;
  }

  /** @returns {string} the whole of it; a gap counts as one that was left out, at least */
  get text() {
    const left = this.#left + this.gaps;
    const end = left > 0 ? [JSON.stringify({ type: "incomplete", left, gaps: this.gaps })] : [];
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
