import ArgumentParser
import Foundation
import Waybridge
import WaybridgeClient
import WaybridgeTokens

struct TokenMake: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make a token, signed with a secret (HS256), and print it.",
    discussion: """
      The secret is a file of at least 32 bytes that nobody but its owner has access to, the one \
      that the server is given too (--token-secret-file). This makes one: \
      (umask 077; openssl rand -base64 48 > secret)

      The token says whose it is (sub), in which groups (groups), for whom (aud), when it was made \
      (iat) and when it ends (exp). Keep it in a file of mode 600, which is what waybridge call \
      --token-file takes.

      Exit code: 0 after a token; 1 where the secret cannot be used, or no server would take the \
      token; 64 where the command line is wrong.

      Example: waybridge token make --secret-file secret --subject ada --groups editors,staff
      """)

  @Option(
    help: ArgumentHelp("The file of the secret, or a pipe.", valueName: "file"),
    completion: .file())
  var secretFile: String

  @Option(
    help: ArgumentHelp("Whose token it is: 1 to 256 bytes.", valueName: "name"),
    completion: .nothing)
  var subject: String

  @Option(
    help: ArgumentHelp("The groups of the subject, with commas between them.", valueName: "names"),
    completion: .nothing)
  var groups: String?

  @Option(
    help: ArgumentHelp(
      "How long it is good: a number of seconds, minutes, hours or days, such as 30s, 15m, 8h or "
        + "7d.", valueName: "time"), completion: .nothing)
  var expires = "8h"

  @Option(help: ArgumentHelp("Whom it is for.", valueName: "name"), completion: .nothing)
  var audience = "waybridge"

  @Option(
    help: ArgumentHelp("What it names its key by (kid).", valueName: "id"), completion: .nothing)
  var keyID: String?

  @Option(
    help: ArgumentHelp("Further claims, as a JSON object.", valueName: "json"),
    completion: .nothing)
  var claims: String?

  mutating func validate() throws {
    _ = try lifetime()
    _ = try further()
  }

  func run() async throws {
    var claims: ValueObject = ["sub": .string(subject)]
    if let groups {
      claims["groups"] = .list(
        groups.split(separator: ",", omittingEmptySubsequences: false).map { .string(String($0)) })
    }
    let now = Int64(Date().timeIntervalSince1970)
    claims["aud"] = .string(audience)
    claims["iat"] = .integer(now)
    claims["exp"] = .integer(now + (try lifetime()))
    claims.merge(try further())
    var output = Output()
    try output.line(try await token(with: claims))
    try output.flush()
  }

  private func token(with claims: ValueObject) async throws(CommandError) -> String {
    do {
      let signer = try await TokenSigner(secretFile: secretFile, keyID: keyID)
      return try signer.sign(claims, for: TokenRules(audience: audience))
    } catch let error as TokenKeyError {
      throw CommandError("\(error)")
    } catch {
      throw CommandError("No server would take this token: \(error)")
    }
  }

  /// Seconds.
  private func lifetime() throws(ValidationError) -> Int64 {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    let longest: Int64 = 3_650 * 86_400
    guard let unit = expires.last.flatMap({ units[$0] }),
      let count = Int64(expires.dropLast()), (1...longest / unit).contains(count)
    else {
      throw ValidationError(
        "--expires must be a whole number with s, m, h or d behind it, from 1s to 3650d, not "
          + quoted(expires))
    }
    return count * unit
  }

  /// The claims of `--claims`, none of which another option says.
  private func further() throws(ValidationError) -> ValueObject {
    guard let claims else { return ValueObject() }
    guard let further = UnverifiedToken.claims(json: claims) else {
      throw ValidationError("--claims must be a JSON object in which no name comes twice")
    }
    let said = ["sub": "subject", "groups": "groups", "aud": "audience", "exp": "expires"]
    for (claim, option) in said where further[claim] != nil {
      throw ValidationError("--claims must not have `\(claim)`, which is what --\(option) is for")
    }
    guard further["iat"] == nil else {
      throw ValidationError("--claims must not have `iat`, which is the present time")
    }
    return further
  }
}
