import Foundation
import TestSupport
import Testing
import WayStore
import Waybridge
import WaybridgeClient

@testable import WaySession

@Suite(.timeLimit(.minutes(1)))
struct BlobServerTests {
  /// The digest of "Hello".
  private static let hello = "185f8db32271fe25f561a6fc938b2e264306ec304eda518007d1764826381969"

  @Test func `A blob is stored in one request, and fetched in parts`() async throws {
    let server = try await BlobServerFixture()
    let client = try await server.connect()
    let token = try await server.token(of: client)
    let stored = try await server.send(
      "POST", token: token, body: Data("Hello".utf8),
      ["Content-Type": "Text/HTML; charset=utf-8"])
    let reference = try stored.reference()
    let id = try #require(reference["$blob"] as? String)
    #expect(stored.status == 201)
    #expect(stored.field("Location") == "blobs/" + id)
    #expect(stored.field("Upload-Complete") == "?1" && stored.field("Upload-Offset") == "5")
    #expect(reference["size"] as? Int == 5 && reference["type"] as? String == "text/html")
    #expect(reference["sha256"] as? String == Self.hello)
    let whole = try await server.send("GET", "/" + id, token: token)
    #expect(whole.status == 200 && whole.text == "Hello")
    for (name, value) in [
      ("Content-Type", "text/html"), ("X-Content-Type-Options", "nosniff"),
      ("Content-Disposition", "attachment"), ("ETag", "\"\(Self.hello)\""),
      ("Content-Security-Policy", "default-src 'none'; sandbox"), ("Cache-Control", "no-store"),
    ] { #expect(whole.field(name) == value) }
    for (range, condition, status, text) in [
      ("bytes=1-3", nil, 206, "ell"), ("bytes=3-", "\"\(Self.hello)\"", 206, "lo"),
      ("bytes=3-", "\"other\"", 200, "Hello"), ("bytes=5-", nil, 416, ""),
    ] {
      var fields = ["Range": range]
      fields["If-Range"] = condition
      let part = try await server.send("GET", "/" + id, token: token, fields)
      #expect(part.status == status && part.text == text)
    }
    let part = try await server.send("GET", "/" + id, token: token, ["Range": "bytes=1-3"])
    #expect(part.field("Content-Range") == "bytes 1-3/5")
    #expect(try await server.send("DELETE", "/" + id, token: token).status == 204)
    #expect(try await server.send("GET", "/" + id, token: token).status == 404)
    await server.bridge.stop()
  }

  @Test func `An upload continues at its offset, and only there`() async throws {
    let server = try await BlobServerFixture()
    let client = try await server.connect()
    let token = try await server.token(of: client)
    let created = try await server.send(
      "POST", token: token, body: Data("He".utf8),
      ["Content-Type": "text/plain", "Upload-Complete": "?0", "Upload-Length": "5"])
    #expect(created.status == 201 && created.field("Upload-Offset") == "2")
    let id = "/" + (try #require(created.field("Location")).dropFirst("blobs/".count))
    #expect(try await server.send("GET", id, token: token).status == 404)
    func append(
      _ text: String, at offset: String?, isLast: String? = "?0",
      type: String = "application/partial-upload"
    ) async throws -> BlobServerFixture.BlobResponse {
      var fields = ["Content-Type": type]
      fields["Upload-Offset"] = offset
      fields["Upload-Complete"] = isLast
      return try await server.send("PATCH", id, token: token, body: Data(text.utf8), fields)
    }
    for (response, status) in [
      (try await append("x", at: "1"), 409), (try await append("x", at: nil), 400),
      (try await append("x", at: "2", isLast: nil), 400),
      (try await append("x", at: "2", isLast: "yes"), 400),
      (try await append("x", at: "-2"), 400),
      (try await append("x", at: "2", type: "text/plain"), 415),
      (try await append("xxxx", at: "2"), 413), (try await append("x", at: "2", isLast: "?1"), 400),
    ] { #expect(response.status == status, "\(response.text)") }
    // A part that is received before the error stays.
    let state = try await server.send("HEAD", id, token: token)
    #expect(state.status == 204 && state.field("Upload-Complete") == "?0")
    #expect(state.field("Upload-Length") == "5" && state.field("Cache-Control") == "no-store")
    #expect(state.field("Upload-Offset") == "3")
    #expect(state.field("Upload-Limit") == "max-size=67108864, max-age=600")
    await server.bridge.stop()
  }

  @Test func `A blob can be used by clients of its session with a valid token`() async throws {
    let server = try await BlobServerFixture()
    let client = try await server.connect()
    let token = try await server.token(of: client)
    #expect(try await server.token(of: client) == token)
    let id = try await server.store("Hello", token: token)
    let member = try await server.connect(joining: client)
    let memberToken = try await server.token(of: member)
    #expect(memberToken != token)
    #expect(try await server.send("GET", "/" + id, token: memberToken).text == "Hello")
    let stranger = try await server.token(of: try await server.connect())
    for method in ["GET", "HEAD", "DELETE"] {
      #expect(try await server.send(method, "/" + id, token: stranger).status == 404)
    }
    #expect(try await server.send("GET", "/" + id, token: nil).status == 401)
    #expect(try await server.send("GET", "/" + id, token: "x" + token).status == 401)
    #expect(try await server.send("GET", "/../health", token: token).status != 500)
    #expect(try await server.send("PUT", "/" + id, token: token).field("Allow") != nil)
    // The token of a client that has left is void, and the blob stays for others.
    let name = try #require(await client.session?.client)
    try await server.waiting(
      for: { $0 == .tokenVoided(client: name) }, after: { await client.close() })
    #expect(try await server.send("HEAD", "/" + id, token: token).status == 401)
    #expect(try await server.send("GET", "/" + id, token: memberToken).text == "Hello")
    await server.bridge.stop()
  }

  @Test func `Only the uploader and permitted clients remove a blob`() async throws {
    let policy = try Policy(
      json: """
        {"rules": [
          {"name": "all", "allow": ["blobs.authorize", "session.*"]},
          {"name": "moderators", "allow": ["blobs.remove"], "groups": ["moderators"]}]}
        """)
    let server = try await BlobServerFixture {
      $0.sessions.policy = policy
      $0.sessions.identify = { Identity(groups: [UTF8Key($0.token ?? "")]) }
    }
    let uploader = try await server.connect(token: "moderators")
    let id = "/" + (try await server.store("Hello", token: try await server.token(of: uploader)))
    // A client that joins without a token of its own would have the uploader's groups.
    let member = try await server.connect(joining: uploader, token: "members")
    let other = try await server.token(of: member)
    let refused = try await server.send("DELETE", id, token: other)
    #expect(refused.status == 403 && refused.text.contains("another client's"))
    #expect(
      try await server.send(
        "PATCH", id, token: other,
        [
          "Content-Type": "application/partial-upload", "Upload-Offset": "5",
          "Upload-Complete": "?1",
        ]
      ).status == 403)
    #expect(try await server.send("GET", id, token: other).text == "Hello")
    // A guest uploads, fetches, and removes what it has uploaded.
    let invited = try await uploader.invite(groups: ["moderators"])
    let guest = try await BridgeClient.connect(
      to: "ws://127.0.0.1:\(server.bridge.address.port)/bridge",
      session: .init(name: "guest", version: "1", join: invited))
    let guestToken = try await server.token(of: guest)
    let own = "/" + (try await server.store("own", token: guestToken))
    #expect(try await server.send("GET", id, token: guestToken).text == "Hello")
    #expect(try await server.send("DELETE", id, token: guestToken).status == 403)
    #expect(try await server.send("DELETE", own, token: guestToken).status == 204)
    let moderator = try await server.connect(joining: uploader, token: "moderators")
    let token = try await server.token(of: moderator)
    #expect(try await server.send("DELETE", id, token: token).status == 204)
    #expect(try await server.send("GET", id, token: other).status == 404)
    await server.bridge.stop()
  }

  @Test func `The policy decides about each request`() async throws {
    let allowing = try Policy(json: #"{"rules": [{"name": "photos", "allow": ["blobs.*"]}]}"#)
    let server = try await BlobServerFixture { $0.sessions.policy = allowing }
    let client = try await server.connect()
    let token = try await server.token(of: client)
    let id = try await server.store("Hello", token: token)
    let denying = try Policy(json: #"{"rules": [{"name": "calls", "allow": ["router.*"]}]}"#)
    try await server.bridge.sessionServer.applyPolicy(denying.compiled())
    #expect(try await server.send("GET", "/" + id, token: token).status == 403)
    await #expect(throws: CallError.self) { try await client.request("blobs.authorize") }
    await server.bridge.stop()
  }

  @Test func `Limits hold, and blobs end with their session and their time`() async throws {
    let server = try await BlobServerFixture { configuration in
      configuration.limits.maxBlob = 10
      configuration.limits.maxBlobs = 2
      configuration.limits.maxBlobBytes = 15
      configuration.limits.blobExpiry = .milliseconds(300)
    }
    let client = try await server.connect()
    let token = try await server.token(of: client)
    #expect(try await server.send("POST", token: token, body: Data(count: 11)).status == 413)
    let first = try await server.store("0123456789", token: token)
    #expect(try await server.send("POST", token: token, body: Data(count: 6)).status == 429)
    try await server.waiting(
      for: { $0 == .removed(id: first) },
      after: {
        _ = try await server.store("01234", token: token)
        #expect(try await server.send("POST", token: token, body: Data()).status == 429)
      })
    #expect(try await server.send("HEAD", "/" + first, token: token).status == 404)
    #expect(
      try await server.send(
        "POST", token: token, body: Data(count: 1), ["Content-Type": "no type"]
      ).status == 415)
    await server.bridge.stop()
  }

  @Test func `Pages of other origins that the server accepts can use blobs`() async throws {
    let server = try await BlobServerFixture {
      $0.network.allowedOrigins = ["https://shop.example"]
    }
    let client = try await server.connect()
    let token = try await server.token(of: client)
    let origin = ["Origin": "https://shop.example"]
    let preflight = try await server.send("OPTIONS", token: nil, origin)
    #expect(preflight.status == 204)
    #expect(preflight.field("Access-Control-Allow-Origin") == "https://shop.example")
    #expect(preflight.field("Access-Control-Allow-Headers")?.contains("Upload-Offset") == true)
    let stored = try await server.send("POST", token: token, body: Data("a".utf8), origin)
    #expect(stored.status == 201)
    #expect(stored.field("Access-Control-Allow-Origin") == "https://shop.example")
    let other = ["Origin": "https://other.example"]
    #expect(try await server.send("OPTIONS", token: nil, other).status == 403)
    #expect(try await server.send("GET", "/x", token: token, other).status == 403)
    await server.bridge.stop()
  }

  @Test func `Files are removed with their session, and survive a restart with it`() async throws {
    let folder = try TestFolder()
    let blobs = folder.path + "/blobs"
    func start() async throws -> BlobServerFixture {
      try await BlobServerFixture { configuration in
        configuration.sessions.store = try SQLiteSessionStore(folder: folder.path + "/data")
        configuration.blobs.folder = blobs
      }
    }
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: blobs).sorted()
    }
    var server = try await start()
    let kept = try await server.connect()
    let keptID = try await server.store("kept", token: try await server.token(of: kept))
    let ended = try await server.connect()
    let token = try await server.token(of: ended)
    let endedID = try await server.store("ended", token: token)
    #expect(try files().count == 4)
    try await server.waiting(
      for: { $0 == .removed(id: endedID) },
      after: {
        _ = try await ended.request("session.close")
      })
    #expect(try files() == [keptID + ".data", keptID + ".json"].sorted())
    // What no record names was left by a crash.
    try Data("x".utf8).write(to: URL(fileURLWithPath: blobs + "/stray.data"))
    let session = try #require(await kept.session)
    await server.bridge.stop()
    #expect(try files().count == 3)
    server = try await start()
    #expect(try files() == [keptID + ".data", keptID + ".json"].sorted())
    let member = try await BridgeClient.connect(
      to: "ws://127.0.0.1:\(server.bridge.address.port)/bridge",
      session: .init(name: "test", version: "1", join: session.join))
    let memberToken = try await server.token(of: member)
    #expect(try await server.send("GET", "/" + keptID, token: memberToken).text == "kept")
    // Another server does not use the same folder.
    await #expect(throws: (any Error).self) {
      _ = try await BlobServerFixture { $0.blobs.folder = blobs }
    }
    await kept.close()
    await member.close()
    await server.bridge.stop()
  }

  @Test func `A server without blobs has no method for them`() async throws {
    let server = try await BlobServerFixture { $0.blobs.isEnabled = false }
    let client = try await server.connect()
    do {
      _ = try await client.request("blobs.authorize")
      Issue.record("there are no blobs")
    } catch {
      #expect(error.code == -32601)
    }
    #expect(try await server.send("POST", token: nil, body: Data()).status != 201)
    await client.close()
    await server.bridge.stop()
  }
}
