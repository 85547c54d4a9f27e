import Foundation
import Testing
import WayTransport

@testable import WaySockets

/// The test's handler of request bodies, which records them.
private final class TestBodyHandler: Sendable {
  /// A body, and the function that responds to it.
  typealias ReceivedBody = (body: String, respond: @Sendable (HTTPResponse) -> Void)

  let received = Mailbox<ReceivedBody>()
  let cancelled = Mailbox<Void>()
  private let respondsImmediately: Bool

  /// `respondsImmediately`: whether it responds at once.
  init(respondsImmediately: Bool = true) {
    self.respondsImmediately = respondsImmediately
  }

  private final class PendingWork: ScheduledWork {
    let handler: TestBodyHandler
    init(_ handler: TestBodyHandler) { self.handler = handler }
    func cancel() { handler.cancelled.put(()) }
  }

  var responder: HTTPResponder {
    { [self] request in
      guard request.path == "/rpc" else { return nil }
      guard request.method == "POST" else {
        return .respond(HTTPResponse(status: 405, fields: [("Allow", "POST")]))
      }
      let body = HTTPBodyHandler(contentType: "application/json", limit: 1000) {
        [self] bytes, respond in
        let text = String(decoding: bytes, as: UTF8.self)
        received.put((text, respond))
        if respondsImmediately { respond(Self.response("<\(text)>")) }
        return PendingWork(self)
      }
      return .readBody(body)
    }
  }

  static func response(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: Array(text.utf8))
  }

  func next() async throws -> ReceivedBody {
    try #require(await received.next(within: .seconds(10)))
  }
}

@Suite struct RequestBodyTests {
  private func post(
    _ server: TestServer, _ body: String = "", type: String? = "application/json",
    length: String? = nil, more: String = "", line: String = "POST /rpc HTTP/1.1"
  ) -> String {
    "\(line)\r\nHost: localhost:\(server.port)\r\n"
      + (type.map { "Content-Type: \($0)\r\n" } ?? "")
      + (length == "" ? "" : "Content-Length: \(length ?? "\(body.utf8.count)")\r\n") + more
      + "\r\n"
      + body
  }

  private func readResponse(_ socket: RawSocket) -> String {
    let head = socket.readHead()
    let line = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
    let length = line.flatMap { Int($0.dropFirst(16)) } ?? 0
    return head.dropFirst(9).prefix(3) + " " + String(decoding: socket.read(length), as: UTF8.self)
  }

