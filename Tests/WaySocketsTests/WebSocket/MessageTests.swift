import Testing
import WayTransport

@testable import WaySockets

@Suite struct MessageTests {
  @Test func `Echoes text and binary messages unchanged`() async throws {
    try await withServer { server in
      let client = try await server.connect(subprotocol: "b")
      #expect(await server.acceptor.next()?.1.subprotocol == "b")
      await server.onLoop {
        client.channel.send(text: "héllo 🌍")
        client.channel.send(bytes: [0, 255, 128])
        client.channel.send(text: "")
      }
      #expect(await client.next() == .text("héllo 🌍"))
      #expect(await client.next() == .message([0, 255, 128], .binary))
      #expect(await client.next() == .text(""))
    }
  }

  @Test(arguments: [125, 126, 127, 65_535, 65_536, 300_000, 1 << 20])
  func `Delivers messages of every allowed size`(size: Int) async throws {
    try await withServer { server in
      let client = try await server.connect()
      let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
      await server.onLoop { client.channel.send(bytes: bytes) }
      #expect(await client.next() == .message(bytes, .binary))
    }
  }

  @Test func `Delivers messages of one turn in order`() async throws {
    try await withServer { server in
      let client = try await server.connect()
      await server.onLoop {
        for number in 0..<5000 { client.channel.send(text: "message \(number)") }
      }
      for number in 0..<5000 { #expect(await client.next() == .text("message \(number)")) }
    }
  }

  @Test func `Joins fragments and responds to a ping between them`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      // Sent at once, so that the server has read all of it before it writes.
      socket.send(
        RawSocket.frame(0x01, Array("on".utf8)) + RawSocket.frame(0x89, Array("ping".utf8))
          + RawSocket.frame(0x00, Array("e m".utf8)) + RawSocket.frame(0x80, Array("essage".utf8)))
      for expected in [(0x8A, "ping"), (0x81, "one message")] as [(UInt8, String)] {
        let frame = try #require(socket.readFrame())
        #expect((frame.first, String(decoding: frame.payload, as: UTF8.self)) == expected)
      }
    }
  }

  @Test func `Delivers messages whose frames arrive in pieces`() async throws {
    try await withServer { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let frames =
        RawSocket.frame(0x81, Array("first".utf8))
        + RawSocket.frame(0x82, [UInt8](repeating: 7, count: 300))
      for byte in frames { socket.send([byte]) }
      #expect(socket.readFrame()?.payload == Array("first".utf8))
      #expect(socket.readFrame()?.payload == [UInt8](repeating: 7, count: 300))
    }
  }

  /// Bytes that a client sends after the handshake, and the resulting close code.
  struct CloseCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var bytes: [UInt8]
    var code: UInt16

    init(_ name: String, _ bytes: [UInt8], _ code: UInt16) {
      testDescription = name
      self.bytes = bytes
      self.code = code
    }
  }

  static let closeCases: [CloseCase] = [
    .init(
      "one byte too large", RawSocket.frame(0x82, .init(repeating: 1, count: (1 << 20) + 1)), 1009),
    .init("announced too large", RawSocket.frame(0x82, [1, 2, 3], size: 1 << 40), 1009),
    .init(
      "too large in parts",
      RawSocket.frame(0x02, .init(repeating: 1, count: 1 << 20)) + RawSocket.frame(0x80, [1]), 1009),
    .init("invalid UTF-8", RawSocket.frame(0x81, [0x66, 0xFF]), 1007),
    .init("a surrogate", RawSocket.frame(0x81, [0xED, 0xA0, 0x80]), 1007),
    .init("a character cut off", RawSocket.frame(0x81, [0xE2, 0x82]), 1007),
    .init(
      "a character cut off by an empty part",
      RawSocket.frame(0x01, [0x66, 0xE2, 0x82]) + RawSocket.frame(0x80, []), 1007),
    .init("a reserved opcode", RawSocket.frame(0x83, []), 1002),
    .init("a reserved bit", RawSocket.frame(0xC1, [0x66]), 1002),
    .init("a continuation of nothing", RawSocket.frame(0x80, [0x66]), 1002),
    .init(
      "a new message within another", RawSocket.frame(0x01, [0x66]) + RawSocket.frame(0x81, []),
      1002),
    .init("a reserved control frame", RawSocket.frame(0x8B, []), 1002),
    .init("a frame without a mask", [0x81, 0x01, 0x66], 1002),
    .init("a ping without a mask", [0x89, 0x00], 1002),
    .init("a length of two bytes although one is enough", [0x82, 0xFE, 0, 125, 0, 0, 0, 0], 1002),
    .init(
      "a length of eight bytes although two are enough",
      [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0], 1002),
    .init(
      "a length with its highest bit set", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
      1002),
    .init("a ping of 126 bytes", RawSocket.frame(0x89, .init(repeating: 1, count: 126)), 1002),
    .init(
      "a close frame of 126 bytes", RawSocket.frame(0x88, .init(repeating: 3, count: 126)), 1002),
    .init("a ping in parts", RawSocket.frame(0x09, [1]), 1002),
    .init("a close frame", RawSocket.frame(0x88, [0x0F, 0xA0]), 4000),
    .init(
      "a close frame with a code that must not be sent", RawSocket.frame(0x88, [0x03, 0xEE]), 1002),
    .init("a close frame with half a code", RawSocket.frame(0x88, [0x03]), 1002),
  ]

  @Test(arguments: closeCases)
  func `Closes with the matching code on protocol violations`(closing: CloseCase) async throws {
    try await withServer(echoes: false) { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      socket.send(closing.bytes)
      #expect(socket.readCloseCode() == closing.code)
      socket.shutdownWrite()
      let accepted = try #require(await server.acceptor.next()).0
      let ending = await accepted.next()
      #expect(ending == .closed(closing.code))
      let next = try await server.connect()
      await server.onLoop { next.channel.send(text: "served") }
      #expect(await server.acceptor.next()?.0.next() == .text("served"))
    }
  }

  @Test func `Endpoint limits the bytes queued for sending`() async throws {
    try await withServer { server in
      let client = try await server.connect(path: "/other")
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop { accepted.channel.send(bytes: .init(repeating: 0, count: 33)) }
      #expect(await client.next() == .closed(4201))
    }
  }

  @Test func `Endpoint limits the size of a received message`() async throws {
    try await withServer { server in
      let client = try await server.connect(path: "/other")
      await server.onLoop { client.channel.send(bytes: .init(repeating: 0, count: 16)) }
      #expect(await client.next() == .message(.init(repeating: 0, count: 16), .binary))
      await server.onLoop { client.channel.send(bytes: .init(repeating: 0, count: 17)) }
      #expect(await client.next() == .closed(1009))
    }
  }

  @Test func `Closes a slow reader with 4201 without delaying others`()
    async throws
  {
    try await withServer(
      echoes: false,
      configure: .init {
        $0.limits.maxQueueBytes = 512 * 1024
        $0.connection.closeTimeout = .seconds(60)
      }
    ) { server in
      let slow = try RawSocket(port: server.port, receiveBuffer: 4096)
      slow.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let block = [UInt8](repeating: 0x61, count: 1000)
      await server.onLoop {
        for _ in 0..<10_000 { accepted.channel.send(bytes: block) }
        #expect(accepted.channel.bufferedBytes <= 512 * 1024)
      }
      let other = try await server.connect()
      await server.onLoop { other.channel.send(text: "still here") }
      #expect(await server.acceptor.next()?.0.next() == .text("still here"))
      // Earlier messages are complete, followed by the close frame.
      #expect(slow.readCloseCode() == 4201)
    }
  }

  @Test func `Pauses reading from a peer that does not read`() async throws {
    try await withServer(configure: .init { $0.connection.highWater = 64 << 10 }) { server in
      let slow = try RawSocket(port: server.port, receiveBuffer: 4096)
      slow.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      let frame = RawSocket.frame(0x82, [UInt8](repeating: 7, count: 1000))
      // 32 MiB exceed the buffers of the operating system.
      let all = RawSocket.frames(frame, count: 32 << 10)
      let sent = slow.sendUntilBlocked(all)
      #expect(sent < all.count)
      await server.onLoop { #expect(accepted.channel.bufferedBytes < 512 << 10) }
      // The rest of the frame that was sent in part.
      let rest = Array(all[sent..<(sent + frame.count - 1) / frame.count * frame.count])
      var count = 0
      while count < sent / frame.count, let response = slow.readFrame() {
        // A ping, because the client was silent.
        if response.first == 0x89 { continue }
        #expect(response.payload.count == 1000)
        count += 1
      }
      slow.send(rest)
      if !rest.isEmpty { #expect(slow.readFrame()?.payload.count == 1000) }
      #expect(count == sent / frame.count)
    }
  }

  @Test func `Closes a peer that stalls too long with 4201`() async throws {
    try await withServer(
      configure: .init {
        $0.connection.highWater = 64 << 10
        $0.connection.stallTimeout = .milliseconds(200)
      }
    ) { server in
      let slow = try RawSocket(port: server.port, receiveBuffer: 4096)
      slow.upgrade(port: server.port)
      let frame = RawSocket.frame(0x82, [UInt8](repeating: 7, count: 1000))
      _ = slow.sendUntilBlocked(RawSocket.frames(frame, count: 32 << 10))
      #expect(slow.readCloseCode() == 4201)
    }
  }

  @Test func `Delivers a large burst to a slow reader`() async throws {
    try await withServer(echoes: false) { server in
      let slow = try RawSocket(port: server.port, receiveBuffer: 4096)
      slow.upgrade(port: server.port)
      let accepted = try #require(await server.acceptor.next()).0
      await server.onLoop {
        for number in 0..<3000 {
          accepted.channel.send(
            bytes: [UInt8(number >> 8), UInt8(number & 0xFF)] + .init(repeating: 1, count: 1000))
        }
      }
      // The response to a ping is sent between frames, never within one.
      slow.send(RawSocket.frame(0x89, [1]))
      var number = 0
      while number < 3000, let frame = slow.readFrame() {
        if frame.first == 0x8A { continue }
        #expect(frame.first == 0x82 && frame.payload.count == 1002)
        #expect(frame.payload.prefix(2) == [UInt8(number >> 8), UInt8(number & 0xFF)])
        number += 1
      }
      #expect(number == 3000)
      await server.onLoop { #expect(accepted.channel.bufferedBytes == 0) }
    }
  }

  @Test func `Channels have unique ids`() async throws {
    try await withServer { server in
      var ids: Set<UInt64> = []
      for _ in 0..<5 {
        ids.insert(try await server.connect().channel.id)
        if let accepted = await server.acceptor.next() { ids.insert(accepted.0.channel.id) }
      }
      #expect(ids.count == 10)
    }
  }
}
