import Logging
import WaySession
import WayTransport

/// The blobs of a bridge: data that is too large for a message, such as photos. Clients send and fetch
/// it at `/blobs`. The ``Limits`` bound its size and its lifetime.
///
/// ```swift
/// var configuration = BridgeConfiguration(port: 8080)
/// configuration.blobs.folder = "data/blobs"
/// configuration.limits.maxBlob = 200 << 20
/// ```
public struct BlobConfiguration: Sendable {
  /// Whether clients may store blobs.
  public var isEnabled = true
  /// The folder of the blobs, which the server creates, and which only one server can use. Blobs of
  /// durable sessions survive a restart. Nil uses a temporary folder, which is removed at the end. A
  /// cluster stores blobs with its sessions, and uses no folder.
  public var folder: String?

  /// Creates a configuration that stores blobs in a temporary folder.
  public init() {}
}

/// A cluster whose servers share blobs.
package protocol BlobClusterEngine: ClusterEngine {
  /// Opens the blobs of the cluster. Blocks. Throws an error with advice if they cannot be used.
  func blobStore(
    _ limits: Limits, _ logger: Logger?, _ events: BlobEvents,
    now: @escaping @Sendable () -> Int64
  ) throws -> any BlobStore
}

extension BridgeConfiguration {
  /// The store of blobs; nil if there is none. `now` is the wall clock.
  func blobStore(
    _ events: BlobEvents, _ now: @escaping @Sendable () -> Int64
  ) throws -> (any BlobStore)? {
    guard blobs.isEnabled else { return nil }
    guard let cluster = sessions.cluster else {
      return try FileBlobStore(
        blobs, limits: effectiveLimits, logger: logger, events: events, now: now)
    }
    if blobs.folder != nil {
      logger?.notice("the folder of blobs is not used: a cluster stores them with its sessions")
    }
    let engine = cluster.engine as? any BlobClusterEngine
    return try engine?.blobStore(effectiveLimits, logger, events, now: now)
  }
}
