/** The types of `bridge.min.js`, for the pages of the demo and of the inspector, which load it as one file. */
export * from "./bridge.js";
