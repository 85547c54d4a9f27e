import Logging
import WayCrypto
import WayRPC
import WaySockets
import WayTransport
import WayValues

/// The files of the blobs: one with the bytes of each, and one with its record.
final class BlobFiles: @unchecked Sendable {  // confined to the thread of its store
  /// Number of bytes to read at a time.
  private static let stepSize = 1 << 20

  /// The folder, unless it is a temporary one that is not needed yet.
  private let folder: Locked<DataFolder?>
  /// The digests of unfinished uploads, with the number of their bytes.
  private var digests: [String: (digest: ContentDigest, count: Int)] = [:]
  private let logger: Logger?

  init(_ configuration: BlobConfiguration, _ logger: Logger?) throws(SocketError) {
    var folder: DataFolder?
    if let path = configuration.folder { folder = try DataFolder(path: path) }
    self.folder = Locked(folder)
    self.logger = logger
  }

  /// The path of a blob's bytes.
  func path(of record: BlobRecord) -> String? {
    folder.withLock { $0?.path(of: record.dataName) }
  }

  /// Reads the records that are stored, with the number of bytes. Removes files without a record.
  func stored() -> [(record: BlobRecord, size: Int)] {
    guard let folder = folder.withLock({ $0 }) else { return [] }
    var found: [(record: BlobRecord, size: Int)] = []
    var known: Set<String> = []
    let names = folder.names()
    for name in names where name.hasSuffix(BlobRecord.recordSuffix) {
      guard let record = read(name, in: folder) else { continue }
      let size = folder.size(of: record.dataName) ?? 0
      // The bytes of a complete blob are on the disk before its record.
      guard record.sha256 == nil || size == record.length else { continue }
      found.append((record, size))
      known.formUnion([record.dataName, record.recordName])
    }
    for name in names where !known.contains(name) { folder.remove(name) }
    return found
  }

  private func read(_ name: String, in folder: DataFolder) -> BlobRecord? {
    guard let bytes = try? folder.read(name, at: 0, count: 64 << 10),
      let record = try? JSON.parse(bytes.span.bytes).decode(as: BlobRecord.self),
      BlobRecord.isID(record.id), record.recordName == name
    else { return nil }
    return record
  }

  /// The folder, which is created if it is a temporary one.
  private func openFolder() throws(BlobRejection) -> DataFolder {
    if let folder = folder.withLock({ $0 }) { return folder }
    do throws(SocketError) {
      let created = try DataFolder.temporary(named: "waybridge-blobs")
      folder.withLock { $0 = created }
      return created
    } catch {
      logger?.error("blobs cannot be stored", metadata: ["reason": "\(error)"])
      throw .failed
    }
  }

  /// Performs an operation on files, and reports an error of the disk.
  private func attempt<Result>(
    _ operation: (DataFolder) throws(DataFolder.DataFolderError) -> Result
  ) throws(BlobRejection) -> Result {
    let folder = try openFolder()
    do throws(DataFolder.DataFolderError) { return try operation(folder) } catch {
      logger?.error("a blob cannot be stored", metadata: ["reason": "\(error)"])
      throw error.isFull ? .serverFull : .failed
    }
  }

  /// Writes the record of a blob.
  func store(_ record: BlobRecord) throws(BlobRejection) {
    guard let value = try? ValueEncoder().encode(record), let text = try? JSON.text(value) else {
      throw .failed
    }
    try attempt { folder throws(DataFolder.DataFolderError) in
      try folder.replace(record.recordName, with: Array(text.utf8))
    }
  }

  /// Writes bytes of an unfinished upload.
  func append(_ bytes: [UInt8], to record: BlobRecord, at offset: Int) throws(BlobRejection) {
    let digest = try digest(of: record, size: offset)
    do throws(BlobRejection) {
      try attempt { folder throws(DataFolder.DataFolderError) in
        try folder.write(bytes, to: record.dataName, at: offset)
      }
    } catch {
      digests[record.id] = nil
      throw error
    }
    digest.update(bytes)
    digests[record.id] = (digest, offset + bytes.count)
  }

  /// The digest of an upload's first bytes, which are read again if they were received before a restart.
  private func digest(of record: BlobRecord, size: Int) throws(BlobRejection) -> ContentDigest {
    if let known = digests[record.id], known.count == size { return known.digest }
    let digest = ContentDigest()
    var offset = 0
    while offset < size {
      let bytes = try attempt { folder throws(DataFolder.DataFolderError) in
        try folder.read(record.dataName, at: offset, count: min(Self.stepSize, size - offset))
      }
      guard !bytes.isEmpty else { throw .failed }
      digest.update(bytes)
      offset += bytes.count
    }
    return digest
  }

  /// Reads bytes of a complete blob.
  func read(_ record: BlobRecord, at offset: Int, count: Int) throws(BlobRejection) -> [UInt8] {
    let bytes = try attempt { folder throws(DataFolder.DataFolderError) in
      try folder.read(record.dataName, at: offset, count: count)
    }
    guard !bytes.isEmpty else { throw .missing }
    return bytes
  }

  /// Completes the bytes of an upload. Returns their digest.
  func finish(_ record: BlobRecord, size: Int) throws(BlobRejection) -> String {
    let digest = try digest(of: record, size: size)
    try attempt { folder throws(DataFolder.DataFolderError) in
      try folder.finish(record.dataName, size: size)
    }
    digests[record.id] = nil
    guard let text = digest.finish() else { throw .failed }
    return text
  }

  func remove(_ record: BlobRecord) {
    digests[record.id] = nil
    guard let folder = folder.withLock({ $0 }) else { return }
    folder.remove(record.recordName)
    folder.remove(record.dataName)
  }

  /// Removes the folder, if it is temporary.
  func close() { folder.withLock { $0 }?.close() }
}
