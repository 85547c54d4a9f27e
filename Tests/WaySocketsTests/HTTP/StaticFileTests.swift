import Glibc
import Testing
import WayTransport

@testable import WaySockets

/// A folder of its own, removed with the last reference.
private final class WebFolder {
  let path: String
  private var made: [String] = []

  init() throws {
    var template = Array("/tmp/way-files-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SocketError.errno("mkdtemp", errno) }
    path = String(cString: made)
    self.made = [path]
    add(folder: "web")
    add(folder: "web/sub")
    add(folder: "web/bare")
    add(folder: "web/.git")
    add(file: "secret.txt", "secret")
    add(file: "website.txt", "secret")
    add(file: "web/index.html", "<p>root</p>")
    add(file: "web/sub/index.html", "<p>sub</p>")
    add(file: "web/sub/a b.txt", "spaced")
    add(file: "web/.hidden", "secret")
    add(file: "web/.git/config", "secret")
    add(file: "web/plain", "no type")
    add(file: "web/é.txt", "accent")
    for name in [
      "app.js", "mod.mjs", "s.css", "d.json", "i.svg", "i.png", "w.wasm", "s.map", "f.woff2",
      "r.md",
    ] {
      add(file: "web/\(name)", name)
    }
    add(link: "web/out.txt", to: "../secret.txt")
    add(link: "web/outside", to: "..")
    add(link: "web/in.txt", to: "sub/a b.txt")
    add(link: "web/dot.txt", to: ".hidden")
    add(link: "web/self", to: "self")
    mkfifo(path + "/web/pipe.txt", 0o600)
    self.made.append(path + "/web/pipe.txt")
  }

  private func add(folder: String) {
    mkdir(path + "/" + folder, 0o700)
    made.append(path + "/" + folder)
  }

  func add(file: String, _ text: String) {
    guard let handle = fopen(path + "/" + file, "w") else { return }
    fputs(text, handle)
    fclose(handle)
    made.append(path + "/" + file)
  }

  private func add(link: String, to target: String) {
    symlink(target, path + "/" + link)
    made.append(path + "/" + link)
  }

  deinit {
    for path in made.reversed() { remove(path) }
  }
}

@Suite struct StaticFileTests {
  private func request(
    _ server: TestServer, _ target: String, method: String = "GET", more: String = ""
  ) throws -> (head: String, body: String) {
    let socket = try RawSocket(port: server.port)
    socket.send(
      "\(method) \(target) HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\(more)\r\n"
    )
    let head = socket.readHead()
    return (head, socket.readToEnd())
  }

  /// Path, status, content type, body.
  static let found: [(String, String, String)] = [
    ("/", "text/html; charset=utf-8", "<p>root</p>"),
    ("/index.html", "text/html; charset=utf-8", "<p>root</p>"),
    ("/?query", "text/html; charset=utf-8", "<p>root</p>"),
    ("/sub/", "text/html; charset=utf-8", "<p>sub</p>"),
    ("/sub/a%20b.txt", "text/plain; charset=utf-8", "spaced"),
    ("/%C3%A9.txt", "text/plain; charset=utf-8", "accent"),
    ("/in.txt", "text/plain; charset=utf-8", "spaced"),
    ("/plain", "application/octet-stream", "no type"),
    ("/app.js", "text/javascript; charset=utf-8", "app.js"),
    ("/mod.mjs", "text/javascript; charset=utf-8", "mod.mjs"),
    ("/s.css", "text/css; charset=utf-8", "s.css"),
    ("/d.json", "application/json; charset=utf-8", "d.json"),
    ("/i.svg", "image/svg+xml; charset=utf-8", "i.svg"),
    ("/i.png", "image/png", "i.png"),
    ("/w.wasm", "application/wasm", "w.wasm"),
    ("/s.map", "application/json; charset=utf-8", "s.map"),
    ("/f.woff2", "font/woff2", "f.woff2"),
    ("/r.md", "text/markdown; charset=utf-8", "r.md"),
  ]

