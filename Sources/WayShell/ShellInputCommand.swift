import WayRPC
import WayValues

/// A parsed input line.
package enum ShellInputCommand: Sendable, Equatable {
  /// A number or a text for the top screen.
  case text(String)
  case back(Int)
  case cancel
  case finish(Value)
  case up
  case open(String, ValueObject)
  case run(String, ValueObject)
  case invite(String)
  case tab(Int)
  case progress(Value)
  case stack
  case wait
  case help
  case quit

  /// The reason why a line is invalid.
  package struct InvalidCommand: Error, Equatable {
    package let text: String
  }

  package static let helpLines = [
    "NUMBER           choose an entry",
    "TEXT             fill in the current field; an empty line omits it",
    "= TEXT           the same, for a text that is also a command",
    "up               go back to the previous field",
    "back [COUNT]     close one page, or several",
    "cancel           close a page without a result; fail the call of a sheet",
    "finish [JSON]    return any value as the result",
    "progress JSON    report the progress of a sheet to its caller",
    "open URI [JSON]  open a page, with parameters",
    "run URI [JSON]   run a task, with parameters",
    "tab INDEX        show a tab, from 0",
    "invite URL       print a URL with which a web page joins the session",
    "stack            print all pages of the session",
    "wait             wait for a page or a sheet",
    "quit             leave the session",
  ]

  package init(_ line: String) throws(InvalidCommand) {
    let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    let rest = words.count > 1 ? words[1].trimmed : ""
    switch words.first.map(String.init) {
    case nil: self = .text("")
    case "=": self = .text(rest)
    case "back": self = .back(rest.isEmpty ? 1 : try Self.number(rest, from: 1, "back COUNT"))
    case "cancel" where rest.isEmpty: self = .cancel
    case "up" where rest.isEmpty: self = .up
    case "stack" where rest.isEmpty: self = .stack
    case "wait" where rest.isEmpty: self = .wait
    case "help" where rest.isEmpty: self = .help
    case "quit" where rest.isEmpty: self = .quit
    case "finish": self = .finish(rest.isEmpty ? .null : try Self.value(rest, "finish JSON"))
    case "progress": self = .progress(try Self.value(rest, "progress JSON"))
    case "tab": self = .tab(try Self.number(rest, from: 0, "tab INDEX"))
    case "invite" where !rest.isEmpty: self = .invite(rest)
    case "open":
      let (uri, params) = try Self.call(rest, "open URI [JSON]")
      self = .open(uri, params)
    case "run":
      let (uri, params) = try Self.call(rest, "run URI [JSON]")
      self = .run(uri, params)
    default: self = .text(line.trimmed)
    }
  }

  private static func number(
    _ text: String, from least: Int, _ usage: String
  ) throws(InvalidCommand) -> Int {
    guard let number = Int(text), (least...100_000).contains(number) else {
      throw InvalidCommand(text: "\(usage): \"\(text)\" is not a whole number from \(least)")
    }
    return number
  }

  private static func value(_ text: String, _ usage: String) throws(InvalidCommand) -> Value {
    do throws(JSONError) {
      return try JSON.parse(text)
    } catch {
      throw InvalidCommand(text: "\(usage): the value is not JSON: \(error)")
    }
  }

  private static func call(
    _ rest: String, _ usage: String
  ) throws(InvalidCommand) -> (String, ValueObject) {
    let parts = rest.split(separator: " ", maxSplits: 1)
    guard let uri = parts.first else { throw InvalidCommand(text: "\(usage): the URI is missing") }
    guard parts.count > 1 else { return (String(uri), [:]) }
    guard let params = try value(parts[1].trimmed, usage).object else {
      throw InvalidCommand(text: "\(usage): the parameters must be an object")
    }
    return (String(uri), params)
  }
}

extension StringProtocol {
  /// The text without surrounding spaces.
  fileprivate var trimmed: String {
    let start = self.drop { $0 == " " }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }
}
