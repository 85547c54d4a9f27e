import WayRouting
import WayValues

/// The declaration of a topic that the app publishes.
package struct TableTopicDeclaration: Sendable, Hashable {
  /// The whole topic, such as `cart.changed`.
  package let name: String
  /// A short title for people.
  package let title: String?
  /// A description of its events, in a sentence or two.
  package let purpose: String?
  /// The data of its events; `nil` if undeclared.
  package let data: ValueSchema?
}

/// The grammar of topics: ASCII letters, digits and `. _ - : /`.
package enum TableTopicName {
  /// Prefixes of the server's own topics, in this or a later version. An app cannot use them.
  package static let reservedPrefixes = [
    "session.", "page.", "task.", "route.", "server.", "table.",
  ]

  /// The maximum length of a topic of a table or a policy, in bytes.
  package static let maxLength = 256

  /// Whether a byte is allowed in a topic.
  package static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
