import Foundation
import Synchronization
import TestSupport
import Testing
import WayDownload
import Waybridge

@testable import WaybridgeTokens

/// A provider in memory, with a clock to move.
private final class MemoryProvider: Sendable {
  private struct State {
    var response: Result<Download.DownloadResult, DownloadError>
    var requests: [String?] = []
    var time = Duration.zero
  }
  private let state: Mutex<State>

  init(_ keys: String...) { state = Mutex(State(response: Self.document(keys))) }

  private static func document(_ keys: [String]) -> Result<Download.DownloadResult, DownloadError> {
    let text = #"{"keys":[\#(keys.joined(separator: ","))]}"#
    return .success(.document(Array(text.utf8), etag: "tag"))
  }

  func publish(_ keys: String...) { state.withLock { $0.response = Self.document(keys) } }

  func respond(_ response: Result<Download.DownloadResult, DownloadError>) {
    state.withLock { $0.response = response }
  }

  func advance(_ duration: Duration) { state.withLock { $0.time += duration } }

  var requests: [String?] { state.withLock { $0.requests } }

  var provider: TokenKeyProvider {
    TokenKeyProvider(
      url: "https://id.example.org/jwks", now: { self.state.withLock { $0.time } },
      fetch: { (etag) async throws(DownloadError) -> Download.DownloadResult in
        let response = self.state.withLock { state in
          state.requests.append(etag)
          return state.response
        }
        return try response.get()
      })
  }
}

/// Keys of a provider that change, while the server runs.
struct ProviderTests {
  private let claims =
    #"{"sub":"ada","aud":"waybridge","exp":1800000060,"iss":"https://id.example.org"}"#

  private func keys(
    _ provider: MemoryProvider, logger: Mailbox<RecordedLine>? = nil,
    issuer: String? = "https://id.example.org"
  ) async throws -> TokenKeys {
    var rules = TokenMaker.rules()
    rules.issuer = issuer
    return try await TokenKeys.load(
      [], provider: provider.provider, rules: rules, logger: logger?.logger(.info))
  }

