import WayRPC
import WayRouting
import WaySession
import WayTransport
import WayValues

/// The store of blobs, as handlers of the app use it.
struct StoredCallBlobs: CallBlobSource {
  let store: any BlobStore
  /// Finds blobs of other sessions that the clients of a session may fetch.
  let tokens: BlobTokens

  /// The app as a client of a session. No client has this name.
  private func app(in session: String) -> BlobClient { tokens.app(in: session) }

  func open(_ id: String, in session: String) async throws(CallError) -> any CallBlobReader {
    let client = app(in: session)
    let content = try await store.run { (store) throws(BlobRejection) in
      do throws(BlobRejection) { return try store.use(id, by: client) } catch {
        guard case .missing = error, let reader = client.reader(of: id) else { throw error }
        return try store.use(id, by: reader)
      }
    }
    return StoredBlobReader(content: content, store: store)
  }

  func create(
    _ type: String, length: Int?, in session: String
  ) async throws(CallError) -> any CallBlobWriter {
    let client = app(in: session)
    let writer = StoredBlobWriter(store, client)
    try await store.run { (store) throws(BlobRejection) in
      writer.open(try store.create(type, length: length, by: client))
    }
    return writer
  }

  private struct StoredBlobReader: CallBlobReader {
    let content: BlobContent
    let store: any BlobStore

    var size: Int { content.entry.size }

    func bytes(at offset: Int) async throws(CallError) -> [UInt8] {
      try await store.run { (_) throws(BlobRejection) in try content.reader.bytes(at: offset) }
    }
  }

  /// Its writer is confined to the thread of the store.
  private final class StoredBlobWriter: CallBlobWriter, @unchecked Sendable {
    private let store: any BlobStore
    private let client: BlobClient
    private var writer: (any BlobWriter)?

    init(_ store: any BlobStore, _ client: BlobClient) {
      self.store = store
      self.client = client
    }

    func open(_ writer: any BlobWriter) { self.writer = writer }

    func append(_ bytes: [UInt8]) async throws(CallError) {
      // A store gets no more at a time than a connection reads.
      for start in stride(from: 0, to: bytes.count, by: HTTPSourcedBody.partSize) {
        let part = Array(bytes[start..<min(start + HTTPSourcedBody.partSize, bytes.count)])
        try await store.run { [self] (_) throws(BlobRejection) in try writer?.append(part) }
      }
    }

    func finish() async throws(CallError) -> Value {
      let reference = try await store.run { [self] (_) throws(BlobRejection) in
        guard let writer else { throw .missing }
        return try writer.complete()
      }
      guard let value = try? ValueEncoder().encode(reference) else {
        throw CallError(.internal, "The reference to a blob cannot be encoded")
      }
      return value
    }

    func cancel() async {
      try? await store.run { [self] (store) throws(BlobRejection) in
        if let writer { try store.remove(writer.id, by: client) }
      }
    }
  }
}

extension BlobStore {
  /// Runs work on the thread of the store.
  fileprivate func run<Success: Sendable>(
    _ work: @escaping @Sendable (any BlobStore) throws(BlobRejection) -> Success
  ) async throws(CallError) -> Success {
    let result = await withCheckedContinuation { continuation in
      perform {
        continuation.resume(returning: Result { () throws(BlobRejection) in try work(self) })
      }
    }
    return try result.mapError(\.callError).get()
  }
}

extension BlobRejection {
  /// The error for a handler.
  fileprivate var callError: CallError {
    let code: ErrorCode =
      switch self {
      case .malformed, .unsupportedType: .invalidParams
      case .missing: .noRoute
      case .notUploader: .forbidden
      case .wrongOffset, .superseded, .complete: .conflict
      case .tooLong: .tooLarge
      case .sessionFull: .tooMany
      case .serverFull, .failed: .unavailable
      }
    return CallError(code, text)
  }
}
