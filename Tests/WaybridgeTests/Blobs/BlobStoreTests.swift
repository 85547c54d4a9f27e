import TestSupport
import Testing
import WayCrypto
import WaySession
import WayTransport

@testable import Waybridge

/// Both stores hold the same promises. Each test is one thread of its store.
@Suite(.timeLimit(.minutes(1)))
struct BlobStoreTests {
  private let uploader = BlobStoreFixture.uploader
  private let member = BlobStoreFixture.member

  private func digest(of bytes: [UInt8]) -> String? {
    let digest = ContentDigest()
    digest.update(bytes)
    return digest.finish()
  }

  @Test(arguments: BlobStoreKind.allCases)
  func `A blob is what was uploaded, as a whole and in ranges`(_ kind: BlobStoreKind) async throws {
    let fixture = try BlobStoreFixture(kind)
    let store = try fixture.store
    let data = BlobStoreFixture.bytes(700_001)
    let writer = try store.create("image/png", length: nil, by: uploader)
    for start in stride(from: 0, to: data.count, by: 65_536) {
      try writer.append(Array(data[start..<min(start + 65_536, data.count)]))
    }
    let reference = try writer.complete()
    #expect(reference.size == data.count && reference.type == "image/png")
    #expect(reference.sha256 == digest(of: data))
    for range in [nil, 0..<1, 131_071..<131_073, 131_072..<262_144, 300_000..<700_001, 5..<5] {
      #expect(try store.read(reference.id, range) == Array(data[range ?? 0..<data.count]))
    }
    let empty = try store.upload([])
    #expect(try store.read(empty) == [])
    await store.close()
  }

