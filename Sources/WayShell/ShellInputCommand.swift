import WayRPC
import WayValues

/// What a line says.
package enum Order: Sendable, Equatable {
  /// A number or a text for what is on top.
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

  /// Why a line cannot be carried out.
  package struct Fault: Error, Equatable {
    package let text: String
  }

  package static let words = [
    "NUMBER           choose an entry",
    "TEXT             fill in the field that is asked for; an empty line leaves it out",
    "= TEXT           the same, for a text that is one of these words",
    "up               ask for the field before again",
    "back [COUNT]     leave the page, or so many",
    "cancel           leave it without a result; of a sheet, the call fails",
    "finish [JSON]    answer with any value",
    "progress JSON    tell who waits for a sheet how far it is",
    "open URI [JSON]  open a page, with parameters",
    "run URI [JSON]   run a task",
    "tab INDEX        show a tab, from 0",
    "invite ADDRESS   make an address with which a web page joins the session",
    "stack            print all pages of the session",
    "wait             wait for a page or a sheet to answer",
    "quit             leave the session",
  ]

  package init(_ line: String) throws(Fault) {
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
  ) throws(Fault) -> Int {
    guard let number = Int(text), (least...100_000).contains(number) else {
      throw Fault(text: "\(usage): give a whole number from \(least)")
    }
    return number
  }

  private static func value(_ text: String, _ usage: String) throws(Fault) -> Value {
    do throws(JSONError) {
      return try JSON.parse(text)
    } catch {
      throw Fault(text: "\(usage): not JSON: \(error)")
    }
  }

  private static func call(
    _ rest: String, _ usage: String
  ) throws(Fault) -> (String, ValueObject) {
    let parts = rest.split(separator: " ", maxSplits: 1)
    guard let uri = parts.first else { throw Fault(text: "\(usage): give a URI") }
    guard parts.count > 1 else { return (String(uri), [:]) }
    guard let params = try value(parts[1].trimmed, usage).object else {
      throw Fault(text: "\(usage): the parameters must be an object")
    }
    return (String(uri), params)
  }
}

extension StringProtocol {
  /// Without the spaces around it.
  fileprivate var trimmed: String {
    let start = self.drop { $0 == " " }
    return String(start.reversed().drop { $0 == " " }.reversed())
  }
}
