import WayTransport

/// The header fields of a request that starts or continues an upload.
struct BlobRequestFields {
  let request: HTTPRequest

  /// Whether the blob is complete at the end of the body: a boolean of RFC 9651. `byDefault` is nil if
  /// the header is required.
  func isFinal(byDefault: Bool?) throws(BlobRejection) -> Bool {
    switch request.values("upload-complete") {
    case ["?1"]: return true
    case ["?0"]: return false
    case []:
      if let byDefault { return byDefault }
      throw .malformed("the request needs an Upload-Complete header")
    default: throw .malformed("the Upload-Complete header must be ?0 or ?1")
    }
  }

  /// The value of a field with this name (lower case), if there is one.
  func number(_ name: String) throws(BlobRejection) -> Int? {
    let values = request.values(name)
    guard let value = values.first else { return nil }
    guard values.count == 1, let number = ByteRange.number(value) else {
      throw .malformed("the header \(name) must be one number")
    }
    return number
  }

  /// The media type of the body, in lower case and without parameters.
  func mediaType() throws(BlobRejection) -> String {
    let values = request.values("content-type")
    guard let value = values.first else { return "application/octet-stream" }
    let type = value.prefix { $0 != ";" && $0 != " " }.lowercased()
    let parts = type.split(separator: "/", omittingEmptySubsequences: false)
    guard values.count == 1, type.utf8.count <= 127, parts.count == 2,
      parts.allSatisfy({ part in
        !part.isEmpty
          && part.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x61...0x7A: true
            default: "!#$&^_.+-".utf8.contains(byte)
            }
          }
      })
    else { throw .unsupportedType("the Content-Type header is not a media type") }
    return type
  }
}
