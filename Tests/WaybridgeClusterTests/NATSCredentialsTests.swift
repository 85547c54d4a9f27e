import CWayNATS
import TestSupport
import Testing
import WayCrypto

@testable import WaybridgeCluster

struct NATSCredentialsTests {
  /// The seed of a user in NATS's documentation, whose key is
  /// `UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4`.
  private static let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
  /// The same key as one of an account.
  private static let accountSeed = "SAACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCTIMI"

  private static func text(_ token: String = "a.b.c", _ seed: String = seed) -> String {
    """
    -----BEGIN NATS USER JWT-----
    \(token)
    ------END NATS USER JWT------

    ************************* IMPORTANT *************************
    NKEY Seed printed below can be used to sign and prove identity.

    -----BEGIN USER NKEY SEED-----
    \(seed)
    ------END USER NKEY SEED------

    """
  }

  @Test func fileHasTokenAndKey() throws {
    let credentials = try NATSCredentials(Self.text())
    #expect(credentials.token == "a.b.c")
    let signature = try #require(credentials.key.signature(of: Array("nonce".utf8)))
    #expect(signature.prefix(8).elementsEqual([0x01, 0x57, 0xE9, 0x3B, 0xB3, 0xF0, 0xDE, 0xB7]))
    let padded = "---\n\u{FEFF}" + Self.text() + "-----BEGIN OTHER-----\nx\n------END OTHER------\n"
    #expect(try NATSCredentials(padded).token == "a.b.c")
    let withCarriageReturns = Self.text().split(separator: "\n").joined(separator: "\r\n")
    #expect(try NATSCredentials(withCarriageReturns).token == "a.b.c")
  }

  @Test(arguments: [
    ("", "JWT"), ("credentials", "JWT"), (text("a.b"), "JWT"), (text("a.b.c", ""), "seed"),
    (text("a.b.c", accountSeed), "seed"), (text("a.b.c", String(seed.dropLast())), "seed"),
    (text("a.b.c", seed + "A"), "seed"), (text("a.b.c", seed.lowercased()), "seed"),
    (text("a.b.c", String(seed.dropLast()) + "Z"), "seed"), (text("a.b.c", "SUéé"), "seed"),
  ])
  func invalidTextIsRejected(_ text: String, _ part: String) {
    let error = #expect(throws: NATSCredentials.InvalidCredentials.self) {
      try NATSCredentials(text)
    }
    #expect(error?.reason.contains(part) == true)
  }

  /// The library would send no signature, which NATS rejects.
  @Test func connectionWithUnsendableSignatureIsTriedAgain() throws {
    let key = try NATSCredentials(Self.text()).key
    let nonces = (0..<10_000).map { "nonce-\($0)" }
    let unsendable = try #require(nonces.first { key.signature(of: Array($0.utf8))?.first == 0 })
    #expect(
      NATSCredentialsFile.sign(unsendable, with: key).status
        == NATSCredentialsFile.unsendableSignature)
    let sendable = try #require(nonces.first { key.signature(of: Array($0.utf8))?.first != 0 })
    #expect(NATSCredentialsFile.sign(sendable, with: key).status == NATS_OK)
    #expect(NATSCredentialsFile.sign(nil, with: key).status == NATS_OK)
    var statuses = [NATSCredentialsFile.unsendableSignature, NATS_OK, NATS_NO_SERVER]
    #expect(NATSOptions.attempt { statuses.removeFirst() } == NATS_OK)
    #expect(NATSOptions.attempt { statuses.removeFirst() } == NATS_NO_SERVER)
    var attempts = 0
    let status = NATSOptions.attempt {
      attempts += 1
      return NATSCredentialsFile.unsendableSignature
    }
    #expect(status == NATSCredentialsFile.unsendableSignature && attempts == 8)
  }

  @Test func configurationRejectsFileWithoutCredentials() throws {
    let folder = try TestFolder()
    try folder.write(Array("credentials".utf8), to: "user.creds")
    var settings = NATSClusterSettings(url: "nats://127.0.0.1")
    settings.credentialsFile = folder.path("user.creds")
    let error = #expect(throws: NATSClusterError.self) {
      try NATSClusterConfiguration(settings)
    }
    #expect(error?.description.contains("user.creds contains no JWT of a NATS user") == true)
  }
}
