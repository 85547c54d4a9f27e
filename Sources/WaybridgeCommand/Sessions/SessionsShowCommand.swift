import ArgumentParser
import WayStore
import Waybridge
import WaybridgeClient

struct SessionsShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show all stored data of a session",
    discussion: """
      Example: waybridge sessions show 7f6c2b9e --data /var/lib/waybridge
      Example: waybridge sessions show 7f6c2b9e --data /var/lib/waybridge --json

      The command prints a JSON object: {"id", "owner", "term", "changed", "parts"}. "owner" is the \
      server that owned the session last, and "term" the number of times that a server took it over. \
      "parts" has the session itself, its stack, its clients and pages by their ids, the undelivered \
      messages of each client by their numbers, and the calls with an idempotency key. Secrets \
      (token, former, joinToken) are shown as "…".

      Exit code: 0 if the session was shown; 1 if there is no session with this id, it cannot be \
      read, or a server uses it; 64 if the command line is wrong.
      """)

  @OptionGroup var folder: SavedSessionFolder

  @Flag(help: "Print one line")
  var json = false

  @Argument(help: "Id of the session, as waybridge sessions list prints it", completion: .nothing)
  var id: String

  func run() throws {
    let saved = try folder.open()
    guard let summary = try saved.list().first(where: { $0.id == id }) else {
      throw CommandError("there is no session \(quoted(id)) in \(quoted(folder.data))")
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
    try output.appendLine(json ? shown.text : shown.indentedText)
    try output.flush()
  }
}

/// The parts of a session as a JSON object: `page/7` is the member `7` of the member `page`.
struct SavedParts {
  /// The number of path components of a part, for the kinds of which there are several.
  private static let pathDepths = ["page": 2, "client": 2, "frame": 3, "key": 3]
  /// The members that are secrets, since they open a session.
  private static let secrets: Set = ["token", "former", "joinToken"]

  private(set) var members = ValueObject()

  /// Adds a part. Bytes that are not JSON are replaced by a description.
  mutating func add(_ name: String, _ bytes: [UInt8]) {
    let value: Value
    do throws(InvalidJSON) {
      value = Self.withoutSecrets(try Value(json: String(decoding: bytes, as: UTF8.self)))
    } catch {
      value = .string("(\(bytes.count) bytes that are not JSON: \(error))")
    }
    var path = [name]
    if let slash = name.firstIndex(of: "/"), let depth = Self.pathDepths[String(name[..<slash])] {
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
    // Avoids a copy of the inner object.
    members[name] = .null
    add(value, at: path.dropFirst(), to: &inner)
    members[name] = .object(inner)
  }

  private static func withoutSecrets(_ value: Value) -> Value {
    switch value {
    case .array(let values): .array(values.map(withoutSecrets))
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
    case .array(let values) where !values.isEmpty:
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
