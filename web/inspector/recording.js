// @ts-check

/** The limits of a recording. Later records are left out, and the last line says so. `waybridge replay` reads no more bytes. */
const maxLines = 100_000;
export const maxBytes = 64 << 20;
/** Bytes of the last line. */
const endBytes = 128;
/** Bytes of each message in a recording: the most that the server sends. */
export const recordedLimit = 64 << 10;

const encoder = new TextEncoder();

/** A recording of one session as lines of JSON: the first line is its state at the start, the others are records of `admin.records`. */
export class Recording {
  /** @type {string[]} */
  #lines = [];
  #bytes = 0;
  #left = 0;
  /** The number of times that records are missing. */
  gaps = 0;

  /**
   * @param {any} detail the result of `admin.session`
   */
  constructor(detail) {
    this.session = detail.session;
    const { records, ...rest } = detail;
    this.#append({ type: "recording", version: 1, ...rest });
  }

  /**
   * @param {import("./records.js").InspectorRecord[]} records
   * @param {number} dropped
   */
  add(records, dropped) {
    this.#left += dropped;
    for (const record of records) if (record.session === this.session) this.#append(record);
  }

  /** Records are missing for some time. */
  gap() {
    this.gaps += 1;
  }

  /** @param {object} value */
  #append(value) {
    const line = JSON.stringify(value);
    const bytes = encoder.encode(line).length + 1;
    if (this.#lines.length >= maxLines || this.#bytes + bytes + endBytes > maxBytes) return void (this.#left += 1);
    this.#lines.push(line);
    this.#bytes += bytes;
  }

  get count() {
    return this.#lines.length - 1;
  }

  /** @returns {string} the text of the file; a gap counts as at least one missing record */
  get text() {
    const left = this.#left + this.gaps;
    const end = left > 0 ? [JSON.stringify({ type: "incomplete", left, gaps: this.gaps })] : [];
    return [...this.#lines, ...end].join("\n") + "\n";
  }
}

/**
 * Downloads a text as a file.
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
