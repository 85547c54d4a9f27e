/// Why bytes are not the JSON that is taken here (RFC 8259, without its leeway).
package struct JSONError: Error, Hashable {
  /// What is wrong, in a sentence's part that goes after "byte 17: ".
  package let text: String
  /// Where it is wrong, in bytes from 0, where that is known.
  package let offset: Int?

  package init(_ text: String, offset: Int? = nil) {
    self.text = text
    self.offset = offset
  }
}

extension JSONError: CustomStringConvertible {
  package var description: String {
    offset.map { "byte \($0): \(text)" } ?? text
  }
}

/// A value cannot be written as JSON that the peer would take.
package struct EncodingFailure: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
