import WaySession

/// What is stored of a blob beside its bytes, and what the response to its upload contains.
package struct BlobRecord: Codable, Hashable, Sendable {
  package let id: String
  package let session: String
  /// The name of the client that has started the upload.
  package let uploader: String
  /// The media type, without parameters.
  package let type: String
  /// The length that the upload announced, in bytes; nil if it announced none.
  package internal(set) var length: Int?
  /// The SHA-256 digest in hexadecimal digits; nil while the upload is not complete.
  package internal(set) var sha256: String?
  /// When the upload began, was last continued, or was completed: milliseconds since 1970-01-01 UTC.
  package internal(set) var changedAt: Int64

  package init(id: String, by client: BlobClient, type: String, length: Int?, at now: Int64) {
    self.id = id
    session = client.session
    uploader = client.client
    self.type = type
    self.length = length
    changedAt = now
  }

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
package struct StoredBlobReference: Encodable, Sendable {
  package let id: String
  package let size: Int
  package let type: String
  package let sha256: String

  /// Returns nil if the upload is not complete.
  package init?(_ entry: BlobRegistry.BlobEntry) {
    guard let sha256 = entry.record.sha256 else { return nil }
    (id, size, type, self.sha256) = (entry.record.id, entry.size, entry.record.type, sha256)
  }

  private enum CodingKeys: String, CodingKey {
    case id = "$blob"
    case size, type, sha256
  }
}
