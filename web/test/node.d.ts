// What the tests use of Node, so that checking them needs no package.
declare module "node:test" {
  interface Timers {
    enable(options?: { apis: string[] }): void;
    tick(milliseconds: number): void;
  }
  interface TestContext {
    mock: { timers: Timers };
    after(body: () => unknown): void;
    skip(message?: string): void;
    diagnostic(message: string): void;
  }
  type Body = (context: TestContext) => unknown;
  interface Options {
    skip?: string | boolean;
    timeout?: number;
  }
  export function test(name: string, body: Body): void;
  export function test(name: string, options: Options, body: Body): void;
}

declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    notEqual(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(actual: string, expected: RegExp, message?: string): void;
    throws(body: () => unknown, expected?: object): void;
    rejects(promise: Promise<unknown> | (() => Promise<unknown>), expected?: object, message?: string): Promise<void>;
    fail(message: string): never;
  }
  const assert: Assert;
  export default assert;
}

declare module "node:child_process" {
  interface Emitter {
    on(event: string, listener: (value: any) => void): void;
  }
  interface Process extends Emitter {
    stdout: Emitter;
    stderr: Emitter;
    kill(signal?: string): void;
  }
  export function spawn(command: string, words: string[], options: { env: object }): Process;
}

declare module "node:os" {
  export function tmpdir(): string;
}

declare module "node:fs" {
  export function mkdtempSync(prefix: string): string;
  export function rmSync(path: string, options: { recursive: boolean }): void;
  export function statSync(path: string): { mtimeMs: number };
  export function writeFileSync(path: string, text: string): void;
  export function readdirSync(path: URL): string[];
  export function readFileSync(path: URL, encoding: "utf8"): string;
}

declare module "node:module" {
  export function createRequire(path: string | URL): (name: string) => any;
}

declare module "node:vm" {
  export function runInNewContext(code: string): any;
}

declare const Buffer: { from(text: string, encoding: "hex"): Uint8Array };

declare const process: { env: Record<string, string | undefined> };
declare function setImmediate(body: () => void): unknown;
