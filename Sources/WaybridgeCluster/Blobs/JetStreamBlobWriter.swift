import WayCrypto
import WaySession
import WayValues
import Waybridge

/// What this server has written of an upload: the digest of its bytes, and its parts.
struct JetStreamUploadProgress {
  let digest: ContentDigest
  var parts = JetStreamBlobParts()
  /// The number of the last part.
  var last: UInt64 = 0
}

/// Writes what one request sends of an upload to the object store. Confined to its store's thread.
final class JetStreamBlobWriter: BlobWriter {
  /// How many bytes are reserved at a time for an upload of an unknown length.
  private static let reservedStep = 1 << 20

  private let record: BlobRecord
  /// The number of the request.
  private let number: Int
  private let store: JetStreamBlobStore
  /// The last part, and the bytes up to it.
  private var end: JetStreamBlobStream.UploadEnd
  /// The bytes after it.
  private var buffer: [UInt8] = []
  /// The number of bytes of the upload that the registry counts.
  private var reserved: Int
  /// How many bytes were written since the space of all blobs was checked.
  private var unchecked = 0
  /// When the registry was changed last.
  private var changedAt: Int64

  init(
    _ record: BlobRecord, number: Int, after end: JetStreamBlobStream.UploadEnd, at time: Int64,
    in store: JetStreamBlobStore
  ) {
    self.record = record
    self.number = number
    self.store = store
    self.end = end
    reserved = record.length ?? end.offset
    changedAt = time
  }

  var id: String { record.id }
  var offset: Int { end.offset + buffer.count }

  func append(_ bytes: [UInt8]) throws(BlobRejection) {
    try reserve(offset + bytes.count)
    buffer += bytes
    let size = store.stream.partSize
    while buffer.count >= size {
      try write(Array(buffer[..<size]))
      buffer.removeFirst(size)
    }
  }

  func flush() throws(BlobRejection) {
    if !buffer.isEmpty {
      try write(buffer)
      buffer = []
    }
    // A registry counts no more bytes than there are once no request writes.
    if record.length == nil, reserved != offset {
      try change { (registry, time) throws(BlobRejection) in
        let entry = try registry.find(id, of: record.session, at: time)
        guard entry.writer == number, !entry.isComplete else { return }
        registry.resize(id, to: offset, at: time)
      }
      reserved = offset
    }
  }

  /// Reserves space in the registry, if the length of the blob is unknown, and records from time to
  /// time that the upload makes progress.
  private func reserve(_ size: Int) throws(BlobRejection) {
    let limit = min(record.length ?? store.limits.maxBlob, store.limits.maxBlob)
    guard size <= limit else { throw .tooLong(limit) }
    guard size <= reserved else {
      let ahead = min(max(size, reserved + Self.reservedStep), limit)
      do throws(BlobRejection) { try reserve(to: ahead) } catch {
        guard size < ahead, case .sessionFull = error else { throw error }
        try reserve(to: size)
      }
      return
    }
    if store.now() - changedAt > Int64(store.limits.uploadExpiry / .milliseconds(4)) {
      try change { (registry, time) throws(BlobRejection) in
        registry.written(0, of: 0, in: id, at: time)
      }
    }
  }

  private func reserve(to size: Int) throws(BlobRejection) {
    let more = size - reserved
    try change { (registry, time) throws(BlobRejection) in
      _ = try registry.reserve(more, in: id, by: number)
      registry.written(more, of: more, in: id, at: time)
    }
    reserved = size
  }

  private func change(
    _ change: (inout BlobRegistry, Int64) throws(BlobRejection) -> Void
  ) throws(BlobRejection) {
    let time = store.now()
    try store.change(record.session) { (registry) throws(BlobRejection) in
      try change(&registry, time)
    }
    changedAt = time
  }

  private func write(_ part: [UInt8]) throws(BlobRejection) {
    unchecked += part.count
    if unchecked >= Self.reservedStep {
      try store.checkSpace(for: part.count)
      unchecked = 0
    }
    let number = try store.attempt { () throws(NATSClusterError) in
      try store.stream.append(part, to: id, after: end)
    }
    guard let number else { throw .superseded }
    var progress =
      end.sequence == 0 ? JetStreamUploadProgress(digest: ContentDigest()) : store.progress[id]
    // Else another request has written parts that this server has not seen.
    if progress?.last == end.sequence {
      progress?.digest.update(part)
      progress?.parts.append(number, end: end.offset + part.count)
      progress?.last = number
    } else {
      progress = nil
    }
    store.progress[id] = progress
    end = JetStreamBlobStream.UploadEnd(sequence: number, offset: end.offset + part.count)
  }

  func complete() throws(BlobRejection) -> StoredBlobReference {
    try flush()
    let (size, session) = (end.offset, record.session)
    func completable(
      _ registry: inout BlobRegistry, _ time: Int64
    ) throws(BlobRejection) -> BlobRegistry.BlobEntry {
      let entry = try registry.find(id, of: session, at: time)
      if !entry.isComplete { registry.resize(id, to: size, at: time) }
      return try registry.completable(id, by: number)
    }
    let time = store.now()
    let entry = try store.change(session) { (registry) throws(BlobRejection) in
      try completable(&registry, time)
    }
    let (parts, digest) = try finishDigest()
    let isStored = try store.attempt { () throws(NATSClusterError) in
      try store.stream.store(store.stream.makeObject(entry, parts, sha256: digest))
    }
    guard isStored else { throw .superseded }
    let complete = try store.change(session) { (registry) throws(BlobRejection) in
      let entry = try registry.find(id, of: session, at: time)
      // It is complete already if the response of NATS to an earlier attempt was lost.
      if entry.record.sha256 == digest { return entry }
      _ = try completable(&registry, time)
      guard let complete = registry.complete(id, sha256: digest, at: store.now()) else {
        throw .missing
      }
      return complete
    }
    guard let reference = StoredBlobReference(complete) else { throw .failed }
    return reference
  }

  /// Returns the parts of the upload, and its digest. Reads what other servers have written.
  private func finishDigest() throws(BlobRejection) -> (JetStreamBlobParts, String) {
    let known = store.progress.removeValue(forKey: id)
    if let known, known.last == end.sequence, let text = known.digest.finish() {
      return (known.parts, text)
    }
    let digest = ContentDigest()
    let parts = try store.attempt { () throws(NATSClusterError) in
      try store.stream.parts(of: id) { digest.update($0) }
    }
    guard parts.ends.last ?? 0 == end.offset, let text = digest.finish() else { throw .failed }
    return (parts, text)
  }
}

/// Reads the parts of a blob from the object store.
struct JetStreamBlobReader: BlobPartReader {
  let id: String
  let parts: JetStreamBlobParts
  let store: JetStreamBlobStore

  func bytes(at offset: Int) throws(BlobRejection) -> [UInt8] {
    guard let part = parts.part(at: offset) else { throw .missing }
    let bytes = try store.attempt { () throws(NATSClusterError) in
      try store.stream.part(part.sequence, of: id)
    }
    guard let bytes, offset - part.start < bytes.count else { throw .missing }
    return Array(bytes.dropFirst(offset - part.start))
  }
}