  private func token(_ key: ProviderKey, _ kid: String) throws -> String {
    try key.token(header: #"{"alg":"ES256","kid":"\#(kid)"}"#, claims: claims)
  }

  @Test func fetchesRotatedKeysForUnknownKeyID() async throws {
    let (old, new) = (try ProviderKey.ec(), try ProviderKey.ec())
    let memory = MemoryProvider(try old.jwk(#""kid":"old""#))
    let keys = try await keys(memory)
    #expect(try await keys.verify(token(old, "old")).subject == "ada")
    memory.publish(try old.jwk(#""kid":"old""#), try new.jwk(#""kid":"new""#))
    memory.advance(.seconds(29))
    let early = await #expect(throws: TokenError.self) { try await keys.verify(token(new, "new")) }
    #expect(early?.kind == .unknownKey)
    #expect(memory.requests == [nil])
    memory.advance(.seconds(1))
    #expect(try await keys.verify(token(new, "new")).keyID == "new")
    memory.publish(try new.jwk(#""kid":"new""#))
    let reloads = await keys.reload()
    #expect(reloads.map(\.rejection) == [nil])
    #expect(reloads.map(\.source) == [.fetch])
    let late = await #expect(throws: TokenError.self) { try await keys.verify(token(old, "old")) }
    #expect(late?.kind == .unknownKey)
    #expect(memory.requests == [nil, "tag", "tag"])
  }

  @Test func fetchesKeysForUnknownKeyIDBesideKeyWithoutID() async throws {
    let (old, new) = (try ProviderKey.ec(), try ProviderKey.ec())
    let memory = MemoryProvider(try old.jwk(#""use":"sig""#))
    let keys = try await keys(memory)
    memory.advance(.seconds(30))
    #expect(try await keys.verify(token(old, "any")).subject == "ada")
    #expect(memory.requests.count == 1)
    memory.publish(try new.jwk(#""kid":"new""#))
    #expect(try await keys.verify(token(new, "new")).keyID == "new")
    #expect(memory.requests.count == 2)
  }

  @Test func tokensShareTheLimitOfRequests() async throws {
    let key = try ProviderKey.ec()
    let memory = MemoryProvider(try key.jwk(#""kid":"1""#))
    let keys = try await keys(memory)
    for round in 1...3 {
      memory.advance(.seconds(30))
      await withDiscardingTaskGroup { group in
        for number in 0..<50 {
          group.addTask { _ = try? await keys.verify(token(key, "unknown\(round).\(number)")) }
        }
      }
      #expect(memory.requests.count == 1 + round)
    }
    memory.advance(.seconds(300))
    // Neither a known key nor another algorithm is a reason for a request.
    _ = try await keys.verify(token(key, "1"))
    _ = try? await keys.verify(TokenMaker.token(header: #"{"alg":"HS256","kid":"x"}"#))
    _ = try? await keys.verify(TokenMaker.token(header: #"{"alg":"none","kid":"x"}"#))
    #expect(memory.requests.count == 4)
  }

  @Test(arguments: [
    Result<Download.DownloadResult, DownloadError>.failure(DownloadError(reason: "is away")),
    .success(.document(Array("<html>".utf8), etag: nil)),
    .success(.document(Array(#"{"keys":[]}"#.utf8), etag: nil)),
  ])
  func lastGoodKeysStayInForce(
    response: Result<Download.DownloadResult, DownloadError>
  ) async throws {
    let lines = Mailbox<RecordedLine>()
    let key = try ProviderKey.ec()
    let memory = MemoryProvider(try key.jwk(#""kid":"1""#))
    let keys = try await keys(memory, logger: lines)
    let hash = await keys.hash
    memory.respond(response)
    #expect(await keys.reload().first?.rejection != nil)
    #expect(try await keys.verify(token(key, "1")).subject == "ada")
    #expect(await keys.hash == hash)
    #expect(await keys.fetchFailures == 1)
    let line = try await lines.receive().text
    #expect(line.hasPrefix("warning token keys not fetched; the last valid ones are used"))
    memory.respond(.success(.notModified))
    #expect(await keys.reload().first?.rejection == nil)
  }

  @Test func startFailsWithoutKeys() async throws {
    let memory = MemoryProvider(#"{"kty":"oct","k":"AA"}"#)
    for (response, reason) in [
      (nil, "holds no public key for RS256, ES256 or EdDSA: key 0 is a symmetric key (oct)"),
      (DownloadError(reason: "did not answer within 4 s"), "did not answer within 4 s"),
    ] {
      if let response { memory.respond(.failure(response)) }
      let error = await #expect(throws: TokenKeyError.self) { try await keys(memory) }
      #expect(error?.description == "The key set at https://id.example.org/jwks \(reason)")
    }
    let error = await #expect(throws: TokenKeyError.self) { try await keys(memory, issuer: nil) }
    #expect(error?.reason.contains("issuer") == true)
  }

  @Test(arguments: [
    "http://id.example.org/jwks", "ftp://id.example.org/", "file:///etc/passwd", "id.example.org",
    "https://", "https://user@id.example.org/", "http://127.0.0.1.example.org/", "",
  ])
  func rejectsUnprotectedURLs(url: String) async {
    let rules = TokenRules(issuer: "https://id.example.org")
    let error = await #expect(throws: TokenKeyError.self) {
      try await TokenKeys.load(keySetURL: url, rules: rules)
    }
    #expect(error?.reason.contains("https://") == true)
  }

  @Test func refreshesPeriodicallyAndSlowerAfterFailures() async throws {
    let memory = MemoryProvider(try ProviderKey.ec().jwk())
    let keys = try await keys(memory)
    let pauses = Mutex<[Duration]>([])
    await keys.watch { pause in
      let count = pauses.withLock { pauses in
        pauses.append(pause)
        return pauses.count
      }
      if count == 1 { memory.respond(.failure(DownloadError(reason: "is away"))) }
      if count == 7 { throw CancellationError() }
    }
    let seen = pauses.withLock { $0.map { $0 / .seconds(1) } }
    #expect((540...600).contains(seen[0]))
    #expect(seen.dropFirst().allSatisfy { (30...600).contains($0) })
    #expect(seen[1] <= 60 && seen[2] <= 120 && seen[6] >= 300)
    #expect(memory.requests.count == 7)
    #expect(await keys.fetchFailures == 6)
  }
}
