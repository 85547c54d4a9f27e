import Testing
import WayTransport

@testable import WaySockets

@Suite struct HTTPEmbeddedFileTests {
  private func request(
    _ server: TestServer, _ target: String, method: String = "GET", more: String = ""
  ) throws -> (head: String, body: String) {
    let socket = try RawSocket(port: server.port)
    socket.send(
      "\(method) \(target) HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n"
        + "\(more)\r\n")
    let head = socket.readHead()
    return (head, socket.readToEnd())
  }

  @Test func `Serves embedded files with type, tag and caching`() async throws {
    let file = HTTPEmbeddedFile(name: "a b.js", bytes: Array("text".utf8))
    try await withServer(configure: .init { $0.embeddedFiles = ["/x/a b.js": file] }) { server in
      let (head, body) = try request(server, "/x/a%20b.js?v=1")
      #expect(head.hasPrefix("HTTP/1.1 200 ") && body == "text")
      #expect(head.contains("\r\nContent-Type: text/javascript; charset=utf-8\r\n"))
      #expect(head.contains("\r\nCache-Control: no-cache\r\n"))
      let only = try request(server, "/x/a%20b.js", method: "HEAD")
      #expect(only.body == "" && only.head == head)
      #expect(head.contains("\r\nETag: \(file.entityTag)\r\n"))
      let known = try request(
        server, "/x/a%20b.js", more: "If-None-Match: \"old\", \(file.entityTag)\r\n")
      #expect(known.head.hasPrefix("HTTP/1.1 304 ") && known.body == "")
      #expect(!known.head.contains("Content-Length"))
      #expect(try request(server, "/x/").head.hasPrefix("HTTP/1.1 404 "))
      #expect(try request(server, "/x/a%20b.js", method: "POST").head.hasPrefix("HTTP/1.1 405 "))
    }
  }

  @Test func `Sends the compressed form that the client accepts`() async throws {
    let file = HTTPEmbeddedFile(
      name: "a.js", bytes: Array("text".utf8), gzipped: Array("gzip".utf8))
    let plain = HTTPEmbeddedFile(name: "b.js", bytes: Array("text".utf8))
    let files = ["/a.js": file, "/b.js": plain]
    try await withServer(configure: .init { $0.embeddedFiles = files }) { server in
      let version = file.entityTag.dropFirst().dropLast()
      let accepts = "Accept-Encoding: br, gzip\r\n"
      let (head, body) = try request(server, "/a.js?v=\(version)", more: accepts)
      #expect(body == "gzip" && head.contains("\r\nContent-Encoding: gzip\r\n"))
      #expect(head.contains("\r\nCache-Control: max-age=31536000, immutable\r\n"))
      #expect(!head.contains("\r\nETag: \(file.entityTag)\r\n"))
      for (path, more) in [("/a.js", ""), ("/b.js", accepts)] {
        let response = try request(server, path, more: more)
        #expect(response.body == "text" && !response.head.contains("Content-Encoding"))
      }
    }
  }

  @Test func `Entity tag changes with the content`() {
    let texts = ["", "a", "b", "ab", "ba"]
    let tags = texts.map { HTTPEmbeddedFile(name: "a", bytes: Array($0.utf8)).entityTag }
    #expect(Set(tags).count == texts.count)
  }
}
