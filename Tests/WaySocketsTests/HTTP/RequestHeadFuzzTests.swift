import TestSupport
import Testing
import WayTransport

@testable import WaySockets

/// Arbitrary bytes as the head of a request are parsed, or rejected with a status.
@Suite struct RequestHeadFuzzTests {
  static let samples = [
    "GET /a%20b?x=1?y HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-List:  a, B \r\n\r\n",
    "GET /bridge HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello",
  ]
  static let pieces = [
    "\r", "\n", "\r\n", "\r\n\r\n", " ", "\t", ":", ",", ";", "GET ", "HTTP/1.1", "HTTP/2.0",
    "Host: a\r\n",
    "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n", " folded\r\n",
    "%", "%2e", "/..", "?",
    "#", "\0", "\u{7F}", "é", "*",
  ]

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `Parses or rejects arbitrary bytes`(seed: UInt64) throws {
    var source = FuzzSource(seed: seed, samples: Self.samples, pieces: Self.pieces)
    for _ in 0..<250 {
      let bytes = source.next()
      _ = RequestHead.mayBegin(with: bytes)
      let end = RequestHead.end(in: bytes, from: 0)
      // As it arrives from the network, byte by byte: the search resumes three bytes before the new
      // ones.
      let found = (0...bytes.count).lazy.compactMap {
        RequestHead.end(in: Array(bytes[..<$0]), from: $0 - 4)
      }
      if bytes.count < 300 { #expect(found.first == end, "seed \(seed)") }
      do {
        let head = try RequestHead(parsing: bytes[..<(end ?? bytes.count)])
        #expect(end != nil, "seed \(seed): accepted without its empty line")
        #expect(head.path.first == "/" && (0...1).contains(head.minorVersion), "seed \(seed)")
        #expect(head.fields.count <= RequestHead.maximumFields, "seed \(seed)")
        let isClean = head.fields.allSatisfy { field in
          !field.name.isEmpty && !field.value.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
        }
        #expect(isClean, "seed \(seed): \(head.fields)")
      } catch {
        #expect([400, 431, 505].contains(error.status), "seed \(seed): \(error)")
      }
    }
  }

  /// Header values that identify the client.
  static let accessSamples = [
    "GET / HTTP/1.1\r\nHost: localhost:8080\r\nOrigin: https://a.example.org:8443\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: [2001:db8::1]\r\nX-Forwarded-For: 192.0.2.1, [::1]:80, 10.0.0.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a.example.org\r\nForwarded: for=\"[2001:db8::7]:1\";by=_a, for=\"\\a\"\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost:8080\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: a, bearer.T.x\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: localhost:8080\r\nAuthorization: Bearer a.b=\r\nContent-Length: 7\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: localhost:8080\r\nTransfer-Encoding: chunked\r\n\r\n",
  ]
  static let accessPieces =
    pieces + [
      "[", "]", ".", "://", "@", "\"", "\\", "=", "_", "::", "127.1", "null", "bearer.", "unknown",
      "%25",
    ]

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `Admits or rejects arbitrary requests by the rules`(seed: UInt64) throws {
    var source = FuzzSource(seed: seed, samples: Self.accessSamples, pieces: Self.accessPieces)
    let rules = try AccessRules(
      hosts: ["a.example.org", "[2001:db8::1]"], origins: ["https://*.example.org:*"],
      trustedProxies: ["unix"])
    let check = AccessCheck(
      rules: rules, address: SocketListenAddress(host: "127.0.0.1", port: 8080))
    let hosts = [
      "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "a.example.org", "a.example.org:8080",
      "[2001:db8::1]", "[2001:db8::1]:8080",
    ]
    for _ in 0..<250 {
      guard let head = try? RequestHead(parsing: source.next()[...]) else { continue }
      do throws(HTTPRequestRejection) {
        let admission = try check.admit(head, from: .unix)
        let host = head.authority ?? head.values("host").first ?? ""
        #expect(hosts.contains(host.lowercased()), "seed \(seed): \(head.fields)")
        #expect((admission.handshake.token?.utf8.count ?? 1) <= AccessBearerToken.maximumLength)
        #expect(admission.handshake.address?.isEmpty == false, "seed \(seed): \(head.fields)")
        if let origin = admission.handshake.origin {
          let isExpected = origin.lowercased().contains(".example.org") || origin.contains(":8080")
          #expect(isExpected, "seed \(seed): \(origin)")
        }
        let framing = try BodyFraming(head)
        let hasLength = !head.values("content-length").isEmpty
        let hasCoding = !head.values("transfer-encoding").isEmpty
        switch framing {
        case .none: #expect(!hasLength && !hasCoding, "seed \(seed): \(head.fields)")
        case .length: #expect(hasLength && !hasCoding, "seed \(seed): \(head.fields)")
        case .chunked:
          let coding = head.values("transfer-encoding").joined(separator: ",")
          let isChunked = coding.utf8.elementsEqual("chunked".utf8) { $0 | 0x20 == $1 }
          #expect(isChunked && !hasLength && head.minorVersion == 1, "seed \(seed): \(coding)")
        }
      } catch {
        #expect([400, 403, 501].contains(error.status), "seed \(seed): \(error)")
      }
    }
  }
}
