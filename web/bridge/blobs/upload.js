// @ts-check
import { cancelled } from "../values/errors.js";

/**
 * - `type`: the media type, instead of that of the `Blob`.
 * - `signal`: ends the upload.
 * - `onProgress`: called with the number of bytes that the server has, and the number of all bytes if it is known.
 * - `partSize`: the number of bytes of one request. Default: 1 MiB.
 * @typedef {{type?: string, signal?: AbortSignal, onProgress?: (progress: {loaded: number, total: number | undefined}) => void, partSize?: number}} UploadOptions
 */

/** One upload, in requests with a part each, so that it continues after the last part that the server has. */
export class BlobUpload {
  #requests;
  #source;
  #options;
  /** The number of bytes that the server has. */
  #offset = 0;
  /** Whether the server's offset has to be asked for, after a failed request. */
  #isUncertain = false;
  /** @type {URL | undefined} the upload on the server */
  #url;

  /**
   * @param {import("./requests.js").BlobRequests} requests
   * @param {import("./sources.js").Source} source
   * @param {UploadOptions} options
   */
  constructor(requests, source, options) {
    this.#requests = requests;
    this.#source = source;
    this.#options = options;
  }

  /** @returns {Promise<import("./reference.js").BlobReference>} */
  async run() {
    const { signal } = this.#options;
    try {
      this.#url = await this.#requests.retry(signal, () => 0, () => this.#create());
      const reference = await this.#requests.retry(signal, () => this.#offset, () => this.#sendAll());
      const { name } = this.#source;
      return name === undefined ? reference : { ...reference, name };
    } catch (error) {
      this.#source.cancel();
      if (this.#url !== undefined) void this.#requests.send("DELETE", this.#url).catch(() => {});
      throw error;
    }
  }

  /** Starts the upload without a part, so that its URL is known before a request can be cut. */
  async #create() {
    const { size, type } = this.#source;
    const response = await this.#requests.send("POST", this.#requests.url, {
      headers: { "Content-Type": type, "Upload-Complete": "?0", ...size !== undefined && { "Upload-Length": String(size) } },
      signal: this.#options.signal,
    });
    return new URL(response.headers.get("Location") ?? "", this.#requests.url);
  }

  /** Sends all parts that the server does not have. Returns the response to the last one. */
  async #sendAll() {
    const { partSize = 1 << 20, onProgress, signal } = this.#options;
    const url = /** @type {URL} */ (this.#url);
    if (this.#isUncertain) {
      const response = await this.#requests.send("HEAD", url, { signal });
      this.#offset = Number(response.headers.get("Upload-Offset"));
      this.#isUncertain = false;
    }
    while (true) {
      const body = await this.#source.next(this.#offset, partSize);
      if (signal?.aborted) throw cancelled();
      const { size } = this.#source;
      const isLast = size === undefined ? body.size < partSize : this.#offset + body.size === size;
      const headers = { "Content-Type": "application/partial-upload", "Upload-Offset": String(this.#offset), "Upload-Complete": isLast ? "?1" : "?0" };
      this.#isUncertain = true;
      const response = await this.#requests.send("PATCH", url, { headers, body, signal });
      this.#isUncertain = false;
      this.#offset += body.size;
      onProgress?.({ loaded: this.#offset, total: isLast ? this.#offset : size });
      if (isLast) return response.json();
    }
  }
}
