import ArgumentParser
import WayStore
import Waybridge
import WaybridgeClient

struct SessionsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the stored sessions",
    discussion: """
      Example: waybridge sessions list --data /var/lib/waybridge
      Example: waybridge sessions list --data /var/lib/waybridge --json

      The command prints a line for each session, in the order in which they began: its id and user, \
      the numbers of clients, pages, calls with an idempotency key and undelivered messages, its \
      size in bytes, and the time of its last change in UTC.

      With --json each line is an object: {"id", "user", "clients", "pages", "keys", "messages", \
      "bytes", "owner", "changed"}. "user" is null for a session without a user, and "owner" is the \
      server that owned the session last.

      Exit code: 0 if the sessions were listed, also if there are none; 1 if they cannot be read, \
      or a server uses them; 64 if the command line is wrong.
      """)

  @OptionGroup var folder: SavedSessionFolder

  @Flag(help: "Print one JSON object a line")
  var json = false

  func run() throws {
    let saved = try folder.open()
    let sessions = try saved.list().map { summary in
      SessionLine(summary, user: try saved.user(of: summary.id))
    }
    let lines =
      json ? sessions.map { Value.object($0.members).text } : SessionLine.table(sessions)
    var output = Output()
    for line in lines {
      try output.appendLine(line)
    }
    try output.flush()
  }
}

/// The line of a session in the list.
struct SessionLine {
  let members: ValueObject

  init(_ summary: SQLiteSavedSessions.SavedSessionSummary, user: Value?) {
    func count(_ family: String) -> Value {
      .integer(Int64(summary.parts.count { $0.name.hasPrefix(family + "/") }))
    }
    let bytes = summary.parts.reduce(0) { $0 + $1.name.utf8.count + $1.bytes }
    members = [
      "id": .string(summary.id), "user": user ?? .null, "clients": count("client"),
      "pages": count("page"), "keys": count("key"), "messages": count("frame"),
      "bytes": .integer(Int64(bytes)), "owner": .string(summary.lease.owner),
      "changed": .string(summary.date),
    ]
  }

  /// Returns columns below their names.
  static func table(_ sessions: [SessionLine]) -> [String] {
    let names = ["id", "user", "clients", "pages", "keys", "messages", "bytes", "changed"]
    let rows =
      [names.map { $0.uppercased() }]
      + sessions.map { session in
        names.map { name in
          switch session.members[name] {
          case .string(let text)?: cell(text)
          case .null?, nil: "-"
          case let value?: value.text
          }
        }
      }
    let widths = names.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { $0.padding(to: $1) }.joined(separator: "  ")
      return String(cells.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// Formats a string from others as one word that a terminal does not interpret.
  private static func cell(_ text: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
    return isPlain && !text.isEmpty && text.count <= 80 && text != "-" ? text : quoted(text)
  }
}

extension SQLiteSavedSessions {
  /// The user of the session, from its part `session`.
  fileprivate func user(of session: String) throws -> Value? {
    guard let bytes = try part("session", of: session) else { return nil }
    return try? Value(json: String(decoding: bytes, as: UTF8.self))["identity"]?["user"]
  }
}