  @Test func `Files are served with their types`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.webRoot = folder.path + "/web" }) { server in
      for (path, type, body) in Self.found {
        let answer = try request(server, path)
        #expect(answer.head.hasPrefix("HTTP/1.1 200 "), "\(path)")
        #expect(answer.head.contains("\r\nContent-Type: \(type)\r\n"), "\(path)")
        #expect(answer.head.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
        #expect(answer.head.contains("\r\nCache-Control: no-cache\r\n"))
        #expect(answer.body == body, "\(path)")
        let head = try request(server, path, method: "HEAD")
        #expect(head.head == answer.head && head.body.isEmpty, "\(path)")
      }
    }
  }

  static let missing = [
    "/nothing", "/bare/", "/app.js/", "/.hidden", "/.git/config", "/sub/../index.html",
    "/../secret.txt",
    "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/sub/..%2F..%2Fsecret.txt",
    "/sub/%2e%2e/%2e%2e/secret.txt", "/..%5csecret.txt", "/out.txt", "/outside/secret.txt",
    "/outside/",
    "/dot.txt", "/self", "/pipe.txt", "/app.js%00.html", "//app.js", "/sub//a%20b.txt", "/./app.js",
    "/../web/app.js",
    "/../website.txt", "/%ff.txt", "/" + String(repeating: "a", count: 5000),
  ]

  @Test func `Nothing outside of the folder is reachable, and nothing hidden`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.webRoot = folder.path + "/web" }) { server in
      for path in Self.missing {
        let answer = try request(server, path)
        let isRefused = ["404", "400"].contains { answer.head.hasPrefix("HTTP/1.1 \($0) ") }
        #expect(isRefused, "\(path): \(answer.head)")
        #expect(!answer.body.contains("secret\n") && answer.body != "secret", "\(path)")
      }
    }
  }

  @Test func `A folder without its slash is redirected to it, query kept`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.webRoot = folder.path + "/web" }) { server in
      let answer = try request(server, "/sub?a=b")
      #expect(answer.head.hasPrefix("HTTP/1.1 301 "))
      #expect(answer.head.contains("\r\nLocation: /sub/?a=b\r\n"))
    }
  }

  @Test func `What a client has is not sent again`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.webRoot = folder.path + "/web" }) { server in
      let first = try request(server, "/app.js")
      let line = try #require(first.head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
      let tag = line.dropFirst(6)
      let second = try request(server, "/app.js", more: "If-None-Match: \"x\", \(tag)\r\n")
      #expect(second.head.hasPrefix("HTTP/1.1 304 ") && second.body.isEmpty)
      folder.add(file: "web/app.js", "changed")
      let third = try request(server, "/app.js", more: "If-None-Match: \(tag)\r\n")
      #expect(third.head.hasPrefix("HTTP/1.1 200 ") && third.body == "changed")
    }
  }

  @Test func `A large file arrives whole at a slow reader`() async throws {
    let folder = try WebFolder()
    let text = String((0..<700_000).map { "\($0 % 10)" }.joined())
    folder.add(file: "web/large.txt", String(repeating: text, count: 6))
    try await withServer(configure: .init { $0.webRoot = folder.path + "/web" }) { server in
      let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
      socket.send(
        "GET /large.txt HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\r\n")
      #expect(socket.readHead().contains("Content-Length: 4200000"))
      let body = socket.readToEnd()
      #expect(body == String(repeating: text, count: 6))
    }
  }

  @Test func `A web folder that is none is said at the start`() async throws {
    for root in ["/nowhere/at/all", "/etc/passwd"] {
      let error = await #expect(throws: SocketError.self) {
        try await withServer(configure: .init { $0.webRoot = root }) { _ in }
      }
      #expect(error?.description.contains(root) == true)
    }
  }
}
