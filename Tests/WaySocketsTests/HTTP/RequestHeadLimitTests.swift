import Testing
import WayTransport

@testable import WaySockets

/// The size of request heads, and the memory for heads that are incomplete.
@Suite struct RequestHeadLimitTests {
  /// A request with cookies of this many bytes.
  private func request(cookies size: Int, host: String = "localhost") -> String {
    let cookies = String(repeating: "a=0123456789012345; ", count: size / 20)
    return "GET /health HTTP/1.1\r\nHost: \(host)\r\nCookie: \(cookies)\r\n\r\n"
  }

  @Test func `Accepts the cookies that browsers send for localhost`() async throws {
    try await withServer(responder: HTTPConnectionTests.healthResponder) { server in
      let host = "localhost:\(server.port)"
      let connection = try RawSocket(port: server.port)
      for size in [3000, 9000, 16_000, 32_000] {
        connection.send(request(cookies: size, host: host))
        #expect(connection.readHead().hasPrefix("HTTP/1.1 200 "), "\(size)")
        #expect(connection.read(9).count == 9)
        let cookies = String(repeating: "a=0123456789012345; ", count: size / 20)
        let socket = try RawSocket(port: server.port)
        let head = socket.upgrade(port: server.port, more: "Cookie: \(cookies)\r\n")
        #expect(head.hasPrefix("HTTP/1.1 101 "), "\(size)")
      }
      for size in [33_000, 100_000] {
        let socket = try RawSocket(port: server.port)
        socket.send(request(cookies: size, host: host))
        let response = socket.readToEnd()
        #expect(response.hasPrefix("HTTP/1.1 431 "), "\(size): \(response)")
        #expect(response.contains("with its cookies, is longer than 32768 bytes"))
      }
    }
  }

  @Test func `Limit of the head is configurable and exact`() async throws {
    let size = request(cookies: 1000).utf8.count
    try await withServer(
      responder: HTTPConnectionTests.healthResponder,
      configure: .init {
        $0.limits.maxHead = size
        $0.openPaths = ["/health"]
      }
    ) { server in
      for (host, status) in [("localhost", "200"), ("localhost.", "431")] {
        let socket = try RawSocket(port: server.port)
        socket.send(request(cookies: 1000, host: host))
        #expect(socket.readHead().hasPrefix("HTTP/1.1 \(status) "), "\(host)")
      }
    }
  }

  @Test func `Charges only long incomplete heads to the budget`() throws {
    let kibibyte = 1024
    let budget = ByteBudget(.server, 24 * kibibyte)
    var first = HeadReader(limit: 33 * kibibyte, budget: budget)
    var input = Array("GET / HTTP/1.1\r\nCookie: ".utf8)
    func grow(to size: Int) { input += [UInt8](repeating: 0x61, count: size - input.count) }
    for (size, used) in [
      (100, 0), (8 * kibibyte, 0), (8 * kibibyte + 1, 8), (16 * kibibyte, 8),
      (16 * kibibyte + 1, 16), (32 * kibibyte, 24),
    ] {
      grow(to: size)
      guard case .incomplete = try first.next(from: &input) else {
        Issue.record("\(size) bytes were not incomplete")
        return
      }
      #expect(budget.used == used * kibibyte, "\(size)")
    }
    var second = HeadReader(limit: 33 * kibibyte, budget: budget)
    var other = Array(input.prefix(9000))
    do throws(HTTPRequestRejection) {
      _ = try second.next(from: &other)
      Issue.record("the head was charged")
    } catch {
      #expect(error.status == 503)
    }
    // A complete head needs no room.
    var complete = Array(input.prefix(9000)) + Array("\r\n\r\n".utf8)
    guard case .head = try second.next(from: &complete) else {
      Issue.record("the head was not read")
      return
    }
    input += Array("\r\n\r\nGET /".utf8)
    guard case .head = try first.next(from: &input) else {
      Issue.record("the head was not read")
      return
    }
    #expect(budget.used == 0 && input == Array("GET /".utf8))
  }

  private static let memoryLimits: [@Sendable (inout SocketServerConfiguration) -> Void] = [
    { $0.maximumHeads = 1 }, { $0.limits.maxServerBytes = 1 },
  ]

  @Test(arguments: memoryLimits.indices)
  func `Server without memory for a long head responds with 503`(index: Int) async throws {
    let limit = Self.memoryLimits[index]
    try await withServer(configure: .init { limit(&$0) }) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(String(request(cookies: 9000).dropLast(1)))
      #expect(socket.readToEnd().hasPrefix("HTTP/1.1 503 "))
      let other = try RawSocket(port: server.port)
      #expect(other.upgrade(port: server.port).hasPrefix("HTTP/1.1 101 "))
    }
  }
}
