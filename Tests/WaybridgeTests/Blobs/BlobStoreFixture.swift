import Foundation
import TestSupport
import Testing
import WaySession
import WayTransport

@testable import Waybridge
@testable import WaybridgeCluster

/// The kinds of stores, which behave alike.
enum BlobStoreKind: CaseIterable, Sendable {
  case files
  case cluster
  /// A cluster whose secret encrypts what it stores.
  case sealedCluster
}

/// A store of blobs, a clock to move, and what the store needs.
final class BlobStoreFixture: Sendable {
  let now = Locked<Int64>(1_000_000)
  let events = BlobEvents()
  private let kind: BlobStoreKind
  private let limits: Limits
  private let folder: TestFolder
  private let natsServer: NATSServer?
  private let opened = Locked<(any BlobStore)?>(nil)

  /// The clients of a session, and one of another session.
  static let uploader = BlobClient(session: "s", client: "uploader")
  static let member = BlobClient(session: "s", client: "member")
  static let stranger = BlobClient(session: "t", client: "stranger")

  init(_ kind: BlobStoreKind, _ configure: (inout Limits) -> Void = { _ in }) throws {
    var limits = Limits()
    configure(&limits)
    self.limits = limits
    self.kind = kind
    folder = try TestFolder()
    try folder.write(String(repeating: "secret-", count: 6) + "\n", to: "secret", time: 1)
    natsServer = kind == .files ? nil : try NATSServer()
    let store = try makeStore()
    opened.withLock { $0 = store }
  }

  var store: any BlobStore {
    get throws { try #require(opened.withLock { $0 }) }
  }

  /// The address of NATS.
  var natsURL: String { natsServer?.url ?? "" }

  /// Another store with the same blobs: of another server of the cluster.
  func makeStore() throws -> any BlobStore {
    let clock: @Sendable () -> Int64 = { [now] in now.withLock { $0 } }
    guard kind != .files else {
      var configuration = BlobConfiguration()
      configuration.folder = folder.path("blobs")
      return try FileBlobStore(
        configuration, limits: limits, logger: nil, events: events, now: clock)
    }
    var settings = NATSClusterSettings(url: natsURL)
    if kind == .sealedCluster { settings.secretFile = folder.path("secret") }
    return try JetStreamBlobStore(
      NATSClusterConfiguration(settings), limits, nil, events, now: clock)
  }

  /// Closes the store, and opens it again.
  func restart() async throws {
    try await store.close()
    opened.withLock { $0 = nil }
    let store = try makeStore()
    opened.withLock { $0 = store }
  }

  /// Bytes that differ at each offset.
  static func bytes(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }
}

extension BlobStore {
  /// Stores a complete blob. Returns its id.
  func upload(
    _ bytes: [UInt8], by client: BlobClient = BlobStoreFixture.uploader
  ) throws -> String {
    let writer = try create("text/plain", length: bytes.count, by: client)
    try writer.append(bytes)
    return try writer.complete().id
  }

  /// Reads bytes of a blob, in parts.
  func read(
    _ id: String, _ range: Range<Int>? = nil, by client: BlobClient = BlobStoreFixture.member
  ) throws -> [UInt8] {
    let content = try use(id, by: client)
    let range = range ?? 0..<content.entry.size
    var bytes: [UInt8] = []
    while bytes.count < range.count {
      let part = try content.reader.bytes(at: range.lowerBound + bytes.count)
      #expect(!part.isEmpty && part.count <= HTTPSourcedBody.partSize)
      bytes += part.prefix(range.count - bytes.count)
    }
    if let path = content.path {
      #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))[range]) == bytes)
    }
    return bytes
  }
}
