import ArgumentParser

struct SessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "Look at the sessions that a server has kept on the disk.",
    discussion: """
      They are in the folder that the server was given; it must not run meanwhile, and cannot begin. \
      Nothing in the folder is changed. What opens a session is not shown: it is as good as a \
      password.

      Exit code: 0 after sessions were shown; 1 where there are none to read; 64 where the command \
      line is wrong.

      Example: waybridge sessions list --data /var/lib/waybridge
      """,
    subcommands: [SessionsList.self, SessionsShow.self])
}

/// Where sessions are kept.
struct SessionFolder: ParsableArguments {
  @Option(
    help: ArgumentHelp("The folder that a server has kept its sessions in.", valueName: "folder"),
    completion: .directory)
  var data: String
}
