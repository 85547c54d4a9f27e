import WayRPC
import WayValues

/// The trace of a request to a client, for inspectors. Confined to the loop.
final class RequestTrace {
  let id: RequestID
  /// The page and the URI that the request concerns.
  let page: String?
  let uri: String?
  let paramsBytes: Int
  /// The params of the request; nil if too many bytes are retained already.
  let params: Value?
  /// The number of the call for which the request was sent.
  let call: Int?
  /// The start time, in nanoseconds of the loop's clock.
  let start: UInt64
  private let size: Int
  private let retainedBytes: RetainedBytes

  /// `bytes` is the size of `params` as JSON.
  init(
    _ id: RequestID, _ params: Value, bytes: Int, for call: Int?, at start: UInt64,
    in retainedBytes: RetainedBytes
  ) {
    self.id = id
    page = params["page"]?["id"]?.string ?? params["page"]?.string
    uri = (params["uri"] ?? params["page"]?["uri"])?.string
    paramsBytes = bytes
    let size = retainedBytes.add(params.size)
    self.params = size > 0 ? params : nil
    self.size = size
    self.call = call
    self.start = start
    self.retainedBytes = retainedBytes
  }

  deinit { retainedBytes.remove(size) }
}

/// Counts the bytes that several traces retain together. Confined to the loop.
final class RetainedBytes {
  private let limit: Int
  private var count = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// Counts bytes and returns their number; returns 0 if they exceed the limit.
  func add(_ bytes: Int) -> Int {
    guard count + bytes <= limit else { return 0 }
    count += bytes
    return bytes
  }

  func remove(_ bytes: Int) { count -= bytes }
}
