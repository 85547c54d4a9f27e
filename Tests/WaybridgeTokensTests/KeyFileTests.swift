import Foundation
import TestSupport
import Testing
import Waybridge

@testable import WaybridgeTokens

/// Key files, when they are first read and when they change.
@Suite(.timeLimit(.minutes(1)))
struct KeyFileTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  private func error(_ files: TokenKeyFile...) async -> String {
    do {
      _ = try await TokenKeys.load(files)
      return "none"
    } catch {
      #expect(error.path == files.last?.path)
      return error.description.replacing(folder.path + "/", with: "")
    }
  }

  @Test(arguments: [
    (32, "", true), (32, "\n", true), (32, "\r\n", true), (31, "\n", false), (31, "\r\n", false),
    (31, "\n\n", true), (31, "\r", true), (0, "", false), (0, "\n", false),
  ])
  func requires32SecretBytesBesidesLineEnd(count: Int, end: String, isAccepted: Bool) async throws {
    let bytes = [UInt8](repeating: 0xFF, count: count) + Array(end.utf8)
    let path = try folder.write(bytes, to: "secret")
    let isShort = await error(.secret(path)).contains("at least 32")
    #expect(isShort != isAccepted)
  }

  @Test func ignoresLineEndOfSecret() async throws {
    let token = try TokenMaker.token()
    for end in ["\n", "\r\n", ""] {
      let path = try folder.write(TokenMaker.secret + end, to: "secret", time: 1)
      let keys = try await TokenKeys.load(secretFile: path, rules: TokenMaker.rules())
      #expect(try await keys.verify(token).subject == "ada")
    }
  }

  @Test(arguments: [
    ("openssl genpkey -algorithm ed25519", "holds a private key"),
    ("openssl genrsa 2>/dev/null", "holds a private key"),
    ("openssl genpkey -algorithm ed25519 -aes256 -pass pass:x", "holds a private key"),
    ("openssl genrsa 2>/dev/null | openssl pkey -pubout", "something other than public keys"),
    ("openssl genpkey -algorithm ed448 | openssl pkey -pubout", "something other than public keys"),
    ("openssl genpkey -algorithm x25519 | openssl pkey -pubout", "something other than public"),
    ("openssl genpkey -algorithm ed25519 | openssl pkey -pubout | head -2", "ends within a key"),
    ("openssl genpkey -algorithm ed25519 | openssl pkey -pubout | tail -2", "holds no public key"),
    ("openssl genpkey -algorithm ed25519 | openssl pkey -pubout -outform DER", "no public key"),
    ("printf '%s\\n' '-----BEGIN PUBLIC KEY-----' AAAA '-----END PUBLIC KEY-----'", "something"),
    ("true", "holds no public key"), ("head -c 100000 /dev/zero", "is longer than 65536 bytes"),
    (
      "openssl genpkey -algorithm ed25519 | openssl pkey -pubout | sed '1i kid:'",
      "has a key name (kid:) that is empty"
    ),
    (
      "for _ in 1 2; do openssl genpkey -algorithm ed25519 | openssl pkey -pubout | sed '1i kid: a'; done",
      "holds a key with the same name (kid) as another key"
    ),
    (
      "for _ in $(seq 33); do openssl genpkey -algorithm ed25519 | openssl pkey -pubout; done",
      "exceeds the limit of 32 keys"
    ),
    ("openssl genpkey -algorithm ed25519 | openssl pkey -pubout", "none"),
    ("openssl genpkey -algorithm ed25519 | openssl pkey -pubout -text", "none"),
    ("openssl genpkey -algorithm ed25519 | openssl pkey -pubout | sed 's/$/\\r/'", "none"),
  ])
  func acceptsOnlyPublicKeysInKeyFile(command: String, fault: String) async throws {
    let path = folder.path("pem")
    let shell = Process()
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    shell.arguments = ["-c", "umask 077; (\(command)) > '\(path)'"]
    try shell.run()
    shell.waitUntilExit()
    let message = await error(.publicKeys(path))
    #expect(message.contains(fault), "\(message)")
    if message != "none" { #expect(message.hasPrefix("The key file pem "), "\(message)") }
  }

  @Test func rejectsPEMKeyAsSecret() async throws {
    let path = try folder.write(try TokenMaker.keyPair().pem, to: "pem", time: 1)
    #expect(await error(.secret(path)).hasPrefix("The secret file pem contains a PEM key"))
  }

  @Test func rejectsMissingFilesAndOpenPermissions() async throws {
    let pem = try folder.write(try TokenMaker.keyPair().pem, to: "pem", mode: 0o644, time: 1)
    let secret = try folder.write(TokenMaker.secret, to: "secret", mode: 0o640, time: 1)
    let none = folder.path("none")
    let open = "can be accessed by other users than its owner"
    #expect(await error(.publicKeys(pem)).hasPrefix("The key file pem \(open) (mode 644)"))
    #expect(await error(.secret(secret)).hasPrefix("The secret file secret \(open) (mode 640)"))
    #expect(await error(.secret(none)).hasPrefix("The secret file none cannot be read: "))
    #expect(await error(.publicKeys(folder.path)).hasSuffix("cannot be read: Is a directory"))
  }

  @Test func rejectsSecretsWithSameID() async throws {
    let one = try folder.write(TokenMaker.secret, to: "one", time: 1)
    let two = try folder.write(TokenMaker.secret + "2", to: "two", time: 1)
    #expect(await error(.secret(one, id: "a"), .secret(two, id: "b")) == "none")
    #expect(await error(.secret(one), .secret(two)) == "none")
    #expect(await error(.secret(one, id: "a"), .secret(two, id: "a")).contains("as another key"))
  }

  @Test func reloadReportsEachFileAndChangesHash() async throws {
    let one = try folder.write(TokenMaker.secret, to: "one", time: 1)
    let two = try folder.write(TokenMaker.secret + "2", to: "two", time: 1)
    let keys = try await TokenKeys.load([.secret(one, id: "a"), .secret(two, id: "b")])
    let hash = await keys.hash
    #expect(await keys.reload() == [FileReload(.keys, path: one), FileReload(.keys, path: two)])
    #expect(await keys.hash == hash)
    #expect(await keys.rejections == 0)
    _ = try folder.write("short", to: "one", time: 2)
    _ = try folder.write(TokenMaker.secret + "3", to: "two", time: 2)
    let reloads = await keys.reload()
    #expect(reloads.map(\.path) == [one, two])
    #expect(reloads[0].rejection?.hasPrefix("has a secret of 5 bytes") == true)
    #expect(reloads[1].rejection == nil)
    #expect(await keys.hash != hash)
    #expect(await keys.rejections == 1)
  }

  @Test func reloadsChangedFileAndIgnoresInvalidOne() async throws {
    let lines = Mailbox<RecordedLine>()
    let folder = folder
    let path = try folder.write("the first secret, of at least 32 bytes", time: 1)
    let keys = try await TokenKeys.load(
      secretFile: path, rules: TokenMaker.rules(), logger: lines.logger(.info))
    let first = try TokenMaker.token(secret: "the first secret, of at least 32 bytes")
    let second = try TokenMaker.token(secret: "the second secret, of at least 32 bytes")
    let steps = ScriptedSteps([
      // The poll before which each step runs; a change takes effect two polls later.
      0: { _ = try await keys.verify(first) },
      1: { try folder.write("too short to be a secret", time: 2) },
      5: {
        _ = try await keys.verify(first)
        try FileManager.default.removeItem(atPath: path)
      },
      9: {
        _ = try await keys.verify(first)
        try folder.write("the second secret, of at least 32 bytes", time: 3)
      },
      10: { _ = try await keys.verify(first) },
      11: {
        _ = try await keys.verify(second)
        let error = await #expect(throws: TokenError.self) { try await keys.verify(first) }
        #expect(error?.kind == .invalidSignature)
        throw CancellationError()
      },
    ])
    await keys.watch { _ in try await steps.runNext() }
    #expect(await steps.fault is CancellationError)
    let logged = [
      "warning token keys not changed: their file is invalid file=\(path) reason=has a secret of 24 "
        + "bytes, but a secret needs at least 32; run: openssl rand -base64 48 > \(path)",
      "warning token keys not changed: their file is invalid file=\(path) reason=cannot be read: "
        + "No such file or directory",
      "info token keys changed file=\(path)",
    ]
    for line in logged { #expect(try await lines.receive().text == line) }
    #expect(await lines.next(within: .zero) == nil)
  }

  @Test func replacesPublicKeysOneByOne() async throws {
    let folder = folder
    let (old, new) = (try TokenMaker.keyPair(), try TokenMaker.keyPair())
    let path = try folder.write(old.pem, time: 1)
    let keys = try await TokenKeys.load(keyFile: path, rules: TokenMaker.rules())
    let tokens = try [old, new].map {
      try TokenMaker.token(header: #"{"alg":"EdDSA"}"#, key: $0.key)
    }
    @Sendable func accepted() async -> [Bool] {
      var accepted: [Bool] = []
      for token in tokens { accepted.append((try? await keys.verify(token)) != nil) }
      return accepted
    }
    let steps = ScriptedSteps([
      0: {
        #expect(await accepted() == [true, false])
        try folder.write(old.pem + new.pem, time: 2)
      },
      2: {
        #expect(await accepted() == [true, true])
        try folder.write(new.pem, time: 3)
      },
      4: {
        #expect(await accepted() == [false, true])
        throw CancellationError()
      },
    ])
    await keys.watch { _ in try await steps.runNext() }
    #expect(await steps.fault is CancellationError)
  }

  @Test func watchEndsWhenTaskIsCancelled() async throws {
    let path = try folder.write(TokenMaker.secret, time: 1)
    let keys = try await TokenKeys.load(secretFile: path)
    let watch = Task { await keys.run() }
    watch.cancel()
    await watch.value
  }
}

/// Steps that run before each poll of a file. A step that throws is the last one.
private actor ScriptedSteps {
  private let steps: [Int: @Sendable () async throws -> Void]
  private var count = 0
  private(set) var fault: (any Error)?

  init(_ steps: [Int: @Sendable () async throws -> Void]) {
    self.steps = steps
  }

  func runNext() async throws {
    let step = steps[count]
    count += 1
    do { try await step?() } catch {
      fault = error
      throw error
    }
  }
}
