import Testing

@testable import WaybridgeCluster

/// Messages that a ``PeerMessageSealer`` has sealed, and others.
final class PeerMessageOpenerTests {
  private static let now: UInt64 = 1_700_000_000_000
  private let names: NATSClusterNames
  private let secrets: NATSClusterSecrets
  private var sealer: PeerMessageSealer
  private var opener: PeerMessageOpener

  init() throws {
    names = try #require(NATSClusterNames("prod"))
    secrets = try Self.secrets("a")
    sealer = try #require(PeerMessageSealer(secrets, cluster: "prod", sender: "one"))
    opener = PeerMessageOpener(secrets, names)
  }

  /// Secrets that each repeat one letter.
  private static func secrets(_ letters: String...) throws -> NATSClusterSecrets {
    let lines = letters.map { String(repeating: $0, count: 32) }
    return try NATSClusterSecrets(Array(lines.joined(separator: "\n").utf8), of: "f")
  }

  private var subject: String { names.serverSubject(of: "two") }

  private func seal(_ message: [UInt8], for subject: String? = nil) throws -> [UInt8] {
    let sealed = sealer.seal(message, for: subject ?? self.subject, at: Self.now)
    return try #require(sealed)
  }

  private func open(
    _ bytes: [UInt8], on subject: String? = nil, at now: UInt64 = now
  ) -> Result<[UInt8], PeerMessageRejection> {
    Result { () throws(PeerMessageRejection) in
      try opener.open(bytes, on: subject ?? self.subject, at: now)
    }
  }

  private func rejection(
    _ bytes: [UInt8], on subject: String? = nil, at now: UInt64 = now
  ) -> PeerMessageRejection? {
    if case .failure(let rejection) = open(bytes, on: subject, at: now) { rejection } else { nil }
  }

  @Test func opensWhatWasSealed() throws {
    for message: [UInt8] in [[], [1], Array(repeating: 3, count: 70_000)] {
      let sealed = try seal(message)
      #expect(sealed.count <= message.count + PeerMessageHeader.overhead + "one".utf8.count)
      #expect(open(sealed) == .success(message))
    }
    // Messages to all may overtake those to one server.
    let direct = try seal([1])
    let broadcast = try seal([2], for: names.broadcastSubject)
    #expect(open(broadcast, on: names.broadcastSubject) == .success([2]))
    #expect(open(direct) == .success([1]))
  }

  /// A server that has just started knows no numbers of the messages before.
  @Test func messageToAllIsAcceptedAfterOneToThisServer() throws {
    let all = names.broadcastSubject
    let messages = try (0..<4).map { try seal([$0], for: $0 == 2 ? subject : all) }
    for _ in 0..<2 {
      #expect(rejection(messages[0], on: all) == .unconfirmed(sender: "one"))
    }
    // The message after the first one to this server overtakes it.
    #expect(rejection(messages[3], on: all) == .unconfirmed(sender: "one"))
    #expect(rejection(messages[2]) == nil)
    // Messages that may be older than this server stay ignored, also if they are late.
    #expect(rejection(messages[1], on: all) == .unconfirmed(sender: "one"))
    #expect(open(messages[3], on: all) == .success([3]))
    #expect(rejection(messages[3], on: all) == .repeated(sender: "one"))
    #expect(rejection(messages[2]) == .repeated(sender: "one"))
  }

  @Test func nothingOfTheMessageIsReadable() throws {
    let token = Array("a bearer token of a client".utf8)
    let sealed = try seal(token)
    #expect(!sealed.indices.contains { sealed[$0...].starts(with: token.prefix(8)) })
  }

  @Test func anyChangeIsRejected() throws {
    let sealed = try seal([1, 2, 3])
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(rejection(changed) != nil, "byte \(index)")
    }
    for count in sealed.indices {
      #expect(rejection(Array(sealed.prefix(count))) != nil)
    }
    #expect(rejection(sealed) == nil)
  }

  @Test func messageForAnotherServerIsRejected() throws {
    let sealed = try seal([1])
    #expect(rejection(sealed, on: names.serverSubject(of: "three")) == .forged)
    #expect(rejection(sealed, on: names.broadcastSubject) == .forged)
    #expect(rejection(sealed, on: "test.server.to.two") == .forged)
  }

  @Test func repeatedMessageIsRejected() throws {
    let first = try seal([1])
    let second = try seal([2])
    #expect(rejection(first) == nil)
    #expect(rejection(first) == .repeated(sender: "one"))
    #expect(rejection(second) == nil)
    #expect(rejection(first) == .repeated(sender: "one"))
    // Another process with the same name does not continue its numbers.
    sealer = try #require(PeerMessageSealer(secrets, cluster: "prod", sender: "one"))
    for _ in 0..<3 { _ = try seal([0]) }
    #expect(try rejection(seal([3])) == .repeated(sender: "one"))
  }

  @Test func messageOfAnotherTimeIsRejected() throws {
    let limit = PeerMessageOpener.maxTimeDifference
    #expect(try rejection(seal([1]), at: Self.now + limit) == nil)
    #expect(try rejection(seal([1]), at: Self.now - limit) == nil)
    #expect(
      try rejection(seal([1]), at: Self.now + limit + 1)
        == .wrongTime(sender: "one", difference: -300_001))
    #expect(
      try rejection(seal([1]), at: Self.now - limit - 1)
        == .wrongTime(sender: "one", difference: 300_001))
  }

  @Test func otherSecretsAreRejected() throws {
    let sealed = try seal([1])
    opener = PeerMessageOpener(try Self.secrets("b"), names)
    #expect(rejection(sealed) == .unknownSecret)
    #expect(rejection([1, 2, 3]) == .notSealed)
    opener = PeerMessageOpener(nil, names)
    #expect(rejection(sealed) == .sealed)
    #expect(rejection([1, 2, 3]) == nil)
  }

  @Test func secretIsReplacedStepByStep() throws {
    // Old alone, old first, new first, new alone: neighbors understand each other.
    let files = try [
      Self.secrets("a"), Self.secrets("a", "b"), Self.secrets("b", "a"), Self.secrets("b"),
    ]
    for (sending, receiving) in zip(files, files.dropFirst()) {
      for (one, other) in [(sending, receiving), (receiving, sending)] {
        sealer = try #require(PeerMessageSealer(one, cluster: "prod", sender: "one"))
        opener = PeerMessageOpener(other, names)
        #expect(try rejection(seal([1])) == nil)
      }
    }
  }
}
