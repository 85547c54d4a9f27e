import Testing
import WayTransport

@testable import WaySockets

@Suite struct FileHeadersTests {
  private func policy(_ policy: String, _ origins: [String] = []) throws -> String? {
    let fields = FileHeaders.fields(
      policy: policy, origins: try AccessRules(origins: origins).origins)
    return fields.first { $0.0 == "Content-Security-Policy" }?.1
  }

  @Test func `Only allowed origins can embed files in frames`() throws {
    #expect(try policy("default-src 'self'") == "default-src 'self'; frame-ancestors 'self'")
    let origins = [
      "https://page.example", "http://localhost:*", "https://*.example.org", "null",
      "http://[::1]:3000", "capacitor://localhost", "file://",
    ]
    #expect(
      try policy("a", origins)
        == "a; frame-ancestors 'self' https://page.example http://localhost:* "
        + "https://*.example.org capacitor://localhost")
    #expect(
      try policy("Frame-Ancestors 'none';img-src *", origins) == "Frame-Ancestors 'none';img-src *")
    #expect(try policy("") == nil)
  }

  @Test func `Files are served with protective headers`() async throws {
    let file = HTTPEmbeddedFile(name: "x.html", bytes: Array("text".utf8))
    let responder: HTTPResponder = { request in
      request.path == "/own" ? .respond(HTTPResponse(status: 200)) : nil
    }
    try await withServer(
      responder: responder,
      configure: .init {
        $0.embeddedFiles = ["/x.html": file]
        $0.web.root = "/usr/share/common-licenses"
      }
    ) { server in
      func head(_ path: String, _ more: String = "") throws -> String {
        let socket = try RawSocket(port: server.port)
        socket.send("GET \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\(more)\r\n")
        return socket.readHead()
      }
      let tag = "If-None-Match: \(file.entityTag)\r\n"
      for response in [try head("/x.html"), try head("/x.html", tag), try head("/GPL-3")] {
        for line in [
          "X-Frame-Options: SAMEORIGIN", "Referrer-Policy: same-origin",
          "Cross-Origin-Resource-Policy: same-origin", "X-Content-Type-Options: nosniff",
          "Content-Security-Policy: \(FileHeaders.defaultPolicy); frame-ancestors 'self'",
        ] {
          #expect(response.contains("\r\n\(line)\r\n"), "\(line) in \(response)")
        }
        #expect(!response.contains("Access-Control"))
      }
      #expect(!(try head("/own")).contains("Cross-Origin-Resource-Policy"))
      server.server.apply(try AccessRules(origins: ["https://page.example"]))
      #expect(try head("/x.html").contains("; frame-ancestors 'self' https://page.example\r\n"))
    }
  }

  @Test func `A folder with a policy of its own replaces the other one`() async throws {
    let file = HTTPEmbeddedFile(name: "x.html", bytes: Array("text".utf8))
    let own = "default-src 'none'; frame-ancestors 'none'"
    try await withServer(
      configure: .init {
        $0.embeddedFiles = ["/x.html": file, "/own/x.html": file, "/owner/x.html": file]
        $0.folderPolicies = ["own": own]
        $0.network.prefix = "/app"
      }
    ) { server in
      func head(_ path: String) throws -> String {
        let socket = try RawSocket(port: server.port)
        socket.send("GET /app\(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n")
        return socket.readHead()
      }
      let strict = try head("/own/x.html")
      #expect(strict.contains("\r\nContent-Security-Policy: \(own)\r\n"))
      #expect(strict.contains("\r\nX-Frame-Options: DENY\r\n"))
      for path in ["/x.html", "/owner/x.html"] {
        #expect(try head(path).contains("Content-Security-Policy: \(FileHeaders.defaultPolicy); "))
      }
    }
  }

  @Test func `Rejects an invalid content security policy at startup`() async throws {
    await #expect(throws: SocketError.self) {
      try await withServer(configure: .init { $0.web.contentSecurityPolicy = "a\r\nX: b" }) { _ in }
    }
  }
}
