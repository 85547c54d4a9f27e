import Foundation
import TestSupport
import Testing
import WayStore
import WayTransport
import Waybridge
import WaybridgeClient

@Suite(.timeLimit(.minutes(1)))
struct BridgeBlobsTests {
  /// Bytes that differ at each offset.
  private static func bytes(_ count: Int) -> [UInt8] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }

  private func url(_ server: BlobServerFixture) -> String {
    "ws://127.0.0.1:\(server.bridge.address.port)/bridge"
  }

  @Test func `A task of another client gets a file and returns another one`() async throws {
    let server = try await BlobServerFixture()
    let folder = try TestFolder()
    let page = try await server.connect()
    let native = try await server.connect(joining: page)
    let data = Self.bytes(2_500_000)
    try Data(data).write(to: URL(fileURLWithPath: folder.path("sea.jpg")))
    let pageBlobs = BridgeBlobs(of: page, at: url(server))
    let nativeBlobs = BridgeBlobs(of: native, at: url(server))
    let share = BridgeClient.Host.task("action://share") { call in
      let photo = try #require(BridgeBlobReference(call.params["photo"]))
      try await nativeBlobs.download(photo, to: folder.path("copy.jpg"))
      let copy = try Data(contentsOf: URL(fileURLWithPath: folder.path("copy.jpg")))
      return try await nativeBlobs.upload(Array(copy.reversed()), type: "image/png").value
    }
    try await native.register([share])
    let progress = Locked<[[Int?]]>([])
    let photo = try await pageBlobs.upload(
      file: folder.path("sea.jpg"), type: "image/jpeg",
      onProgress: { done, total in progress.withLock { $0.append([done, total]) } })
    #expect(photo.name == "sea.jpg" && photo.type == "image/jpeg" && photo.size == data.count)
    #expect(progress.withLock { $0 } == [1 << 20, 2 << 20, data.count].map { [$0, data.count] })
    let result = try await page.invoke("action://share", ["photo": photo.value])
    let back = try #require(BridgeBlobReference(result))
    var received: [UInt8] = []
    for try await part in pageBlobs.download(back) { received += part }
    #expect(received == data.reversed())
    var middle: [UInt8] = []
    for try await part in pageBlobs.download(photo, bytes: 100_000..<300_000) { middle += part }
    #expect(middle == Array(data[100_000..<300_000]))
    for try await _ in pageBlobs.download(photo, bytes: 5..<5) { Issue.record("no bytes") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    try await pageBlobs.remove(photo)
    await #expect(throws: CallError.self) { try await pageBlobs.remove(photo) }
    await page.close()
    await native.close()
    await server.bridge.stop()
  }

  /// A sequence of parts, which does something before one of them.
  private struct TestParts: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let parts: [[UInt8]]
    let place: Int
    let action: @Sendable () async throws -> Void
    private var index = 0

    init(
      _ parts: [[UInt8]], before place: Int, _ action: @escaping @Sendable () async throws -> Void
    ) {
      self.parts = parts
      self.place = place
      self.action = action
    }

    func makeAsyncIterator() -> TestParts { self }

    mutating func next() async throws -> [UInt8]? {
      if index == place { try await action() }
      guard index < parts.count else { return nil }
      index += 1
      return parts[index - 1]
    }
  }

  @Test func `An upload continues after a restart of the server`() async throws {
    let folder = try TestFolder()
    let configure: @Sendable (inout BridgeConfiguration, Int) throws -> Void = {
      configuration, port in
      configuration.network.port = port
      configuration.sessions.store = try SQLiteSessionStore(folder: folder.path + "/data")
      configuration.blobs.folder = folder.path + "/blobs"
    }
    let server = Locked(try await BlobServerFixture { try configure(&$0, 0) })
    let first = server.withLock { $0 }
    let client = try await first.connect()
    let data = Self.bytes(3_000_000)
    let blobs = BridgeBlobs(of: client, at: url(first))
    let parts = stride(from: 0, to: data.count, by: 70_001).map {
      Array(data[$0..<min($0 + 70_001, data.count)])
    }
    let reference = try await blobs.upload(
      parts: TestParts(parts, before: 30) {
        await first.bridge.stop()
        let port = first.bridge.address.port
        let second = try await BlobServerFixture { try configure(&$0, port) }
        server.withLock { $0 = second }
      })
    #expect(reference.size == data.count)
    var received: [UInt8] = []
    for try await part in blobs.download(reference) { received += part }
    #expect(received == data)
    await client.close()
    await server.withLock { $0 }.bridge.stop()
  }

  @Test func `Errors end a transfer, and what it has sent is removed`() async throws {
    struct SourceError: Error {}
    let server = try await BlobServerFixture { $0.limits.maxBlobs = 1 }
    let client = try await server.connect()
    let blobs = BridgeBlobs(of: client, at: url(server))
    func code(_ work: () async throws(CallError) -> Void) async -> Int? {
      do throws(CallError) {
        try await work()
        return nil
      } catch {
        return error.code
      }
    }
    let failed = await code { () throws(CallError) in
      _ = try await blobs.upload(
        parts: TestParts([[1]], before: 1) { throw SourceError() })
    }
    #expect(failed == 2423)
    let missing = await code { () throws(CallError) in _ = try await blobs.upload(file: "/dev/null")
    }
    #expect(missing == -32602)
    let (waiting, signal) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      _ = try await blobs.upload(
        parts: TestParts([Self.bytes(2 << 20)], before: 1) {
          signal.yield()
          try await Task.sleep(for: .seconds(60))
        })
    }
    for await _ in waiting { break }
    try await server.waiting(
      for: { if case .removed = $0 { true } else { false } },
      after: {
        task.cancel()
        await #expect(throws: CallError.self) { try await task.value }
      })
    // The only place for a blob is free again.
    let reference = try await blobs.upload([1, 2, 3])
    #expect(BridgeBlobReference(["$blob": "../x", "size": 1, "type": "a", "sha256": "b"]) == nil)
    #expect(BridgeBlobReference(nil) == nil && BridgeBlobReference(reference.value) == reference)
    await client.close()
    await server.bridge.stop()
  }
}
