/// What is stored of a blob beside its bytes, and what the response to its upload contains.
struct BlobRecord: Codable, Hashable {
  let id: String
  let session: String
  /// The media type, without parameters.
  let type: String
  /// The length that the upload announced, in bytes; nil if it announced none.
  var length: Int?
  /// The SHA-256 digest in hexadecimal digits; nil while the upload is not complete.
  var sha256: String?
  /// When the upload began, was last continued, or was completed: milliseconds since 1970-01-01 UTC.
  var changedAt: Int64

  /// The name of the file with the bytes.
  var dataName: String { id + ".data" }
  /// The name of the file with this record.
  var recordName: String { id + Self.recordSuffix }

  static let recordSuffix = ".json"

  /// Whether a string is an id of a blob: 22 letters, digits, hyphens and low lines.
  static func isID(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 22
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
      }
  }
}

/// A reference to a complete blob, as calls carry it.
struct StoredBlobReference: Encodable {
  let id: String
  let size: Int
  let type: String
  let sha256: String

  private enum CodingKeys: String, CodingKey {
    case id = "$blob"
    case size, type, sha256
  }
}
