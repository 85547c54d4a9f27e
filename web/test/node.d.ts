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
  export function suite(name: string, options: { concurrency: boolean }, body: () => void): void;
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
  interface Ended {
    status: number | null;
    stdout: string;
    stderr: string;
    error?: Error;
  }
  export function spawnSync(command: string, words: string[], options: { cwd?: string; encoding: "utf8"; env?: object }): Ended;
  export function execFileSync(command: string, words: string[]): Uint8Array;
  export function execFile(
    command: string,
    words: string[],
    options: { timeout: number; maxBuffer?: number },
    ended: (error: Error | null, stdout: string, stderr: string) => void,
  ): void;
}

declare module "node:os" {
  export function tmpdir(): string;
}

declare module "node:fs" {
  export function mkdtempSync(prefix: string): string;
  export function rmSync(path: string, options: { recursive: boolean }): void;
  export function statSync(path: string): { mtimeMs: number; size: number };
  export function existsSync(path: string): boolean;
  export function cpSync(from: string | URL, to: string, options: { recursive: boolean }): void;
  export function mkdirSync(path: string, options: { recursive: boolean }): void;
  export function renameSync(from: string, to: string): void;
  export function symlinkSync(target: string, path: string): void;
  export function writeFileSync(path: string, text: string): void;
  export function readdirSync(path: URL): string[];
  export function readdirSync(path: string, options: { recursive: boolean; withFileTypes: true }): { name: string; path: string; isFile(): boolean }[];
  export function readFileSync(path: string | URL, encoding: "utf8"): string;
  export function readFileSync(path: string | URL): Uint8Array;
}

declare module "node:module" {
  export function createRequire(path: string | URL): (name: string) => any;
}

declare module "node:url" {
  export function fileURLToPath(url: URL): string;
}

declare module "node:zlib" {
  export function gzipSync(data: Uint8Array, options: { level: number }): Uint8Array;
}

declare module "node:http" {
  interface Response {
    writeHead(status: number, fields?: object): Response;
    end(body?: Uint8Array): void;
  }
  interface Server {
    listen(port: number, host: string, listening: () => void): void;
    address(): { port: number };
    close(): void;
    closeAllConnections(): void;
  }
  export function createServer(answer: (request: { url: string }, response: Response) => void): Server;
}

declare module "node:net" {
  interface Socket {
    on(event: string, listener: (value: any) => void): void;
    write(data: Uint8Array): void;
    destroy(): void;
  }
  interface Server {
    listen(port: number, host: string, listening: () => void): void;
    address(): { port: number };
    close(): void;
  }
  export function connect(port: number, host: string): Socket;
  export function createServer(connected: (socket: Socket) => void): Server;
}

declare module "node:crypto" {
  interface Hash {
    update(data: Uint8Array): Hash;
    digest(encoding: "hex"): string;
  }
  export function createHash(name: string): Hash;
}

declare module "node:worker_threads" {
  export class Worker {
    constructor(script: URL, options: { workerData: unknown });
    on(event: string, listener: (value: any) => void): void;
    postMessage(value: unknown): void;
  }
  export const parentPort: { on(event: string, listener: (value: any) => void): void; postMessage(value: unknown): void; close(): void };
  export const workerData: any;
}

declare module "node:vm" {
  export function runInNewContext(code: string): any;
}

declare const Buffer: { from(text: string, encoding: "hex"): Uint8Array };

declare const process: { env: Record<string, string | undefined> };
declare function setImmediate(body: () => void): unknown;
