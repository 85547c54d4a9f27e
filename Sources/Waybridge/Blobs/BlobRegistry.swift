import WaySession
import WayTransport

/// The blobs of all sessions: how large they are, how long they stay, and which request may continue
/// an upload. It decides, and its owner writes and removes the files.
package struct BlobRegistry: Sendable {
  /// A blob or an unfinished upload.
  package struct BlobEntry: Codable, Hashable, Sendable {
    package internal(set) var record: BlobRecord
    /// The number of bytes received, or reserved for them.
    package internal(set) var size: Int
    /// The number of the request that may continue the upload.
    package fileprivate(set) var writer = 0
    /// When it was last used, in milliseconds since 1970-01-01 UTC.
    package fileprivate(set) var usedAt: Int64

    package var isComplete: Bool { record.sha256 != nil }
    /// The bytes that count toward the limits: those announced, or those received.
    fileprivate var charged: Int { max(record.length ?? 0, size) }
  }

  /// What a client does with a blob.
  package enum BlobAction: Sendable {
    /// Fetches its bytes.
    case read
    /// Reads how much of it is there.
    case inspect
    /// Continues its upload.
    case write
    case remove
  }

  private struct SessionUsage: Sendable {
    var ids: Set<String> = []
    var bytes = 0
  }

  private let limits: Limits
  private var entries: [String: BlobEntry] = [:]
  private var sessions: [String: SessionUsage] = [:]
  private(set) var bytes = 0

  package init(_ limits: Limits) {
    self.limits = limits
  }

  /// Creates the registry of blobs that are stored already, whatever the limits are now.
  package init(_ limits: Limits, _ entries: [BlobEntry]) {
    self.init(limits)
    for entry in entries { restore(entry) }
  }

  var count: Int { entries.count }

  /// All blobs, in the order of their ids.
  package var allEntries: [BlobEntry] { entries.values.sorted { $0.record.id < $1.record.id } }

  /// Starts an upload with a new id. `length` is the length of the blob, if it is known.
  package mutating func create(
    _ record: BlobRecord, at now: Int64
  ) throws(BlobRejection) {
    let usage = sessions[record.session] ?? SessionUsage()
    guard usage.ids.count < limits.maxBlobs else {
      throw .sessionFull("the session has \(limits.maxBlobs) blobs already; remove one")
    }
    if let length = record.length, length > limits.maxBlob { throw .tooLong(limits.maxBlob) }
    try reserve(record.length ?? 0, for: record.session)
    add(BlobEntry(record: record, size: 0, usedAt: now))
  }

  /// Adds a blob that is stored already, whatever the limits are now.
  mutating func restore(_ record: BlobRecord, size: Int) {
    restore(BlobEntry(record: record, size: size, usedAt: record.changedAt))
  }

  private mutating func restore(_ entry: BlobEntry) {
    bytes += entry.charged
    sessions[entry.record.session, default: SessionUsage()].bytes += entry.charged
    add(entry)
  }

  private mutating func add(_ entry: BlobEntry) {
    entries[entry.record.id] = entry
    sessions[entry.record.session, default: SessionUsage()].ids.insert(entry.record.id)
  }

  private mutating func reserve(_ more: Int, for session: String) throws(BlobRejection) {
    guard more <= limits.maxBlobBytes - (sessions[session]?.bytes ?? 0) else {
      throw .sessionFull(
        "the blobs of the session have more than \(limits.maxBlobBytes) bytes; remove one")
    }
    guard more <= limits.maxServerBlobBytes - bytes else { throw .serverFull }
    bytes += more
    sessions[session, default: SessionUsage()].bytes += more
  }

  /// The blob of a session, unless it has expired.
  package func find(_ id: String, of session: String, at now: Int64) throws(BlobRejection)
    -> BlobEntry
  {
    guard let entry = entries[id], entry.record.session == session, !hasExpired(entry, at: now)
    else { throw .missing }
    return entry
  }

  /// The blob of the session of a client, which wants to do something with it. Only its uploader
  /// knows of an unfinished upload, continues it, and removes the blob, unless a client may remove
  /// all.
  package func find(
    _ id: String, for client: BlobClient, to action: BlobAction, at now: Int64
  ) throws(BlobRejection) -> BlobEntry {
    let entry = try find(id, of: client.session, at: now)
    let isUploader = entry.record.uploader == client.client
    switch action {
    case .read where !entry.isComplete, .inspect where !entry.isComplete && !isUploader:
      throw .missing
    case .write where !isUploader, .remove where !isUploader && !client.mayRemoveAll:
      throw .notUploader
    default: return entry
    }
  }

  /// The same for a complete blob, which is used now.
  package mutating func use(_ id: String, of session: String, at now: Int64) throws(BlobRejection)
    -> BlobEntry
  {
    let entry = try find(id, of: session, at: now)
    guard entry.isComplete else { throw .missing }
    entries[id]?.usedAt = now
    return entry
  }

  /// Makes a request the only one that continues an upload. Returns its number.
  package mutating func takeOver(
    _ id: String, of session: String, at now: Int64
  ) throws(BlobRejection) -> Int {
    let writer = try find(id, of: session, at: now).writer + 1
    entries[id]?.writer = writer
    return writer
  }

  /// Starts the continuation of an upload at an offset. Returns the number of the request.
  package mutating func continueUpload(
    _ id: String, of session: String, at offset: Int, length: Int?, now: Int64
  ) throws(BlobRejection) -> Int {
    let entry = try find(id, of: session, at: now)
    if entry.isComplete { throw .complete }
    guard offset == entry.size else { throw .wrongOffset(expected: entry.size) }
    if let length {
      guard entry.record.length ?? length == length else {
        throw .malformed("the Upload-Length header contradicts that of an earlier request")
      }
      guard length <= limits.maxBlob else { throw .tooLong(limits.maxBlob) }
      guard length >= entry.size else { throw .tooLong(length) }
      if entry.record.length == nil {
        try reserve(length - entry.size, for: session)
        entries[id]?.record.length = length
      }
    }
    return try takeOver(id, of: session, at: now)
  }

  /// Reserves the space for more bytes of an upload, before they are written. Returns their offset and
  /// the record.
  package mutating func reserve(
    _ more: Int, in id: String, by writer: Int
  ) throws(BlobRejection) -> (offset: Int, record: BlobRecord) {
    let entry = try entry(id, by: writer)
    let limit = min(entry.record.length ?? limits.maxBlob, limits.maxBlob)
    guard more <= limit - entry.size else { throw .tooLong(limit) }
    if entry.record.length == nil { try reserve(more, for: entry.record.session) }
    return (entry.size, entry.record)
  }

  private func entry(_ id: String, by writer: Int) throws(BlobRejection) -> BlobEntry {
    guard let entry = entries[id] else { throw .missing }
    guard entry.writer == writer else { throw .superseded }
    return entry
  }

  /// Records that reserved bytes were written, or releases them if that has failed.
  package mutating func written(_ count: Int, of reserved: Int, in id: String, at now: Int64) {
    guard let entry = entries[id] else { return }
    if entry.record.length == nil { release(reserved - count, of: entry.record.session) }
    entries[id]?.size += count
    entries[id]?.usedAt = now
  }

  /// Records how many bytes of an upload there are, in the place of those that were reserved.
  package mutating func resize(_ id: String, to size: Int, at now: Int64) {
    guard var entry = entries[id] else { return }
    release(entry.charged, of: entry.record.session)
    (entry.size, entry.usedAt) = (size, now)
    release(-entry.charged, of: entry.record.session)
    entries[id] = entry
  }

  /// Checks that an upload may be completed, and returns it. Its length is fixed then.
  package func completable(_ id: String, by writer: Int) throws(BlobRejection) -> BlobEntry {
    let entry = try entry(id, by: writer)
    if entry.isComplete { throw .complete }
    if let length = entry.record.length, length != entry.size {
      throw .malformed("the upload ends after \(entry.size) of \(length) bytes")
    }
    return entry
  }

  /// Records that an upload is complete. Returns it.
  package mutating func complete(_ id: String, sha256: String, at now: Int64) -> BlobEntry? {
    guard var entry = entries[id] else { return nil }
    entry.record.length = entry.size
    entry.record.sha256 = sha256
    entry.record.changedAt = now
    entry.usedAt = now
    entries[id] = entry
    return entry
  }

  /// Removes a blob. Returns its record, if it is there.
  @discardableResult
  package mutating func remove(_ id: String) -> BlobRecord? {
    guard let entry = entries.removeValue(forKey: id) else { return nil }
    let session = entry.record.session
    release(entry.charged, of: session)
    sessions[session]?.ids.remove(id)
    if sessions[session]?.ids.isEmpty == true { sessions[session] = nil }
    return entry.record
  }

  private mutating func release(_ count: Int, of session: String) {
    bytes -= count
    sessions[session]?.bytes -= count
  }

  /// Removes all blobs of a session.
  package mutating func removeAll(of session: String) -> [BlobRecord] {
    (sessions[session]?.ids ?? []).sorted().compactMap { remove($0) }
  }

  /// Removes the blobs that have expired, and those of sessions that do not fulfil the condition.
  package mutating func removeExpired(
    at now: Int64, unless isSession: (String) -> Bool = { _ in true }
  ) -> [BlobRecord] {
    entries.values.filter { hasExpired($0, at: now) || !isSession($0.record.session) }
      .compactMap { remove($0.record.id) }
  }

  private func hasExpired(_ entry: BlobEntry, at now: Int64) -> Bool {
    let lifetime = entry.isComplete ? limits.blobExpiry : limits.uploadExpiry
    return now - entry.usedAt >= lifetime.components.seconds * 1_000
      + lifetime.components.attoseconds / 1_000_000_000_000_000
  }
}
