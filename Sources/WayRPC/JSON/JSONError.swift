/// The reason why bytes are no valid JSON (RFC 8259, without its optional extensions).
package struct JSONError: Error, Hashable {
  /// The fault, as the part of a sentence after "byte 17: ".
  package let message: String
  /// The position of the fault, in bytes from 0, if it is known.
  package let offset: Int?

  package init(_ text: String, offset: Int? = nil) {
    self.message = text
    self.offset = offset
  }
}

extension JSONError: CustomStringConvertible {
  package var description: String {
    offset.map { "byte \($0): \(message)" } ?? message
  }
}

/// A value cannot be written as JSON that the peer would accept.
package struct EncodingFailure: Error, Hashable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
