import TestSupport
import Testing
import WaySession

@testable import WaybridgeCluster

/// Messages of session logs that are sealed with the secret of a cluster.
struct JetStreamSessionLogCipherTests {
  private static let subject = "prod.session.s"
  private static let lease = SessionLease(owner: "a", term: 1)
  private let folder: TestFolder
  private let file: NATSClusterSecretFile
  private let cipher: JetStreamSessionLogCipher

  init() throws {
    folder = try TestFolder()
    file = try NATSClusterSecretFile(
      folder.write(Array(Self.text("a").utf8), to: "secret"), limit: 1000)
    cipher = JetStreamSessionLogCipher(file)
  }

  /// The content of a secret file: one secret for each letter.
  private static func text(_ letters: String...) -> String {
    letters.map { String(repeating: $0, count: 32) }.joined(separator: "\n")
  }

  private func use(_ text: String) throws {
    file.secrets = try NATSClusterSecrets(Array(text.utf8), of: "f")
  }

  private static func entry(_ body: String) -> [UInt8] {
    var entry = JetStreamSessionLogEntry(lease: lease)
    entry.body = Array(body.utf8)[...]
    return entry.bytes
  }

  private func seal(_ body: String, after: UInt64 = 7) throws -> [UInt8] {
    try #require(cipher.seal(Self.entry(body), on: Self.subject, after: after))
  }

  private func open(
    _ message: [UInt8], on subject: String = subject, after: UInt64? = 7
  ) -> Result<JetStreamSessionLogEntry, ByteDecodingError> {
    Result { () throws(ByteDecodingError) in
      try cipher.open(message, on: subject, after: after)
    }
  }

  private func reason(
    _ message: [UInt8], on subject: String = subject, after: UInt64? = 7
  ) -> String {
    if case .failure(let error) = open(message, on: subject, after: after) {
      "\(error)"
    } else {
      "none"
    }
  }

  @Test func opensWhatWasSealed() throws {
    let token = "a bearer token of a client"
    let sealed = try seal(token)
    let entry = try open(sealed).get()
    #expect(entry.lease == Self.lease && Array(entry.body) == Array(token.utf8))
    #expect(sealed.count == Self.entry(token).count + JetStreamSessionLogCipher.overhead)
    #expect(!sealed.indices.contains { sealed[$0...].starts(with: token.utf8.prefix(8)) })
    #expect(try seal(token) != sealed)
  }

  @Test func entryIsReadOnlyAtItsPlace() throws {
    let sealed = try seal("x")
    #expect(reason(sealed, on: "prod.session.t") == "it was changed, or is not at its place")
    #expect(reason(sealed, on: "test.session.s") == "it was changed, or is not at its place")
    #expect(reason(sealed, after: 8) == "it was changed, or is not at its place")
    #expect(reason(sealed, after: nil) == "it does not name the message before it")
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(reason(changed) != "none", "byte \(index)")
    }
    for count in sealed.indices { #expect(reason(Array(sealed.prefix(count))) != "none") }
    #expect(reason(sealed) == "none")
  }

  @Test func messagesOfOtherSecretsAreNotRead() throws {
    let (plain, sealed) = (Self.entry("x"), try seal("x"))
    #expect(reason(plain) == "it is not encrypted, but this server has a cluster secret")
    let without = JetStreamSessionLogCipher(nil)
    #expect(without.seal(plain, on: Self.subject, after: 7) == plain)
    #expect {
      try without.open(sealed, on: Self.subject, after: 7)
    } throws: { error in
      "\(error)" == "it is encrypted, but this server has no cluster secret"
    }
    try use(Self.text("b"))
    #expect(reason(sealed).hasPrefix("it is encrypted with another cluster secret ("))
  }

  @Test func earlierSecretOpensWhileTheFileListsIt() throws {
    let old = try seal("x")
    #expect(!cipher.isOutdated(old))
    try use(Self.text("a", "b"))
    #expect(reason(old) == "none" && !cipher.isOutdated(old))
    try use(Self.text("b", "a"))
    #expect(reason(old) == "none" && cipher.isOutdated(old))
    let new = try seal("x")
    #expect(reason(new) == "none" && !cipher.isOutdated(new))
    try use(Self.text("b"))
    #expect(reason(old) != "none" && reason(new) == "none")
  }
}
