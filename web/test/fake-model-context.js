// @ts-check

/** @typedef {import("../bridge/webmcp.js").ModelContextTool} ModelContextTool */

const NAME = /^[\w.-]{1,128}$/;

/** `document.modelContext` of a browser with WebMCP: it checks tools as the specification says. */
export class FakeModelContext {
  /**
   * The registered tools by name.
   * @type {Map<string, ModelContextTool>}
   */
  tools = new Map();
  /**
   * What happened, in order: the names of tools, with `+` or `-` in front.
   * @type {string[]}
   */
  log = [];
  /** @type {(string[] | undefined)[]} */
  exposedTo = [];

  /**
   * @param {ModelContextTool} tool
   * @param {{signal?: AbortSignal, exposedTo?: string[]}} options
   * @returns {Promise<void>}
   */
  async registerTool(tool, { signal, exposedTo } = {}) {
    const { name, description, inputSchema } = tool;
    if (!NAME.test(name) || description === "") throw new DOMException(`Invalid tool ${name}`, "InvalidStateError");
    if (this.tools.has(name)) throw new DOMException("Duplicate tool name", "InvalidStateError");
    signal?.throwIfAborted();
    JSON.stringify(inputSchema);
    this.tools.set(name, tool);
    this.log.push(`+${name}`);
    this.exposedTo.push(exposedTo);
    signal?.addEventListener("abort", () => {
      this.tools.delete(name);
      this.log.push(`-${name}`);
    });
  }

  /**
   * Calls a tool, like an agent.
   * @param {string} name
   * @param {object} [input]
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  async call(name, input = {}, signal = new AbortController().signal) {
    const tool = this.tools.get(name);
    if (tool === undefined) throw new Error(`There is no tool "${name}"`);
    return tool.execute(input, { signal });
  }
}
