// @ts-check
import { failure } from "../values/errors.js";
import { checked } from "./reference.js";

/**
 * - `start`, `end`: the part to fetch, as in `Blob.slice`; by default all.
 * - `signal`: ends the download.
 * - `onProgress`: called with the number of bytes that have arrived, and the number of all bytes.
 * @typedef {{start?: number, end?: number, signal?: AbortSignal, onProgress?: (progress: {loaded: number, total: number}) => void}} DownloadOptions
 */

/** One download. A request that is cut is followed by one for the rest. */
export class BlobDownload {
  #requests;
  #reference;
  #options;
  #offset;
  #start;
  #end;
  /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */ #reader;

  /**
   * @param {import("./requests.js").BlobRequests} requests
   * @param {import("./reference.js").BlobReference} reference
   * @param {DownloadOptions} options
   */
  constructor(requests, reference, options) {
    this.#requests = requests;
    this.#reference = checked(reference);
    this.#options = options;
    const { start = 0, end = reference.size } = options;
    this.#offset = this.#start = Math.min(start, reference.size);
    this.#end = Math.min(Math.max(end, this.#start), reference.size);
  }

  /** @returns {ReadableStream<Uint8Array>} */
  stream() {
    const { signal } = this.#options;
    return new ReadableStream({
      pull: async (controller) => {
        const part = this.#offset < this.#end ? await this.#requests.retry(signal, () => this.#offset, () => this.#next()) : undefined;
        if (part === undefined) return controller.close();
        this.#offset += part.byteLength;
        this.#options.onProgress?.({ loaded: this.#offset - this.#start, total: this.#end - this.#start });
        controller.enqueue(part);
      },
      cancel: () => void this.#reader?.cancel().catch(() => {}),
    }, { highWaterMark: 0 });
  }

  /** Returns the next bytes. After an error, the next call sends another request. */
  async #next() {
    try {
      this.#reader ??= await this.#request();
      const { done, value } = await this.#reader.read();
      if (!done) return value;
      throw failure("unavailable", "The response is shorter than the blob");
    } catch (error) {
      this.#reader = undefined;
      throw error;
    }
  }

  async #request() {
    const { sha256 } = this.#reference;
    const response = await this.#requests.send("GET", this.#requests.urlOf(this.#reference), {
      headers: { Range: `bytes=${this.#offset}-${this.#end - 1}`, "If-Range": `"${sha256}"` },
      signal: this.#options.signal,
    });
    if (response.status !== 206 || response.body === null) throw failure("conflict", "The server has other data than the reference says");
    return response.body.getReader();
  }
}
