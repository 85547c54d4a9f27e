import Foundation
import TestSupport
import Testing
import WaySession
import WayStore

/// Failures of storage: crashes, damage, other users of the folder, a full disk.
@Suite(.timeLimit(.minutes(1)))
struct SQLiteSessionStoreTests {
  private let folder: TestFolder
  private var data: String { folder.path("data") }
  private var file: String { folder.path("data/sessions.db") }

  init() throws {
    folder = try TestFolder()
  }

  private func error(_ work: () async throws -> Void) async -> SQLiteError? {
    do {
      try await work()
      return nil
    } catch {
      return error as? SQLiteError
    }
  }

  private func openingError(_ path: String? = nil) async -> SQLiteError? {
    await error { _ = try SQLiteSessionStore(folder: path ?? data) }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// Stores sessions with some pages in the folder and closes the store.
  private func fill() async throws {
    let store = try SQLiteSessionStore(folder: data)
    for number in 0..<50 {
      try await store.append(
        StoreOperation.change(
          "session \(number)", [.put("p", String(repeating: "x", count: 10_000))]
        ).changes)
    }
    await store.close()
  }

  @Test func `folder and files are private to their owner`() async throws {
    let store = try SQLiteSessionStore(folder: data)
    try await store.append(StoreOperation.change("x", [.put("p", "1")]).changes)
    #expect(try mode(data) == 0o700)
    #expect(try mode(file) == 0o600)
    #expect(try mode(file + "-wal") == 0o600)
    #expect(!FileManager.default.fileExists(atPath: file + "-shm"))
    await store.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: data) == ["sessions.db"])
  }

  @Test func `a closed store rejects use and can be reopened`() async throws {
    try await fill()
    let store = try SQLiteSessionStore(folder: data)
    #expect(try await store.load(as: "b").count == 50)
    await store.close()
    let error = await error { _ = try await store.load(as: "b") }
    #expect(error?.description == "\(file) cannot be used: the store is closed")
  }

  @Test func `appended changes survive a crash`() async throws {
    let store = try SQLiteSessionStore(folder: data)
    for number in 1...200 {
      try await store.append(
        StoreOperation.change("x", [.put("\(number % 7)", "\(number)"), .put("last", "\(number)")])
          .changes)
      guard number % 20 == 0 else { continue }
      // A copy of the files, as a killed server leaves them.
      let copy = folder.path("copy \(number)")
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
      for name in try FileManager.default.contentsOfDirectory(atPath: data) {
        try FileManager.default.copyItem(atPath: "\(data)/\(name)", toPath: "\(copy)/\(name)")
      }
      let other = try SQLiteSessionStore(folder: copy)
      let stored = try #require(try await other.load(as: "b").first)
      #expect(stored.parts["last"] == Array("\(number)".utf8))
      #expect(stored.parts["\(number % 7)"] == Array("\(number)".utf8))
      await other.close()
    }
    await store.close()
  }

  @Test func `rejects a second server until the first closes`() async throws {
    let store = try SQLiteSessionStore(folder: data)
    let error = await openingError()
    #expect(error?.code == "SQLITE_BUSY")
    #expect(error?.description.contains("another process uses the file") == true)
    #expect(error?.path == file)
    try await store.append(StoreOperation.change("x", []).changes)
    await store.close()
    #expect(await openingError() == nil)
  }

  @Test func `rejects a file in place of the folder`() async throws {
    let path = try folder.write("x", to: "file", time: 1)
    let error = await openingError(path)
    #expect(error?.path == path + "/sessions.db")
    #expect(error?.description.contains("Not a directory; choose a folder") == true)
  }

  @Test func `reports a folder that cannot be created`() async throws {
    let missing = await openingError(folder.path("no/such"))
    #expect(missing?.reason == "the folder cannot be created: No such file or directory")
    let error = await openingError("/proc/waybridge")
    #expect(error?.path == "/proc/waybridge")
  }

  @Test func `reports a folder that is not writable`() async throws {
    // This applies to root, too.
    let error = await openingError("/proc")
    #expect(error?.path == "/proc/sessions.db")
    #expect(error?.reason.hasPrefix("the file cannot be created: ") == true)
  }

  @Test func `a full disk fails only the affected append`()
    async throws
  {
    let store = try SQLiteSessionStore(folder: data, maxPages: 20)
    try await store.append(StoreOperation.change("x", [.put("p", "1")]).changes)
    let large = String(repeating: "x", count: 100_000)
    let error = await error {
      try await store.append(
        StoreOperation.batch([.change("y", []), .change("x", [.put("p", "2"), .put("q", large)])])
          .changes)
    }
    #expect(error?.code == "SQLITE_FULL")
    #expect(error?.description.hasSuffix("; free space on its disk") == true)
    try await store.append(StoreOperation.change("x", [.put("r", "3")]).changes)
    #expect(try await store.load(as: "b").map(summary) == ["x b2 p=1 r=3"])
  }

  @Test func `a full disk fails opening the store`() async throws {
    let error = await error { _ = try SQLiteSessionStore(folder: data, maxPages: 1) }
    #expect(error?.code == "SQLITE_FULL")
  }

  @Test(arguments: [
    (0..<100, "SQLITE_NOTADB", true), (100..<4_096, "SQLITE_CORRUPT", true),
    (4_096..<200_000, "SQLITE_CORRUPT", false),
  ])
  func `reports a damaged file and leaves it unchanged`(
    bytes: Range<Int>, code: String, isAtStart: Bool
  ) async throws {
    try await fill()
    var damaged = try Data(contentsOf: URL(fileURLWithPath: file))
    damaged.replaceSubrange(bytes, with: Data(repeating: 0xA5, count: bytes.count))
    try damaged.write(to: URL(fileURLWithPath: file))
    var hasStarted = false
    let error = await error {
      let store = try SQLiteSessionStore(folder: data)
      hasStarted = true
      _ = try await store.load(as: "b")
    }
    #expect(error?.code?.hasPrefix(code) == true)
    #expect(error?.path == file)
    #expect(error?.description.contains("move it and \(file)-wal") == true)
    #expect(hasStarted != isAtStart)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == damaged)
  }

  @Test func `rejects a file that is not a database`() async throws {
    try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
    let text = String(repeating: "This is no database. ", count: 300)
    try folder.write(text, to: "data/sessions.db", time: 1)
    #expect(await openingError()?.code == "SQLITE_NOTADB")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  }

  @Test(arguments: [
    (60, 2, "a newer version of Waybridge wrote it (format 2; this one reads up to 1)"),
    (60, 0, "the file is not a session store"), (68, 7, "the file is not a session store"),
  ])
  func `rejects files of other programs and versions`(offset: Int, number: UInt8, reason: String)
    async throws
  {
    try await fill()
    // `user_version` and `application_id` (https://sqlite.org/fileformat.html §1.3).
    var changed = try Data(contentsOf: URL(fileURLWithPath: file))
    changed.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, number])
    try changed.write(to: URL(fileURLWithPath: file))
    let error = await openingError()
    #expect(error?.reason == reason)
    #expect(error?.advice?.hasSuffix("choose another folder") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == changed)
  }
}
