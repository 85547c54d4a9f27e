import WayTable
import WayValues

/// The grammar of what events are about: ASCII letters, digits and `. _ - : /`, at least one of
/// them.
enum Topic {
  /// Why a text is no topic; nil when it is one.
  static func fault(in text: String, limit: Int) -> String? {
    guard !text.isEmpty else { return "is empty" }
    return fault(inPart: text.utf8[...], of: text.utf8.count, limit: limit)
  }

  fileprivate static func fault(
    inPart bytes: Substring.UTF8View, of length: Int, limit: Int
  ) -> String? {
    guard length <= limit else { return "has \(length) bytes, more than \(limit)" }
    guard bytes.allSatisfy(TableTopicName.isAllowed) else {
      return "may hold ASCII letters, digits and . _ - : / only"
    }
    return nil
  }
}

/// What a subscription asks for: a topic, or the beginning of topics and a `*`.
struct TopicPattern: Sendable, Hashable {
  /// As it was written.
  let text: String
  /// Whether it ends with a `*`.
  private let isOpen: Bool

  /// Fails with what is wrong, to follow the name of the text.
  init(_ text: String, limit: Int) throws(TopicFault) {
    isOpen = text.utf8.last == UInt8(ascii: "*")
    let stem = isOpen ? text.utf8.dropLast() : text.utf8[...]
    guard isOpen || !stem.isEmpty else { throw TopicFault("is empty") }
    if let fault = Topic.fault(inPart: stem, of: text.utf8.count, limit: limit) {
      throw TopicFault(fault + (isOpen ? " before the * at its end" : ", and a * at the end"))
    }
    self.text = text
  }

  /// Whether the subscription takes events of a topic.
  func covers(_ topic: String) -> Bool {
    guard isOpen else { return topic.isSameUTF8(as: text) }
    return topic.utf8.starts(with: stem)
  }

  /// The server's own topics among those that it takes.
  var kinds: Happening.Kinds {
    var kinds: Happening.Kinds = []
    for (kind, beginning) in SystemTopic.beginnings {
      let beginning = beginning.utf8
      if stem.starts(with: beginning) || isOpen && beginning.starts(with: stem) {
        kinds.insert(kind)
      }
    }
    return kinds
  }

  private var stem: Substring.UTF8View { isOpen ? text.utf8.dropLast() : text.utf8[...] }
}

/// What is wrong with a topic.
struct TopicFault: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
