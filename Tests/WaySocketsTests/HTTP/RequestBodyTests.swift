import Foundation
import Testing
import WayTransport

@testable import WaySockets

/// What the test's taker of bodies does, and was told.
private final class Taker: Sendable {
  /// A body, and what answers it.
  typealias Taken = (body: String, answer: @Sendable (HTTPResponse) -> Void)

  let taken = Mailbox<Taken>()
  let cancelled = Mailbox<Void>()
  private let isPrompt: Bool

  /// `isPrompt` answers on the spot.
  init(isPrompt: Bool = true) {
    self.isPrompt = isPrompt
  }

  private final class Work: ScheduledWork {
    let taker: Taker
    init(_ taker: Taker) { self.taker = taker }
    func cancel() { taker.cancelled.put(()) }
  }

  var responder: HTTPResponder {
    { [self] request in
      guard request.path == "/rpc" else { return nil }
      guard request.method == "POST" else {
        return .answer(HTTPResponse(status: 405, fields: [("Allow", "POST")]))
      }
      let body = HTTPBody(contentType: "application/json", limit: 1000) { [self] bytes, answer in
        let text = String(decoding: bytes, as: UTF8.self)
        taken.put((text, answer))
        if isPrompt { answer(Self.response("<\(text)>")) }
        return Work(self)
      }
      return .body(body)
    }
  }

