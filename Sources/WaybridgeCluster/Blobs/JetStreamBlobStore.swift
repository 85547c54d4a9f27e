import Dispatch
import Logging
import WayCrypto
import WaySession
import WayTransport
import Waybridge

/// The blobs of the servers of a cluster, in NATS with JetStream. Any server continues an upload that
/// began at another one, and serves each blob. Memory holds one part of each request at a time.
///
/// All servers change the registry of a session with compare-and-set, so that limits hold for all
/// of them together. Its state is confined to its thread.
final class JetStreamBlobStore: BlobStore, @unchecked Sendable {
  /// How often a change of a registry is tried, if other servers change it at the same time.
  private static let maxAttempts = 32
  /// A use is recorded if the last one is longer ago than this part of the lifetime.
  private static let usePrecision: Int64 = 16
  /// In how many sweeps parts without a registry are found before they are deleted. A nats-server
  /// that is behind the others may not know the registry yet.
  private static let maxOrphanSweeps = 3

  let limits: Limits
  let now: @Sendable () -> Int64
  let stream: JetStreamBlobStream
  /// The digests and the parts of unfinished uploads, as far as this server has written them.
  var progress: [String: JetStreamUploadProgress] = [:]
  // A separate serial queue uses a thread outside of the pool of Swift's tasks.
  private let queue = DispatchQueue(label: "waybridge.cluster.blobs")
  private let logger: Logger?
  private let events: BlobEvents
  private let sweep = Locked<(any ScheduledWork)?>(nil)
  /// In how many sweeps parts without a registry were found.
  private var orphans: [String: Int] = [:]

  /// Connects to NATS; blocks meanwhile.
  init(
    _ configuration: NATSClusterConfiguration, _ limits: Limits, _ logger: Logger?,
    _ events: BlobEvents, now: @escaping @Sendable () -> Int64
  ) throws(NATSClusterError) {
    stream = try JetStreamBlobStream(configuration)
    self.limits = limits
    self.logger = logger
    self.events = events
    self.now = now
  }

  func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  func close() async {
    sweep.withLock { $0 }?.cancel()
    await withCheckedContinuation { continuation in perform { continuation.resume() } }
  }

  /// Uses NATS, and reports an error of it.
  func attempt<Result>(
    _ operation: () throws(NATSClusterError) -> Result
  ) throws(BlobRejection) -> Result {
    do throws(NATSClusterError) { return try operation() } catch {
      logger?.error("a blob cannot be stored or read", metadata: ["reason": "\(error)"])
      // JSInsufficientResourcesErr, JSStorageResourcesExceededErr and JSStreamStoreFailed.
      throw [10023, 10047, 10077].contains(error.code) ? .serverFull : .failed
    }
  }

  /// Changes the registry of a session. The change is made again if another server changes it first.
  func change<Result>(
    _ session: String,
    _ change: (inout BlobRegistry) throws(BlobRejection) -> Result
  ) throws(BlobRejection) -> Result {
    for _ in 0..<Self.maxAttempts {
      let (blobs, last) = try attempt { () throws(NATSClusterError) in
        try stream.registry(of: session)
      }
      var registry = BlobRegistry(limits, blobs)
      let result = try change(&registry)
      let changed = registry.allEntries
      if changed == blobs { return result }
      let isStored = try attempt { () throws(NATSClusterError) in
        try stream.store(changed, of: session, after: last)
      }
      if isStored { return result }
    }
    logger?.error("the blobs of a session change faster than they can be stored")
    throw .failed
  }

  /// Fails if the blobs of all sessions have no room for so many bytes more.
  func checkSpace(for length: Int) throws(BlobRejection) {
    let used = try attempt { () throws(NATSClusterError) in try stream.byteCount() }
    guard length <= limits.maxServerBlobBytes - used else { throw .serverFull }
  }
}

// Requests.
extension JetStreamBlobStore {
  func create(
    _ type: String, length: Int?, by client: BlobClient
  ) throws(BlobRejection) -> any BlobWriter {
    let time = now()
    let record = BlobRecord(
      id: SessionSecret.random(), by: client, type: type, length: length, at: time)
    try checkSpace(for: length ?? 0)
    try change(client.session) { (registry) throws(BlobRejection) in
      // It is there already if the response of NATS to an earlier attempt was lost.
      if (try? registry.find(record.id, of: client.session, at: time)) == nil {
        try registry.create(record, at: time)
      }
    }
    return JetStreamBlobWriter(
      record, number: 0, after: JetStreamBlobStream.UploadEnd(sequence: 0, offset: 0), at: time,
      in: self)
  }

