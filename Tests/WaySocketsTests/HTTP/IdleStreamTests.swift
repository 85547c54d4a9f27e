import Glibc
import TestSupport
import Testing
import WayTransport

@testable import WaySockets

/// The cost of streams on which nothing is sent.
@Suite(.timeLimit(.minutes(1))) struct IdleStreamTests {
  /// Resident memory of the process in bytes (proc(5)), with that of the clients.
  private static var residentBytes: Int {
    let file = open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 200)
    let count = read(file, &text, text.count)
    let fields = String(decoding: text.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  @Test func `An idle stream uses at most 9 KiB`() async throws {
    // Both ends of each connection are in this process.
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 4_096))
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    try #require(limit.rlim_cur > 2_600)
    let (first, count) = (200, 1_000)
    // As long as the body of a call may be.
    let body = "{\"padding\": \"" + String(repeating: "x", count: 6_000) + "\"}"
    let fields =
      "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
      + "Cookie: \(String(repeating: "c", count: 2_000))\r\n"
    let producers = (0..<first + count).map { _ in RecordingProducer() }
    try await withServer(responder: StreamedResponseTests.responder(producers)) { server in
      var sockets: [RawSocket] = []
      var before = 0
      for (index, producer) in producers.enumerated() {
        if index == first { before = Self.residentBytes }
        let socket = try RawSocket(port: server.port)
        socket.send(
          StreamedResponseTests.request("/body", server, method: "POST", fields: fields) + body)
        _ = try await producer.writer()
        #expect(socket.read(8) == Array("HTTP/1.1".utf8))
        sockets.append(socket)
      }
      let each = (Self.residentBytes - before) / count
      #expect(each <= 9 << 10, "an idle stream uses \(each) bytes")
      #expect(await server.server.statistics().map(\.streams) == [first + count])
      withExtendedLifetime(sockets) {}
    }
  }
}
