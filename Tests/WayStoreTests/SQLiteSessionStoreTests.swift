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

  /// Stores sessions with parts of some bytes in the folder and closes the store.
  private func fill(bytes: Int = 10_000) async throws {
    let store = try SQLiteSessionStore(folder: data)
    for number in 0..<50 {
      try await store.append(
        StoreOperation.change(
          "session \(number)", [.put("p", String(repeating: "x", count: bytes))]
        ).changes)
    }
    await store.close()
  }

  /// Returns the files that a killed server leaves: the database and its log with 20 transactions.
  private func crashedFiles() async throws -> (database: Data, log: Data) {
    let store = try SQLiteSessionStore(folder: data)
    for number in 1...20 {
      try await store.append(StoreOperation.change("x", [.put("p", "\(number)")]).changes)
    }
    let files = (
      try Data(contentsOf: URL(fileURLWithPath: file)),
      try Data(contentsOf: URL(fileURLWithPath: file + "-wal"))
    )
    await store.close()
    return files
  }

  private func write(_ database: Data, _ log: Data) throws {
    try database.write(to: URL(fileURLWithPath: file))
    try log.write(to: URL(fileURLWithPath: file + "-wal"))
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

  @Test(arguments: [0x00, 0xA5] as [UInt8])
  func `reports damage in any page and leaves the file unchanged`(filler: UInt8) async throws {
    // Parts that need no further pages, whose content has no structure that can be checked.
    try await fill(bytes: 900)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    for page in 0..<bytes.count / 4_096 {
      var damaged = bytes
      damaged.replaceSubrange(
        page * 4_096..<(page + 1) * 4_096, with: Data(repeating: filler, count: 4_096))
      try damaged.write(to: URL(fileURLWithPath: file))
      let error = await openingError()
      #expect(error?.path == file, "page \(page)")
      #expect(error?.description.contains("move it and \(file)-wal") == true, "page \(page)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == damaged, "page \(page)")
    }
  }

  @Test(arguments: [0..<32, 40..<48, 200..<300, 4_500..<4_600])
  func `reports a damaged log and leaves it unchanged`(bytes: Range<Int>) async throws {
    let (database, log) = try await crashedFiles()
    var damaged = log
    damaged.replaceSubrange(bytes, with: Data(repeating: 0xA5, count: bytes.count))
    try write(database, damaged)
    let error = await openingError()
    #expect(error?.reason == "\(file)-wal is malformed")
    #expect(error?.description.contains("move it and \(file)-wal") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: file + "-wal")) == damaged)
  }

  @Test func `ignores an incomplete transaction at the end of the log`() async throws {
    let (database, log) = try await crashedFiles()
    for count in [0, 20, log.count - 100, log.count - 4_120, log.count] {
      try write(database, log.prefix(count))
      #expect(await openingError() == nil, "\(count) of \(log.count) bytes")
    }
    // As a crash leaves it: the last frame is there, but not all of its bytes.
    var incomplete = log
    incomplete.replaceSubrange(log.count - 100..<log.count, with: Data(count: 100))
    try write(database, incomplete)
    #expect(await openingError() == nil)
  }

  @Test func `rejects a log without its database`() async throws {
    let (_, log) = try await crashedFiles()
    try write(Data(), log)
    for isMissing in [false, true] {
      if isMissing { try FileManager.default.removeItem(atPath: file) }
      let error = await openingError()
      #expect(error?.reason.hasPrefix("its log \(file)-wal exists") == true)
      #expect(try Data(contentsOf: URL(fileURLWithPath: file + "-wal")) == log)
    }
  }

  @Test func `rejects a folder or file that other users can access`() async throws {
    try await fill()
    for (path, mode, command, allowed) in [
      (data, 0o777, "chmod 700", 0o755), (data, 0o770, "chmod 700", 0o700),
      (file, 0o644, "chmod 600", 0o600), (file, 0o660, "chmod 600", 0o600),
    ] {
      #expect(chmod(path, mode_t(mode)) == 0)
      let error = await openingError()
      #expect(error?.description.hasSuffix("; run: \(command) \(path)") == true)
      #expect(chmod(path, mode_t(allowed)) == 0)
    }
    #expect(await openingError() == nil)
  }

  @Test(.enabled(if: geteuid() == 0)) func `rejects a file of another user`() async throws {
    try await fill()
    for path in [data, file] {
      chown(path, 12_345, 12_345)
      #expect(await openingError()?.advice == "run: chown 0 \(path)")
      chown(path, 0, 0)
    }
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
