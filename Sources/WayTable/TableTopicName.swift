/// The grammar of what events are about: ASCII letters, digits and `. _ - : /`.
package enum TableTopicName {
  /// Topics that begin so are the server's own, now or in a later version, and no app's.
  package static let ownBeginnings = [
    "session.", "page.", "task.", "route.", "server.", "table.",
  ]

  /// Whether a byte may stand in a topic.
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
