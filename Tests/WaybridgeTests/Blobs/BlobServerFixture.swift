import Foundation
import FoundationNetworking
import TestSupport
import Testing
import Waybridge
import WaybridgeClient

/// A bridge with blobs, and requests to them.
struct BlobServerFixture: Sendable {
  let bridge: RunningBridge
  private var base: String { "http://127.0.0.1:\(bridge.address.port)" }

  struct BlobResponse {
    let status: Int
    let fields: HTTPURLResponse
    let body: Data

    func field(_ name: String) -> String? { fields.value(forHTTPHeaderField: name) }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The members of the reference.
    func reference() throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
    }
  }

  init(
    _ router: Router = Router(),
    _ configure: (inout BridgeConfiguration) throws -> Void = { _ in }
  ) async throws {
    var configuration = BridgeConfiguration(port: 0)
    try configure(&configuration)
    bridge = try await RunningBridge(router: router, configuration: configuration)
  }

  func connect(
    joining client: BridgeClient? = nil, token: String? = nil
  ) async throws -> BridgeClient {
    try await BridgeClient.connect(
      to: "ws://127.0.0.1:\(bridge.address.port)/bridge",
      session: .init(
        name: "test", version: "1", token: token, join: await client?.session?.join))
  }

  func token(of client: BridgeClient) async throws -> String {
    try #require(try await client.request("blobs.authorize")["token"]?.string)
  }

  /// Sends a request. `path` begins after `/blobs`.
  func send(
    _ method: String, _ path: String = "", token: String?, body: Data? = nil,
    _ fields: [String: String] = [:]
  ) async throws -> BlobResponse {
    let url = try #require(URL(string: base + "/blobs" + path))
    var request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalAndRemoteCacheData)
    request.httpMethod = method
    request.httpBody = body
    if let token { request.setValue("Bearer " + token, forHTTPHeaderField: "Authorization") }
    for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    let (data, response) = try await URLSession.shared.data(for: request)
    let http = try #require(response as? HTTPURLResponse)
    return BlobResponse(status: http.statusCode, fields: http, body: data)
  }

  /// Stores a blob, and returns its id.
  func store(_ text: String, token: String, type: String = "text/plain") async throws -> String {
    let response = try await send(
      "POST", token: token, body: Data(text.utf8), ["Content-Type": type])
    #expect(response.status == 201)
    return try #require(try response.reference()["$blob"] as? String)
  }

  /// Does something, and returns when one of the events that follow fulfils a condition.
  func waiting(
    for condition: (BlobEvent) -> Bool, after work: () async throws -> Void
  ) async throws {
    let events = bridge.blobEvents.stream
    try await work()
    for await event in events where condition(event) { return }
  }
}
