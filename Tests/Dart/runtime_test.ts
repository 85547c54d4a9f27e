// The part of `package:test` and `dart:io` that the tests of the package use.
// @ts-ignore: there are no types of Node here
import { isDeepStrictEqual } from "node:util";
// @ts-ignore
import * as files from "node:fs";
// @ts-ignore
import { test as nodeTest } from "node:test";
declare const process: { env: Record<string, string> };
declare function setImmediate(body: () => void): void;

function test(name: string, body: () => void | Promise<void>): void { nodeTest(name, { timeout: 20000 }, async () => body()); }
function expect(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Error(`expected ${$text(expected)}, found ${$text(actual)}`);
}
/** Waits until everything that is ready to run has run. */
async function pumpEventQueue(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(() => resolve()));
}
class DartFile {
  static make(path: string) { return new DartFile(path); }
  constructor(private own: string) {}
  $path(): string { return this.own; }
  readAsStringSync(): string { return files.readFileSync(this.own, "utf8"); }
}
class Directory {
  static make(path: string) { return new Directory(path); }
  constructor(private own: string) {}
  listSync(): DartFile[] { return files.readdirSync(this.own).sort().map((name: string) => new DartFile(`${this.own}/${name}`)); }
}
class Platform {
  static $environment(): Map<string, string> { return new Map(Object.entries(process.env)); }
}

