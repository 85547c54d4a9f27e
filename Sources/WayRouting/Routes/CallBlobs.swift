import WayValues

/// The blobs of a call's session: data that is too large for a message, such as a photo. A handler
/// reads those that its params refer to, and saves others as its result.
///
/// If a handler rethrows an error of these methods, its caller receives -32603 with the message. For
/// another code, the handler throws an error with a code of the app.
///
/// ```swift
/// import Waybridge
///
/// let router = Router()
/// try router.task("action://measure") { call in
///   var size = 0
///   for try await part in call.blobs.bytes(of: call.params["photo"]) { size += part.count }
///   return try await call.blobs.save(Array("\(size) bytes".utf8), type: "text/plain")
/// }
/// ```
public struct CallBlobs: Sendable {
  private let source: (any CallBlobSource)?
  private let session: String

  /// Creates the blobs of a session; nil if the server stores none.
  package init(_ source: (any CallBlobSource)?, of session: String) {
    self.source = source
    self.session = session
  }

  /// The data that a value of params or a result refers to, read part by part as it is asked for. The
  /// sequence throws ``CallError``: -32602 if the value is no reference, 2404 if there is no such blob
  /// in the session, and 2503 if it cannot be read, or if the server stores no blobs.
  public func bytes(of reference: Value?) -> BlobBytes {
    BlobBytes(reference: reference, session: session, source: source)
  }

  /// Saves data. Returns the reference, which a result or params can contain.
  ///
  /// Throws ``CallError``: 2413 if it is longer than a blob may be, 2429 if the session has as many
  /// blobs or bytes as it may, and 2503 if it cannot be stored, or if the server stores no blobs.
  public func save(
    _ bytes: [UInt8], type: String = "application/octet-stream"
  ) async throws(CallError) -> Value {
    let writer = try await create(type, length: bytes.count)
    do throws(CallError) {
      try await writer.append(bytes)
      return try await writer.finish()
    } catch {
      await writer.cancel()
      throw error
    }
  }

  /// Saves the parts of a sequence, which is read no faster than they are stored. If it fails, the error
  /// is 2423, and nothing is saved. Throws the errors of ``save(_:type:)``.
  public func save<Parts: AsyncSequence & Sendable>(
    parts: Parts, type: String = "application/octet-stream"
  ) async throws(CallError) -> Value where Parts.Element == [UInt8] {
    let writer = try await create(type, length: nil)
    do throws(CallError) {
      var iterator = parts.makeAsyncIterator()
      while let part = try await Self.next(of: &iterator) { try await writer.append(part) }
      return try await writer.finish()
    } catch {
      await writer.cancel()
      throw error
    }
  }

  private static func next<Iterator: AsyncIteratorProtocol>(
    of iterator: inout Iterator
  ) async throws(CallError) -> Iterator.Element? {
    do { return try await iterator.next() } catch {
      throw (error as? CallError)
        ?? CallError(.cancelled, "The data for a blob cannot be read: \(error)")
    }
  }

  private func create(
    _ type: String, length: Int?
  ) async throws(CallError) -> any CallBlobWriter {
    guard let source else { throw .noBlobs }
    return try await source.create(type, length: length, in: session)
  }
}

/// The data of a blob, in parts.
public struct BlobBytes: AsyncSequence, Sendable {
  let reference: Value?
  let session: String
  let source: (any CallBlobSource)?

  /// Begins to read the data at its start.
  public func makeAsyncIterator() -> BlobIterator { BlobIterator(blob: self) }

  /// Reads the parts of a blob, one at a time.
  public struct BlobIterator: AsyncIteratorProtocol {
    let blob: BlobBytes
    private var reader: (any CallBlobReader)?
    private var offset = 0

    init(blob: BlobBytes) { self.blob = blob }

    /// Returns the next part; nil after the last one. Throws ``CallError``, see
    /// ``CallBlobs/bytes(of:)``.
    public mutating func next() async throws(CallError) -> [UInt8]? {
      let reader = try await openReader()
      guard offset < reader.size else { return nil }
      let part = try await reader.bytes(at: offset)
      offset += part.count
      return part
    }

    private mutating func openReader() async throws(CallError) -> any CallBlobReader {
      if let reader { return reader }
      guard let source = blob.source else { throw .noBlobs }
      guard case .string(let id)? = blob.reference?["$blob"] else {
        throw .invalidParams("The value is no reference to a blob")
      }
      let opened = try await source.open(id, in: blob.session)
      reader = opened
      return opened
    }
  }
}

/// The store of blobs, as handlers use it.
package protocol CallBlobSource: Sendable {
  func open(_ id: String, in session: String) async throws(CallError) -> any CallBlobReader
  func create(
    _ type: String, length: Int?, in session: String
  ) async throws(CallError) -> any CallBlobWriter
}

/// Reads one blob.
package protocol CallBlobReader: Sendable {
  var size: Int { get }
  /// Returns bytes from an offset on, at least one.
  func bytes(at offset: Int) async throws(CallError) -> [UInt8]
}

/// Saves one blob.
package protocol CallBlobWriter: Sendable {
  func append(_ bytes: [UInt8]) async throws(CallError)
  /// Returns the reference.
  func finish() async throws(CallError) -> Value
  /// Removes what was written.
  func cancel() async
}

/// The navigator of a session that has blobs.
package protocol BlobNavigator: Navigator {
  var blobSource: (any CallBlobSource)? { get }
}

extension Call {
  /// The blobs of the session that the call belongs to.
  public var blobs: CallBlobs {
    CallBlobs((navigator as? any BlobNavigator)?.blobSource, of: navigator.session)
  }
}

extension CallError {
  /// The error if there are no blobs.
  fileprivate static var noBlobs: CallError {
    CallError(.unavailable, "The server stores no blobs")
  }
}
