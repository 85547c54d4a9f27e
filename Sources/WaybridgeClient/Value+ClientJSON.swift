import WayRPC
import WayValues

extension Value {
  /// Parses JSON (RFC 8259) strictly, with at most 128 levels of arrays and objects. Throws
  /// ``InvalidJSON``.
  public init(json text: String) throws(InvalidJSON) {
    do throws(JSONError) {
      self = try JSON.parse(text)
    } catch {
      throw InvalidJSON(description: "\(error)")
    }
  }

  /// The value as JSON on one line; nil if it nests more than 128 arrays and objects.
  public var json: String? {
    try? JSON.text(self)
  }
}

/// The reason why a string is not JSON.
public struct InvalidJSON: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error and its byte offset.
  public let description: String
}
