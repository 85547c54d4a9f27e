import ArgumentParser
import Foundation
import Waybridge
import WaybridgeClient
import WaybridgeTokens

struct TokenMakeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "make",
    abstract: "Make a token, signed with a secret (HS256), and print it",
    discussion: """
      Example: waybridge token make --secret-file secret --subject ada
      Example: waybridge token make --secret-file secret --subject ada --groups editors,staff

      The secret is a file of at least 32 bytes that only its owner has access to. The server has \
      the same file in its setting tokenSecretFile. This command creates one: \
      (umask 077; openssl rand -base64 48 > secret)

      The token contains its user (sub), groups (groups), audience (aud), time of creation (iat) and \
      expiry (exp). Store it in a file of mode 600, as the setting tokenFile of waybridge call \
      requires.

      Exit code: 0 if the token was printed; 1 if the secret cannot be used, or servers would \
      reject the token; 64 if the command line is wrong.
      """)

  @Option(
    help: ArgumentHelp("File with the secret, or a pipe", valueName: "file"),
    completion: .file())
  var secretFile: String

  @Option(
    help: ArgumentHelp("User of the token: 1 to 256 bytes", valueName: "name"),
    completion: .nothing)
  var subject: String

  @Option(
    help: ArgumentHelp("Groups of the user, separated by commas", valueName: "names"),
    completion: .nothing)
  var groups: String?

  @Option(
    help: ArgumentHelp(
      "Lifetime: a number of seconds, minutes, hours or days, such as 30s, 15m, 8h or 7d",
      valueName: "time"), completion: .nothing)
  var expires = "8h"

  @Option(help: ArgumentHelp("Audience of the token", valueName: "name"), completion: .nothing)
  var audience = "waybridge"

  @Option(
    help: ArgumentHelp("Id of the key in the token (kid)", valueName: "id"), completion: .nothing)
  var keyID: String?

  @Option(
    help: ArgumentHelp("Further claims, a JSON object", valueName: "json"),
    completion: .nothing)
  var claims: String?

  mutating func validate() throws {
    _ = try lifetime()
    _ = try extraClaims()
  }

  func run() async throws {
    var claims: ValueObject = ["sub": .string(subject)]
    if let groups {
      claims["groups"] = .array(
        groups.split(separator: ",", omittingEmptySubsequences: false).map { .string(String($0)) })
    }
    let now = Int64(Date().timeIntervalSince1970)
    claims["aud"] = .string(audience)
    claims["iat"] = .integer(now)
    claims["exp"] = .integer(now + (try lifetime()))
    claims.merge(try extraClaims())
    var output = Output()
    try output.appendLine(try await token(with: claims))
    try output.flush()
  }

  private func token(with claims: ValueObject) async throws(CommandError) -> String {
    do {
      let signer = try await TokenSigner(secretFile: secretFile, keyID: keyID)
      return try signer.sign(claims, for: TokenRules(audience: audience))
    } catch let error as TokenKeyError {
      throw CommandError("\(error)")
    } catch {
      throw CommandError("servers would reject this token: \(error)")
    }
  }

  /// The lifetime in seconds.
  private func lifetime() throws(ValidationError) -> Int64 {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    let longest: Int64 = 3_650 * 86_400
    guard let unit = expires.last.flatMap({ units[$0] }),
      let count = Int64(expires.dropLast()), (1...longest / unit).contains(count)
    else {
      throw ValidationError(
        "--expires must be a whole number followed by s, m, h or d, from 1s to 3650d, not "
          + quoted(expires))
    }
    return count * unit
  }

  /// The claims of `--claims`, none of which another option sets.
  private func extraClaims() throws(ValidationError) -> ValueObject {
    guard let claims else { return ValueObject() }
    guard let further = UnverifiedToken.claims(json: claims) else {
      throw ValidationError("--claims must be a JSON object without duplicate names")
    }
    let reservedClaims = [
      "sub": "subject", "groups": "groups", "aud": "audience", "exp": "expires",
    ]
    for (claim, option) in reservedClaims where further[claim] != nil {
      throw ValidationError("--claims must not contain \(quoted(claim)); set it with --\(option)")
    }
    guard further["iat"] == nil else {
      throw ValidationError("--claims must not contain \"iat\", which is the current time")
    }
    return further
  }
}
