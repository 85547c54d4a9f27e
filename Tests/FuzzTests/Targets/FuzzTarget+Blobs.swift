import WaySession
import WayTransport

@testable import WaySockets
@testable import Waybridge

extension FuzzTarget {
  /// Requests to `/blobs`, each a head and the sizes of the parts of its body: what is read from a head is
  /// read again from its own text, and no upload takes more than the limits.
  static let blobs = FuzzTarget("blobs") { bytes throws(FuzzFailure) in
    var limits = Limits()
    (limits.maxBlob, limits.maxBlobs, limits.maxBlobBytes) = (200, 4, 400)
    var registry = BlobRegistry(limits)
    var reader = HeadReader(limit: 1024, budget: ByteBudget(.server, 1 << 20))
    var input = bytes
    var number = 0
    while case .head(let head)? = try? reader.next(from: &input) {
      let request = HTTPRequest(method: head.method, path: head.path, fields: head.fields)
      try checkFields(of: request)
      // The body has as many parts as its first byte says, and their sizes follow.
      let count = min(Int(input.first ?? 0), input.count - (input.isEmpty ? 0 : 1), 8)
      let parts = input.dropFirst().prefix(count).map { Int($0) }
      input.removeFirst(min(input.count, count + 1))
      number += 1
      upload(request, parts, as: "blob\(number % 6)", &registry)
      let entries = registry.allEntries
      let charged = entries.reduce(0) { $0 + max($1.record.length ?? 0, $1.size) }
      try FuzzFailure.unless(
        entries.count <= 4 && charged <= 400 && registry.bytes == charged
          && entries.allSatisfy { (0...200).contains($0.size) },
        "\(entries.count) blobs have \(charged) bytes, and \(registry.bytes) are counted")
    }
  }

  private static func checkFields(of request: HTTPRequest) throws(FuzzFailure) {
    let fields = BlobRequestFields(request: request)
    if let type = try? fields.mediaType() {
      let again = HTTPRequest(method: "POST", path: "/blobs", fields: [("content-type", type)])
      try FuzzFailure.unless(
        (try? BlobRequestFields(request: again).mediaType()) == type && type.utf8.count <= 127
          && type.utf8.allSatisfy { (0x21...0x7E).contains($0) },
        "read again, the type \(type) is another one")
    }
    for name in ["upload-offset", "upload-length", "content-length"] {
      if let number = (try? fields.number(name)) ?? nil {
        let again = HTTPRequest(method: "POST", path: "/blobs", fields: [(name, "\(number)")])
        try FuzzFailure.unless(
          (try? BlobRequestFields(request: again).number(name)) == number && number >= 0,
          "read again, the number \(number) is another one")
      }
    }
    for size in [0, 1, 100] {
      if case .part(let part) = ByteRange(request.values("range"), size: size) {
        try FuzzFailure.unless(
          !part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size,
          "the range \(part) is not one of \(size) bytes")
      }
    }
  }

  /// Does with a registry what a request does.
  private static func upload(
    _ request: HTTPRequest, _ parts: [Int], as id: String, _ registry: inout BlobRegistry
  ) {
    let fields = BlobRequestFields(request: request)
    let client = BlobClient(session: "s", client: "c")
    do {
      var writer = 0
      switch request.method {
      case "POST":
        registry.remove(id)
        let record = BlobRecord(
          id: id, by: client, type: try fields.mediaType(),
          length: try fields.number("upload-length"), at: 0)
        try registry.create(record, at: 0)
      case "PATCH":
        writer = try registry.continueUpload(
          id, of: "s", at: try fields.number("upload-offset") ?? 0,
          length: try fields.number("upload-length"), now: 0)
      default:
        registry.remove(id)
        return
      }
      for part in parts {
        _ = try registry.reserve(part, in: id, by: writer)
        registry.written(part, of: part, in: id, at: 0)
      }
      if try fields.isFinal(byDefault: true) {
        _ = try registry.completable(id, by: writer)
        _ = registry.complete(id, sha256: "x", at: 0)
      }
    } catch {}
  }
}
