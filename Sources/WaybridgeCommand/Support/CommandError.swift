/// An error that is not one of the command line: printed on standard error, exit code 1.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The text of errors on standard error.
enum ErrorText {
  private static let prefix = "Error: "

  /// Returns the text with a lowercase letter after `Error: `. The libraries and the argument
  /// parser begin their messages with capital letters. Words in capitals, such as `PARAMS`, remain.
  static func withLowercaseStart(_ text: String) -> String {
    let message = text.dropFirst(prefix.count)
    guard text.hasPrefix(prefix), let first = message.first, first.isUppercase,
      let second = message.dropFirst().first, second.isLowercase || second == " "
    else { return text }
    return prefix + first.lowercased() + String(message.dropFirst())
  }
}
