import Glibc
import Testing
import WayTransport

@testable import WaySockets

/// A temporary folder that is removed with its last reference.
private final class WebFolder {
  let path: String
  private var createdPaths: [String] = []

  init() throws {
    var template = Array("/tmp/way-files-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { throw SocketError.errno("mkdtemp", errno) }
    path = String(cString: made)
    self.createdPaths = [path]
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
    self.createdPaths.append(path + "/web/pipe.txt")
  }

  func add(folder: String) {
    mkdir(path + "/" + folder, 0o700)
    createdPaths.append(path + "/" + folder)
  }

  func add(file: String, _ text: String) {
    guard let handle = fopen(path + "/" + file, "w") else { return }
    fputs(text, handle)
    fclose(handle)
    createdPaths.append(path + "/" + file)
  }

  func add(link: String, to target: String) {
    symlink(target, path + "/" + link)
    createdPaths.append(path + "/" + link)
  }

  deinit {
    for path in createdPaths.reversed() { remove(path) }
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
  static let servedFiles: [(String, String, String)] = [
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

  @Test func `Serves files with their content types`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      for (path, type, body) in Self.servedFiles {
        let response = try request(server, path)
        #expect(response.head.hasPrefix("HTTP/1.1 200 "), "\(path)")
        #expect(response.head.contains("\r\nContent-Type: \(type)\r\n"), "\(path)")
        #expect(response.head.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
        #expect(response.head.contains("\r\nCache-Control: no-cache\r\n"))
        #expect(response.body == body, "\(path)")
        let head = try request(server, path, method: "HEAD")
        #expect(head.head == response.head && head.body.isEmpty, "\(path)")
      }
    }
  }

  static let unreachablePaths = [
    "/nothing", "/bare/", "/app.js/", "/.hidden", "/.git/config", "/sub/../index.html",
    "/../secret.txt",
    "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt", "/sub/..%2F..%2Fsecret.txt",
    "/sub/%2e%2e/%2e%2e/secret.txt", "/..%5csecret.txt", "/out.txt", "/outside/secret.txt",
    "/outside/",
    "/dot.txt", "/self", "/pipe.txt", "/app.js%00.html", "//app.js", "/sub//a%20b.txt", "/./app.js",
    "/../web/app.js",
    "/../website.txt", "/%ff.txt", "/" + String(repeating: "a", count: 5000),
  ]

  @Test func `Rejects hidden files and paths outside the folder`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      for path in Self.unreachablePaths {
        let response = try request(server, path)
        let isRejected = ["404", "400"].contains { response.head.hasPrefix("HTTP/1.1 \($0) ") }
        #expect(isRejected, "\(path): \(response.head)")
        #expect(!response.body.contains("secret\n") && response.body != "secret", "\(path)")
      }
    }
  }

  @Test func `Redirects a folder path to its trailing slash`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      let response = try request(server, "/sub?a=b")
      #expect(response.head.hasPrefix("HTTP/1.1 301 "))
      #expect(response.head.contains("\r\nLocation: /sub/?a=b\r\n"))
    }
  }

  @Test func `Responds 304 when the client's copy is current`() async throws {
    let folder = try WebFolder()
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
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

  /// What the client accepts, and the form that it gets.
  static let acceptedCodings: [(String, String?)] = [
    ("", nil), ("Accept-Encoding: identity", nil), ("Accept-Encoding: gzip", "gzip"),
    ("Accept-Encoding: deflate, GZIP;q=0.5", "gzip"), ("Accept-Encoding: br", "br"),
    ("Accept-Encoding: gzip, deflate, br, zstd", "br"),
    ("Accept-Encoding: br;q=0, gzip ; q=0.001", "gzip"), ("Accept-Encoding: gzip;q=0", nil),
    ("Accept-Encoding: *", "br"), ("Accept-Encoding: *;q=0", nil),
    ("Accept-Encoding: br;q=0, *", "gzip"), ("Accept-Encoding: gzip;q=much", nil),
    ("Accept-Encoding: zstd\r\nAccept-Encoding: gzip", "gzip"),
  ]

  @Test(arguments: acceptedCodings)
  func `Sends the compressed form that the client accepts`(line: String, coding: String?)
    async throws
  {
    let folder = try WebFolder()
    folder.add(file: "web/app.js.gz", "gzip")
    folder.add(file: "web/app.js.br", "br")
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      let plain = try request(server, "/app.js")
      let more = line.isEmpty ? "" : line + "\r\n"
      let (head, body) = try request(server, "/app.js", more: more)
      #expect(body == coding ?? "app.js")
      #expect(head.contains("\r\nContent-Type: text/javascript; charset=utf-8\r\n"))
      #expect(head.contains("\r\nVary: Accept-Encoding\r\n"))
      #expect(fieldValue("Content-Encoding", in: head) == coding)
      let tag = try #require(fieldValue("ETag", in: head))
      #expect((tag == fieldValue("ETag", in: plain.head)) == (coding == nil))
      let known = try request(server, "/app.js", more: more + "If-None-Match: \(tag)\r\n")
      #expect(known.head.hasPrefix("HTTP/1.1 304 "))
      #expect(known.head.contains("\r\nVary: Accept-Encoding\r\n"))
      #expect(try request(server, "/app.js", method: "HEAD", more: more).head == head)
    }
  }

  @Test func `Ignores a compressed form that is older, linked or no file`() async throws {
    let folder = try WebFolder()
    for name in ["app.js", "mod.mjs", "s.css"] {
      let path = "\(folder.path)/web/\(name).gz"
      switch name {
      case "app.js":
        folder.add(file: "web/app.js.gz", "older")
        var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
        #expect(utimes(path, &times) == 0)
      case "mod.mjs":
        folder.add(link: "web/mod.mjs.gz", to: "../secret.txt")
      default:
        folder.add(folder: "web/s.css.gz")
      }
    }
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      for name in ["app.js", "mod.mjs", "s.css"] {
        let response = try request(server, "/\(name)", more: "Accept-Encoding: gzip\r\n")
        #expect(response.body == name)
        #expect(fieldValue("Content-Encoding", in: response.head) == nil)
      }
    }
  }

  @Test func `A URL that names the current content is immutable`() async throws {
    let folder = try WebFolder()
    folder.add(file: "web/app.js.gz", "gzip")
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      let tag = try #require(fieldValue("ETag", in: request(server, "/app.js").head))
      let version = tag.dropFirst().dropLast()
      for (query, isImmutable) in [
        ("?v=\(version)", true), ("", false), ("?v=", false), ("?v=1\(version)", false),
        ("?v=\(version)&a=1", false), ("?\(version)", false),
      ] {
        for more in ["", "Accept-Encoding: gzip\r\n", "If-None-Match: \(tag)\r\n"] {
          let head = try request(server, "/app.js\(query)", more: more).head
          #expect(
            fieldValue("Cache-Control", in: head)
              == (isImmutable ? "max-age=31536000, immutable" : "no-cache"), "\(query)")
        }
      }
    }
  }

  private func fieldValue(_ name: String, in head: String) -> String? {
    head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
      .map { String($0.dropFirst(name.count + 2)) }
  }

  @Test func `Sends a large file completely to a slow reader`() async throws {
    let folder = try WebFolder()
    let text = String((0..<700_000).map { "\($0 % 10)" }.joined())
    folder.add(file: "web/large.txt", String(repeating: text, count: 6))
    try await withServer(configure: .init { $0.web.root = folder.path + "/web" }) { server in
      let socket = try RawSocket(port: server.port, receiveBuffer: 4096)
      socket.send(
        "GET /large.txt HTTP/1.1\r\nHost: localhost:\(server.port)\r\nConnection: close\r\n\r\n")
      #expect(socket.readHead().contains("Content-Length: 4200000"))
      let body = socket.readToEnd()
      #expect(body == String(repeating: text, count: 6))
    }
  }

  @Test func `Rejects an invalid web folder at startup`() async throws {
    for root in ["/nowhere/at/all", "/etc/passwd"] {
      let error = await #expect(throws: SocketError.self) {
        try await withServer(configure: .init { $0.web.root = root }) { _ in }
      }
      #expect(error?.description.contains(root) == true)
    }
  }
}
