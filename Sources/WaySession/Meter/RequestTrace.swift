import WayRPC
import WayValues

/// What is noted of a request to a client while somebody watches. Confined to the loop.
final class RequestTrace {
  let id: RequestID
  /// The page and the URI that it is about.
  let page: String?
  let uri: String?
  let paramsBytes: Int
  /// What was said; nil where too much is kept already.
  let params: Value?
  /// The number of the call that it is for.
  let call: Int?
  /// The loop's nanoseconds.
  let start: UInt64
  private let size: Int
  private let kept: RetainedBytes

  /// `bytes` is what `params` has as JSON.
  init(
    _ id: RequestID, _ params: Value, bytes: Int, for call: Int?, at start: UInt64,
    in kept: RetainedBytes
  ) {
    self.id = id
    page = params["page"]?["id"]?.string ?? params["page"]?.string
    uri = (params["uri"] ?? params["page"]?["uri"])?.string
    paramsBytes = bytes
    let size = kept.add(params.size)
    self.params = size > 0 ? params : nil
    self.size = size
    self.call = call
    self.start = start
    self.kept = kept
  }

  deinit { kept.remove(size) }
}

/// Counts what many keep together. Confined to the loop.
final class RetainedBytes {
  private let limit: Int
  private var count = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// So many bytes are kept; 0 where they must not be.
  func add(_ bytes: Int) -> Int {
    guard count + bytes <= limit else { return 0 }
    count += bytes
    return bytes
  }

  func remove(_ bytes: Int) { count -= bytes }
}