  @Test func `Delivers complete bodies and keeps the connection open`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(responder: bodyHandler.responder) { server in
      let socket = try RawSocket(port: server.port)
      for (body, type) in [
        ("[1]", "application/json"), ("", "Application/JSON; charset=utf-8"),
        (String(repeating: "x", count: 1000), "application/json ;x"),
      ] {
        socket.send(post(server, body, type: type))
        #expect(readResponse(socket) == "200 <\(body)>")
      }
      // Two at once, followed by another request.
      socket.send(
        post(server, "one") + post(server, "two") + post(server, line: "GET /rpc HTTP/1.1"))
      #expect(
        [readResponse(socket), readResponse(socket), readResponse(socket)] == [
          "200 <one>", "200 <two>", "405 ",
        ])
      // A body in pieces.
      socket.send(post(server, "", length: "4"))
      for byte in "body" { socket.send(String(byte)) }
      #expect(readResponse(socket) == "200 <body>")
    }
  }

  /// Changes to a request, and the status and text of its response.
  static let rejectedRequests:
    [(type: String?, length: String?, more: String, line: String, response: String)] = [
      ("application/json", "", "", "POST /rpc HTTP/1.1", "411 the request needs a Content-Length"),
      (
        "application/json", "1001", "", "POST /rpc HTTP/1.1",
        "413 the body is longer than 1000 bytes"
      ),
      (
        "application/json", "999999999999999999", "", "POST /rpc HTTP/1.1",
        "413 the body is longer than 1000 bytes"
      ),
      (
        "application/json", "+3", "", "POST /rpc HTTP/1.1",
        "400 the Content-Length header is not a number"
      ),
      (
        "application/json", "3", "Content-Length: 3\r\n", "POST /rpc HTTP/1.1",
        "400 the Content-Length header is not a number"
      ),
      (
        nil, "3", "", "POST /rpc HTTP/1.1",
        "415 the body must have the media type application/json"
      ),
      (
        "text/plain", "3", "", "POST /rpc HTTP/1.1",
        "415 the body must have the media type application/json"
      ),
      (
        "application/jsonx", "3", "", "POST /rpc HTTP/1.1",
        "415 the body must have the media type application/json"
      ),
      (
        "application/json", "3", "Content-Type: application/json\r\n", "POST /rpc HTTP/1.1",
        "415 the body must have the media type application/json"
      ),
      (
        "application/json", "3", "Content-Encoding: gzip\r\n", "POST /rpc HTTP/1.1",
        "415 the body must not be compressed"
      ),
      (
        "application/json", "3", "Expect: miracles\r\n", "POST /rpc HTTP/1.1",
        "417 the Expect header"
      ),
      ("application/json", "3", "", "PUT /rpc HTTP/1.1", "405 "),
      ("application/json", "", "Transfer-Encoding: chunked\r\n", "PUT /rpc HTTP/1.1", "405 "),
      (
        "application/json", "3", "", "POST /other HTTP/1.1", "413 this path accepts no request body"
      ),
      (
        "application/json", "3", "Origin: http://evil.example\r\n", "POST /rpc HTTP/1.1",
        "403 pages of"
      ),
    ]

  @Test func `Rejected body is not parsed as the next request`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(responder: bodyHandler.responder) { server in
      for (type, length, more, line, expected) in Self.rejectedRequests {
        let socket = try RawSocket(port: server.port)
        // The following bytes would get status 200 if they were parsed as a request.
        socket.send(post(server, "", type: type, length: length, more: more, line: line))
        socket.send(post(server, "smuggled"))
        let all = socket.readToEnd()
        let got =
          all.dropFirst(9).prefix(3) + " "
          + (all.split(separator: "\r\n\r\n").dropFirst().first ?? "")
        #expect(got.hasPrefix(expected), "\(line) \(more): \(all)")
        #expect(
          all.contains("\r\nConnection: close\r\n") && !all.contains("HTTP/1.1 200"), "\(line)")
      }
      #expect(await bodyHandler.received.next(within: .zero) == nil)
    }
  }

  /// A body in chunks.
  private func chunked(_ parts: [String], trailer: String = "") -> String {
    parts.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
      + "0\r\n\(trailer)\r\n"
  }

  private static let transferEncoding = "Transfer-Encoding: chunked\r\n"

  @Test func `Delivers chunked bodies and keeps the connection open`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(responder: bodyHandler.responder) { server in
      let socket = try RawSocket(port: server.port)
      let head = post(server, length: "", more: Self.transferEncoding)
      let large = String(repeating: "x", count: 500)
      for parts in [["[1]"], [], ["one", "two"], [large, large]] {
        socket.send(head + chunked(parts))
        #expect(readResponse(socket) == "200 <\(parts.joined())>")
      }
      // Several requests at once.
      socket.send(
        head + chunked(["one"], trailer: "Content-Length: 9\r\n") + post(server, "two")
          + post(server, length: "", more: "transfer-encoding:CHUNKED\r\n") + chunked(["three"])
          + post(server, line: "GET /rpc HTTP/1.1"))
      #expect(
        (0..<4).map { _ in readResponse(socket) } == [
          "200 <one>", "200 <two>", "200 <three>", "405 ",
        ])
      // A body in pieces.
      socket.send(head)
      for byte in "4;a=b\r\nbody\r\n0\r\nX: y\r\n\r\n".utf8 { socket.send([byte]) }
      #expect(readResponse(socket) == "200 <body>")
      socket.send(
        post(server, length: "", more: Self.transferEncoding + "Expect: 100-continue\r\n"))
      #expect(socket.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
      socket.send(chunked(["body"]))
      #expect(readResponse(socket) == "200 <body>")
    }
  }

  /// The lines after which programs could disagree where the body ends, and the status. The version
  /// is that of the request.
  static let ambiguousHeads: [(lines: String, version: String, status: String)] = [
    // Two framings.
    ("Content-Length: 3\r\nTransfer-Encoding: chunked", "1.1", "400"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 3", "1.1", "400"),
    ("Content-Length: 0\r\nTransfer-Encoding: chunked", "1.1", "400"),
    ("Content-Length: x\r\nTransfer-Encoding: chunked", "1.1", "400"),
    ("Content-Length: 3\r\nTransfer-Encoding: identity", "1.1", "400"),
    ("Content-Length: 3\r\nTransfer-Encoding:", "1.1", "400"),
    ("Transfer-Encoding: chunked", "1.0", "400"),
    ("Content-Length: 3\r\nTransfer-Encoding: chunked", "1.0", "400"),
    // Codings.
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "1.1", "400"),
    ("Transfer-Encoding: chunked, chunked", "1.1", "400"),
    ("Transfer-Encoding: chunked,", "1.1", "400"), ("Transfer-Encoding: ,chunked", "1.1", "400"),
    ("Transfer-Encoding:", "1.1", "400"), ("Transfer-Encoding: ,", "1.1", "400"),
    ("Transfer-Encoding: identity", "1.1", "501"), ("Transfer-Encoding: gzip", "1.1", "501"),
    ("Transfer-Encoding: gzip, chunked", "1.1", "501"),
    ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "1.1", "501"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "1.1", "501"),
    ("Transfer-Encoding: chunked, identity", "1.1", "501"),
    ("Transfer-Encoding: xchunked", "1.1", "501"), ("Transfer-Encoding: chunkedx", "1.1", "501"),
    ("Transfer-Encoding: chunked;q=1", "1.1", "501"),
    ("Transfer-Encoding: \"chunked\"", "1.1", "501"),
    ("Transfer-Encoding: chunked chunked", "1.1", "501"),
    ("Transfer-Encoding: chun\u{212A}ed", "1.1", "501"),
    ("Transfer-Encoding: chunked\u{A0}", "1.1", "501"),
    // Names and lines.
    ("Transfer-Encoding : chunked", "1.1", "400"), ("Transfer-Encoding\t: chunked", "1.1", "400"),
    ("Transfer-Encoding: \u{0B}chunked", "1.1", "400"),
    ("Transfer-Encoding: chunked\u{0}", "1.1", "400"),
    ("Transfer-Encoding:\r\n chunked", "1.1", "400"),
    (" Transfer-Encoding: chunked", "1.1", "400"),
    ("X: y\r\n Transfer-Encoding: chunked", "1.1", "400"),
    ("X: y\nTransfer-Encoding: chunked", "1.1", "400"),
    ("X: y\rTransfer-Encoding: chunked", "1.1", "400"),
    ("Tran\u{17F}fer-Encoding: chunked", "1.1", "400"),
    ("Transfer_Encoding: chunked", "1.1", "411"), ("X-Transfer-Encoding: chunked", "1.1", "411"),
    // Lengths.
    ("Content-Length: 3\r\nContent-Length: 4", "1.1", "400"),
    ("Content-Length: 3\r\nContent-Length: 3", "1.1", "400"),
    ("Content-Length: 3, 3", "1.1", "400"), ("Content-Length: 3, 4", "1.1", "400"),
    ("Content-Length:", "1.1", "400"), ("Content-Length: +3", "1.1", "400"),
    ("Content-Length: -3", "1.1", "400"), ("Content-Length: 0x3", "1.1", "400"),
    ("Content-Length: 3 3", "1.1", "400"), ("Content-Length: 3;", "1.1", "400"),
    ("Content-Length: 3.0", "1.1", "400"), ("Content-Length: 1e1", "1.1", "400"),
    ("Content-Length: \u{FF13}", "1.1", "400"), ("Content-Length: \"3\"", "1.1", "400"),
    ("Content-Length: 18446744073709551619", "1.1", "400"),
    ("Content-Length : 3", "1.1", "400"), ("Content_Length: 3", "1.1", "411"),
  ]

  /// Chunked bodies whose end programs could determine differently, or that are too long, and the
  /// status. ``ChunkedBodyTests`` has more.
  static let ambiguousChunks: [(body: String, status: String)] = [
    ("", "400"), ("x", "400"), ("0\n\n", "400"), ("0\r\n", "400"),
    ("3 \r\none\r\n0\r\n\r\n", "400"),
    ("3\none\n0\n\n", "400"), ("3\r\none0\r\n\r\n", "400"), ("2\r\none\r\n0\r\n\r\n", "400"),
    ("4\r\none\r\n0\r\n\r\n", "400"), ("-3\r\none\r\n0\r\n\r\n", "400"),
    ("0x3\r\none\r\n0\r\n\r\n", "400"), ("100000003\r\none\r\n0\r\n\r\n", "400"),
    ("3;a\nb\r\none\r\n0\r\n\r\n", "400"), ("0\r\nX: y\n\r\n", "400"), ("0;\n\r\n\r\n", "400"),
    ("3e9\r\n", "413"), ("fffffff0\r\n", "413"),
  ]

  @Test func `Ambiguous framing never turns a body into a request`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(responder: bodyHandler.responder) { server in
      func check(_ request: String, _ status: String, _ name: String) throws {
        let socket = try RawSocket(port: server.port)
        // The following bytes would get status 200 if they were parsed as a request.
        socket.send(request + post(server, "smuggled"))
        let all = socket.readToEnd()
        #expect(all.hasPrefix("HTTP/1.1 \(status) "), "\(name.debugDescription): \(all)")
        #expect(all.contains("\r\nConnection: close\r\n"), "\(name.debugDescription)")
        #expect(all.components(separatedBy: "HTTP/1.1 ").count == 2, "\(name.debugDescription)")
      }
      for (lines, version, status) in Self.ambiguousHeads {
        let line = "POST /rpc HTTP/\(version)"
        try check(post(server, length: "", more: lines + "\r\n", line: line), status, lines)
      }
      for (body, status) in Self.ambiguousChunks {
        let head = post(server, length: "", more: Self.transferEncoding)
        try check(head + body, status, body)
      }
      #expect(await bodyHandler.received.next(within: .zero) == nil)
    }
  }

  @Test func `Sends 100 Continue when expected, except for rejected bodies`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(responder: bodyHandler.responder) { server in
      let expect = "Expect: 100-continue\r\n"
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "", length: "4", more: expect))
      #expect(socket.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
      socket.send("body")
      #expect(readResponse(socket) == "200 <body>")
      // A client that sends the body at once needs no "100 Continue".
      socket.send(post(server, "body", more: expect))
      #expect(readResponse(socket) == "200 <body>")
      socket.send(post(server, "", length: "1001", more: expect))
      #expect(socket.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func `Rejects a slow body with status 408`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(
      responder: bodyHandler.responder, configure: .init { $0.bodyTimeout = .milliseconds(100) }
    ) { server in
      for request in [
        post(server, "bo", length: "4"),
        post(server, length: "", more: Self.transferEncoding) + "4\r\nbo",
        post(server, length: "", more: Self.transferEncoding) + "4\r\nbody\r\n0\r\n",
      ] {
        let socket = try RawSocket(port: server.port)
        socket.send(request)
        #expect(socket.readToEnd().hasPrefix("HTTP/1.1 408 "))
      }
      #expect(await bodyHandler.received.next(within: .zero) == nil)
    }
  }

  @Test func `Limits the total size of bodies and releases it`() async throws {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(
      responder: bodyHandler.responder, configure: .init { $0.maximumBodies = 1500 }
    ) { server in
      let body = String(repeating: "x", count: 1000)
      let first = try RawSocket(port: server.port)
      first.send(post(server, body))
      let held = try await bodyHandler.next()
      for request in [
        post(server, body),
        post(server, length: "", more: Self.transferEncoding) + chunked([body]),
      ] {
        let second = try RawSocket(port: server.port)
        second.send(request)
        #expect(second.readToEnd().hasPrefix("HTTP/1.1 503 "))
      }
      await server.onLoop { held.respond(TestBodyHandler.response("1")) }
      #expect(readResponse(first) == "200 1")
      first.send(post(server, body))
      let next = try await bodyHandler.next()
      await server.onLoop { next.respond(TestBodyHandler.response("2")) }
      #expect(readResponse(first) == "200 2")
    }
  }

  @Test func `Late response is sent once and delays pipelined requests`() async throws {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(responder: bodyHandler.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      let one = try await bodyHandler.next()
      #expect(one.body == "one")
      // More than the server reads ahead.
      for _ in 0..<400 { socket.send(post(server, "two")) }
      await server.onLoop {
        one.respond(TestBodyHandler.response("first"))
        one.respond(TestBodyHandler.response("again"))
      }
      #expect(readResponse(socket) == "200 first")
      for number in 0..<400 {
        let two = try await bodyHandler.next()
        await server.onLoop {
          one.respond(TestBodyHandler.response("again"))
          two.respond(TestBodyHandler.response("\(number)"))
        }
        #expect(readResponse(socket) == "200 \(number)")
      }
      #expect(await bodyHandler.cancelled.next(within: .zero) == nil)
    }
  }

  @Test func `Stops reading while a response is pending`() async throws {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(responder: bodyHandler.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      let one = try await bodyHandler.next()
      let size = 64 << 20
      #expect(socket.sendUntilBlocked([UInt8](repeating: 0x0A, count: size)) < size)
      await server.onLoop { one.respond(TestBodyHandler.response("done")) }
      #expect(readResponse(socket) == "200 done")
    }
  }

  @Test func `Cancels the work when the client disconnects`() async throws {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(responder: bodyHandler.responder) { server in
      for pipelined in ["", "GET / HTTP/1.1\r\n"] {
        var socket: RawSocket? = try RawSocket(port: server.port)
        socket?.send(post(server, "one"))
        let one = try await bodyHandler.next()
        socket?.send(pipelined)
        socket = nil
        #expect(await bodyHandler.cancelled.next(within: .seconds(10)) != nil)
        await server.onLoop { one.respond(TestBodyHandler.response("late")) }
      }
    }
  }

  @Test func `Stopping finishes pending responses and rejects unread bodies`()
    async throws
  {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(responder: bodyHandler.responder) { server in
      let waiting = try RawSocket(port: server.port)
      waiting.send(post(server, "one"))
      let one = try await bodyHandler.next()
      let reading = try RawSocket(port: server.port)
      reading.send(post(server, "", length: "4", more: "Expect: 100-continue\r\n"))
      #expect(reading.readHead().hasPrefix("HTTP/1.1 100 "))
      let stopped = Task { await server.server.stop(grace: .seconds(60)) }
      #expect(reading.readToEnd().hasPrefix("HTTP/1.1 503 "))
      await server.onLoop { one.respond(TestBodyHandler.response("done", status: 200)) }
      let all = waiting.readToEnd()
      #expect(all.hasSuffix("\r\n\r\ndone") && all.contains("\r\nConnection: close\r\n"))
      await stopped.value
    }
  }

  @Test func `Cancels pending work when the grace period ends`() async throws {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(responder: bodyHandler.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      _ = try await bodyHandler.next()
      await server.server.stop(grace: .zero)
      #expect(await bodyHandler.cancelled.next(within: .seconds(10)) != nil)
      #expect(socket.readToEnd() == "")
    }
  }

  @Test func `Response with status 204 has no body or length`() async throws {
    let bodyHandler = TestBodyHandler(respondsImmediately: false)
    try await withServer(responder: bodyHandler.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      let one = try await bodyHandler.next()
      await server.onLoop { one.respond(HTTPResponse(status: 204)) }
      let head = socket.readHead()
      #expect(head.hasPrefix("HTTP/1.1 204 No Content\r\n") && !head.contains("Content-Length"))
      socket.send(post(server, line: "GET /rpc HTTP/1.1"))
      #expect(readResponse(socket) == "405 ")
    }
  }

  @Test func `Full server rejects requests with a body`() async throws {
    let bodyHandler = TestBodyHandler()
    try await withServer(
      responder: bodyHandler.responder, configure: .init { $0.limits.maxConnections = 1 }
    ) { server in
      let first = try RawSocket(port: server.port)
      first.upgrade(port: server.port)
      let second = try RawSocket(port: server.port)
      second.send(post(server, "one"))
      #expect(second.readToEnd().hasPrefix("HTTP/1.1 503 "))
    }
  }
}
