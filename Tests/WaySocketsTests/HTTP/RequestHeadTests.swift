import Testing
import WayTransport

@testable import WaySockets

@Suite struct RequestHeadTests {
  private func parse(_ text: String) throws -> RequestHead {
    try RequestHead(parsing: Array(text.utf8)[...])
  }

  @Test func `Parses method, path, query and fields`() throws {
    let head = try parse(
      "GET /a%20b?x=1?y HTTP/1.1\r\nHost: h\r\nX-List:  a, B \r\nx-list:c\r\nEmpty:\r\n\r\n")
    #expect(head.method == "GET")
    #expect(head.path == "/a%20b")
    #expect(head.query == "x=1?y")
    #expect(head.minorVersion == 1)
    #expect(head.values("host") == ["h"])
    #expect(head.list("x-list") == ["a", "b", "c"])
    #expect(head.values("empty") == [""])
  }

  static let invalidRequests: [(String, Int)] = [
    ("GET / HTTP/2.0\r\n\r\n", 505),
    ("PRI * HTTP/2.0\r\n\r\n", 505),
    ("GET / HTTP/1.1 \r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\n\r\n", 400),
    ("GET /\r\n\r\n", 400),
    (" / HTTP/1.1\r\n\r\n", 400),
    ("GET https://127.0.0.1/ HTTP/1.1\r\n\r\n", 400),
    ("GET http:/a HTTP/1.1\r\n\r\n", 400),
    ("GET http://a/#b HTTP/1.1\r\n\r\n", 400),
    ("OPTIONS * HTTP/1.1\r\n\r\n", 400),
    ("CONNECT a:1 HTTP/1.1\r\n\r\n", 400),
    ("GET /a#b HTTP/1.1\r\n\r\n", 400),
    ("GET /\u{e9} HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nNoColon\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nSpace : a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nA: b\u{0}\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", 400),
    ("GET / HTTP/1.1\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 101) + "\r\n", 431),
    ("GET / HTTP/1.1", 400),
    ("", 400),
  ]

  @Test(arguments: invalidRequests)
  func `Rejects invalid requests`(text: String, status: Int) {
    do {
      let head = try parse(text)
      Issue.record("accepted as \(head)")
    } catch {
      #expect((error as? HTTPRequestRejection)?.status == status)
    }
  }

  @Test(arguments: [
    ("GET /", true), ("", true), ("G", true), ("POST", true), ("get /", false),
    ("\u{16}\u{03}\u{01}", false), ("\u{0}", false), ("ABCDEFGHIJKLMNOPQ", false),
  ])
  func `Detects non-HTTP input by its first bytes`(text: String, mayBegin: Bool) {
    #expect(RequestHead.mayBegin(with: Array(text.utf8)) == mayBegin)
  }

  @Test(arguments: ["", "a", "\r\n\r", "a\r\n\r\n", "a\r\n\r\nb\r\n\r\n"])
  func `Finds the end of a head received in parts`(text: String) {
    let bytes = Array(text.utf8)
    let whole = RequestHead.end(in: bytes, from: 0)
    for seen in 0...bytes.count {
      let first = RequestHead.end(in: Array(bytes.prefix(seen)), from: 0)
      #expect((first ?? RequestHead.end(in: bytes, from: seen - 3)) == whole)
    }
  }

  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  static let validHandshakeLines = [
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: \(key)",
  ]

  /// The request line, the header lines, and the status of the rejection or the chosen subprotocol.
  struct HandshakeCase: Sendable {
    var line = "GET /echo HTTP/1.1"
    var without = ""
    var with: [String] = []
    var status: Int?
    var subprotocol: String?
  }

  static let handshakeCases: [HandshakeCase] = [
    .init(),
    .init(line: "GET /echo?a=b HTTP/1.1"),
    .init(without: "Connection", with: ["Connection: keep-alive, Upgrade"]),
    .init(with: ["Sec-WebSocket-Protocol: x, b, a"], subprotocol: "b"),
    .init(with: ["Sec-WebSocket-Protocol: x", "Sec-WebSocket-Protocol: a"], subprotocol: "a"),
    .init(with: ["Sec-WebSocket-Protocol: x"], status: 400),
    .init(with: ["Sec-WebSocket-Protocol: A"], status: 400),
    .init(line: "GET /echo/ HTTP/1.1", status: 404),
    .init(line: "GET /ECHO HTTP/1.1", status: 404),
    .init(line: "GET /e%63ho HTTP/1.1", status: 404),
    .init(line: "POST /echo HTTP/1.1", status: 400),
    .init(line: "GET /echo HTTP/1.0", status: 400),
    .init(without: "Connection", status: 400),
    .init(without: "Connection", with: ["Connection: close"], status: 400),
    .init(without: "Sec-WebSocket-Version", status: 426),
    .init(without: "Sec-WebSocket-Version", with: ["Sec-WebSocket-Version: 8"], status: 426),
    .init(without: "Sec-WebSocket-Key", status: 400),
    .init(with: ["Sec-WebSocket-Key: \(key)"], status: 400),
    .init(without: "Sec-WebSocket-Key", with: ["Sec-WebSocket-Key: short=="], status: 400),
    .init(
      without: "Sec-WebSocket-Key", with: ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ@="],
      status: 400),
  ]

  @Test(arguments: handshakeCases)
  func `Accepts or rejects handshakes`(handshake: HandshakeCase) throws {
    let lines =
      Self.validHandshakeLines.filter {
        handshake.without.isEmpty || !$0.hasPrefix(handshake.without)
      }
      + handshake.with
    let head = try parse(
      handshake.line + "\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n")
    let endpoint = Endpoint(
      path: "/echo", subprotocols: ["a", "b"], maxMessage: 1, acceptor: RecordingAcceptor())
    do throws(HTTPRequestRejection) {
      let upgrade = try WebSocketUpgrade(head, path: head.path, endpoints: [endpoint])
      #expect(handshake.status == nil)
      #expect(upgrade.subprotocol == handshake.subprotocol)
      let bytes = upgrade.response.bytes(headers: [], keepsAlive: true)
      let response = String(decoding: bytes, as: UTF8.self)
      #expect(response.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
      #expect(response.hasSuffix("\r\n\r\n"))
      #expect(response.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
      #expect(response.contains("Sec-WebSocket-Protocol") == (handshake.subprotocol != nil))
      #expect(!response.contains("Content-Length"))
    } catch {
      #expect(error.status == handshake.status)
    }
  }
}
