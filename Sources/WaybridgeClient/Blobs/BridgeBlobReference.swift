import WayValues

/// A reference to data on the server, which calls carry in the place of the data.
///
/// It is `Codable`, so that the params and results of typed calls can have members of this type.
public struct BridgeBlobReference: Codable, Sendable, Hashable {
  /// The id of the data.
  public let id: String
  /// The number of bytes.
  public let size: Int
  /// The media type.
  public let type: String
  /// The SHA-256 digest in hexadecimal digits.
  public let sha256: String
  /// The name of the file; nil if it was none.
  public var name: String?

  private enum CodingKeys: String, CodingKey {
    case id = "$blob"
    case size, type, sha256, name
  }

  /// Reads a value of params or a result; nil if it is no reference.
  public init?(_ value: Value?) {
    guard let read = try? value?.decode(as: BridgeBlobReference.self), read.size >= 0,
      read.id.utf8.count == 22,
      read.id.utf8.allSatisfy({ byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      })
    else { return nil }
    self = read
  }

  /// The reference as a value for params or a result.
  public var value: Value { (try? ValueEncoder().encode(self)) ?? .null }
}
