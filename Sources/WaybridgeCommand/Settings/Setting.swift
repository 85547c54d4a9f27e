import ArgumentParser
import Foundation
import Waybridge

/// One thing that can be configured, under one name everywhere: the key `tokenFile` is the flag
/// `--token-file` where a command has it, the variable `WAYBRIDGE_TOKEN_FILE`, and the member
/// `tokenFile` of a configuration file; `limits.maxBatch` is the member `maxBatch` of the file's
/// object `limits`.
struct Setting: Sendable {
  /// What values a setting has, and where they are kept.
  enum Kind: Sendable {
    typealias Place<Value> = WritableKeyPath<Configuration, Value> & Sendable

    case text(Place<String>)
    /// The path of a file or folder; one in a configuration file is seen from that file's folder.
    case path(Place<String?>)
    case choice(Place<String>, [String])
    /// A text that has to be of a form.
    case formed(Place<String>, ConfigurationAccessSyntax)
    /// Texts of a form: separated by commas in a variable, an array in a configuration file, and each
    /// a value of its own, or several, for a flag.
    case list(Place<[String]>, ConfigurationAccessSyntax)
    case integer(Place<Int>, ClosedRange<Int>)
    /// Whole milliseconds, at most a day.
    case milliseconds(Place<Duration>)
    case truth(Place<Bool>)

    /// How many of something, or how many bytes.
    static func count(_ place: Place<Int>) -> Kind { .integer(place, 1...(1 << 30)) }
  }

  let key: String
  let kind: Kind
  let help: String

  init(_ key: String, _ kind: Kind, _ help: String) {
    self.key = key
    self.kind = kind
    self.help = help
  }

  static func named(_ key: String) -> Setting? { Configuration.all.first { $0.key == key } }

  var variable: String { "WAYBRIDGE_" + words("_").uppercased() }

  /// Whether commands may have a flag for it: the many limits have none.
  var hasFlag: Bool { !key.hasPrefix("limits.") }

  var flag: String { "--" + words("-").lowercased() }

  private func words(_ separator: String) -> String {
    key.map { $0 == "." ? separator : $0.isUppercase ? separator + String($0) : String($0) }
      .joined()
  }
}

extension Setting {
  /// Why a value cannot be taken, to follow the name of where it stands: "must be …, not …".
  struct Fault: Error {
    let text: String
  }

  /// Takes a value as a flag or a variable has it.
  func set(_ text: String, in settings: inout Configuration) throws(Fault) {
    switch kind {
    case .text(let place): settings[keyPath: place] = text
    case .path(let place): settings[keyPath: place] = text
    case .choice(let place, let choices):
      guard choices.contains(text) else {
        throw Fault(text: "must be one of \(choices.joined(separator: ", ")), not \(quoted(text))")
      }
      settings[keyPath: place] = text
    case .formed(let place, let form):
      try Self.check(text, form)
      settings[keyPath: place] = text
    case .list(let place, let form):
      let parts =
        text.isEmpty
        ? []
        : text.components(separatedBy: ",").map {
          $0.trimmingCharacters(in: .whitespaces)
        }
      for part in parts { try Self.check(part, form) }
      settings[keyPath: place] = parts
    case .integer(let place, let range):
      settings[keyPath: place] = try Self.integer(text, range)
    case .milliseconds(let place):
      settings[keyPath: place] = .milliseconds(try Self.integer(text, 1...86_400_000))
    case .truth(let place):
      guard text == "true" || text == "false" else {
        throw Fault(text: "must be true or false, not \(quoted(text))")
      }
      settings[keyPath: place] = text == "true"
    }
  }

  private static func check(_ text: String, _ form: ConfigurationAccessSyntax) throws(Fault) {
    if let expected = form.expected(of: text) {
      throw Fault(text: "must be \(expected), not \(quoted(text))")
    }
  }

  private static func integer(_ text: String, _ range: ClosedRange<Int>) throws(Fault) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw Fault(
        text:
          "must be an integer from \(range.lowerBound) to \(range.upperBound), not \(quoted(text))")
    }
    return number
  }

  /// What the value is where nobody sets it, for people; nil where there is none.
  var initialValue: String? {
    let settings = Configuration()
    return switch kind {
    case .choice(let place, _): settings[keyPath: place]
    case .text(let place), .formed(let place, _):
      settings[keyPath: place].isEmpty ? nil : settings[keyPath: place]
    case .list: nil
    case .path(let place): settings[keyPath: place]
    case .integer(let place, _): String(settings[keyPath: place])
    case .milliseconds(let place):
      String(Int(settings[keyPath: place] / .milliseconds(1)))
    case .truth: nil
    }
  }
}
