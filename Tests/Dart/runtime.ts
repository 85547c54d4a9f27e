// The part of Dart's libraries that the package uses, for the program that translate.py writes. `a.b` of Dart is `a.$b()` here.
declare const console: { log(...all: unknown[]): void };
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (label: string, options: { fatal: boolean }) => { decode(bytes: Uint8Array): string };
declare class URL { constructor(value: string, base?: string); href: string; hash: string; protocol: string }
declare function setTimeout(body: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;
declare function queueMicrotask(body: () => void): void;
declare function atob(text: string): string;
declare function btoa(text: string): string;

declare global {
  interface Array<T> {
    $length(): number; $isEmpty(): boolean; $isNotEmpty(): boolean; $first(): T; $last(): T;
    add(each: T): void; addAll(others: T[]): void; remove(each: T): boolean; removeAt(at: number): T; removeLast(): T; clear(): void; contains(each: unknown): boolean;
    sublist(start: number, end?: number): T[]; any(test: (each: T) => boolean): boolean; where(test: (each: T) => boolean): T[]; toList(): T[]; toSet(): Set<T>;
  }
  interface Set<T> {
    $isEmpty(): boolean; $isNotEmpty(): boolean; $length(): number;
    contains(each: unknown): boolean; toList(): T[]; addAll(others: Iterable<T>): void; removeAll(others: T[]): void; remove(each: T): boolean;
  }
  interface Map<K, V> {
    $length(): number; $isEmpty(): boolean; $isNotEmpty(): boolean; $keys(): K[]; $values(): V[];
    containsKey(key: unknown): boolean; remove(key: K): V | null; addAll(others: Map<K, V>): void;
  }
  interface String {
    $length(): number; $isEmpty(): boolean; $isNotEmpty(): boolean; contains(part: string): boolean; padLeft(width: number, filler: string): string;
    codeUnitAt(at: number): number;
  }
  interface Number { $isFinite(): boolean; round(): number; toRadixString(radix: number): string; toInt(): number }
  interface Object { $runtimeType(): string }
  interface Promise<T> { ignore(): void }
  interface Uint8Array { $length(): number }
}

function extend(target: object, members: Record<string, (this: any, ...all: any[]) => unknown>) {
  for (const [name, value] of Object.entries(members)) Object.defineProperty(target, name, { value, enumerable: false, configurable: true });
}
extend(Array.prototype, {
  $length() { return this.length; }, $isEmpty() { return this.length === 0; }, $isNotEmpty() { return this.length > 0; },
  $first() { if (this.length === 0) throw StateError.make("No element"); return this[0]; },
  $last() { if (this.length === 0) throw StateError.make("No element"); return this[this.length - 1]; },
  add(each) { this.push(each); }, addAll(others) { this.push(...others); }, contains(each) { return this.includes(each); },
  remove(each) { const at = this.indexOf(each); if (at >= 0) this.splice(at, 1); return at >= 0; },
  removeAt(at) { return this.splice(at, 1)[0]; }, removeLast() { return this.pop(); }, clear() { this.length = 0; },
  sublist(start, end) { return this.slice(start, end); }, any(test) { return this.some((each: unknown) => test(each)); }, where(test) { return this.filter((each: unknown) => test(each)); },
  toList() { return [...this]; }, toSet() { return new Set(this); },
});
extend(Set.prototype, {
  $length() { return this.size; }, $isEmpty() { return this.size === 0; }, $isNotEmpty() { return this.size > 0; }, contains(each) { return this.has(each); },
  toList() { return [...this]; }, addAll(others) { for (const each of others) this.add(each); },
  removeAll(others) { for (const each of others) this.delete(each); }, remove(each) { return this.delete(each); },
});
extend(Map.prototype, {
  $length() { return this.size; }, $isEmpty() { return this.size === 0; }, $isNotEmpty() { return this.size > 0; },
  $keys() { return [...this.keys()]; }, $values() { return [...this.values()]; }, containsKey(key) { return this.has(key); },
  remove(key) { const value = this.get(key) ?? null; this.delete(key); return value; },
  addAll(others) { for (const [key, value] of others) this.set(key, value); },
});
extend(String.prototype, {
  $length() { return this.length; }, $isEmpty() { return this.length === 0; }, $isNotEmpty() { return this.length > 0; },
  contains(part) { return this.includes(part); }, padLeft(width, filler) { return this.padStart(width, filler); },
  codeUnitAt(at) { return this.charCodeAt(at); },
});
extend(Number.prototype, {
  $isFinite() { return Number.isFinite(Number(this)); }, round() { return Math.round(this); }, toRadixString(radix) { return this.toString(radix); }, toInt() { return Math.trunc(this); },
});
extend(Object.prototype, { $runtimeType() { return this.constructor.name; } });
extend(Promise.prototype, { ignore() { this.catch(() => {}); } });
extend(Uint8Array.prototype, { $length() { return this.length; } });

// MARK: the language

const bound = new WeakMap<object, Map<PropertyKey, unknown>>();
/** A method as a value; it is always the same for one object. */
function $tear<T extends object, K extends keyof T>(object: T, name: K): T[K] {
  const known = bound.get(object) ?? new Map<PropertyKey, unknown>();
  bound.set(object, known);
  if (!known.has(name)) known.set(name, (object[name] as (...all: unknown[]) => unknown).bind(object));
  return known.get(name) as T[K];
}
function $at<V>(row: V[], index: number): V;
function $at<K, V>(map: Map<K, V>, key: unknown): V | null;
function $at(from: any, key: any) {
  if (!Array.isArray(from)) return from.get(key) ?? null;
  if (key < 0 || key >= from.length) throw StateError.make(`index ${key} of ${from.length}`);
  return from[key];
}
function $put<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value);
  return value;
}
function $list<T>(elements: T[]): T[] { return elements; }
function $mapping<K, V>(pairs: Iterable<readonly [K, V]>): Map<K, V> { return new Map<K, V>(pairs as Iterable<[K, V]>); }
function $set<T>(elements: T[]): Set<T> { return new Set(elements); }
function $pair<K, V>(key: K, value: V): [K, V] { return [key, value]; }
function isString(value: unknown): value is string { return typeof value === "string"; }
function isInt(value: unknown): value is number { return Number.isInteger(value); }
function isNum(value: unknown): value is number { return typeof value === "number"; }
function isBool(value: unknown): value is boolean { return typeof value === "boolean"; }
function isMap(value: unknown): value is Map<string, {} | null> { return value instanceof Map; }
function isAnyMap(value: unknown): value is Map<{} | null, {} | null> { return value instanceof Map; }
function isList(value: unknown): value is ({} | null)[] { return Array.isArray(value); }
function identical(one: unknown, other: unknown): boolean { return one === other; }
function $raise(error: unknown): never { throw error; }
function $text(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map($text).join(", ")}]`;
  return value instanceof Map ? `{${[...value].map(([name, each]) => `${$text(name)}: ${$text(each)}`).join(", ")}}` : String(value);
}

class DartMap {
  static of<K, V>(other: Map<K, V>): Map<K, V> { return new Map(other); }
}
class StateError extends Error {
  static make(message: string) { return new StateError(message); }
  override toString() { return `Bad state: ${this.message}`; }
}
class FormatException extends Error {
  static make(message: string) { return new FormatException(message); }
  $message() { return this.message; }
}
const NoSuchMethodError = TypeError;
class Duration {
  declare brandDuration: void;
  constructor(private milliseconds: number) {}
  static make({ milliseconds = 0, seconds = 0, minutes = 0 }: { milliseconds?: number; seconds?: number; minutes?: number }) {
    return new Duration(milliseconds + 1000 * (seconds + 60 * minutes));
  }
  $inMilliseconds() { return this.milliseconds; }
}
class Stopwatch {
  static make() { return new Stopwatch(); }
  private begun = 0;
  start() { this.begun ||= performance.now(); }
  $elapsedMilliseconds() { return Math.trunc(performance.now() - this.begun); }
}
declare const performance: { now(): number };
class Random {
  static make() { return new Random(); }
  nextInt(below: number) { return Math.floor(Math.random() * below); }
  nextDouble() { return Math.random(); }
}
const min = (one: number, other: number) => Math.min(one, other);
const max = (one: number, other: number) => Math.max(one, other);
const pow = (one: number, other: number) => one ** other;
const DartInt = { tryParse(value: string): number | null { return /^[+-]?\d+$/.test(value) ? Number(value) : null; } };
class DartRegExp {
  constructor(private source: string) {}
  static make(source: string) { return new DartRegExp(source); }
  firstMatch(value: string) { const found = new RegExp(this.source).exec(value); return found === null ? null : new Match(found); }
  hasMatch(value: string) { return new RegExp(this.source).test(value); }
}
class Match {
  constructor(private found: RegExpExecArray) {}
  group(number: number): string | null { return this.found[number] ?? null; }
  $start() { return this.found.index; }
}
class DartUri {
  declare brandUri: void;
  constructor(private url: URL) {}
  static parse(value: string) { return new DartUri(new URL(value)); }
  static encodeComponent(value: string) { return encodeURIComponent(value); }
  $fragment() { return this.url.hash.replace(/^#/, ""); }
  $scheme() { return this.url.protocol.replace(/:$/, ""); }
  replace({ fragment, scheme }: { fragment?: string; scheme?: string }) {
    const url = new URL(this.url.href);
    if (fragment !== undefined) url.hash = fragment;
    if (scheme !== undefined) url.protocol = scheme;
    return new DartUri(url);
  }
  resolve(reference: string) { return new DartUri(new URL(reference, this.url.href)); }
  toString() { return this.url.href; }
}

// MARK: dart:convert

function plain(value: unknown): unknown {
  if (value === null || ["string", "boolean"].includes(typeof value)) return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, each]) => [name, plain(each)]));
  if (Array.isArray(value)) return value.map(plain);
  if (typeof (value as any)?.toJson === "function") return plain((value as any).toJson());
  throw FormatException.make(`Converting object to an encodable object failed: ${$text(value)}`);
}
function dart(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dart);
  return typeof value === "object" && value !== null ? new Map(Object.entries(value).map(([name, each]) => [name, dart(each)])) : value;
}
function jsonEncode(value: unknown): string { return JSON.stringify(plain(value)); }
function jsonDecode(value: string): {} | null {
  try {
    return dart(JSON.parse(value)) as {} | null;
  } catch (cause) {
    throw FormatException.make(String(cause));
  }
}
const utf8 = {
  encode(value: string) { return [...new TextEncoder().encode(value)]; },
  decode(bytes: Uint8Array | number[], { allowMalformed = false } = {}) {
    try {
      return new TextDecoder("utf-8", { fatal: !allowMalformed }).decode(Uint8Array.from(bytes));
    } catch {
      throw FormatException.make("Invalid UTF-8");
    }
  },
};
const base64Url = {
  encode(bytes: number[]) { return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_"); },
  normalize(value: string) {
    if (!/^[\w-]*=*$/.test(value)) throw FormatException.make("Invalid base64 data");
    return value.padEnd(Math.ceil(value.length / 4) * 4, "=");
  },
  decode(value: string) { return Uint8Array.from(atob(value.replace(/-/g, "+").replace(/_/g, "/")), (unit) => unit.charCodeAt(0)); },
};

// MARK: dart:typed_data

class BytesBuilder {
  static make({ copy = true }: { copy?: boolean } = {}) { return new BytesBuilder(copy); }
  private parts: number[][] = [];
  private constructor(private copies: boolean) {}
  $length() { return this.parts.reduce((sum, each) => sum + each.length, 0); }
  add(bytes: number[]): void { this.parts.push(this.copies ? [...bytes] : bytes); }
  takeBytes(): number[] { return this.parts.splice(0).flat(); }
}

// MARK: dart:async

function unawaited(_: Promise<unknown> | null): void {}
function scheduleMicrotask(body: () => void): void { queueMicrotask(body); }
class Completer<T> {
  private done = false;
  private resolve!: (value: T) => void;
  private reject!: (error: {}) => void;
  private promise = new Promise<T>((resolve, reject) => { this.resolve = resolve as any; this.reject = reject; });
  static make<T>() { return new Completer<T>(); }
  $future() { return this.promise; }
  $isCompleted() { return this.done; }
  complete(...value: T extends void ? [] : [T]) { this.end(); this.resolve(value[0] as T); }
  completeError(error: {}) { this.end(); this.reject(error); }
  private end() { if (this.done) throw StateError.make("Future already completed"); this.done = true; }
}
class Timer {
  private constructor(private timer: unknown) {}
  static make(duration: Duration, body: () => void) { return new Timer(setTimeout(body, duration.$inMilliseconds())); }
  cancel() { clearTimeout(this.timer); }
}
type Heard<T> = { data: ((value: T) => void) | null; error: ((error: {}) => void) | null; done: (() => void) | null };
class StreamSubscription<T> {
  declare brandSubscription: T;
  constructor(private undo: () => void, private hold: (isPaused: boolean) => void) {}
  cancel(): Promise<void> { this.undo(); return Promise.resolve(); }
  pause(): void { this.hold(true); }
  resume(): void { this.hold(false); }
}
/** Reads a stream one value at a time. The stream is paused between them. */
class StreamIterator<T> {
  static make<T>(stream: Stream<T>) { return new StreamIterator<T>(stream); }
  private subscription: StreamSubscription<T> | null = null;
  private value: T | null = null;
  private waiting: Completer<boolean> | null = null;
  private isOver = false;
  private constructor(private stream: Stream<T>) {}
  $current() { return this.value as T; }
  moveNext(): Promise<boolean> {
    if (this.isOver) return Promise.resolve(false);
    const waiting = (this.waiting = Completer.make<boolean>());
    if (this.subscription !== null) this.subscription.resume();
    else this.subscription = this.stream.listen((value) => { this.value = value; this.subscription?.pause(); this.end((each) => each.complete(true)); }, {
      onError: (error) => { this.isOver = true; this.end((each) => each.completeError(error)); },
      onDone: () => { this.isOver = true; this.end((each) => each.complete(false)); },
    });
    return waiting.$future();
  }
  cancel(): Promise<void> {
    this.isOver = true;
    this.end((each) => each.complete(false));
    return this.subscription?.cancel() ?? Promise.resolve();
  }
  private end(how: (waiting: Completer<boolean>) => void) { const { waiting } = this; this.waiting = null; if (waiting !== null) how(waiting); }
}
class Stream<T> {
  constructor(private begin: (heard: Heard<T>) => StreamSubscription<T>) {}
  listen(data: (value: T) => void, { onError = null, onDone = null }: { onError?: ((error: {}) => void) | null; onDone?: (() => void) | null } = {}) {
    return this.begin({ data, error: onError, done: onDone });
  }
  map<R>(change: (value: T) => R): Stream<R> {
    return new Stream<R>((heard) => this.begin({ data: (value) => heard.data?.(change(value)), error: heard.error, done: heard.done }) as any);
  }
}
class StreamController<T> {
  private heard = new Set<Heard<T>>();
  private waiting: ((heard: Heard<T>) => void)[] = [];
  private over = false;
  private paused = false;
  private constructor(private isSync: boolean, private isBroadcast: boolean, private on: { listen?: () => unknown; resume?: () => unknown; cancel?: () => unknown }) {}
  static make<T>({ onListen: listen, onResume: resume, onCancel: cancel, sync = false }: { onListen?: () => unknown; onResume?: () => unknown; onCancel?: () => unknown; sync?: boolean } = {}) {
    return new StreamController<T>(sync, false, { listen, resume, cancel });
  }
  static broadcast<T>({ sync = false }: { sync?: boolean } = {}) { return new StreamController<T>(sync, true, {}); }
  $stream(): Stream<T> {
    return new Stream<T>((heard) => {
      if (!this.isBroadcast && this.heard.size > 0) throw StateError.make("Stream has already been listened to.");
      this.heard.add(heard);
      this.on.listen?.();
      for (const each of this.waiting.splice(0)) this.tell(each);
      return new StreamSubscription<T>(() => { if (this.heard.delete(heard)) this.on.cancel?.(); }, (isPaused) => this.hold(isPaused));
    });
  }
  $isPaused() { return this.paused || (this.heard.size === 0 && !this.isBroadcast); }
  private hold(isPaused: boolean) {
    const was = this.paused;
    this.paused = isPaused;
    if (isPaused || !was) return;
    for (const each of this.waiting.splice(0)) this.tell(each);
    if (!this.paused) this.on.resume?.();
  }
  $isClosed() { return this.over; }
  add(value: T): void { this.check(); this.tell((heard) => heard.data?.(value)); }
  addError(error: {}): void { this.check(); this.tell((heard) => heard.error?.(error)); }
  close(): Promise<void> {
    if (!this.over) this.tell((heard) => heard.done?.());
    this.over = true;
    return Promise.resolve();
  }
  private check() { if (this.over) throw StateError.make("Cannot add event after closing"); }
  private tell(how: (heard: Heard<T>) => void) {
    if (this.$isPaused()) this.waiting.push(how);
    for (const heard of this.paused ? [] : [...this.heard]) {
      if (this.isSync) how(heard);
      else queueMicrotask(() => {
        if (this.paused) this.waiting.push(how);
        else if (this.heard.has(heard)) how(heard);
      });
    }
  }
}

