import ArgumentParser
import Foundation
import Waybridge
import WaybridgeClient
import WaybridgeTokens

struct TokenShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show what a token says, and check it where a key is given.",
    discussion: """
      The answer is one line of JSON, {"header", "claims", "times", "valid"}: "times" has exp, nbf \
      and iat as people read them, in UTC; "valid" is null where the token was not checked, and \
      beside false stands a "reason". Without a key anybody may have written what is shown.

      A TOKEN on the command line can be seen by every user of the machine (ps), and stays in the \
      shell's history: better give - and the token on standard input.

      Exit code: 0 after a token was shown; 1 where the text is no token, or the token is not \
      valid; 64 where the command line is wrong.

      Example: waybridge token show --secret-file secret - < token
      """)

  @Option(
    help: ArgumentHelp("Check it with this secret (HS256).", valueName: "file"),
    completion: .file())
  var secretFile: String?

  @Option(
    help: ArgumentHelp("Check it with these public keys (EdDSA), as PEM.", valueName: "file"),
    completion: .file())
  var keyFile: String?

  @Option(
    help: ArgumentHelp("Whom it must be for, where it is checked.", valueName: "name"),
    completion: .nothing)
  var audience = "waybridge"

  @Argument(
    help: "The token, or - for one line of standard input.", completion: .nothing)
  var token: String

  func run() async throws {
    let text = try text()
    var answer: ValueObject
    do throws(TokenError) {
      let token = try UnverifiedToken(text)
      let claims = try token.claims()
      answer = [
        "header": .object(token.header), "claims": .object(claims),
        "times": .object(Self.times(in: claims)), "valid": nil,
      ]
    } catch {
      throw CommandError("This is no token: \(error)")
    }
    let fault = try await fault(of: text, in: &answer)
    var output = Output()
    try output.line(Value.object(answer).text)
    try output.tell(fault ?? "The token is valid.")
    if answer["valid"] == false { throw ExitCode.failure }
  }

  /// Checks the token where there is a key, and says so in the answer; gives what keeps it from
  /// being valid.
  private func fault(of text: String, in answer: inout ValueObject) async throws -> String? {
    guard secretFile != nil || keyFile != nil else {
      return "The signature is NOT checked: give --secret-file or --key-file."
    }
    let keys: TokenKeys
    do throws(TokenKeyError) {
      keys = try await TokenKeys.load(
        secretFile: secretFile, keyFile: keyFile, rules: TokenRules(audience: audience))
    } catch {
      throw CommandError("\(error)")
    }
    do throws(TokenError) {
      _ = try await keys.verify(text)
      answer["valid"] = true
      return nil
    } catch {
      answer["valid"] = false
      answer["reason"] = .string("\(error)")
      return "Error: The token is not valid: \(error)"
    }
  }

  private func text() throws(CommandError) -> String {
    guard token == "-" else { return token }
    var input = InputLines()
    guard let line = try input.next()?.first else {
      throw CommandError("There is no token on standard input")
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
