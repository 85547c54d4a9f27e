import WaySockets
import WayTransport
import WayValues

/// Data that is fetched in parts, as they are read.
public struct BlobParts: AsyncSequence, Sendable {
  /// A part of the data.
  public typealias Element = [UInt8]
  /// The error of a fetch, as in ``BridgeBlobs``.
  public typealias Failure = CallError

  let reference: BridgeBlobReference
  let range: Range<Int>
  let client: BridgeClient
  let url: String

  /// Returns an iterator, which sends the first request when its first part is read.
  public func makeAsyncIterator() -> BlobPartIterator {
    BlobPartIterator(reference: reference, range: range, BlobRequests(client, url: url))
  }
}

/// Fetches the parts of data, one after the other.
public struct BlobPartIterator: AsyncIteratorProtocol {
  /// Maximum number of bytes of a part.
  private static let partSize = 64 << 10

  private let reference: BridgeBlobReference
  private let requests: BlobRequests
  private var offset: Int
  private let end: Int
  /// The connection that the rest arrives at; nil before a request.
  private var connection: HTTPClientConnection?

  init(reference: BridgeBlobReference, range: Range<Int>, _ requests: BlobRequests) {
    self.reference = reference
    self.requests = requests
    offset = range.lowerBound
    end = range.upperBound
  }

  /// Returns the next part; nil at the end. Throws the errors of ``BridgeBlobs``.
  public mutating func next() async throws(CallError) -> [UInt8]? {
    guard offset < end else { return nil }
    let (reference, requests, offset, end) = (reference, requests, offset, end)
    var connection = connection
    // The attempts begin at the same offset, so none of them is progress.
    let part = try await requests.retry { () throws(CallError) in
      let known = connection
      connection = nil
      let source: HTTPClientConnection
      if let known {
        source = known
      } else {
        let (head, opened) = try await requests.begin(
          "GET", "blobs/" + reference.id,
          [("Range", "bytes=\(offset)-\(end - 1)"), ("If-Range", "\"\(reference.sha256)\"")])
        guard head.status == 206, head.length == end - offset else {
          throw CallError(.refused, "The server has other data than the reference says")
        }
        source = opened
      }
      let bytes = try await requests.read(source, min(Self.partSize, end - offset))
      connection = source
      return bytes
    }
    self.connection = connection
    self.offset += part.count
    return part
  }
}
