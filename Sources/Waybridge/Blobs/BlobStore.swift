import WaySession
import WayTransport

/// The blobs of the sessions of a server, or of all servers of a cluster. Clients upload, fetch and
/// remove them; the store holds their limits, and removes those that have expired.
///
/// The methods that throw may block, and are called on the thread of the store (``perform(_:)``). All
/// others are called on any thread.
package protocol BlobStore: AnyObject, Sendable {
  /// Runs work on the thread of the store, after earlier work. No event loop waits for it.
  func perform(_ work: @escaping @Sendable () -> Void)

  /// Starts an upload. `length` is the length of the blob, if it is known.
  func create(
    _ type: String, length: Int?, by client: BlobClient
  ) throws(BlobRejection) -> any BlobWriter
  /// Starts the continuation of an upload at an offset, and ends earlier requests for it.
  func continueUpload(
    _ id: String, by client: BlobClient, at offset: Int, length: Int?
  ) throws(BlobRejection) -> any BlobWriter
  /// Returns the state of an upload, or of a blob. Ends earlier requests for the upload.
  func inspect(_ id: String, by client: BlobClient) throws(BlobRejection) -> BlobRegistry.BlobEntry
  /// Returns the content of a complete blob, which is used now.
  func use(_ id: String, by client: BlobClient) throws(BlobRejection) -> BlobContent
  /// Removes a blob, or an upload that has not ended.
  func remove(_ id: String, by client: BlobClient) throws(BlobRejection)

  /// Removes blobs of sessions that do not exist any more, once those that are stored are restored,
  /// and from then on blobs that have expired. `isSession` tells whether a session is here.
  func start(on loop: any EventLoop, where isSession: @escaping @Sendable (String) -> Bool)
  /// Removes the blobs of a session that has ended.
  func removeAll(of session: String)
  /// Completes all work.
  func close() async
}

/// Writes what one request sends of an upload. Called on the thread of the store.
package protocol BlobWriter: AnyObject {
  var id: String { get }
  /// The number of bytes that the upload has.
  var offset: Int { get }
  /// Writes the next bytes. The writer may hold them until ``flush()``, or until there are more.
  func append(_ bytes: [UInt8]) throws(BlobRejection)
  /// Writes the bytes that it holds.
  func flush() throws(BlobRejection)
  /// Completes the upload.
  func complete() throws(BlobRejection) -> StoredBlobReference
}

/// A complete blob, and the place of its bytes.
package struct BlobContent: Sendable {
  package let entry: BlobRegistry.BlobEntry
  /// Reads the blob in parts.
  package let reader: any BlobPartReader
  /// The path of the file with its bytes; nil if it is no file.
  package let path: String?

  package init(
    entry: BlobRegistry.BlobEntry, reader: any BlobPartReader, path: String? = nil
  ) {
    self.entry = entry
    self.reader = reader
    self.path = path
  }
}

/// Reads the parts of a blob.
package protocol BlobPartReader: Sendable {
  /// Returns bytes from an offset on: at least one, and at most those of one part. Called on the
  /// thread of the store.
  func bytes(at offset: Int) throws(BlobRejection) -> [UInt8]
}

/// What has happened to blobs and to tokens for them.
package enum BlobEvent: Sendable, Hashable {
  /// A blob, or an unfinished upload, was removed.
  case removed(id: String)
  /// A client has left; its token is void.
  case tokenVoided(client: String)
}

/// Passes on events of a store. Usable from any thread.
package final class BlobEvents: Sendable {
  private let observers = Locked<[AsyncStream<BlobEvent>.Continuation]>([])

  package init() {}

  /// The events from now on, until the server ends.
  package var stream: AsyncStream<BlobEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: BlobEvent.self)
    observers.withLock { $0.append(continuation) }
    return stream
  }

  package func send(_ event: BlobEvent) {
    for observer in observers.withLock({ $0 }) { observer.yield(event) }
  }
}