  func continueUpload(
    _ id: String, by client: BlobClient, at offset: Int, length: Int?
  ) throws(BlobRejection) -> any BlobWriter {
    let time = now()
    try checkSpace(for: 0)
    let end = try attempt { () throws(NATSClusterError) in try stream.end(of: id) }
    let (record, number) = try change(client.session) { (registry) throws(BlobRejection) in
      let entry = try registry.find(id, for: client, to: .write, at: time)
      if !entry.isComplete { registry.resize(id, to: end.offset, at: time) }
      let number = try registry.continueUpload(
        id, of: client.session, at: offset, length: length, now: time)
      return (try registry.find(id, of: client.session, at: time).record, number)
    }
    return JetStreamBlobWriter(record, number: number, after: end, at: time, in: self)
  }

  func inspect(_ id: String, by client: BlobClient) throws(BlobRejection) -> BlobRegistry.BlobEntry
  {
    let time = now()
    let entry = try change(client.session) { (registry) throws(BlobRejection) in
      try registry.find(id, for: client, to: .inspect, at: time)
    }
    if entry.isComplete { return entry }
    let end = try fence(id)
    return try change(client.session) { (registry) throws(BlobRejection) in
      let entry = try registry.find(id, for: client, to: .inspect, at: time)
      if entry.isComplete { return entry }
      registry.resize(id, to: end.offset, at: time)
      _ = try registry.takeOver(id, of: client.session, at: time)
      return try registry.find(id, of: client.session, at: time)
    }
  }

  /// Writes an empty part, so that requests that are writing the upload cannot continue. Returns its
  /// end.
  private func fence(_ id: String) throws(BlobRejection) -> JetStreamBlobStream.UploadEnd {
    for _ in 0..<Self.maxAttempts {
      let fenced = try attempt { () throws(NATSClusterError) -> JetStreamBlobStream.UploadEnd? in
        let end = try stream.end(of: id)
        return try stream.append([], to: id, after: end).map {
          JetStreamBlobStream.UploadEnd(sequence: $0, offset: end.offset)
        }
      }
      if let fenced { return fenced }
    }
    throw .failed
  }

  func use(_ id: String, by client: BlobClient) throws(BlobRejection) -> BlobContent {
    let time = now()
    let entry = try change(client.session) { (registry) throws(BlobRejection) in
      let entry = try registry.find(id, for: client, to: .read, at: time)
      if time - entry.usedAt > Int64(limits.blobExpiry / .milliseconds(1)) / Self.usePrecision {
        _ = try registry.use(id, of: client.session, at: time)
      }
      return entry
    }
    let object = try attempt { () throws(NATSClusterError) in try stream.object(id) }
    guard let object else { throw .missing }
    return BlobContent(
      entry: entry, reader: JetStreamBlobReader(id: id, parts: object.parts, store: self))
  }

  func remove(_ id: String, by client: BlobClient) throws(BlobRejection) {
    let time = now()
    try change(client.session) { (registry) throws(BlobRejection) in
      _ = try registry.find(id, for: client, to: .remove, at: time)
      registry.remove(id)
    }
    delete(id)
  }

  /// Deletes the bytes of a blob that no registry has any more. What fails is deleted later as an
  /// orphan.
  private func delete(_ id: String) {
    progress[id] = nil
    try? attempt { () throws(NATSClusterError) in try stream.delete(id) }
    events.send(.removed(id: id))
  }
}

// Removal.
extension JetStreamBlobStore {
  func removeAll(of session: String) {
    perform { [self] in
      let removed = try? change(session) { (registry) throws(BlobRejection) in
        registry.removeAll(of: session)
      }
      for record in removed ?? [] { delete(record.id) }
    }
  }

  /// Removes blobs that have expired. Blobs of a session that ended while all servers were down expire
  /// too.
  func start(on loop: any EventLoop, where isSession: @escaping @Sendable (String) -> Bool) {
    let shortest = min(limits.blobExpiry, limits.uploadExpiry) / 4
    let interval = min(max(shortest, .milliseconds(50)), .seconds(30))
    let work = loop.schedule(after: interval) { [weak self, weak loop] in
      guard let self, let loop else { return }
      perform { [self] in removeExpired() }
      start(on: loop, where: isSession)
    }
    sweep.withLock { $0 = work }
  }

  private func removeExpired() {
    let time = now()
    // Parts are listed before registries: the registry of a new upload is written before its parts.
    let found = try? attempt { () throws(NATSClusterError) in
      (ids: try stream.storedIDs(), registries: try stream.allRegistries())
    }
    guard let found else { return }
    var known: Set<String> = []
    for stored in found.registries {
      known.formUnion(stored.blobs.map(\.record.id))
      var registry = BlobRegistry(limits, stored.blobs)
      guard !registry.removeExpired(at: time).isEmpty else { continue }
      let removed = try? change(stored.session) { (registry) throws(BlobRejection) in
        registry.removeExpired(at: time)
      }
      for record in removed ?? [] { delete(record.id) }
    }
    for id in progress.keys where !known.contains(id) { progress[id] = nil }
    let unknown = Set(found.ids).subtracting(known)
    orphans = orphans.filter { unknown.contains($0.key) }
    for id in unknown {
      orphans[id, default: 0] += 1
      if orphans[id] == Self.maxOrphanSweeps { delete(id) }
    }
  }
}
