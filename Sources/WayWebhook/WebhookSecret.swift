import Foundation
import WayCrypto

/// The secrets that sign the messages of a webhook, in the form of the Standard Webhooks specification:
/// `whsec_` and the base64 of 24 to 64 random bytes.
package struct WebhookSecrets: Sendable {
  /// The number of secrets that may be in use at the same time, while they are replaced.
  package static let maxCount = 4
  private static let prefix = "whsec_"

  private let keys: [MessageAuthenticationKey]

  /// Reads the secrets, one a line. Throws ``WebhookSecretError``, which repeats nothing of the text.
  package init(_ text: String) throws(WebhookSecretError) {
    let lines = text.split(whereSeparator: \.isNewline).map(String.init)
    guard (1...Self.maxCount).contains(lines.count) else {
      throw WebhookSecretError(
        reason: "must have 1 to \(Self.maxCount) lines, each with a secret, not \(lines.count)")
    }
    var keys: [MessageAuthenticationKey] = []
    for line in lines {
      guard line.hasPrefix(Self.prefix),
        let bytes = Data(base64Encoded: String(line.dropFirst(Self.prefix.count))),
        (24...64).contains(bytes.count)
      else {
        throw WebhookSecretError(
          reason: "must have secrets of the form whsec_BASE64, of 24 to 64 bytes")
      }
      keys.append(MessageAuthenticationKey(Array(bytes)))
    }
    self.keys = keys
  }

  /// The value of the header `webhook-signature`: a signature with each secret. `nil` if memory is
  /// short.
  func signature(ofMessage id: String, at time: Int64, _ body: [UInt8]) -> String? {
    let message = Array("\(id).\(time).".utf8) + body
    var signatures: [String] = []
    for key in keys {
      guard let code = key.code(of: message) else { return nil }
      signatures.append("v1," + Data(code).base64EncodedString())
    }
    return signatures.joined(separator: " ")
  }
}

/// The reason why a text contains no secrets of a webhook, as the end of a sentence that begins with
/// its name.
package struct WebhookSecretError: Error, Sendable, Hashable {
  package let reason: String
}
