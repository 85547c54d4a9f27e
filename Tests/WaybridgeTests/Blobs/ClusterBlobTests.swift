import Foundation
import TestSupport
import Testing
import WayRPC
import WaySession
import WayTransport
import WaybridgeClient

@testable import Waybridge
@testable import WaybridgeCluster

/// The blobs of a cluster, of which several servers use the same.
@Suite(.timeLimit(.minutes(1)))
struct ClusterBlobTests {
  private let uploader = BlobStoreFixture.uploader

  @Test(arguments: [BlobStoreKind.cluster, .sealedCluster])
  func `Servers of a cluster continue the uploads of one another`(_ kind: BlobStoreKind)
    async throws
  {
    let fixture = try BlobStoreFixture(kind)
    let stores = [try fixture.store, try fixture.makeStore(), try fixture.makeStore()]
    let data = BlobStoreFixture.bytes(700_001)
    let id = try stores[0].create("a/b", length: data.count, by: uploader).id
    var offset = 0
    for turn in 1...8 {
      let end = turn == 8 ? data.count : offset + 90_000
      let writer = try stores[turn % 3].continueUpload(id, by: uploader, at: offset, length: nil)
      try writer.append(Array(data[offset..<end]))
      try writer.flush()
      offset = end
      #expect(try stores[(turn + 1) % 3].inspect(id, by: uploader).size == offset)
      if turn == 8 {
        let last = try stores[0].continueUpload(id, by: uploader, at: offset, length: nil)
        let reference = try last.complete()
        #expect(reference.size == data.count)
      }
    }
    for store in stores {
      #expect(try store.read(id, 400_000..<600_000) == Array(data[400_000..<600_000]))
    }
    try stores[1].remove(id, by: uploader)
    #expect(throws: BlobRejection.missing) { try stores[2].use(id, by: uploader) }
    let stream = try JetStreamBlobStream(
      NATSClusterConfiguration(NATSClusterSettings(url: fixture.natsURL)))
    #expect(try stream.storedIDs().isEmpty)
    for store in stores { await store.close() }
  }

  /// Quotas hold although several servers start uploads at the same time.
  @Test func `Servers share the quota of a session`() async throws {
    let fixture = try BlobStoreFixture(.cluster) { $0.maxBlobs = 7 }
    let stores = [try fixture.store, try fixture.makeStore(), try fixture.makeStore()]
    let accepted = await withTaskGroup(of: Int.self) { tasks in
      for store in stores {
        tasks.addTask { [uploader] in
          await withCheckedContinuation { continuation in
            store.perform {
              let count = (0..<5).filter { _ in
                (try? store.create("a/b", length: 1, by: uploader)) != nil
              }.count
              continuation.resume(returning: count)
            }
          }
        }
      }
      return await tasks.reduce(0, +)
    }
    #expect(accepted == 7)
    for store in stores { await store.close() }
  }

