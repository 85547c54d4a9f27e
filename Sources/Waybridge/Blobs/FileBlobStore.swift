import Dispatch
import Logging
import WaySession
import WaySockets
import WayTransport

/// The blobs of one server: a registry, and files that are written on a thread of their own, so that a
/// slow disk delays no event loop.
package final class FileBlobStore: BlobStore {
  private let registry: Locked<BlobRegistry>
  private let files: BlobFiles
  // A separate serial queue uses a thread outside of the pool of Swift's tasks.
  private let queue = DispatchQueue(label: "waybridge.blobs")
  private let limits: Limits
  private let now: @Sendable () -> Int64
  private let events: BlobEvents
  private let sweep = Locked<(any ScheduledWork)?>(nil)

  /// Opens the folder, if one is configured, and reads what is stored there. Blocks.
  package init(
    _ configuration: BlobConfiguration, limits: Limits, logger: Logger?, events: BlobEvents,
    now: @escaping @Sendable () -> Int64
  ) throws(SocketError) {
    self.limits = limits
    self.now = now
    self.events = events
    var registry = BlobRegistry(limits)
    files = try BlobFiles(configuration, logger)
    for (record, size) in files.stored() { registry.restore(record, size: size) }
    self.registry = Locked(registry)
  }

  /// Removes blobs of sessions that are not here, once those that are stored are restored, and from
  /// then on blobs that have expired.
  package func start(on loop: any EventLoop, where isSession: @escaping @Sendable (String) -> Bool)
  {
    perform { [self] in removeExpired(unless: isSession) }
    scheduleSweep(on: loop)
  }

  private func scheduleSweep(on loop: any EventLoop) {
    let shortest = min(limits.blobExpiry, limits.uploadExpiry) / 4
    let interval = min(max(shortest, .milliseconds(50)), .seconds(30))
    let work = loop.schedule(after: interval) { [weak self, weak loop] in
      guard let self, let loop else { return }
      perform { [self] in removeExpired(unless: { _ in true }) }
      scheduleSweep(on: loop)
    }
    sweep.withLock { $0 = work }
  }

  private func removeExpired(unless isSession: (String) -> Bool) {
    let time = now()
    for record in registry.withLock({ $0.removeExpired(at: time, unless: isSession) }) {
      removeFiles(of: record)
    }
  }

  private func removeFiles(of record: BlobRecord) {
    files.remove(record)
    events.send(.removed(id: record.id))
  }

  package func removeAll(of session: String) {
    perform { [self] in
      for record in registry.withLock({ $0.removeAll(of: session) }) { removeFiles(of: record) }
    }
  }

  /// Completes all work, and removes a temporary folder.
  package func close() async {
    sweep.withLock { $0 }?.cancel()
    await withCheckedContinuation { continuation in
      perform { [self] in
        files.close()
        continuation.resume()
      }
    }
  }

  package func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

// The following run on the thread of the files.
extension FileBlobStore {
  package func create(
    _ type: String, length: Int?, by client: BlobClient
  ) throws(BlobRejection) -> any BlobWriter {
    let time = now()
    let record = BlobRecord(
      id: SessionSecret.random(), by: client, type: type, length: length, at: time)
    try registry.withLock { (registry) throws(BlobRejection) in
      try registry.create(record, at: time)
    }
    do throws(BlobRejection) { try files.store(record) } catch {
      registry.withLock { _ = $0.remove(record.id) }
      throw error
    }
    return FileBlobWriter(record.id, number: 0, at: 0, in: self)
  }

  package func continueUpload(
    _ id: String, by client: BlobClient, at offset: Int, length: Int?
  ) throws(BlobRejection) -> any BlobWriter {
    let time = now()
    let writer = try registry.withLock { (registry) throws(BlobRejection) in
      _ = try registry.find(id, for: client, to: .write, at: time)
      return try registry.continueUpload(
        id, of: client.session, at: offset, length: length, now: time)
    }
    return FileBlobWriter(id, number: writer, at: offset, in: self)
  }

  /// Writes the next bytes of an upload.
  fileprivate func append(
    _ bytes: [UInt8], to id: String, by writer: Int
  ) throws(BlobRejection) {
    let (offset, record) = try registry.withLock { (registry) throws(BlobRejection) in
      try registry.reserve(bytes.count, in: id, by: writer)
    }
    let time = now()
    do throws(BlobRejection) { try files.append(bytes, to: record, at: offset) } catch {
      registry.withLock { $0.written(0, of: bytes.count, in: id, at: time) }
      throw error
    }
    registry.withLock { $0.written(bytes.count, of: bytes.count, in: id, at: time) }
  }

  /// Completes an upload.
  fileprivate func complete(
    _ id: String, by writer: Int
  ) throws(BlobRejection) -> StoredBlobReference {
    let entry = try registry.withLock { (registry) throws(BlobRejection) in
      try registry.completable(id, by: writer)
    }
    let digest = try files.finish(entry.record, size: entry.size)
    let time = now()
    guard let complete = registry.withLock({ $0.complete(id, sha256: digest, at: time) }),
      let reference = StoredBlobReference(complete)
    else { throw .missing }
    try files.store(complete.record)
    return reference
  }

  package func inspect(
    _ id: String, by client: BlobClient
  ) throws(BlobRejection) -> BlobRegistry.BlobEntry {
    let time = now()
    return try registry.withLock { (registry) throws(BlobRejection) in
      _ = try registry.find(id, for: client, to: .inspect, at: time)
      _ = try registry.takeOver(id, of: client.session, at: time)
      return try registry.find(id, of: client.session, at: time)
    }
  }

  package func use(_ id: String, by client: BlobClient) throws(BlobRejection) -> BlobContent {
    let time = now()
    let entry = try registry.withLock { (registry) throws(BlobRejection) in
      _ = try registry.find(id, for: client, to: .read, at: time)
      return try registry.use(id, of: client.session, at: time)
    }
    guard let path = files.path(of: entry.record) else { throw .missing }
    return BlobContent(
      entry: entry, reader: FileBlobReader(record: entry.record, files: files), path: path)
  }

  private struct FileBlobReader: BlobPartReader {
    let record: BlobRecord
    let files: BlobFiles

    func bytes(at offset: Int) throws(BlobRejection) -> [UInt8] {
      try files.read(record, at: offset, count: HTTPSourcedBody.partSize)
    }
  }

  package func remove(_ id: String, by client: BlobClient) throws(BlobRejection) {
    let time = now()
    let record = try registry.withLock { (registry) throws(BlobRejection) in
      _ = try registry.find(id, for: client, to: .remove, at: time)
      return registry.remove(id)
    }
    if let record { removeFiles(of: record) }
  }

  /// Writes what one request sends of an upload.
  private final class FileBlobWriter: BlobWriter {
    let id: String
    private(set) var offset: Int
    /// The number of the request.
    private let number: Int
    private let store: FileBlobStore

    init(_ id: String, number: Int, at offset: Int, in store: FileBlobStore) {
      self.id = id
      self.number = number
      self.offset = offset
      self.store = store
    }

    func append(_ bytes: [UInt8]) throws(BlobRejection) {
      try store.append(bytes, to: id, by: number)
      offset += bytes.count
    }

    func flush() {}

    func complete() throws(BlobRejection) -> StoredBlobReference {
      try store.complete(id, by: number)
    }
  }
}
