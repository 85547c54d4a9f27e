import WayTransport

/// The blobs of all sessions: how large they are, how long they stay, and which request may continue
/// an upload. It decides, and its owner writes and removes the files.
struct BlobRegistry {
  /// A blob or an unfinished upload.
  struct BlobEntry {
    var record: BlobRecord
    /// The number of bytes received.
    var size: Int
    /// The number of the request that may continue the upload.
    fileprivate(set) var writer = 0
    /// When it was last used, in milliseconds since 1970-01-01 UTC.
    fileprivate(set) var usedAt: Int64

    var isComplete: Bool { record.sha256 != nil }
    /// The bytes that count toward the limits: those announced, or those received.
    fileprivate var charged: Int { max(record.length ?? 0, size) }
  }

  private struct SessionUsage {
    var ids: Set<String> = []
    var bytes = 0
  }

  private let limits: Limits
  private var entries: [String: BlobEntry] = [:]
  private var sessions: [String: SessionUsage] = [:]
  private(set) var bytes = 0

  init(_ limits: Limits) {
    self.limits = limits
  }

  var count: Int { entries.count }

  /// Starts an upload with a new id. `length` is the length of the blob, if it is known.
  mutating func create(
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
    let entry = BlobEntry(record: record, size: size, usedAt: record.changedAt)
    bytes += entry.charged
    sessions[record.session, default: SessionUsage()].bytes += entry.charged
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
  func find(_ id: String, of session: String, at now: Int64) throws(BlobRejection) -> BlobEntry {
    guard let entry = entries[id], entry.record.session == session, !hasExpired(entry, at: now)
    else { throw .missing }
    return entry
  }

  /// The same for a complete blob, which is used now.
  mutating func use(_ id: String, of session: String, at now: Int64) throws(BlobRejection)
    -> BlobEntry
  {
    let entry = try find(id, of: session, at: now)
    guard entry.isComplete else { throw .missing }
    entries[id]?.usedAt = now
    return entry
  }

  /// Makes a request the only one that continues an upload. Returns its number.
  mutating func takeOver(
    _ id: String, of session: String, at now: Int64
  ) throws(BlobRejection) -> Int {
    let writer = try find(id, of: session, at: now).writer + 1
    entries[id]?.writer = writer
    return writer
  }

  /// Starts the continuation of an upload at an offset. Returns the number of the request.
  mutating func continueUpload(
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
  mutating func reserve(
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
  mutating func written(_ count: Int, of reserved: Int, in id: String, at now: Int64) {
    guard let entry = entries[id] else { return }
    if entry.record.length == nil { release(reserved - count, of: entry.record.session) }
    entries[id]?.size += count
    entries[id]?.usedAt = now
  }

  /// Checks that an upload may be completed, and returns it. Its length is fixed then.
  func completable(_ id: String, by writer: Int) throws(BlobRejection) -> BlobEntry {
    let entry = try entry(id, by: writer)
    if entry.isComplete { throw .complete }
    if let length = entry.record.length, length != entry.size {
      throw .malformed("the upload ends after \(entry.size) of \(length) bytes")
    }
    return entry
  }

  /// Records that an upload is complete. Returns its record.
  mutating func complete(_ id: String, sha256: String, at now: Int64) -> BlobRecord? {
    guard var entry = entries[id] else { return nil }
    entry.record.length = entry.size
    entry.record.sha256 = sha256
    entry.record.changedAt = now
    entry.usedAt = now
    entries[id] = entry
    return entry.record
  }

  /// Removes a blob. Returns its record, if it is there.
  @discardableResult
  mutating func remove(_ id: String) -> BlobRecord? {
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
  mutating func removeAll(of session: String) -> [BlobRecord] {
    (sessions[session]?.ids ?? []).sorted().compactMap { remove($0) }
  }

  /// Removes the blobs that have expired, and those of sessions that do not fulfil the condition.
  mutating func removeExpired(
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
