import ArgumentParser
import Foundation
import WayStore

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
