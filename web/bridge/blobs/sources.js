// @ts-check
import { failure, textOf } from "../values/errors.js";

/** @typedef {Blob | ArrayBuffer | ArrayBufferView | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>} BlobSource */

/**
 * Data to send. `size` is `undefined` if it is not known before the end. `next` returns the bytes from an offset, at most `count`. It returns
 * bytes that it has returned before only if they belong to the last part.
 * @typedef {{size: number | undefined, type: string, name: string | undefined, next: (offset: number, count: number) => Promise<Blob>, cancel: () => void}} Source
 */

/**
 * Whether a value is data that `attach` sends.
 * @param {any} value
 * @returns {value is BlobSource}
 */
export function isSource(value) {
  return value instanceof Blob || value instanceof ArrayBuffer || ArrayBuffer.isView(value) || value instanceof ReadableStream;
}

/**
 * @param {any} data
 * @param {string} [type] the media type; by default that of the `Blob`
 * @returns {Source}
 */
export function source(data, type) {
  if (data instanceof Blob) return ofBlob(data, type || data.type);
  if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) return ofBlob(new Blob([/** @type {any} */ (data)]), type);
  if (typeof data?.[Symbol.asyncIterator] === "function" || typeof data?.getReader === "function") return new StreamSource(data, type);
  throw failure("invalidParams", "Only a Blob, a File, an ArrayBuffer, a view of one, a ReadableStream and an async iterable can be sent");
}

/**
 * @param {Blob} blob
 * @param {string | undefined} type
 * @returns {Source}
 */
function ofBlob(blob, type) {
  return {
    size: blob.size,
    type: type || "application/octet-stream",
    name: /** @type {any} */ (blob).name,
    next: async (offset, count) => blob.slice(offset, offset + count),
    cancel: () => {},
  };
}

/** Data that arrives in parts. It holds one part, until the server has received it. */
class StreamSource {
  size = undefined;
  name = undefined;
  /** @type {AsyncIterator<Uint8Array> | undefined} */ #iterator;
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */ #reader;
  /** The bytes from `#start`. */
  #held = new Blob();
  #start = 0;
  #ended = false;
  /** @type {import("../values/errors.js").BridgeError | undefined} why there is no more data */ #error;

  /**
   * @param {any} stream
   * @param {string} [type]
   */
  constructor(stream, type = "application/octet-stream") {
    this.type = type;
    // Not all browsers can iterate a ReadableStream.
    if (typeof stream.getReader === "function") this.#reader = stream.getReader();
    else this.#iterator = stream[Symbol.asyncIterator]();
  }

  /**
   * @param {number} offset
   * @param {number} count
   */
  async next(offset, count) {
    if (offset < this.#start) throw failure("outcomeUnknown", "The server has lost a part of the stream");
    this.#held = this.#held.slice(offset - this.#start);
    this.#start = offset;
    const parts = [this.#held];
    let size = this.#held.size;
    while (!this.#ended && size < count) {
      const { done, value } = await this.#read();
      if (done) this.#ended = true;
      else {
        parts.push(new Blob([/** @type {any} */ (value)]));
        size += value.byteLength;
      }
    }
    if (parts.length > 1) this.#held = new Blob(parts);
    return this.#held.slice(0, count);
  }

  /** Reads the next part. After an error there is none, so that the data does not end there. */
  async #read() {
    if (this.#error !== undefined) throw this.#error;
    try {
      return await (this.#reader ? this.#reader.read() : /** @type {AsyncIterator<Uint8Array>} */ (this.#iterator).next());
    } catch (cause) {
      throw (this.#error = failure("internal", `The data cannot be read: ${textOf(cause)}`, { cause }));
    }
  }

  cancel() {
    void this.#reader?.cancel().catch(() => {});
    void this.#iterator?.return?.();
  }
}
