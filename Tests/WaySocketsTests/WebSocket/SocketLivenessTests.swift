import Testing
import WayTransport

@testable import WaySockets

@Suite struct LivenessTests {
  /// What happens in each period of a quarter of the time after which a peer is pinged: `.` it is
  /// silent, `x` it is heard. And what is done: `-` nothing, `p` it is pinged, `!` it is given up.
  @Test(arguments: [
    ("...........", "---p--!!!!!"), ("...x.......", "-------p--!"),
    ("....x....x....x", "---p----p----p-"),
    ("xxxxxxxx", "--------"),
  ])
  func `A silent peer is pinged, then given up; whatever comes begins anew`(
    heard: String, done: String
  ) {
    let patience = Patience(ping: .milliseconds(40), silence: .milliseconds(70))
    var life = Liveness()
    var actions = ""
    for character in heard {
      switch life.pass(patience, isHeard: character == "x") {
      case .nothing: actions += "-"
      case .ping: actions += "p"
      case .giveUp: actions += "!"
      }
    }
    #expect(actions == done)
  }

  private static var quick: ConfigurationChange {
    ConfigurationChange {
      $0.ping = .milliseconds(20)
      $0.silence = .milliseconds(60)
    }
  }

  @Test func `A peer that answers no ping is closed with 4202`() async throws {
    try await withServer(configure: Self.quick) { server in
      let socket = try RawSocket(port: server.port)
      socket.upgrade(port: server.port)
      let ping = try #require(socket.readFrame())
      #expect(ping.first == 0x89 && ping.payload == Array("life".utf8))
      let close = try #require(socket.readFrame())
      #expect(close.first == 0x88 && close.payload.starts(with: [0x10, 0x6A]))
    }
  }

  /// Without a sign of life there is one ping only.
  @Test(arguments: [
    RawSocket.frame(0x8A, Array("life".utf8)), RawSocket.frame(0x81, Array("text".utf8)),
    RawSocket.frame(0x01, Array("part".utf8)),
  ])
  func `A pong, a message and a part of one are signs of life`(frame: [UInt8]) async throws {
    let patient = ConfigurationChange {
      $0.ping = .milliseconds(20)
      $0.silence = .seconds(60)
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

  @Test func `The client of this library answers pings`() async throws {
    try await withServer(configure: Self.quick) { server in
      let client = try await server.connect()
      let silent = try RawSocket(port: server.port)
      silent.upgrade(port: server.port)
      #expect(silent.readCloseCode() == 4202)
      await server.onLoop { client.channel.send(text: "still here") }
      #expect(await client.next() == .text("still here"))
    }
  }
}
