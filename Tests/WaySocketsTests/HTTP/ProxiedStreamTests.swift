import Glibc
import TestSupport
import Testing
import WayTransport

@testable import WaySockets

/// nginx in front of a server, at a Unix socket. Its settings are the defaults, except for the read
/// timeout.
private final class NginxProxy {
  private let folder: TestFolder
  var unixPath: String { folder.path("socket") }

  /// Returns when nginx listens.
  init(port: Int, httpVersion: String, readTimeoutMs: Int) throws {
    folder = try TestFolder()
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    let temporary = kinds.map { "\($0)_temp_path \(folder.path($0));" }.joined(separator: " ")
    try folder.write(
      """
      \(getuid() == 0 ? "user root;" : "")
      pid \(folder.path("pid"));
      error_log \(folder.path("log"));
      events {}
      http {
        access_log off;
        \(temporary)
        server {
          listen unix:\(folder.path("socket"));
          location / {
            proxy_pass http://127.0.0.1:\(port);
            proxy_http_version \(httpVersion);
            proxy_set_header Connection '';
            proxy_read_timeout \(readTimeoutMs)ms;
          }
        }
      }
      """, to: "nginx.conf", time: 1)
    try run()
  }

  deinit { try? run("-s", "stop") }

  /// Runs nginx, which returns when its daemon has started or received the signal. `Process` would
  /// wait for the daemon, which inherits a socket of it.
  private func run(_ arguments: String...) throws {
    let words =
      ["nginx", "-p", folder.path, "-e", folder.path("log"), "-c", folder.path("nginx.conf")]
      + arguments
    var copies = words.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    var id = pid_t(0)
    try #require(posix_spawn(&id, "/usr/sbin/nginx", nil, nil, &copies, environ) == 0)
    var status: Int32 = 0
    try #require(waitpid(id, &status, 0) == id && status == 0)
  }
}

@Suite(.timeLimit(.minutes(1))) struct ProxiedStreamTests {
  @Test(.enabled(if: access("/usr/sbin/nginx", X_OK) == 0), arguments: ["1.0", "1.1"])
  func `Events pass nginx at once, and silence does not end them`(version: String) async throws {
    let producer = RecordingProducer()
    try await withServer(
      responder: StreamedResponseTests.responder([producer]),
      configure: .init { $0.limits.ping = .milliseconds(100) }
    ) { server in
      let proxy = try NginxProxy(
        port: server.port, httpVersion: version, readTimeoutMs: 1000)
      do {
        let socket = try RawSocket(unixPath: proxy.unixPath)
        socket.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(socket.readHead().contains("\r\nTransfer-Encoding: chunked\r\n"))
        let writer = try await producer.writer()
        // nginx may divide the body into other chunks.
        writer.send(Array("data: 1\n\n".utf8))
        #expect(socket.readLine("data: 1"))
        // Longer than the read timeout.
        for _ in 0..<15 { #expect(socket.readLine(":")) }
        writer.send(Array("data: 2\n\n".utf8))
        #expect(socket.readLine("data: 2"))
      }
      #expect(try await producer.end() == .disconnected)
    }
  }
}
