import ArgumentParser
import Foundation
import Waybridge
import WaybridgeClient
import WaybridgeTokens

struct TokenShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the contents of a token, and verify it with a key",
    discussion: """
      Example: waybridge token show - < token
      Example: waybridge token show --secret-file secret - < token

      The command prints one line of JSON: {"header", "claims", "times", "valid"}. "times" has exp, \
      nbf and iat as dates in UTC. "valid" is null if the token was not verified; if it is false, \
      there is also a "reason". Without a key the contents can be forged.

      Every user of the machine can see a TOKEN on the command line (ps), and the shell's history \
      stores it. Prefer - with the token on standard input.

      Exit code: 0 if the token was shown; 1 if the string is not a token, or the token is invalid; \
      64 if the command line is wrong.
      """)

  @Option(
    help: ArgumentHelp("Secret to verify the token with (HS256)", valueName: "file"),
    completion: .file())
  var secretFile: String?

  @Option(
    help: ArgumentHelp("Public keys to verify the token with (EdDSA), as PEM", valueName: "file"),
    completion: .file())
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "URL of an identity provider's public keys to verify the token with (RS256, ES256, EdDSA)",
      valueName: "url"),
    completion: .nothing)
  var jwks: String?

  @Option(
    help: ArgumentHelp(
      "Issuer that a verified token must have; required with --jwks", valueName: "issuer"),
    completion: .nothing)
  var issuer: String?

  @Option(
    help: ArgumentHelp("Audience that a verified token must have", valueName: "name"),
    completion: .nothing)
  var audience = "waybridge"

  @Option(
    help: ArgumentHelp("Claim with the groups of a verified token", valueName: "claim"),
    completion: .nothing)
  var groupsClaim = "groups"

  @Argument(
    help: "Token; - reads one line of standard input", completion: .nothing)
  var token: String

  func validate() throws {
    guard jwks == nil || issuer?.isEmpty == false else {
      throw ValidationError("--jwks requires --issuer")
    }
  }

  func run() async throws {
    let text = try tokenText()
    var result: ValueObject
    do throws(TokenError) {
      let token = try UnverifiedToken(text)
      let claims = try token.claims()
      result = [
        "header": .object(token.header), "claims": .object(claims),
        "times": .object(Self.times(in: claims)), "valid": nil,
      ]
    } catch {
      throw CommandError("this is not a token: \(error)")
    }
    let message = try await verify(token: text, result: &result)
    var output = Output()
    try output.appendLine(Value.object(result).text)
    try output.printError(message ?? "the token is valid")
    if result["valid"] == false { throw ExitCode.failure }
  }

  /// Verifies the token if there is a key, and adds the outcome to the result. Returns the message
  /// to print.
  private func verify(token text: String, result: inout ValueObject) async throws -> String? {
    guard secretFile != nil || keyFile != nil || jwks != nil else {
      return "the signature was NOT verified; give --secret-file, --key-file or --jwks"
    }
    let keys: TokenKeys
    do throws(TokenKeyError) {
      keys = try await TokenKeys.load(
        secretFile: secretFile, keyFile: keyFile, keySetURL: jwks,
        rules: TokenRules(audience: audience, issuer: issuer, groupsClaim: groupsClaim))
    } catch {
      throw CommandError("\(error)")
    }
    do throws(TokenError) {
      _ = try await keys.verify(text)
      result["valid"] = true
      return nil
    } catch {
      result["valid"] = false
      result["reason"] = .string("\(error)")
      return "Error: the token is invalid: \(error)"
    }
  }

  private func tokenText() throws(CommandError) -> String {
    guard token == "-" else { return token }
    var input = InputLines()
    guard let line = try input.next()?.first else {
      throw CommandError("there is no token on standard input")
    }
    return line
  }

  private static func times(in claims: ValueObject) -> ValueObject {
    var times = ValueObject()
    for name in ["iat", "nbf", "exp"] {
      guard let time = Token.time(of: claims[name]) else { continue }
      let date = Date(timeIntervalSince1970: Double(time) / 1_000)
      times[name] = .string(date.formatted(.iso8601))
    }
    return times
  }
}