  @Test(arguments: BlobStoreKind.allCases)
  func `An upload continues after a restart of the server`(_ kind: BlobStoreKind) async throws {
    let fixture = try BlobStoreFixture(kind)
    let data = BlobStoreFixture.bytes(400_000)
    let first = try fixture.store.create("a/b", length: data.count, by: uploader)
    try first.append(Array(data[..<200_000]))
    try first.flush()
    try await fixture.restart()
    let store = try fixture.store
    let state = try store.inspect(first.id, by: uploader)
    #expect(state.size == 200_000 && !state.isComplete && state.record.length == data.count)
    #expect(throws: BlobRejection.missing) { try store.inspect(first.id, by: member) }
    #expect(throws: BlobRejection.missing) { try store.use(first.id, by: uploader) }
    #expect(throws: BlobRejection.wrongOffset(expected: 200_000)) {
      try store.continueUpload(first.id, by: uploader, at: 0, length: nil)
    }
    let second = try store.continueUpload(first.id, by: uploader, at: 200_000, length: nil)
    try second.append(Array(data[200_000...]))
    #expect(try second.complete().sha256 == digest(of: data))
    #expect(try store.read(first.id) == data)
    try await fixture.restart()
    #expect(try fixture.store.read(first.id, 199_990..<200_010) == Array(data[199_990..<200_010]))
    #expect(throws: BlobRejection.complete) {
      try fixture.store.continueUpload(
        first.id, by: uploader, at: data.count, length: nil)
    }
    try await fixture.store.close()
  }

  @Test(arguments: BlobStoreKind.allCases)
  func `Only the last request continues an upload`(_ kind: BlobStoreKind) async throws {
    let fixture = try BlobStoreFixture(kind)
    let store = try fixture.store
    let first = try store.create("a/b", length: nil, by: uploader)
    try first.append([1, 2, 3])
    try first.flush()
    // A request for the state ends the upload's request.
    #expect(try store.inspect(first.id, by: uploader).size == 3)
    #expect(throws: BlobRejection.superseded) {
      try first.append([4])
      try first.flush()
    }
    let second = try store.continueUpload(first.id, by: uploader, at: 3, length: nil)
    try second.append([5])
    try second.flush()
    #expect(throws: BlobRejection.superseded) {
      try first.append([6])
      try first.flush()
    }
    #expect(throws: BlobRejection.notUploader) {
      try store.continueUpload(first.id, by: member, at: 4, length: nil)
    }
    #expect(try second.complete().size == 4)
    #expect(try store.read(first.id) == [1, 2, 3, 5])
    await store.close()
  }

  @Test(arguments: BlobStoreKind.allCases)
  func `Sizes and numbers are limited`(_ kind: BlobStoreKind) async throws {
    let fixture = try BlobStoreFixture(kind) { limits in
      limits.maxBlob = 1000
      limits.maxBlobs = 3
      limits.maxBlobBytes = 1500
    }
    let store = try fixture.store
    func rejection(_ work: () throws -> Void) -> BlobRejection? {
      do { try work() } catch { return error as? BlobRejection }
      return nil
    }
    func isFull(_ work: () throws -> Void) -> Bool {
      if case .sessionFull = rejection(work) { true } else { false }
    }
    #expect(throws: BlobRejection.tooLong(1000)) {
      try store.create("a/b", length: 1001, by: uploader)
    }
    let open = try store.create("a/b", length: nil, by: uploader)
    try open.append(BlobStoreFixture.bytes(900))
    #expect(throws: BlobRejection.tooLong(1000)) { try open.append(BlobStoreFixture.bytes(101)) }
    try open.flush()
    #expect(isFull { _ = try store.create("a/b", length: 601, by: member) })
    let second = try store.upload(BlobStoreFixture.bytes(600), by: member)
    #expect(isFull { try open.append([1]) })
    #expect(rejection { _ = try store.create("a/b", length: 0, by: member) } == nil)
    #expect(isFull { _ = try store.create("a/b", length: 0, by: uploader) })
    // Another session has limits of its own.
    let other = try store.upload(BlobStoreFixture.bytes(1000), by: BlobStoreFixture.stranger)
    #expect(throws: BlobRejection.missing) { try store.use(other, by: uploader) }
    try store.remove(second, by: member)
    #expect(try open.complete().size == 900)
    #expect(try store.upload(BlobStoreFixture.bytes(600)) != second)
    await store.close()
  }

  @Test(arguments: BlobStoreKind.allCases)
  func `Blobs end with their session, their time and their removal`(
    _ kind: BlobStoreKind
  ) async throws {
    let fixture = try BlobStoreFixture(kind) { limits in
      limits.blobExpiry = .milliseconds(1000)
      limits.uploadExpiry = .milliseconds(400)
    }
    let store = try fixture.store
    let events = fixture.events.stream
    func removed(_ count: Int) async -> Set<BlobEvent> {
      var found: Set<BlobEvent> = []
      for await event in events {
        found.insert(event)
        if found.count == count { break }
      }
      return found
    }
    let used = try store.upload([1])
    let unused = try store.upload([2])
    let open = try store.create("a/b", length: nil, by: uploader).id
    let other = try store.upload([3], by: BlobStoreFixture.stranger)
    #expect(throws: BlobRejection.notUploader) { try store.remove(used, by: member) }
    fixture.now.withLock { $0 += 500 }
    #expect(try store.read(used) == [1])
    #expect(throws: BlobRejection.missing) { try store.inspect(open, by: uploader) }
    fixture.now.withLock { $0 += 600 }
    #expect(throws: BlobRejection.missing) { try store.use(unused, by: uploader) }
    #expect(try store.read(used) == [1])
    let loop = MemoryLoop()
    store.start(on: loop) { _ in true }
    await loop.advance(by: .milliseconds(100))
    #expect(
      await removed(3) == [.removed(id: unused), .removed(id: open), .removed(id: other)])
    let more = try store.upload([4], by: BlobStoreFixture.stranger)
    store.removeAll(of: "s")
    #expect(await removed(1) == [.removed(id: used)])
    #expect(throws: BlobRejection.missing) { try store.use(used, by: uploader) }
    try store.remove(more, by: BlobStoreFixture.stranger)
    #expect(throws: BlobRejection.missing) {
      try store.use(more, by: BlobStoreFixture.stranger)
    }
    await store.close()
  }
}
