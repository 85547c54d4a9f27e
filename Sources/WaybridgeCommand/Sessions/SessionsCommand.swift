import ArgumentParser
import Foundation
import WayStore

struct SessionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions",
    abstract: "Inspect the durable sessions that a server has stored",
    discussion: """
      Example: waybridge sessions list --data /var/lib/waybridge
      Example: waybridge sessions show 7f6c2b9e --data /var/lib/waybridge

      The commands read the folder of the server's setting data and do not change it. The server \
      must not run at the same time, and cannot start. The output omits the secrets that open a \
      session.

      Exit code: 0 if sessions were shown; 1 if they cannot be read; 64 if the command line is wrong.
      """,
    subcommands: [SessionsListCommand.self, SessionsShowCommand.self])
}

/// The option for the folder of sessions.
struct SavedSessionFolder: ParsableArguments {
  @Option(
    help: ArgumentHelp("Folder in which a server has stored its sessions", valueName: "folder"),
    completion: .directory)
  var data: String

  /// Opens the sessions to read them. Throws if a server uses them.
  func open() throws -> SQLiteSavedSessions { try SQLiteSavedSessions(folder: data) }
}

extension SQLiteSavedSessions.SavedSessionSummary {
  /// The time of the last change: RFC 3339, in UTC.
  var date: String {
    Date(timeIntervalSince1970: Double(changedAt) / 1_000).formatted(.iso8601)
  }
}
