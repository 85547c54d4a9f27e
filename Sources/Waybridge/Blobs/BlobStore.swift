import Dispatch
import Logging
import WaySession
import WaySockets
import WayTransport

/// The blobs of a server: a registry, and files that are written on a thread of their own, so that a
/// slow disk delays no event loop. Usable from any thread.
final class BlobStore: Sendable {
  private let registry: Locked<BlobRegistry>
  private let files: BlobFiles
  // A separate serial queue uses a thread outside of the pool of Swift's tasks.
  private let queue = DispatchQueue(label: "waybridge.blobs")
  private let limits: Limits
  private let now: @Sendable () -> Int64
  private let sweep = Locked<(any ScheduledWork)?>(nil)

  /// Opens the folder, if one is configured, and reads what is stored there. Blocks.
  init(
    _ configuration: BlobConfiguration, limits: Limits, logger: Logger?,
    now: @escaping @Sendable () -> Int64
  ) throws(SocketError) {
    self.limits = limits
    self.now = now
    var registry = BlobRegistry(limits)
    files = try BlobFiles(configuration, logger)
    for (record, size) in files.stored() { registry.restore(record, size: size) }
    self.registry = Locked(registry)
  }

  /// The number of blobs and unfinished uploads, and their bytes.
  var usage: (count: Int, bytes: Int) { registry.withLock { ($0.count, $0.bytes) } }

  /// Removes blobs of sessions that are not here, once those that are stored are restored, and from
  /// then on blobs that have expired.
  func start(on loop: any EventLoop, where isSession: @escaping @Sendable (String) -> Bool) {
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
      files.remove(record)
    }
  }

  /// Removes the blobs of a session that has ended.
  func removeAll(of session: String) {
    perform { [self] in
      for record in registry.withLock({ $0.removeAll(of: session) }) { files.remove(record) }
    }
  }

  /// Completes all work, and removes a temporary folder.
  func close() async {
    sweep.withLock { $0 }?.cancel()
    await withCheckedContinuation { continuation in
      perform { [self] in
        files.close()
        continuation.resume()
      }
    }
  }

  /// Runs work on the thread of the files, after earlier work.
  func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// The part of a file with a complete blob, which is used now. `range` returns the bytes for the
  /// blob's size. Does not block.
  func use(_ id: String, of session: String) throws(BlobRejection) -> BlobRegistry.BlobEntry {
    let time = now()
    return try registry.withLock { (registry) throws(BlobRejection) in
      try registry.use(id, of: session, at: time)
    }
  }

  /// The path of a blob's bytes.
  func path(of record: BlobRecord) -> String? { files.path(of: record) }
}

// The following run on the thread of the files.
extension BlobStore {
  /// An upload that a request continues.
  struct BlobUploadHandle {
    let id: String
    let writer: Int
  }

  /// Starts an upload. `length` is the length of the blob, if it is known.
  func create(
    _ type: String, length: Int?, in session: String
  ) throws(BlobRejection) -> BlobUploadHandle {
    let time = now()
    let record = BlobRecord(
      id: SessionSecret.random(), session: session, type: type, length: length, changedAt: time)
    try registry.withLock { (registry) throws(BlobRejection) in
      try registry.create(record, at: time)
    }
    do throws(BlobRejection) { try files.store(record) } catch {
      registry.withLock { _ = $0.remove(record.id) }
      throw error
    }
    return BlobUploadHandle(id: record.id, writer: 0)
  }

  /// Starts the continuation of an upload.
  func continueUpload(
    _ id: String, of session: String, at offset: Int, length: Int?
  ) throws(BlobRejection) -> BlobUploadHandle {
    let time = now()
    let writer = try registry.withLock { (registry) throws(BlobRejection) in
      try registry.continueUpload(id, of: session, at: offset, length: length, now: time)
    }
    return BlobUploadHandle(id: id, writer: writer)
  }

  /// Writes the next bytes of an upload.
  func append(_ bytes: [UInt8], to upload: BlobUploadHandle) throws(BlobRejection) {
    let (offset, record) = try registry.withLock { (registry) throws(BlobRejection) in
      try registry.reserve(bytes.count, in: upload.id, by: upload.writer)
    }
    let time = now()
    do throws(BlobRejection) { try files.append(bytes, to: record, at: offset) } catch {
      registry.withLock { $0.written(0, of: bytes.count, in: upload.id, at: time) }
      throw error
    }
    registry.withLock { $0.written(bytes.count, of: bytes.count, in: upload.id, at: time) }
  }

  /// The offset at which an upload continues.
  func offset(of upload: BlobUploadHandle, in session: String) throws(BlobRejection) -> Int {
    let time = now()
    return try registry.withLock { (registry) throws(BlobRejection) in
      try registry.find(upload.id, of: session, at: time).size
    }
  }

  /// Completes an upload.
  func complete(_ upload: BlobUploadHandle) throws(BlobRejection) -> StoredBlobReference {
    let entry = try registry.withLock { (registry) throws(BlobRejection) in
      try registry.completable(upload.id, by: upload.writer)
    }
    let digest = try files.finish(entry.record, size: entry.size)
    let time = now()
    guard let record = registry.withLock({ $0.complete(upload.id, sha256: digest, at: time) })
    else { throw .missing }
    try files.store(record)
    return StoredBlobReference(id: record.id, size: entry.size, type: record.type, sha256: digest)
  }

  /// Ends what other requests do with an upload, and returns its state.
  func inspect(_ id: String, of session: String) throws(BlobRejection) -> BlobRegistry.BlobEntry {
    let time = now()
    return try registry.withLock { (registry) throws(BlobRejection) in
      _ = try registry.takeOver(id, of: session, at: time)
      return try registry.find(id, of: session, at: time)
    }
  }

  /// Removes a blob of a session.
  func remove(_ id: String, of session: String) throws(BlobRejection) {
    let time = now()
    let record = try registry.withLock { (registry) throws(BlobRejection) in
      _ = try registry.find(id, of: session, at: time)
      return registry.remove(id)
    }
    if let record { files.remove(record) }
  }
}
