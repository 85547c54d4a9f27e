import Testing
import WaySession
import WayTransport

@testable import Waybridge

struct BlobRegistryTests {
  private static var limits: Limits {
    var limits = Limits()
    limits.maxBlob = 100
    limits.maxBlobs = 3
    limits.maxBlobBytes = 150
    limits.maxServerBlobBytes = 250
    limits.blobExpiry = .milliseconds(1000)
    limits.uploadExpiry = .milliseconds(100)
    return limits
  }

  private func record(_ id: String, _ session: String = "s", length: Int? = nil) -> BlobRecord {
    BlobRecord(
      id: id, by: BlobClient(session: session, client: "c"), type: "a/b", length: length, at: 0)
  }

  /// Adds bytes to an upload, as its store does.
  private func write(
    _ count: Int, to id: String, by writer: Int = 0, _ registry: inout BlobRegistry,
    at now: Int64 = 0
  ) throws(BlobRejection) {
    _ = try registry.reserve(count, in: id, by: writer)
    registry.written(count, of: count, in: id, at: now)
  }

  @Test func `Sizes and numbers are limited`() throws {
    var registry = BlobRegistry(Self.limits)
    try registry.create(record("a"), at: 0)
    try write(100, to: "a", &registry)
    #expect(throws: BlobRejection.tooLong(100)) { try write(1, to: "a", &registry) }
    #expect(throws: BlobRejection.tooLong(100)) {
      try registry.create(record("b", length: 101), at: 0)
    }
    // The bytes that are announced count at once.
    try registry.create(record("b", length: 50), at: 0)
    #expect(registry.bytes == 150)
    #expect(throws: BlobRejection.self) { try registry.create(record("c", length: 1), at: 0) }
    try registry.create(record("c", length: 0), at: 0)
    #expect(throws: BlobRejection.self) { try registry.create(record("d", length: 0), at: 0) }
    #expect(throws: BlobRejection.tooLong(50)) { try write(51, to: "b", &registry) }
    try registry.create(record("e", "t", length: 100), at: 0)
    #expect(throws: BlobRejection.serverFull) {
      try registry.create(record("f", "u", length: 1), at: 0)
    }
    registry.remove("a")
    try registry.create(record("f", "u", length: 100), at: 0)
    #expect(registry.bytes == 250)
  }

  @Test func `Only the last request continues an upload, and at its end`() throws {
    var registry = BlobRegistry(Self.limits)
    try registry.create(record("a"), at: 0)
    try write(10, to: "a", &registry)
    #expect(throws: BlobRejection.wrongOffset(expected: 10)) {
      _ = try registry.continueUpload("a", of: "s", at: 9, length: nil, now: 0)
    }
    #expect(throws: BlobRejection.missing) {
      _ = try registry.continueUpload("a", of: "t", at: 10, length: nil, now: 0)
    }
    let writer = try registry.continueUpload("a", of: "s", at: 10, length: 20, now: 0)
    #expect(registry.bytes == 20)
    #expect(throws: BlobRejection.superseded) { try write(1, to: "a", &registry) }
    try write(5, to: "a", by: writer, &registry)
    #expect(throws: BlobRejection.self) { _ = try registry.completable("a", by: writer) }
    try write(5, to: "a", by: writer, &registry)
    #expect(try registry.completable("a", by: writer).size == 20)
    #expect(throws: BlobRejection.missing) { _ = try registry.use("a", of: "s", at: 0) }
    #expect(registry.complete("a", sha256: "x", at: 0)?.record.length == 20)
    #expect(try registry.use("a", of: "s", at: 0).size == 20)
    #expect(throws: BlobRejection.complete) {
      _ = try registry.continueUpload("a", of: "s", at: 20, length: nil, now: 0)
    }
  }

  @Test func `Unused blobs expire, and unfinished uploads before them`() throws {
    var registry = BlobRegistry(Self.limits)
    try registry.create(record("done"), at: 0)
    try registry.create(record("open"), at: 0)
    _ = registry.complete("done", sha256: "x", at: 0)
    try write(1, to: "open", &registry, at: 50)
    #expect(registry.removeExpired(at: 149).isEmpty)
    #expect(throws: BlobRejection.missing) { _ = try registry.find("open", of: "s", at: 150) }
    #expect(registry.removeExpired(at: 150).map(\.id) == ["open"])
    _ = try registry.use("done", of: "s", at: 999)
    #expect(registry.removeExpired(at: 1998).isEmpty)
    #expect(registry.removeExpired(at: 1999).map(\.id) == ["done"])
    #expect(registry.count == 0 && registry.bytes == 0)
    try registry.create(record("kept"), at: 2000)
    try registry.create(record("lost", "t"), at: 2000)
    #expect(registry.removeExpired(at: 2000) { $0 == "s" }.map(\.id) == ["lost"])
  }

  /// What each kind of client may do with a complete blob, and with an unfinished upload.
  static let rights: [(client: BlobClient, complete: String, unfinished: String)] = [
    (
      BlobClient(session: "s", client: "uploader"), "read inspect write remove",
      "inspect write remove"
    ),
    (BlobClient(session: "s", client: "other"), "read inspect", ""),
    (
      BlobClient(session: "s", client: "moderator", mayRemoveAll: true), "read inspect remove",
      "remove"
    ),
    (BlobClient(session: "t", client: "uploader", mayRemoveAll: true), "", ""),
  ]

  @Test(arguments: rights)
  func `Clients may do what their relation to a blob allows`(
    client: BlobClient, complete: String, unfinished: String
  ) throws {
    var registry = BlobRegistry(Self.limits)
    let uploader = BlobClient(session: "s", client: "uploader")
    for id in ["done", "open"] {
      try registry.create(BlobRecord(id: id, by: uploader, type: "a/b", length: 0, at: 0), at: 0)
    }
    _ = registry.complete("done", sha256: "x", at: 0)
    let actions: [(name: String, action: BlobRegistry.BlobAction)] = [
      ("read", .read), ("inspect", .inspect), ("write", .write), ("remove", .remove),
    ]
    for (id, allowed) in [("done", complete), ("open", unfinished)] {
      let found = actions.filter { action in
        (try? registry.find(id, for: client, to: action.action, at: 0)) != nil
      }
      #expect(found.map(\.name).joined(separator: " ") == allowed)
    }
    #expect(throws: BlobRejection.missing) {
      _ = try registry.find("none", for: client, to: .read, at: 0)
    }
  }

  @Test func `A registry is made again from its entries`() throws {
    var registry = BlobRegistry(Self.limits)
    try registry.create(record("a", length: 50), at: 0)
    try registry.create(record("b"), at: 0)
    try write(20, to: "b", &registry)
    registry.resize("b", to: 15, at: 1)
    registry.resize("a", to: 5, at: 1)
    #expect(registry.bytes == 65)
    var copy = BlobRegistry(Self.limits, registry.allEntries)
    #expect(copy.allEntries == registry.allEntries && copy.bytes == 65 && copy.count == 2)
    #expect(throws: BlobRejection.self) { try copy.create(record("c", length: 86), at: 1) }
    try copy.create(record("c", length: 85), at: 1)
  }

  /// What is charged is the sum of what is there, whatever happens.
  @Test func `Charged bytes agree with the blobs after random operations`() {
    var generator = SplitMix(state: 7)
    for _ in 0..<200 {
      var registry = BlobRegistry(Self.limits)
      var sizes: [String: (announced: Int, size: Int, session: String)] = [:]
      for step in 0..<60 {
        let session = generator.below(2) == 0 ? "s" : "t"
        let id = "b\(generator.below(5))"
        switch generator.below(6) {
        case 0 where sizes[id] == nil:
          let length = generator.below(2) == 0 ? nil : generator.below(120)
          if (try? registry.create(record(id, session, length: length), at: 0)) != nil {
            sizes[id] = (length ?? 0, 0, session)
          }
        case 1, 2:
          let count = generator.below(60)
          guard let known = sizes[id],
            let writer = try? registry.takeOver(id, of: known.session, at: 0)
          else { break }
          if (try? write(count, to: id, by: writer, &registry)) != nil {
            sizes[id]?.size += count
          }
        case 3:
          if registry.remove(id) != nil { sizes[id] = nil }
        case 4 where step % 20 == 19:
          for removed in registry.removeAll(of: session) { sizes[removed.id] = nil }
        default:
          guard let known = sizes[id] else { break }
          let length = generator.below(120)
          let isAccepted =
            (try? registry.continueUpload(
              id, of: known.session, at: known.size, length: length, now: 0)) != nil
          if isAccepted { sizes[id]?.announced = max(length, known.announced) }
        }
        #expect(registry.count == sizes.count)
        #expect(registry.bytes == sizes.values.reduce(0) { $0 + max($1.announced, $1.size) })
        for name in ["s", "t"] {
          let own = sizes.values.filter { $0.session == name }
          #expect(own.count <= 3 && own.reduce(0) { $0 + max($1.announced, $1.size) } <= 150)
        }
      }
    }
  }

  private struct SplitMix {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return Int((mixed ^ (mixed >> 31)) % UInt64(limit))
    }
  }
}
