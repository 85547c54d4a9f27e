import WayRPC
import WaySession
import WayValues
import Waybridge

/// The bytes of blobs in an object store of NATS, and the registry of each session's blobs in a
/// bucket. Confined to one thread at a time; each call blocks.
///
/// Each part of a blob is written after the last one that the writer knows of. Of two requests for an
/// upload, at whichever servers, only the one that writes first continues it.
final class JetStreamBlobStream {
  /// The end of an upload.
  struct UploadEnd {
    /// The number of the last message; zero if there is none.
    let sequence: UInt64
    /// The number of bytes.
    let offset: Int
  }

  private static let description = "Blobs of Waybridge, form 1"

  private let connection: NATSConnection
  private let names: NATSClusterNames
  private let registries: KeyValueBucket
  private let stream: String

  /// Connects to NATS, and creates the bucket and the object store if there are none.
  init(_ configuration: NATSClusterConfiguration) throws(NATSClusterError) {
    connection = try NATSConnection(configuration)
    names = configuration.names
    stream = "OBJ_" + names.blobBucket
    registries = try KeyValueBucket(
      names.blobBucket, description: Self.description, replicas: configuration.replicas,
      on: connection)
    try connection.requireStream(
      NATSConnection.StreamDefinition(
        name: stream, displayName: "the object store \(names.blobBucket)",
        description: Self.description, subject: Self.partPrefix(names) + ">",
        secondSubject: "$O.\(names.blobBucket).M.>", replicas: configuration.replicas,
        allowsRollups: true))
  }

  /// The maximum number of bytes of a part.
  var partSize: Int {
    min(
      JetStreamBlobParts.partSize,
      connection.maxMessage - 1024 - JetStreamSessionLogCipher.overhead)
  }

  /// The bytes that all blobs use.
  func byteCount() throws(NATSClusterError) -> Int { try connection.byteCount(of: stream) }

  private static func partPrefix(_ names: NATSClusterNames) -> String {
    "$O.\(names.blobBucket).C."
  }

  private func partSubject(of id: String) -> String { Self.partPrefix(names) + id }

  private func objectSubject(of id: String) -> String {
    "$O.\(names.blobBucket).M." + JetStreamBlobObject.token(of: id)
  }

  private func sealed(
    _ bytes: [UInt8], on subject: String, after: UInt64
  ) throws(NATSClusterError) -> [UInt8] {
    guard let sealed = connection.logCipher.seal(bytes, on: subject, after: after) else {
      throw NATSClusterError(connection.endpoint, "a blob cannot be encrypted: memory is short")
    }
    return sealed
  }

  private func opened(
    _ message: NATSConnection.StreamMessage
  ) throws(NATSClusterError) -> [UInt8] {
    do throws(ByteDecodingError) { return try connection.logCipher.openData(message) } catch {
      throw NATSClusterError(connection.endpoint, "a blob cannot be read: \(error)")
    }
  }
}

// Registries.
extension JetStreamBlobStream {
  /// What is stored of the blobs of a session.
  struct StoredRegistry: Codable {
    let session: String
    var blobs: [BlobRegistry.BlobEntry]
  }

  /// Returns the blobs of a session, and the number of the message that the next change must be
  /// written after. Blobs that were stored with a secret that is gone are lost: there are none then.
  func registry(
    of session: String
  ) throws(NATSClusterError) -> (blobs: [BlobRegistry.BlobEntry], last: UInt64) {
    guard let entry = try registries.entry(of: names.blobKey(of: session)) else { return ([], 0) }
    guard !entry.message.isDeletion else { return ([], entry.lastSequence) }
    return ((try? decode(entry.message))?.blobs ?? [], entry.lastSequence)
  }

  /// Writes the blobs of a session. Returns false if another server has changed them first.
  func store(
    _ blobs: [BlobRegistry.BlobEntry], of session: String, after last: UInt64
  ) throws(NATSClusterError) -> Bool {
    let key = names.blobKey(of: session)
    guard !blobs.isEmpty else { return try registries.remove(key, after: last) }
    let text = try encode(StoredRegistry(session: session, blobs: blobs))
    let bytes = try sealed(text, on: registries.subject(of: key), after: last)
    return try registries.put(bytes, as: key, after: last) != nil
  }

  /// Returns the blobs of all sessions. A nats-server that is behind the others may return an earlier
  /// state.
  func allRegistries() throws(NATSClusterError) -> [StoredRegistry] {
    try registries.currentMessages().compactMap { try? decode($0) }
  }

  private func decode(
    _ message: NATSConnection.StreamMessage
  ) throws(NATSClusterError) -> StoredRegistry {
    try decode(StoredRegistry.self, from: try opened(message))
  }

  private func encode(_ content: some Encodable) throws(NATSClusterError) -> [UInt8] {
    guard let value = try? ValueEncoder().encode(content), let text = try? JSON.text(value) else {
      throw NATSClusterError(connection.endpoint, "a blob cannot be stored: it cannot be encoded")
    }
    return Array(text.utf8)
  }