  @Test func `Tools for object stores can read a blob`() async throws {
    let fixture = try BlobStoreFixture(.cluster)
    let store = try fixture.store
    let id = try store.upload(Array("Hello".utf8))
    let connection = try NATSConnection(
      NATSClusterConfiguration(NATSClusterSettings(url: fixture.natsURL)))
    let name = Data(id.utf8).base64EncodedString().replacing("+", with: "-")
      .replacing("/", with: "_")
    let message = try #require(
      try connection.lastMessage(
        in: "OBJ_waybridge-blobs", of: "$O.waybridge-blobs.M." + name))
    let object = try JSON.parse(message.bytes.span.bytes)
    #expect(object["name"]?.string == id && object["bucket"]?.string == "waybridge-blobs")
    #expect(object["size"]?.integer == 5 && object["chunks"]?.integer == 1)
    #expect(object["digest"]?.string == "SHA-256=GF-NsyJx_iX1Yab8k4suJkMG7DBO2lGAB9F2SCY4GWk=")
    let part = try connection.lastMessage(
      in: "OBJ_waybridge-blobs",
      of: "$O.waybridge-blobs.C." + (object["nuid"]?.string ?? ""))
    #expect(part?.bytes == Array("Hello".utf8))
    await store.close()
  }

  @Test func `A secret encrypts what is stored`() async throws {
    let fixture = try BlobStoreFixture(.sealedCluster)
    let store = try fixture.store
    let text = Array("a text that nobody else can read".utf8)
    let id = try store.upload(text)
    let connection = try NATSConnection(
      NATSClusterConfiguration(NATSClusterSettings(url: fixture.natsURL)))
    for stream in ["OBJ_waybridge-blobs", "KV_waybridge-blobs"] {
      var stored = ""
      try connection.forEachMessage(in: stream, of: ">") { message in
        stored += String(decoding: message.bytes, as: UTF8.self)
      }
      #expect(!stored.isEmpty && !stored.contains("a text") && !stored.contains(id))
    }
    #expect(try store.read(id) == text)
    await store.close()
  }

  @Test func `Parts that no registry knows are deleted`() async throws {
    let fixture = try BlobStoreFixture(.cluster) { $0.uploadExpiry = .milliseconds(400) }
    let store = try fixture.store
    let stream = try JetStreamBlobStream(
      NATSClusterConfiguration(NATSClusterSettings(url: fixture.natsURL)))
    let start = JetStreamBlobStream.UploadEnd(sequence: 0, offset: 0)
    _ = try stream.append([1, 2], to: "orphan", after: start)
    let kept = try store.upload([3])
    let events = fixture.events.stream
    let loop = MemoryLoop()
    store.start(on: loop) { _ in true }
    for _ in 0..<3 { await loop.advance(by: .milliseconds(100)) }
    for await event in events {
      #expect(event == .removed(id: "orphan"))
      break
    }
    #expect(try stream.storedIDs() == [kept])
    #expect(try store.read(kept) == [3])
    await store.close()
  }

  @Test func `Any server of a cluster continues and serves the blobs of a session`() async throws {
    let natsServer = try NATSServer()
    func start() async throws -> BlobServerFixture {
      try await BlobServerFixture {
        $0.sessions.cluster = try Cluster(nats: NATSClusterSettings(url: natsServer.url))
      }
    }
    let servers = [try await start(), try await start(), try await start()]
    let client = try await servers[0].connect()
    let token = try await servers[0].token(of: client)
    let data = Data(BlobStoreFixture.bytes(3_000_000))
    let created = try await servers[1].send(
      "POST", token: token, body: Data(),
      ["Content-Type": "image/png", "Upload-Complete": "?0", "Upload-Length": "\(data.count)"])
    #expect(created.status == 201, "\(created.text)")
    let id = "/" + (try #require(created.field("Location")).dropFirst("blobs/".count))
    var stored: BlobServerFixture.BlobResponse?
    for (turn, start) in stride(from: 0, to: data.count, by: 1 << 20).enumerated() {
      let end = min(start + 1 << 20, data.count)
      stored = try await servers[turn % 3].send(
        "PATCH", id, token: token, body: data[start..<end],
        [
          "Content-Type": "application/partial-upload", "Upload-Offset": "\(start)",
          "Upload-Complete": end == data.count ? "?1" : "?0",
        ])
    }
    let reference = try #require(try stored?.reference())
    #expect(stored?.status == 200 && reference["size"] as? Int == data.count)
    // A client that is at another server than its session, and one of another session.
    let member = try await servers[2].connect(joining: client)
    let memberToken = try await servers[2].token(of: member)
    let stranger = try await servers[2].token(of: try await servers[2].connect())
    for server in servers {
      #expect(try await server.send("GET", id, token: memberToken).body == data)
      let part = try await server.send(
        "GET", id, token: token, ["Range": "bytes=1000000-2000000"])
      #expect(part.status == 206 && part.body == data[1_000_000...2_000_000])
      #expect(try await server.send("GET", id, token: stranger).status == 404)
      #expect(try await server.send("GET", id, token: "x" + token).status == 401)
      #expect(try await server.send("POST", token: "x.y", body: Data(count: 1)).status == 401)
      #expect(try await server.send("DELETE", id, token: memberToken).status == 403)
    }
    // The session moves with its blobs when its server ends.
    await servers[0].bridge.stop()
    let next = try await servers[1].connect(joining: member)
    let nextToken = try await servers[1].token(of: next)
    #expect(try await servers[2].send("GET", id, token: nextToken).body == data)
    #expect(try await servers[1].send("GET", id, token: token).status == 401)
    for client in [client, member, next] { await client.close() }
    for server in servers[1...] { await server.bridge.stop() }
  }
}
