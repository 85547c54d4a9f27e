// @ts-check
import { failure } from "../values/errors.js";

/**
 * A reference to data on the server, which calls carry in its place. `size` is in bytes, `type` is a media type, and `sha256` is the digest in
 * hexadecimal digits. `name` is the name of the file, if it was one.
 * @typedef {{$blob: string, size: number, type: string, sha256: string, name?: string}} BlobReference
 */

/**
 * Whether a value is a reference to data.
 * @param {any} value
 * @returns {value is BlobReference}
 */
export function isReference(value) {
  return typeof value?.$blob === "string" && /^[\w-]{22}$/.test(value.$blob) && Number.isSafeInteger(value.size) && value.size >= 0;
}

/**
 * Throws if a value is no reference.
 * @param {unknown} value
 * @returns {BlobReference}
 */
export function checked(value) {
  if (isReference(value)) return value;
  throw failure("invalidParams", "The value is no reference to a blob: an object with $blob, size, type and sha256");
}
