import Foundation
import TestSupport
import Testing
import Waybridge

/// Real files that change between looks.
@Suite(.timeLimit(.minutes(1)))
struct WatchedFileTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  /// What is told of each look: the text that the file has then, `?` and the reason where it
  /// cannot be read, nothing where there is nothing to tell.
  private func looks(_ count: Int, at file: inout WatchedFile) -> [String] {
    (0..<count).compactMap { _ in file.look() }.map { content in
      switch content {
      case .success(let bytes): String(decoding: bytes, as: UTF8.self)
      case .failure(let fault): "? " + fault.reason
      }
    }
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func aFileIsWrittenInPlaceAndReplacedAndRemovedAndBackAgain() throws {
    let path = try folder.write("one", time: 1)
    var file = WatchedFile(path)
    #expect(text(try file.read()) == "one")
    #expect(looks(3, at: &file) == [])
    try folder.write("two", time: 2)
    #expect(looks(1, at: &file) == [])
    #expect(looks(3, at: &file) == ["two"])
    try folder.write("six", to: "new", time: 2)
    try rename("new", to: "file")
    #expect(looks(3, at: &file) == ["six"])
    try FileManager.default.removeItem(atPath: path)
    #expect(looks(3, at: &file) == ["? cannot be read: No such file or directory"])
    try folder.write("one", time: 1)
    #expect(looks(3, at: &file) == ["one"])
  }

  @Test func whatIsBeingWrittenIsWaitedFor() throws {
    var file = WatchedFile(try folder.write("one", time: 1))
    _ = try file.read()
    for (time, part) in ["", "t", "tw", "two"].enumerated() {
      try folder.write(part, time: 2 + Double(time))
      #expect(looks(1, at: &file) == [])
    }
    #expect(looks(2, at: &file) == ["two"])
  }

  @Test func linksThatLeadElsewhereAreFollowed() throws {
    // As Kubernetes has it: secret -> data/secret, data -> 1, and the link data is swapped.
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
    #expect(looks(3, at: &file) == ["in 2"])
  }

  @Test func aFileThatCannotBeTakenIsToldOnceAndTakenWhenItCan() throws {
    var file = WatchedFile(try folder.write("one", time: 1), limit: 3, isPrivate: true)
    _ = try file.read()
    try folder.write("long", time: 2)
    #expect(looks(3, at: &file) == ["? is longer than 3 bytes"])
    try folder.write("two", mode: 0o640, time: 3)
    let path = folder.path("file")
    #expect(
      looks(3, at: &file)
        == ["? is open to others than its owner (mode 640): chmod 600 \(path)"])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    #expect(looks(3, at: &file) == ["two"])
    try FileManager.default.removeItem(atPath: path)
    try #require(mkfifo(path, 0o600) == 0)
    #expect(looks(3, at: &file) == ["? is no regular file, so it cannot be read again"])
  }

  @Test func itIsLookedAtOnceAPeriodUntilTheEnd() async throws {
    let folder = folder
    var file = WatchedFile(try folder.write("one", time: 1))
    _ = try file.read()
    var pauses: [Duration] = []
    var told: [String] = []
    await file.watch(every: .seconds(7)) { period in
      pauses.append(period)
      if pauses.count == 2 { try folder.write("two", time: 2) }
      if pauses.count == 5 { throw CancellationError() }
    } _: { content in
      told.append((try? content.get()).map(text) ?? "?")
    }
    #expect(pauses == Array(repeating: .seconds(7), count: 5))
    #expect(told == ["two"])
  }

  @Test func aTaskThatIsCancelledLooksNoLonger() async throws {
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

/// Files that hold a secret.
struct BoundedFileTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  @Test(arguments: [0o600, 0o400, 0o700])
  func aFileOfItsOwnerAloneIsRead(mode: Int) throws {
    let path = try folder.write("secret", mode: mode, time: 1)
    #expect(try BoundedFile(path, limit: 6, isPrivate: true).read().bytes == Array("secret".utf8))
  }

  @Test(arguments: [0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o777])
  func aFileThatIsOpenToOthersIsNot(mode: Int) throws {
    let path = try folder.write("secret", mode: mode, time: 1)
    let fault = #expect(throws: FileFault.self) {
      try BoundedFile(path, limit: 6, isPrivate: true).read()
    }
    let text = String(mode, radix: 8)
    #expect(fault?.reason.contains("mode \(text)") == true)
    #expect(try BoundedFile(path, limit: 6).read().bytes.count == 6)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func aFileOfAnotherUserIsNot() throws {
    let path = try folder.write("secret", time: 1)
    try #require(chown(path, 65_534, 65_534) == 0)
    let fault = #expect(throws: FileFault.self) {
      try BoundedFile(path, limit: 6, isPrivate: true).read()
    }
    #expect(fault?.reason.contains("belongs to the user 65534") == true)
    #expect(fault?.description.contains("secret") == false)
  }

  @Test func whatIsTooLongOrNoFileIsNot() throws {
    let path = try folder.write("secret", time: 1)
    for (path, reason) in [
      (path, "is longer than 5 bytes"), (folder.path, "cannot be read: Is a directory"),
      (folder.path("none"), "cannot be read: No such file or directory"),
    ] {
      let fault = #expect(throws: FileFault.self) { try BoundedFile(path, limit: 5).read() }
      #expect(fault == FileFault(path: path, reason: reason))
    }
  }
}
