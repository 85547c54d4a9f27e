import ArgumentParser

struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Make and read the tokens that say who opens a session.",
    discussion: """
      A token (JWT, RFC 7519) says whose it is, for whom and until when, and is signed. It is as \
      good as a password: who has it can use it until it ends.

      Exit code: 0 after a token was made or shown; 1 where that fails, or the token is not valid; \
      64 where the command line is wrong.

      Example: waybridge token make --secret-file secret --subject ada | waybridge token show -
      """,
    subcommands: [TokenMake.self, TokenShow.self])
}