  private func decode<Content: Decodable>(
    _ type: Content.Type, from bytes: [UInt8]
  ) throws(NATSClusterError) -> Content {
    guard let value = try? JSON.parse(bytes.span.bytes),
      let content = try? value.decode(as: type)
    else { throw NATSClusterError(connection.endpoint, "a blob cannot be read") }
    return content
  }
}

// Parts.
extension JetStreamBlobStream {
  /// Writes a part of an upload after a message. Returns its number, or nil if another request has
  /// written first.
  func append(
    _ part: [UInt8], to id: String, after end: UploadEnd
  ) throws(NATSClusterError) -> UInt64? {
    let subject = partSubject(of: id)
    var publication = NATSConnection.Publication(
      subject: subject, bytes: try sealed(part, on: subject, after: end.sequence),
      previousSequence: end.sequence)
    publication.endOffset = end.offset + part.count
    guard case .stored(let number)? = try connection.publish([publication]).first else {
      return nil
    }
    guard connection.isReplicated else { return number }
    try connection.synchronize(stream)
    return try isNext(number, after: end.sequence, of: subject) ? number : nil
  }

  private func isNext(
    _ number: UInt64, after: UInt64, of subject: String
  ) throws(NATSClusterError) -> Bool {
    try connection.isNext(number, after: after, of: subject, in: stream)
  }

  /// Returns the end of an upload.
  func end(of id: String) throws(NATSClusterError) -> UploadEnd {
    let subject = partSubject(of: id)
    try connection.synchronize(stream)
    guard let last = try connection.lastMessage(in: stream, of: subject) else {
      return UploadEnd(sequence: 0, offset: 0)
    }
    if let offset = last.endOffset, let after = last.previousSequence {
      var isEffective = true
      if connection.isReplicated {
        isEffective = try isNext(last.sequence, after: after, of: subject)
      }
      if isEffective { return UploadEnd(sequence: last.sequence, offset: offset) }
    }
    return UploadEnd(sequence: last.sequence, offset: try parts(of: id) { _ in }.ends.last ?? 0)
  }

  /// Reads all parts of an upload, and calls `receive` with the bytes of each.
  func parts(
    of id: String, _ receive: ([UInt8]) -> Void
  ) throws(NATSClusterError) -> JetStreamBlobParts {
    let subject = partSubject(of: id)
    var parts = JetStreamBlobParts()
    var last: UInt64 = 0
    while let next = try connection.nextSequence(in: stream, of: subject, from: last + 1) {
      // A part is missing at a nats-server that is behind the others, or was removed meanwhile.
      guard let message = try connection.message(next, in: stream) else { break }
      // Of several parts that were written after the same one, the first is effective.
      if message.previousSequence == last, let end = message.endOffset {
        receive(try opened(message))
        parts.append(next, end: end)
      }
      last = next
    }
    return parts
  }

  /// Returns the bytes of a part; nil if it was removed.
  func part(_ sequence: UInt64, of id: String) throws(NATSClusterError) -> [UInt8]? {
    guard let message = try connection.message(sequence, in: stream),
      message.subject == partSubject(of: id)
    else { return nil }
    return try opened(message)
  }
}

// Complete blobs.
extension JetStreamBlobStream {
  /// Stores what is known of a complete blob.
  func store(_ object: JetStreamBlobObject) throws(NATSClusterError) -> Bool {
    let subject = objectSubject(of: object.name)
    let last = try connection.lastMessage(in: stream, of: subject)?.sequence ?? 0
    let publication = NATSConnection.Publication(
      subject: subject, bytes: try sealed(try encode(object), on: subject, after: last),
      previousSequence: last, rollsUp: true)
    guard case .stored? = try connection.publish([publication]).first else { return false }
    return true
  }

  /// Returns what is known of a complete blob; nil if it was removed.
  func object(_ id: String) throws(NATSClusterError) -> JetStreamBlobObject? {
    guard let message = try connection.lastMessage(in: stream, of: objectSubject(of: id)) else {
      return nil
    }
    return try decode(JetStreamBlobObject.self, from: try opened(message))
  }

  /// Returns the object of a complete blob.
  func makeObject(
    _ entry: BlobRegistry.BlobEntry, _ parts: JetStreamBlobParts, sha256: String
  ) -> JetStreamBlobObject {
    JetStreamBlobObject(
      entry.record.id, in: names.blobBucket, parts, type: entry.record.type, sha256: sha256)
  }

  /// Deletes all that is stored of a blob beside its registry.
  func delete(_ id: String) throws(NATSClusterError) {
    if let object = try object(id) {
      for sequence in object.parts.sequences {
        try connection.deleteMessage(sequence, in: stream)
      }
    }
    try connection.delete(stream, objectSubject(of: id), through: .max)
    try connection.delete(stream, partSubject(of: id), through: .max)
  }

  /// Returns the ids of all blobs that have parts.
  func storedIDs() throws(NATSClusterError) -> [String] {
    let prefix = Self.partPrefix(names)
    return try connection.subjects(in: stream, like: prefix + ">").compactMap { subject in
      subject.hasPrefix(prefix) ? String(subject.dropFirst(prefix.count)) : nil
    }
  }
}
