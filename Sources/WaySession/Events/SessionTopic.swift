import WayTable
import WayValues

/// The grammar of topics: ASCII letters, digits and `. _ - : /`, at least one of them.
enum SessionTopic {
  /// The reason why a string is not a topic; nil if it is one.
  static func violation(in text: String, limit: Int) -> String? {
    guard !text.isEmpty else { return "is empty" }
    return violation(inPart: text.utf8[...], of: text.utf8.count, limit: limit)
  }

  fileprivate static func violation(
    inPart bytes: Substring.UTF8View, of length: Int, limit: Int
  ) -> String? {
    guard length <= limit else { return "has \(length) bytes, more than \(limit)" }
    guard bytes.allSatisfy(TableTopicName.isAllowed) else {
      return "may hold ASCII letters, digits and . _ - : / only"
    }
    return nil
  }
}

/// The pattern of a subscription: a topic, or a prefix of topics and a `*`.
struct TopicPattern: Sendable, Hashable {
  /// The pattern as it was written.
  let text: String
  /// Whether the pattern ends with a `*`.
  private let isPrefix: Bool

  /// Throws the reason why the pattern is invalid, worded to follow the name of the string.
  init(_ text: String, limit: Int) throws(TopicError) {
    isPrefix = text.utf8.last == UInt8(ascii: "*")
    let stem = isPrefix ? text.utf8.dropLast() : text.utf8[...]
    guard isPrefix || !stem.isEmpty else { throw TopicError("is empty") }
    if let fault = SessionTopic.violation(inPart: stem, of: text.utf8.count, limit: limit) {
      throw TopicError(fault + (isPrefix ? " before the * at its end" : ", and a * at the end"))
    }
    self.text = text
  }

  /// Whether the pattern matches a topic.
  func matches(_ topic: String) -> Bool {
    // Both are ASCII, for which `==` compares the bytes, and short ones at once.
    guard isPrefix else { return topic == text }
    return topic.utf8.starts(with: stem)
  }

  /// The kinds of the server's own topics that the pattern matches.
  var kinds: SessionEvent.EventKinds {
    var kinds: SessionEvent.EventKinds = []
    for (kind, prefix) in SystemTopic.prefixes {
      let prefix = prefix.utf8
      if stem.starts(with: prefix) || isPrefix && prefix.starts(with: stem) {
        kinds.insert(kind)
      }
    }
    return kinds
  }

  /// The prefix of the server's topics that every topic of the pattern has; `nil` if there is none.
  var reservedPrefix: String? {
    TableTopicName.reservedPrefixes.first { stem.starts(with: $0.utf8) }
  }

  private var stem: Substring.UTF8View { isPrefix ? text.utf8.dropLast() : text.utf8[...] }
}

/// The reason why a topic is invalid.
struct TopicError: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
