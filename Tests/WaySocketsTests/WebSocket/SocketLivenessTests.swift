import Testing
import WayTransport

@testable import WaySockets

@Suite struct SocketLivenessTests {
  /// The peer's activity in each quarter of the ping interval: `.` for silent, `x` for active. The
  /// resulting action: `-` for none, `p` for a ping, `!` for expiry.
  @Test(arguments: [
    ("...........", "---p--!!!!!"), ("...x.......", "-------p--!"),
    ("....x....x....x", "---p----p----p-"),
    ("xxxxxxxx", "--------"),
  ])
  func `Pings a silent peer, then expires it`(
    activity: String, done: String
  ) {
    var limits = Limits()
    limits.ping = .milliseconds(40)
    limits.silence = .milliseconds(70)
    var life = SocketLiveness()
    var actions = ""
    for character in activity {
      switch life.advance(
        by: limits.livenessCheckInterval, limits, hasActivity: character == "x")
      {
      case .nothing: actions += "-"
      case .ping: actions += "p"
      case .expire: actions += "!"
      }
    }
    #expect(actions == done)
  }

  private static var shortTimeouts: ConfigurationChange {
    ConfigurationChange {
      $0.limits.ping = .milliseconds(20)
      $0.limits.silence = .milliseconds(60)
    }
  }

  @Test func `Closes a peer without a pong with 4202`() async throws {
    try await withServer(configure: Self.shortTimeouts) { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let ping = try #require(socket.readFrame())
      #expect(ping.first == 0x89 && ping.payload == Array("life".utf8))
      let close = try #require(socket.readFrame())
      #expect(close.first == 0x88 && close.payload.starts(with: [0x10, 0x6A]))
    }
  }

  /// A silent peer gets only one ping.
  @Test(arguments: [
    RawSocket.frame(0x8A, Array("life".utf8)), RawSocket.frame(0x81, Array("text".utf8)),
    RawSocket.frame(0x01, Array("part".utf8)),
  ])
  func `Any received frame counts as activity`(frame: [UInt8]) async throws {
    let patient = ConfigurationChange {
      $0.limits.ping = .milliseconds(20)
      $0.limits.silence = .seconds(60)
    }
    try await withServer(echoes: false, configure: patient) { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      for _ in 0..<2 {
        #expect(socket.readFrame()?.first == 0x89)
        socket.send(frame)
      }
    }
  }

  @Test func `Client responds to pings automatically`() async throws {
    try await withServer(configure: Self.shortTimeouts) { server in
      let client = try await server.connect()
      let silent = try RawSocket(port: server.port)
      silent.upgrade(port: server.port)
      #expect(silent.readCloseCode() == 4202)
      await server.onLoop { client.channel.send(text: "still here") }
      #expect(await client.next() == .text("still here"))
    }
  }
}
