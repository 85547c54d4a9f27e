import Foundation
import TestSupport
import Testing
import WayTransport
import Waybridge
import WaybridgeClient
import WaybridgeCluster

/// Blobs that calls carry to server-wide hosts and to handlers.
@Suite(.timeLimit(.minutes(1)))
struct CallBlobTests {
  /// The servers of a test.
  enum CallBlobSetting: CaseIterable, Sendable {
    case oneServer
    case severalLoops
    case cluster
  }

  private func start(
    _ setting: CallBlobSetting, _ router: @Sendable () throws -> Router = { Router() }
  ) async throws -> (servers: [BlobServerFixture], natsServer: NATSServer?) {
    let policy = try Policy(
      json: #"{"rules": [{"name": "all", "allow": ["*"], "server": true}]}"#)
    guard setting == .cluster else {
      let server = try await BlobServerFixture(router()) { configuration in
        configuration.sessions.policy = policy
        configuration.loops = setting == .severalLoops ? 3 : 1
      }
      return ([server, server, server], nil)
    }
    let natsServer = try NATSServer()
    let folder = try TestFolder()
    let secret = try folder.write(
      String(repeating: "secret-", count: 6) + "\n", to: "secret", time: 1)
    var servers: [BlobServerFixture] = []
    for _ in 0..<3 {
      servers.append(
        try await BlobServerFixture(router()) { configuration in
          var settings = NATSClusterSettings(url: natsServer.url)
          settings.secretFile = secret
          configuration.sessions.cluster = try Cluster(nats: settings)
          configuration.sessions.policy = policy
        })
    }
    return (servers, natsServer)
  }

  private func stop(_ servers: [BlobServerFixture]) async {
    var stopped: Set<Int> = []
    for server in servers where stopped.insert(server.bridge.address.port).inserted {
      await server.bridge.stop()
    }
  }

  @Test(arguments: CallBlobSetting.allCases)
  func `A server-wide host fetches the blobs of a call, and returns another one`(
    _ setting: CallBlobSetting
  ) async throws {
    let (servers, natsServer) = try await start(setting)
    let opener = try await servers[0].connect()
    let token = try await servers[0].token(of: opener)
    let photo = try await servers[0].store("photo", token: token)
    let unrelated = try await servers[0].store("unrelated", token: token)
    let backEnd = try await servers[2].connect()
    let backEndToken = try await servers[2].token(of: backEnd)
    func statuses(_ method: String, _ id: String, by token: String) async throws -> [Int] {
      var statuses: [Int] = []
      for server in servers {
        statuses.append(try await server.send(method, "/" + id, token: token).status)
      }
      return statuses
    }
    let seen = Locked<[[Int]]>([])
    let share = BridgeClient.Host.task("action://share") { call in
      let id = call.params["photo"]?["$blob"]?.string ?? ""
      for (method, id) in [
        ("GET", id), ("HEAD", id), ("DELETE", id), ("PATCH", id), ("GET", unrelated),
      ] {
        let found = try await servers[1].send(
          method, "/" + id, token: backEndToken,
          method == "PATCH"
            ? [
              "Content-Type": "application/partial-upload", "Upload-Offset": "5",
              "Upload-Complete": "?1",
            ] : [:])
        seen.withLock { $0.append([found.status]) }
      }
      let text = try await servers[1].send("GET", "/" + id, token: backEndToken).text
      let copy = try await servers[1].store(text + " copy", token: backEndToken)
      return ["$blob": .string(copy)]
    }
    try await backEnd.register([share])
    _ = try await backEnd.request(
      "host.register",
      ["hosts": [["patterns": ["action://share"], "kind": "task", "scope": "server"]]])
    // The opener's server learns of the host a moment later.
    while try await opener.request("router.canOpen", ["uri": "action://share"])["canOpen"] != true {
      await Task.yield()
    }
    let result = try await opener.invoke("action://share", ["photo": ["$blob": .string(photo)]])
    #expect(seen.withLock { $0 } == [[200], [204], [404], [404], [404]])
    let copy = try #require(result["$blob"]?.string)
    // The host may fetch the photo no more, and the opener's session may fetch the result.
    #expect(try await statuses("GET", photo, by: backEndToken) == [404, 404, 404])
    #expect(try await statuses("GET", copy, by: token) == [200, 200, 200])
    #expect(try await servers[1].send("GET", "/" + copy, token: token).text == "photo copy")
    #expect(try await statuses("DELETE", copy, by: token) == [404, 404, 404])
    let stranger = try await servers[0].token(of: try await servers[0].connect())
    #expect(try await statuses("GET", copy, by: stranger) == [404, 404, 404])
    #expect(try await statuses("GET", photo, by: token) == [200, 200, 200])
    await opener.close()
    await backEnd.close()
    await stop(servers)
    withExtendedLifetime(natsServer) {}
  }

  @Test(arguments: [CallBlobSetting.oneServer, .cluster])
  func `A handler reads the blob of a call, and saves another one`(
    _ setting: CallBlobSetting
  ) async throws {
    let thrown = Locked<[CallError]>([])
    let (servers, natsServer) = try await start(setting) {
      let router = Router()
      try router.task("action://reverse") { call in
        var bytes: [UInt8] = []
        for try await part in call.blobs.bytes(of: call.params["photo"]) { bytes += part }
        return try await call.blobs.save(bytes.reversed(), type: "text/plain")
      }
      try router.task("action://copy") { call in
        do throws(CallError) {
          return try await call.blobs.save(
            parts: call.blobs.bytes(of: call.params["photo"]), type: "image/png")
        } catch {
          thrown.withLock { $0.append(error) }
          throw error
        }
      }
      return router
    }
    let client = try await servers[1].connect()
    let token = try await servers[1].token(of: client)
    let text = String(repeating: "0123456789", count: 40_000)
    let id = try await servers[0].store(text, token: token)
    let back = try await client.invoke("action://reverse", ["photo": ["$blob": .string(id)]])
    #expect(back["size"]?.integer == 400_000 && back["type"]?.string == "text/plain")
    let backID = "/" + (try #require(back["$blob"]?.string))
    #expect(
      try await servers[2].send("GET", backID, token: token).text == String(text.reversed()))
    #expect(try await servers[0].send("DELETE", backID, token: token).status == 204)
    let copy = try await client.invoke("action://copy", ["photo": ["$blob": .string(id)]])
    let copyID = "/" + (try #require(copy["$blob"]?.string))
    #expect(try await servers[2].send("GET", copyID, token: token).text == text)
    // The handler gets the documented code, and nothing is saved. If it rethrows the error, its caller
    // gets the message, but not the code: that would be about the caller's own call.
    let known = [id, backID.dropFirst().description, copyID.dropFirst().description]
    func isRemovalOfAnother(_ event: BlobEvent) -> Bool {
      if case .removed(let id) = event { !known.contains(id) } else { false }
    }
    for (photo, code) in [
      (["$blob": "AAAAAAAAAAAAAAAAAAAAAA"], 2404), ("no reference", -32602),
    ] as [(Value, Int)] {
      thrown.withLock { $0 = [] }
      try await servers[1].waiting(
        for: isRemovalOfAnother,
        after: {
          do throws(CallError) {
            _ = try await client.invoke("action://copy", ["photo": photo])
            Issue.record("there is no such blob")
          } catch {
            let errors = thrown.withLock { $0 }
            #expect(errors.map(\.code) == [code])
            #expect(error.code == -32603 && error.message == errors.first?.message)
          }
        })
    }
    await client.close()
    await stop(servers)
    withExtendedLifetime(natsServer) {}
  }
}
