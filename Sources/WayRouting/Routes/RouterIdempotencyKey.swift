import WayValues

/// The idempotency key of a call with its session and owner: unique among the keys of all sessions.
///
/// Keys are compared as UTF-8 bytes.
public struct RouterIdempotencyKey: Sendable, Hashable, CustomStringConvertible {
  /// The id of the session that the call belongs to.
  public let session: String
  /// The owner of the key in the session, since guests have keys of their own; `nil` for keys that
  /// the other clients share.
  public let owner: String?
  /// The key as the caller chose it, 1 to 128 bytes.
  public let text: String

  /// Creates a key, also for tests of a handler.
  public init(session: String, owner: String? = nil, text: String) {
    self.session = session
    self.owner = owner
    self.text = text
  }

  /// `session/text` or `session/owner/text`, with `/` as `%2F` and `%` as `%25` in each part. Equal
  /// keys have equal descriptions in every version, and different keys have different ones.
  public var description: String {
    [session, owner, text].compactMap { $0.map(Self.percentEncoded) }.joined(separator: "/")
  }

  private static func percentEncoded(_ part: String) -> String {
    var bytes: [UInt8] = []
    for byte in part.utf8 {
      switch byte {
      case UInt8(ascii: "%"): bytes += "%25".utf8
      case UInt8(ascii: "/"): bytes += "%2F".utf8
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  public static func == (one: RouterIdempotencyKey, other: RouterIdempotencyKey) -> Bool {
    one.description.isSameUTF8(as: other.description)
  }

  public func hash(into hasher: inout Hasher) { description.hashUTF8(into: &hasher) }
}
