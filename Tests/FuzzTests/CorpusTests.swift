import Foundation
import TestSupport
import Testing
import WayRPC
import WayValues

@testable import WaySession

/// The stored inputs of `Tests/Fuzz/corpus` are replayed through the targets, without libFuzzer.
@Suite(.timeLimit(.minutes(2)))
struct CorpusTests {
  private static let corpus = ProjectFiles.url("Tests/Fuzz/corpus")

  /// Targets that fail for the input `bad`, so that a failure is known to be noticed.
  private static let planted = [
    FuzzTarget("trap") { bytes in precondition(bytes.text != "bad", "planted") },
    FuzzTarget("failure") { bytes throws(FuzzFailure) in
      try FuzzFailure.unless(bytes.text != "bad", "planted")
    },
  ]

  @Test(arguments: FuzzTarget.all.map(\.name))
  func `A target holds for its stored inputs`(name: String) async throws {
    let folder = try TestFolder()
    let (inputs, report) = (Self.corpus.appendingPathComponent(name).path, folder.path("report"))
    await #expect(processExitsWith: .success) {
      [name, inputs = inputs as String, report = report as String] in
      try Self.replay(name, inputs, report)
    }
    #expect(try String(contentsOfFile: report, encoding: .utf8) == "")
  }

  @Test(arguments: [("trap", "ended the process"), ("failure", "planted")])
  func `A fault names its input`(name: String, reason: String) async throws {
    let folder = try TestFolder()
    let (inputs, report) = (folder.path("inputs"), folder.path("report"))
    try FileManager.default.createDirectory(atPath: inputs, withIntermediateDirectories: true)
    for text in ["a", "bad", "good"] {
      try text.write(toFile: "\(inputs)/\(text)", atomically: false, encoding: .utf8)
    }
    await #expect(processExitsWith: .failure) {
      [name, inputs = inputs as String, report = report as String] in
      try Self.replay(name, inputs, report)
    }
    #expect(try String(contentsOfFile: report, encoding: .utf8) == "\(inputs)/bad: \(reason)")
  }

  private static func replay(_ name: String, _ inputs: String, _ report: String) throws {
    let target = try #require((FuzzTarget.all + planted).first { $0.name == name })
    try CorpusReplay(
      of: target, in: URL(fileURLWithPath: inputs), report: URL(fileURLWithPath: report)
    ).run()
  }

  @Test func `Each folder of inputs belongs to a target`() throws {
    let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
    #expect(folders.sorted() == FuzzTarget.all.map(\.name).sorted())
  }

  /// If a format changes, inputs of the former one would reach no code any more.
  @Test func `Inputs of messages between servers have the current format`() throws {
    let messages = try Self.inputs(of: "cluster-messages")
    let read = messages.filter { (try? ClusterEnvelope($0)) != nil }
    #expect(read.count > messages.count / 2)
    let requests = try Self.inputs(of: "peer-requests").map { bytes in
      (try? JSON.parse(bytes.span.bytes))?["method"]?.string
    }
    let methods = Set(PeerMethods.operations.map { $0.method })
    #expect(methods.isSubset(of: requests.compactMap { $0 }))
  }

  private static func inputs(of target: String) throws -> [[UInt8]] {
    let folder = corpus.appendingPathComponent(target)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).map { name in
      [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
    }
  }

  /// The corpus is replayed by every test run.
  @Test func `The corpus stays small`() throws {
    var (count, size) = (0, 0)
    for target in FuzzTarget.all {
      let folder = Self.corpus.appendingPathComponent(target.name)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        count += 1
        size += try Data(contentsOf: folder.appendingPathComponent(name)).count
      }
    }
    #expect((1...400).contains(count))
    #expect((1...1 << 20).contains(size))
  }
}
