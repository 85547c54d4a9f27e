import Foundation
import TestSupport
import Testing
import WaySession
import WayStore

/// Reading a folder that no server uses.
@Suite(.timeLimit(.minutes(1)))
struct SQLiteSavedSessionsTests {
  private let folder: TestFolder
  private var data: String { folder.path("data") }

  init() throws {
    folder = try TestFolder()
  }

  private func files(_ folder: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    return files
  }

  private func reason(_ folder: String) -> String {
    do {
      _ = try SQLiteSavedSessions(folder: folder)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: [true, false])
  func `lists sessions without changing files`(isCrashed: Bool) async throws {
    let store = try SQLiteSessionStore(folder: data)
    try await store.append(
      StoreOperation.change("y", [.put("page/2", "abc"), .put("page/1", "")]).changes)
    try await store.append(StoreOperation.change("x", []).changes)
    let shown = folder.path("shown")
    if !isCrashed { await store.close() }
    try FileManager.default.copyItem(atPath: data, toPath: shown)
    let before = try files(shown)
    #expect(before.keys.contains("sessions.db-wal") == isCrashed)
    for _ in 1...2 {
      let saved = try SQLiteSavedSessions(folder: shown)
      let list = try saved.list()
      #expect(list.map(\.id) == ["y", "x"])
      #expect(list[0].lease == SessionLease(owner: "a", term: 1))
      #expect(list[0].parts.map(\.name) == ["page/1", "page/2"])
      #expect(list[0].parts.map(\.bytes) == [0, 3])
      #expect(list[1].parts.isEmpty)
      #expect(abs(Double(list[1].changedAt) / 1_000 - Date().timeIntervalSince1970) < 60)
      #expect(try saved.part("page/2", of: "y") == Array("abc".utf8))
      #expect(try saved.part("page/2", of: "x") == nil)
      #expect(reason(shown).contains("SQLITE_BUSY"))
    }
    #expect(try files(shown) == before)
    let next = try SQLiteSessionStore(folder: shown)
    #expect(try await next.load(as: "b").map(\.lease.term) == [2, 2])
  }

  @Test func `reports missing, busy and invalid stores`() async throws {
    #expect(
      reason(data).contains("the folder contains no session store: No such file or directory"))
    let store = try SQLiteSessionStore(folder: data)
    #expect(reason(data).contains("another process uses the file, for example a running server"))
    await store.close()
    #expect(reason(data) == "")
    try folder.write(String(repeating: "no database ", count: 1_000), to: "sessions.db", time: 1)
    #expect(reason(folder.path).contains("SQLITE_NOTADB"))
  }

  @Test func `an empty file has no sessions`() throws {
    try folder.write("", to: "sessions.db", time: 1)
    let saved = try SQLiteSavedSessions(folder: folder.path)
    #expect(try saved.list().isEmpty)
    #expect(try saved.part("session", of: "x") == nil)
  }
}
