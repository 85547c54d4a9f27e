/** The types of `blobs.min.js`, for the pages of the demo, which load it as one file. */
export * from "./blobs.js";