  static func response(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: Array(text.utf8))
  }

  func next() async throws -> Taken {
    try #require(await taken.next(within: .seconds(10)))
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

  private func answer(_ socket: RawSocket) -> String {
    let head = socket.readHead()
    let line = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
    let length = line.flatMap { Int($0.dropFirst(16)) } ?? 0
    return head.dropFirst(9).prefix(3) + " " + String(decoding: socket.read(length), as: UTF8.self)
  }

  @Test func `Bodies are handed over whole, and the connection goes on`() async throws {
    let taker = Taker()
    try await withServer(responder: taker.responder) { server in
      let socket = try RawSocket(port: server.port)
      for (body, type) in [
        ("[1]", "application/json"), ("", "Application/JSON; charset=utf-8"),
        (String(repeating: "x", count: 1000), "application/json ;x"),
      ] {
        socket.send(post(server, body, type: type))
        #expect(answer(socket) == "200 <\(body)>")
      }
      // Two at once, and something else behind them.
      socket.send(
        post(server, "one") + post(server, "two") + post(server, line: "GET /rpc HTTP/1.1"))
      #expect(
        [answer(socket), answer(socket), answer(socket)] == ["200 <one>", "200 <two>", "405 "])
      // A body in pieces.
      socket.send(post(server, "", length: "4"))
      for byte in "body" { socket.send(String(byte)) }
      #expect(answer(socket) == "200 <body>")
    }
  }

  /// A request's changes, and the status and the text of its answer.
  static let refused:
    [(type: String?, length: String?, more: String, line: String, answer: String)] = [
      ("application/json", "", "", "POST /rpc HTTP/1.1", "411 the length of the body"),
      (
        "application/json", "", "Transfer-Encoding: chunked\r\n", "POST /rpc HTTP/1.1",
        "411 the length of the body"
      ),
      (
        "application/json", "3", "Transfer-Encoding: chunked\r\n", "POST /rpc HTTP/1.1",
        "411 the length of the body"
      ),
      (
        "application/json", "1001", "", "POST /rpc HTTP/1.1",
        "413 the body holds at most 1000 bytes"
      ),
      (
        "application/json", "999999999999999999", "", "POST /rpc HTTP/1.1",
        "413 the body holds at most 1000 bytes"
      ),
      ("application/json", "+3", "", "POST /rpc HTTP/1.1", "400 Content-Length is not one number"),
      (
        "application/json", "3", "Content-Length: 3\r\n", "POST /rpc HTTP/1.1",
        "400 Content-Length is not one number"
      ),
      (
        nil, "3", "", "POST /rpc HTTP/1.1",
        "415 the body must be of the media type application/json"
      ),
      (
        "text/plain", "3", "", "POST /rpc HTTP/1.1",
        "415 the body must be of the media type application/json"
      ),
      (
        "application/jsonx", "3", "", "POST /rpc HTTP/1.1",
        "415 the body must be of the media type application/json"
      ),
      (
        "application/json", "3", "Content-Type: application/json\r\n", "POST /rpc HTTP/1.1",
        "415 the body must be of the media type application/json"
      ),
      (
        "application/json", "3", "Content-Encoding: gzip\r\n", "POST /rpc HTTP/1.1",
        "415 the body must not be compressed"
      ),
      (
        "application/json", "3", "Expect: miracles\r\n", "POST /rpc HTTP/1.1",
        "417 nothing but 100-continue"
      ),
      ("application/json", "3", "", "PUT /rpc HTTP/1.1", "405 "),
      ("application/json", "", "Transfer-Encoding: chunked\r\n", "PUT /rpc HTTP/1.1", "405 "),
      ("application/json", "3", "", "POST /other HTTP/1.1", "413 requests with a body"),
      (
        "application/json", "3", "Origin: http://evil.example\r\n", "POST /rpc HTTP/1.1",
        "403 pages of"
      ),
    ]

  @Test func `A body that is refused is not taken for the next request`() async throws {
    let taker = Taker()
    try await withServer(responder: taker.responder) { server in
      for (type, length, more, line, expected) in Self.refused {
        let socket = try RawSocket(port: server.port)
        // What follows would be answered 200, were it read as a request.
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
      #expect(await taker.taken.next(within: .zero) == nil)
    }
  }

  @Test func `Who waits to be asked for the body is asked, unless it is refused`() async throws {
    let taker = Taker()
    try await withServer(responder: taker.responder) { server in
      let expect = "Expect: 100-continue\r\n"
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "", length: "4", more: expect))
      #expect(socket.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
      socket.send("body")
      #expect(answer(socket) == "200 <body>")
      // Who sends it at once needs no word.
      socket.send(post(server, "body", more: expect))
      #expect(answer(socket) == "200 <body>")
      socket.send(post(server, "", length: "1001", more: expect))
      #expect(socket.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test func `A body that comes too slowly is answered 408`() async throws {
    let taker = Taker()
    try await withServer(
      responder: taker.responder, configure: .init { $0.bodyTimeout = .milliseconds(100) }
    ) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "bo", length: "4"))
      #expect(socket.readToEnd().hasPrefix("HTTP/1.1 408 "))
      #expect(await taker.taken.next(within: .zero) == nil)
    }
  }

  @Test func `Bodies of all together are bounded, and what was taken is given back`() async throws {
    let taker = Taker(isPrompt: false)
    try await withServer(
      responder: taker.responder, configure: .init { $0.maximumBodies = 1500 }
    ) { server in
      let body = String(repeating: "x", count: 1000)
      let first = try RawSocket(port: server.port)
      first.send(post(server, body))
      let held = try await taker.next()
      let second = try RawSocket(port: server.port)
      second.send(post(server, body))
      #expect(second.readToEnd().hasPrefix("HTTP/1.1 503 "))
      await server.onLoop { held.answer(Taker.response("1")) }
      #expect(answer(first) == "200 1")
      first.send(post(server, body))
      let next = try await taker.next()
      await server.onLoop { next.answer(Taker.response("2")) }
      #expect(answer(first) == "200 2")
    }
  }

  @Test func `An answer may come late, once, and the requests behind it wait`() async throws {
    let taker = Taker(isPrompt: false)
    try await withServer(responder: taker.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      let one = try await taker.next()
      #expect(one.body == "one")
      // More than the server reads ahead.
      for _ in 0..<400 { socket.send(post(server, "two")) }
      await server.onLoop {
        one.answer(Taker.response("first"))
        one.answer(Taker.response("again"))
      }
      #expect(answer(socket) == "200 first")
      for number in 0..<400 {
        let two = try await taker.next()
        await server.onLoop {
          one.answer(Taker.response("again"))
          two.answer(Taker.response("\(number)"))
        }
        #expect(answer(socket) == "200 \(number)")
      }
      #expect(await taker.cancelled.next(within: .zero) == nil)
    }
  }

  @Test func `What comes behind an answer that is waited for stays at the client`() async throws {
    let taker = Taker(isPrompt: false)
    try await withServer(responder: taker.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      let one = try await taker.next()
      let size = 64 << 20
      #expect(socket.sendWhileTaken([UInt8](repeating: 0x0A, count: size)) < size)
      await server.onLoop { one.answer(Taker.response("done")) }
      #expect(answer(socket) == "200 done")
    }
  }

  @Test func `The work is cancelled when the asker goes`() async throws {
    let taker = Taker(isPrompt: false)
    try await withServer(responder: taker.responder) { server in
      for pipelined in ["", "GET / HTTP/1.1\r\n"] {
        var socket: RawSocket? = try RawSocket(port: server.port)
        socket?.send(post(server, "one"))
        let one = try await taker.next()
        socket?.send(pipelined)
        socket = nil
        #expect(await taker.cancelled.next(within: .seconds(10)) != nil)
        await server.onLoop { one.answer(Taker.response("late")) }
      }
    }
  }

  @Test func `A server that ends lets a running answer finish, and reads no body any more`()
    async throws
  {
    let taker = Taker(isPrompt: false)
    try await withServer(responder: taker.responder) { server in
      let waiting = try RawSocket(port: server.port)
      waiting.send(post(server, "one"))
      let one = try await taker.next()
      let reading = try RawSocket(port: server.port)
      reading.send(post(server, "", length: "4", more: "Expect: 100-continue\r\n"))
      #expect(reading.readHead().hasPrefix("HTTP/1.1 100 "))
      let stopped = Task { await server.server.stop(grace: .seconds(60)) }
      #expect(reading.readToEnd().hasPrefix("HTTP/1.1 503 "))
      await server.onLoop { one.answer(Taker.response("done", status: 200)) }
      let all = waiting.readToEnd()
      #expect(all.hasSuffix("\r\n\r\ndone") && all.contains("\r\nConnection: close\r\n"))
      await stopped.value
    }
  }

  @Test func `What still waits at the end of the grace is cancelled`() async throws {
    let taker = Taker(isPrompt: false)
    try await withServer(responder: taker.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      _ = try await taker.next()
      await server.server.stop(grace: .zero)
      #expect(await taker.cancelled.next(within: .seconds(10)) != nil)
      #expect(socket.readToEnd() == "")
    }
  }

  @Test func `An answer without content has neither body nor length`() async throws {
    let taker = Taker(isPrompt: false)
    try await withServer(responder: taker.responder) { server in
      let socket = try RawSocket(port: server.port)
      socket.send(post(server, "one"))
      let one = try await taker.next()
      await server.onLoop { one.answer(HTTPResponse(status: 204)) }
      let head = socket.readHead()
      #expect(head.hasPrefix("HTTP/1.1 204 No Content\r\n") && !head.contains("Content-Length"))
      socket.send(post(server, line: "GET /rpc HTTP/1.1"))
      #expect(answer(socket) == "405 ")
    }
  }

  @Test func `A full server takes no bodies`() async throws {
    let taker = Taker()
    try await withServer(
      responder: taker.responder, configure: .init { $0.maximumConnections = 1 }
    ) { server in
      let first = try RawSocket(port: server.port)
      first.upgrade(port: server.port)
      let second = try RawSocket(port: server.port)
      second.send(post(server, "one"))
      #expect(second.readToEnd().hasPrefix("HTTP/1.1 503 "))
    }
  }
}
