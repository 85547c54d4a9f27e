import Testing
import Waybridge

@testable import WaybridgeCluster

struct NATSClusterSecretsTests {
  private static let one = String(repeating: "a", count: 32)
  private static let other = String(repeating: "b", count: 48)

  @Test(arguments: ["", "\n", "\r\n", "\n\n"])
  func readsOneSecretALine(_ ending: String) throws {
    let text = Self.one + (ending.isEmpty ? "\n" : ending) + Self.other + ending
    let secrets = try NATSClusterSecrets(Array(text.utf8), of: "f")
    #expect(secrets.all.count == 2)
    #expect(secrets.names.count == 2 && Set(secrets.names).count == 2)
    #expect(secrets.names.allSatisfy { $0.count == 8 })
    #expect(secrets.first?.id == secrets.all[0].id)
    #expect(secrets.secret(withID: secrets.all[1].id)?.id == secrets.all[1].id)
    #expect(secrets.secret(withID: [0, 0, 0, 0]) == nil)
  }

  @Test(arguments: [
    ("", "holds 0 secrets, but must hold 1 to 4"),
    ("short", "has a secret of 5 bytes, but a secret needs at least 32"),
    ("-----BEGIN PRIVATE KEY-----------------------", "contains a PEM key"),
    (one + "\n" + one, "holds the same secret twice"),
    (one + "\nshort", "has a secret of 5 bytes"),
    ((1...5).map { String(repeating: "\($0)", count: 32) }.joined(separator: "\n"), "5 secrets"),
  ])
  func rejectsInvalidFiles(_ text: String, _ reason: String) {
    #expect {
      _ = try NATSClusterSecrets(Array(text.utf8), of: "f")
    } throws: { error in
      "\(error)".hasPrefix("f ") && "\(error)".contains(reason)
    }
  }
}
