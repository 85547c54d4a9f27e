import WaySession
import WaySockets

/// The blobs of a bridge: data that is too large for a message, such as photos. Clients send and fetch
/// it at `/blobs`. The ``Limits`` bound its size and its lifetime.
///
/// ```swift
/// var configuration = BridgeConfiguration(port: 8080)
/// configuration.blobs.folder = "data/blobs"
/// configuration.limits.maxBlob = 200 << 20
/// ```
public struct BlobConfiguration: Sendable {
  /// Whether clients may store blobs. A server of a cluster stores none.
  public var isEnabled = true
  /// The folder of the blobs, which the server creates, and which only one server can use. Blobs of
  /// durable sessions survive a restart. Nil uses a temporary folder, which is removed at the end.
  public var folder: String?

  /// Creates a configuration that stores blobs in a temporary folder.
  public init() {}
}

extension BridgeConfiguration {
  /// The store of blobs; nil if there is none. The servers of a cluster have none, because a session
  /// and its blobs could be at different servers. `now` is the wall clock.
  func blobStore(_ now: @escaping @Sendable () -> Int64) throws(SocketError) -> BlobStore? {
    guard blobs.isEnabled, sessions.cluster == nil else { return nil }
    return try BlobStore(blobs, limits: effectiveLimits, logger: logger, now: now)
  }
}
