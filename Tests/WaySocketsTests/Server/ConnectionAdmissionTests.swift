import Testing
import WayTransport

@testable import WaySockets

@Suite struct ConnectionAdmissionTests {
  private static func admission(
    unadmitted: Int? = nil, reserved: Int = 16, perAddress: Int = 0
  ) -> ConnectionAdmission {
    var configuration = SocketServerConfiguration()
    configuration.authenticatesClients = unadmitted != nil
    configuration.limits.maxUnauthenticated = unadmitted ?? 0
    configuration.limits.maxReserved = reserved
    configuration.limits.maxAddressConnections = perAddress
    configuration.limits.maxAddressRate = 0
    return ConnectionAdmission(configuration)
  }

  @Test func `Oldest connection without a client is replaced`() throws {
    var admission = Self.admission(unadmitted: 3)
    for id in 1...3 as ClosedRange<UInt64> {
      #expect(try admission.connectionToReplace { _ in true } == nil)
      admission.accepted(id)
    }
    #expect(try admission.connectionToReplace { _ in true } == 1)
    admission.accepted(4)
    admission.admitted(2)
    #expect(try admission.connectionToReplace { _ in true } == nil)
    admission.accepted(5)
    #expect(try admission.connectionToReplace { $0 != 3 } == 4)
    admission.accepted(6)
    #expect(throws: HTTPRequestRejection.unauthenticated) {
      try admission.connectionToReplace { _ in false }
    }
    #expect(admission.statistics.unadmitted == 3)
    for id in [3, 5, 6] as [UInt64] { admission.ended(id, isWebSocket: false) }
    #expect(admission.statistics.unadmitted == 0)
  }

  @Test func `Removed connections use no memory`() {
    var connections = UnadmittedConnections()
    connections.insert(0)
    for id in 1...100_000 as ClosedRange<UInt64> {
      connections.insert(id)
      connections.remove(id)
    }
    #expect(connections.count == 1)
    #expect(connections.removeFirst { $0 > 0 } == nil)
    #expect(connections.removeFirst { _ in true } == 0)
  }

  @Test func `Server without authentication replaces nothing`() throws {
    var admission = Self.admission()
    for id in 1...100 as ClosedRange<UInt64> { admission.accepted(id) }
    #expect(try admission.connectionToReplace { _ in true } == nil)
    #expect(admission.statistics.unadmitted == 0)
  }

  /// Addresses, and whether they share the slots of 192.0.2.1 or of 2001:db8::1.
  static let addresses: [(String, String, Bool)] = [
    ("192.0.2.1", "192.0.2.1", true),
    ("192.0.2.1", "192.0.2.2", false),
    ("192.0.2.1", "::ffff:192.0.2.1", true),
    ("2001:db8::1", "2001:db8::2", true),
    ("2001:db8::1", "2001:db8:0:0:ffff::1", true),
    ("2001:db8::1", "2001:db8:0:1::1", false),
  ]

  @Test(arguments: addresses)
  func `Address is an IPv4 address or 64 bits`(one: String, other: String, isSame: Bool) throws {
    let admission = Self.admission(perAddress: 1)
    let slot = try admission.slot(of: .address(try #require(IPAddress(one))), at: 0)
    let second = SocketForwardedNode.address(try #require(IPAddress(other)))
    if isSame {
      let error = #expect(throws: HTTPRequestRejection.self) {
        try admission.slot(of: second, at: 0)
      }
      #expect(error?.status == 429)
      #expect(error?.kind == .address)
    } else {
      _ = try admission.slot(of: second, at: 0)
    }
    withExtendedLifetime(slot) {}
  }

  @Test(
    arguments: [
      ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"),
      ("2001:DB8:0:1:2::3", "2001:db8:0:1::/64"), ("unix", "unix"), ("", ""),
    ])
  func `Network of an address has one text`(address: String, network: String) {
    #expect(IPAddress.networkText(of: address) == network)
  }

  private func upgrade(
    _ server: TestServer, path: String = "/guarded", from address: String? = nil
  ) throws -> (socket: RawSocket, head: String) {
    let socket = try RawSocket(port: server.port)
    let more = address.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
    return (socket, socket.upgrade(port: server.port, path: path, more: more))
  }

  @Test func `Idle connections give way to others, admitted ones do not`() async throws {
    try await withServer(
      echoes: false,
      configure: .init {
        $0.authenticatesClients = true
        $0.limits.maxUnauthenticated = 2
        $0.headTimeout = .seconds(60)
      }
    ) { server in
      let admitted = try upgrade(server)
      let receiver = try #require(await server.acceptor.next()).0
      await server.onLoop { receiver.channel.admit() }
      let idleHTTP = try RawSocket(port: server.port)
      let idleWebSocket = try upgrade(server)
      _ = await server.acceptor.next()
      #expect(await server.server.admissionStatistics().unadmitted == 2)
      let third = try upgrade(server)
      #expect(third.head.hasPrefix("HTTP/1.1 101 "))
      #expect(idleHTTP.readToEnd().hasPrefix("HTTP/1.1 503 "))
      let fourth = try upgrade(server)
      #expect(fourth.head.hasPrefix("HTTP/1.1 101 "))
      #expect(idleWebSocket.socket.readCloseCode() == 4100)
      admitted.socket.send(RawSocket.frame(0x82, [1]))
      #expect(await receiver.next() == .message([1], .binary))
      #expect(server.loop.traffic.rejections == [.unauthenticated: 1])
    }
  }

  @Test func `Full server replaces connections without a client`() async throws {
    try await withServer(
      echoes: false,
      configure: .init {
        $0.limits.maxConnections = 2
        $0.authenticatesClients = true
        $0.limits.maxUnauthenticated = 10
      }
    ) { server in
      let silent = try [upgrade(server), upgrade(server)]
      for _ in silent { _ = await server.acceptor.next() }
      let third = try upgrade(server)
      #expect(third.head.hasPrefix("HTTP/1.1 101 "))
      #expect(silent[0].socket.readCloseCode() == 4100)
    }
  }

  @Test func `Full server accepts connections for administrators`() async throws {
    try await withServer(
      echoes: false,
      configure: .init {
        $0.limits.maxConnections = 1
        $0.limits.maxReserved = 1
        $0.authenticatesClients = true
        $0.limits.maxUnauthenticated = 10
      }
    ) { server in
      let first = try upgrade(server)
      let firstReceiver = try #require(await server.acceptor.next())
      #expect(firstReceiver.1.isReserved == false)
      await server.onLoop { firstReceiver.0.channel.admit() }
      #expect(try upgrade(server, path: "/echo").head.hasPrefix("HTTP/1.1 503 "))
      let reserved = try upgrade(server)
      #expect(reserved.head.hasPrefix("HTTP/1.1 101 "))
      #expect(try #require(await server.acceptor.next()).1.isReserved)
      #expect(await server.server.admissionStatistics().reserved == 1)
      // A client that does not authenticate does not block the reserved place.
      let next = try upgrade(server)
      #expect(reserved.socket.readCloseCode() == 4100)
      let administrator = try #require(await server.acceptor.next())
      #expect(administrator.1.isReserved)
      await server.onLoop { administrator.0.channel.admit() }
      var statistics = await server.server.admissionStatistics()
      while statistics.reserved > 1 || statistics.unadmitted > 1 {
        statistics = await server.server.admissionStatistics()
      }
      #expect(try upgrade(server).head.hasPrefix("HTTP/1.1 503 "))
      withExtendedLifetime((first, next)) {}
    }
  }

  @Test func `Address that a proxy names has a limit`() async throws {
    let rules = try AccessRules(trustedProxies: ["127.0.0.1"])
    try await withServer(
      configure: .init {
        $0.access = rules
        $0.limits.maxAddressConnections = 2
        $0.limits.maxAddressRate = 0
      }
    ) { server in
      let sockets = try (0..<2).map { _ in try upgrade(server, from: "192.0.2.1") }
      for (_, head) in sockets { #expect(head.hasPrefix("HTTP/1.1 101 ")) }
      #expect(try upgrade(server, from: "192.0.2.1").head.hasPrefix("HTTP/1.1 429 "))
      #expect(try upgrade(server, from: "192.0.2.2").head.hasPrefix("HTTP/1.1 101 "))
      // Without a proxy it is a program of this machine.
      for _ in 0..<3 { #expect(try upgrade(server).head.hasPrefix("HTTP/1.1 101 ")) }
      let receiver = try #require(await server.acceptor.next()).0
      sockets[0].socket.send(RawSocket.frame(0x88, [3, 0xE8]))
      #expect(await receiver.next() == .closed(1000))
      #expect(try upgrade(server, from: "192.0.2.1").head.hasPrefix("HTTP/1.1 101 "))
      #expect(server.loop.traffic.rejectedHandshakes == [.address: 1])
    }
  }

  @Test func `Address connects at its rate`() async throws {
    let rules = try AccessRules(trustedProxies: ["127.0.0.1"])
    try await withServer(
      configure: .init {
        $0.access = rules
        $0.limits.maxAddressConnections = 3
        $0.limits.maxAddressRate = 1
      }
    ) { server in
      for _ in 0..<3 {
        let (socket, head) = try upgrade(server, from: "2001:db8::1")
        #expect(head.hasPrefix("HTTP/1.1 101 "))
        let receiver = try #require(await server.acceptor.next()).0
        socket.send(RawSocket.frame(0x88, [3, 0xE8]))
        #expect(await receiver.next() == .closed(1000))
      }
      let (socket, head) = try upgrade(server, from: "2001:db8::2")
      #expect(head.hasPrefix("HTTP/1.1 429 "))
      #expect(socket.readToEnd().contains("connects too often"))
    }
  }
}
