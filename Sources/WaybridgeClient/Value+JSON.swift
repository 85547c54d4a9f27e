import WayRPC
import WayValues

extension Value {
  /// Reads a JSON text (RFC 8259), strictly; at most 128 levels of lists and objects.
  /// Throws ``InvalidJSON``.
  public init(json text: String) throws(InvalidJSON) {
    do throws(JSONError) {
      self = try JSON.parse(text)
    } catch {
      throw InvalidJSON(description: "\(error)")
    }
  }

  /// The value as JSON on one line; nil where it nests more than 128 lists and objects.
  public var json: String? {
    try? JSON.text(self)
  }
}

/// Why a text is not JSON.
public struct InvalidJSON: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and at which byte.
  public let description: String
}
