import WayValues

/// What is stored of a complete blob beside its parts, in the form in which clients of NATS store
/// objects (ADR-20), so that tools for object stores can read it, if the cluster has no secret.
struct JetStreamBlobObject: Codable, Hashable {
  /// The form of object stores: a media type as a header, and the size of a part.
  struct ObjectOptions: Codable, Hashable {
    let maxChunkSize: Int

    private enum CodingKeys: String, CodingKey {
      case maxChunkSize = "max_chunk_size"
    }
  }

  /// The id of the blob.
  let name: String
  let bucket: String
  /// The last token of the subject of the parts.
  let nuid: String
  let size: Int
  /// Clients of NATS read the time of the message.
  var mtime = "0001-01-01T00:00:00Z"
  /// The number of messages with parts.
  let chunks: Int
  /// `SHA-256=` and the digest in base64url.
  let digest: String
  let headers: [String: [String]]
  let options: ObjectOptions
  /// The sequence number of each part, and the number of bytes up to its end. Parts can be empty.
  let sequences: [Int64]
  let ends: [Int]

  /// Creates the object of a blob with a digest in hexadecimal digits.
  init(_ id: String, in bucket: String, _ parts: JetStreamBlobParts, type: String, sha256: String) {
    name = id
    nuid = id
    self.bucket = bucket
    size = parts.ends.last ?? 0
    chunks = parts.sequences.count
    digest = "SHA-256=" + Self.base64URL(ofHex: sha256)
    headers = ["Content-Type": [type]]
    options = ObjectOptions(maxChunkSize: JetStreamBlobParts.partSize)
    sequences = parts.sequences.map { Int64(clamping: $0) }
    ends = parts.ends
  }

  var parts: JetStreamBlobParts {
    JetStreamBlobParts(sequences: sequences.map { UInt64(clamping: $0) }, ends: ends)
  }

  private static func base64URL(ofHex digits: String) -> String {
    let bytes = stride(from: 0, to: digits.utf8.count - 1, by: 2).compactMap { offset in
      let start = digits.utf8.index(digits.startIndex, offsetBy: offset)
      return UInt8(digits[start...].prefix(2), radix: 16)
    }
    return text(of: bytes)
  }

  /// The name of a blob as the last token of its object's subject: base64url with padding.
  static func token(of name: String) -> String { text(of: Array(name.utf8)) }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func text(of bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for place in 0..<4 {
        let isPadding = place > group.count
        text.append(isPadding ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * place) & 63])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The parts of a blob in their stream.
struct JetStreamBlobParts: Hashable, Sendable {
  /// The maximum number of bytes of a part, if NATS accepts that much.
  static let partSize = 128 << 10

  /// The sequence number of each part.
  private(set) var sequences: [UInt64] = []
  /// The number of bytes up to the end of each part.
  private(set) var ends: [Int] = []

  mutating func append(_ sequence: UInt64, end: Int) {
    sequences.append(sequence)
    ends.append(end)
  }

  /// The part with the byte at an offset, and the offset of its first byte; nil if there is none.
  func part(at offset: Int) -> (sequence: UInt64, start: Int)? {
    // The first part that ends after the offset.
    var range = 0..<ends.count
    while let first = range.first {
      let middle = first + range.count / 2
      range = ends[middle] > offset ? first..<middle : middle + 1..<range.upperBound
    }
    let index = range.lowerBound
    guard index < min(ends.count, sequences.count) else { return nil }
    return (sequences[index], index == 0 ? 0 : ends[index - 1])
  }
}
