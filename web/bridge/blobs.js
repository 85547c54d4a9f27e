// @ts-check
import { BlobDownload } from "./blobs/download.js";
import { isReference } from "./blobs/reference.js";
import { BlobRequests } from "./blobs/requests.js";
import { isSource, source } from "./blobs/sources.js";
import { BlobUpload } from "./blobs/upload.js";

/** @typedef {import("./blobs/reference.js").BlobReference} BlobReference */
/** @typedef {import("./blobs/sources.js").BlobSource} BlobSource */
/** @typedef {import("./blobs/requests.js").BlobsOptions} BlobsOptions */
/** @typedef {import("./blobs/upload.js").UploadOptions} UploadOptions */
/** @typedef {import("./blobs/download.js").DownloadOptions} DownloadOptions */

export { isReference };

/**
 * Sends and fetches data that is too large for a message, such as photos. It goes over HTTP, and calls carry references to it, in params,
 * results, events and progress. All clients of the session can fetch it. A request that is cut continues where it ended.
 *
 * ```js
 * const blobs = new Blobs(bridge);
 * await bridge.invoke("action://share", await blobs.attach({ photo: input.files[0] }));
 * ```
 */
export class Blobs {
  /** @type {BlobRequests} */ #requests;

  /**
   * @param {import("./blobs/requests.js").Caller} bridge a client of the session: a `Bridge`, a `Caller` or a `Host`
   * @param {BlobsOptions} [options]
   */
  constructor(bridge, options = {}) {
    this.#requests = new BlobRequests(bridge, options);
  }

  /**
   * Sends data, and returns the reference to it. Aborting `signal` ends the upload and removes what was sent.
   * @param {BlobSource} data
   * @param {UploadOptions} [options]
   * @returns {Promise<BlobReference>}
   */
  upload(data, options = {}) {
    return new BlobUpload(this.#requests, source(data, options.type), options).run();
  }

  /**
   * Returns a copy of a value in which references replace all data, at any depth: each `Blob`, `File`, `ArrayBuffer`, view of one and
   * `ReadableStream` is sent, one after the other.
   * @param {any} value params or a result
   * @param {UploadOptions} [options]
   * @returns {Promise<any>}
   */
  async attach(value, options) {
    if (isSource(value)) return this.upload(value, options);
    if (Array.isArray(value)) {
      const items = [];
      for (const item of value) items.push(await this.attach(item, options));
      return items;
    }
    if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    /** @type {Record<string, any>} */
    const copy = {};
    for (const [name, member] of Object.entries(value)) {
      // Not by assignment, which would set the prototype.
      Object.defineProperty(copy, name, { value: await this.attach(member, options), enumerable: true, configurable: true, writable: true });
    }
    return copy;
  }

  /**
   * Fetches the data of a reference.
   * @param {BlobReference} reference
   * @param {DownloadOptions} [options]
   * @returns {Promise<Blob>}
   */
  async open(reference, options) {
    const { type } = reference;
    return new Blob([await new Response(this.stream(reference, options)).blob()], { type });
  }

  /**
   * Fetches the data of a reference in parts, or a part of the data. The stream reads no faster than its reader.
   * @param {BlobReference} reference
   * @param {DownloadOptions} [options]
   * @returns {ReadableStream<Uint8Array>}
   */
  stream(reference, options = {}) {
    return new BlobDownload(this.#requests, reference, options).stream();
  }

  /**
   * Removes the data of a reference from the server, before it expires.
   * @param {BlobReference} reference
   */
  async remove(reference) {
    await this.#requests.send("DELETE", this.#requests.urlOf(reference));
  }
}
