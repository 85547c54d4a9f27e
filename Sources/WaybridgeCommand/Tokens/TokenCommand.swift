import ArgumentParser

struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Make and show the tokens that authenticate clients",
    discussion: """
      Example: waybridge token make --secret-file secret --subject ada > token
      Example: waybridge token show --secret-file secret - < token

      A token is a signed document (JWT, RFC 7519) with its user, audience and expiry. Protect it \
      like a password: every program that has it can use it until it expires.

      Exit code: 0 if a token was made or shown; 1 if that fails, or the token is invalid; 64 if \
      the command line is wrong.
      """,
    subcommands: [TokenMakeCommand.self, TokenShowCommand.self])
}
