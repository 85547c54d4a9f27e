import Foundation
import TestSupport
import Testing
import Waybridge

/// Real files that change between polls.
@Suite(.timeLimit(.minutes(1)))
struct WatchedFileTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  /// Polls the file and returns the reports: the file's contents, or `?` and the reason if it
  /// cannot be read. A poll without a change adds no report.
  private func poll(_ count: Int, at file: inout WatchedFile) -> [String] {
    (0..<count).compactMap { _ in file.poll() }.map { content in
      switch content {
      case .success(let bytes): String(decoding: bytes, as: UTF8.self)
      case .failure(let fault): "? " + fault.reason
      }
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func detectsInPlaceWriteReplacementRemovalAndReturn() throws {
    let path = try folder.write("one", time: 1)
    var file = WatchedFile(path)
    #expect(text(try file.read()) == "one")
    #expect(poll(3, at: &file) == [])
    try folder.write("two", time: 2)
    #expect(poll(1, at: &file) == [])
    #expect(poll(3, at: &file) == ["two"])
    try folder.write("six", to: "new", time: 2)
    try rename("new", to: "file")
    #expect(poll(3, at: &file) == ["six"])
    try FileManager.default.removeItem(atPath: path)
    #expect(poll(3, at: &file) == ["? cannot be read: No such file or directory"])
    try folder.write("one", time: 1)
    #expect(poll(3, at: &file) == ["one"])
  }

  @Test func waitsForAnUnfinishedWrite() throws {
    var file = WatchedFile(try folder.write("one", time: 1))
    _ = try file.read()
    for (time, part) in ["", "t", "tw", "two"].enumerated() {
      try folder.write(part, time: 2 + Double(time))
      #expect(poll(1, at: &file) == [])
    }
    #expect(poll(2, at: &file) == ["two"])
  }

  @Test func followsSymbolicLinksToReplacedFiles() throws {
    // As in Kubernetes: secret -> data/secret, data -> 1, and the link data is swapped.
    for name in ["1", "2"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: false)
      try folder.write("in " + name, to: name + "/secret", time: 1)
    }
    try link("data", to: "1")
    try link("secret", to: "data/secret")
    var file = WatchedFile(folder.path("secret"), isPrivate: true)
    #expect(text(try file.read()) == "in 1")
    try link("new", to: "2")
    try rename("new", to: "data")
    #expect(poll(3, at: &file) == ["in 2"])
  }

  @Test func reportsAnUnreadableFileOnceAndReadsItLater() throws {
    var file = WatchedFile(try folder.write("one", time: 1), limit: 3, isPrivate: true)
    _ = try file.read()
    try folder.write("long", time: 2)
    #expect(poll(3, at: &file) == ["? is longer than 3 bytes"])
    try folder.write("two", mode: 0o640, time: 3)
    let path = folder.path("file")
    #expect(
      poll(3, at: &file)
        == ["? can be accessed by other users than its owner (mode 640); run: chmod 600 \(path)"])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(poll(3, at: &file) == ["two"])
    try FileManager.default.removeItem(atPath: path)
    try #require(mkfifo(path, 0o600) == 0)
    #expect(poll(3, at: &file) == ["? is not a regular file, so it cannot be watched for changes"])
  }

  @Test func pollsOncePerPeriodUntilCancelled() async throws {
    let folder = folder
    var file = WatchedFile(try folder.write("one", time: 1))
    _ = try file.read()
    var pauses: [Duration] = []
    var reported: [String] = []
    await file.watch(every: .seconds(7)) { period in
      pauses.append(period)
      if pauses.count == 2 { try folder.write("two", time: 2) }
      if pauses.count == 5 { throw CancellationError() }
    } _: { content in
      reported.append((try? content.get()).map(text) ?? "?")
    }
    #expect(pauses == Array(repeating: .seconds(7), count: 5))
    #expect(reported == ["two"])
  }

  @Test func stopsPollingWhenTheTaskIsCancelled() async throws {
    let path = try folder.write("one", time: 1)
    let watching = Task {
      var file = WatchedFile(path)
      await file.watch(every: .seconds(86_400)) { _ in }
    }
    watching.cancel()
    await watching.value
  }

  private func rename(_ name: String, to other: String) throws {
    try #require(Foundation.rename(folder.path(name), folder.path(other)) == 0)
  }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: folder.path(name), withDestinationPath: target)
  }
}

/// Files with a secret.
struct BoundedFileTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  @Test(arguments: [0o600, 0o400, 0o700])
  func readsAFileOnlyItsOwnerCanAccess(mode: Int) throws {
    let path = try folder.write("secret", mode: mode, time: 1)
    #expect(
      try BoundedServerFile(path, limit: 6, isPrivate: true).read().bytes == Array("secret".utf8))
  }

  @Test(arguments: [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o777])
  func rejectsAFileOthersCanAccess(mode: Int) throws {
    let path = try folder.write("secret", mode: mode, time: 1)
    let fault = #expect(throws: FileError.self) {
      try BoundedServerFile(path, limit: 6, isPrivate: true).read()
    }
    let text = String(mode, radix: 8)
    #expect(fault?.reason.contains("mode \(text)") == true)
    #expect(try BoundedServerFile(path, limit: 6).read().bytes.count == 6)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func rejectsAFileOfAnotherUser() throws {
    let path = try folder.write("secret", time: 1)
    try #require(chown(path, 65_534, 65_534) == 0)
    let fault = #expect(throws: FileError.self) {
      try BoundedServerFile(path, limit: 6, isPrivate: true).read()
    }
    #expect(fault?.reason.contains("belongs to the user 65534") == true)
    #expect(fault?.description.contains("secret") == false)
  }

  @Test func rejectsMissingTooLongAndNonRegularFiles() throws {
    let path = try folder.write("secret", time: 1)
    for (path, reason) in [
      (path, "is longer than 5 bytes"), (folder.path, "cannot be read: Is a directory"),
      (folder.path("none"), "cannot be read: No such file or directory"),
    ] {
      let fault = #expect(throws: FileError.self) { try BoundedServerFile(path, limit: 5).read() }
      #expect(fault == FileError(path: path, reason: reason))
    }
  }
}
