import ArgumentParser
import WayStore
import Waybridge
import WaybridgeClient

struct SessionsShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show all that is kept of a session.",
    discussion: """
      The answer is a JSON object, {"id", "owner", "term", "changed", "parts"}: "owner" is the server \
      that had it last, "term" how often one has taken it over, and "parts" the session itself, its \
      stack, its clients and pages by their ids, the messages that wait for each client by their \
      numbers, and the calls with a key. What opens a session (token, former, joinToken) is shown \
      as "…".

      With --json it is one line.

      Exit code: 0 after the session was shown; 1 where there is none of this id, it cannot be read, \
      or a server uses it; 64 where the command line is wrong.

      Example: waybridge sessions show 7f6c2b9e --data /var/lib/waybridge
      """)

  @OptionGroup var folder: SessionFolder

  @Flag(help: "Print it on one line.")
  var json = false

  @Argument(help: "The session's id, as the list has it.", completion: .nothing)
  var id: String

  func run() throws {
    let saved = try SQLiteSavedSessions(folder: folder.data)
    guard let summary = try saved.list().first(where: { $0.id == id }) else {
      throw CommandError("There is no session \(quoted(id)) in \(folder.data)")
    }
    var parts = SavedParts()
    for part in summary.parts {
      parts.add(part.name, try saved.part(part.name, of: id) ?? [])
    }
    let shown: Value = [
      "id": .string(summary.id), "owner": .string(summary.lease.owner),
      "term": .integer(summary.lease.term), "changed": .string(summary.date),
      "parts": .object(parts.members),
    ]
    var output = Output()
    try output.line(json ? shown.text : shown.indentedText)
    try output.flush()
  }
}

/// The parts of a session as an object: `page/7` is the member `7` of the member `page`.
struct SavedParts {
  /// How many names lead to a part, for the kinds of which there are several.
  private static let families = ["page": 2, "client": 2, "frame": 3, "key": 3]
  /// What opens a session.
  private static let secrets: Set = ["token", "former", "joinToken"]

  private(set) var members = ValueObject()

  /// Adds a part, whose bytes are JSON; what is none is told in its place.
  mutating func add(_ name: String, _ bytes: [UInt8]) {
    let value: Value
    do throws(InvalidJSON) {
      value = Self.withoutSecrets(try Value(json: String(decoding: bytes, as: UTF8.self)))
    } catch {
      value = .string("(\(bytes.count) bytes that are no JSON: \(error))")
    }
    var path = [name]
    if let slash = name.firstIndex(of: "/"), let depth = Self.families[String(name[..<slash])] {
      path = name.split(separator: "/", maxSplits: depth - 1, omittingEmptySubsequences: false)
        .map(String.init)
    }
    Self.add(value, at: path[...], to: &members)
  }

  private static func add(
    _ value: Value, at path: ArraySlice<String>, to members: inout ValueObject
  ) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      members[name] = value
      return
    }
    var inner = members[name]?.object ?? ValueObject()
    // Else it would be copied each time.
    members[name] = .null
    add(value, at: path.dropFirst(), to: &inner)
    members[name] = .object(inner)
  }

  private static func withoutSecrets(_ value: Value) -> Value {
    switch value {
    case .list(let values): .list(values.map(withoutSecrets))
    case .object(let object):
      .object(
        ValueObject(
          object.members.map { member in
            (member.name, secrets.contains(member.name) ? "…" : withoutSecrets(member.value))
          }))
    case .null, .bool, .integer, .number, .string: value
    }
  }
}

extension Value {
  /// JSON with a line for each member and element.
  fileprivate var indentedText: String { indented("\n") }

  private func indented(_ line: String) -> String {
    let inner = line + "  "
    switch self {
    case .list(let values) where !values.isEmpty:
      return "[" + values.map { inner + $0.indented(inner) }.joined(separator: ",") + line + "]"
    case .object(let object) where !object.isEmpty:
      let members = object.members.map { member in
        inner + Value.string(member.name).text + ": " + member.value.indented(inner)
      }
      return "{" + members.joined(separator: ",") + line + "}"
    default: return text
    }
  }
}
