import ArgumentParser

/// The strings that a command processes: its arguments, with `-` replaced by the lines of standard
/// input.
struct ArgumentReader {
  private var remaining: ArraySlice<String>
  private var input: InputLines?

  /// Throws if there are no arguments.
  init(_ arguments: [String]) throws(ValidationError) {
    guard !arguments.isEmpty else {
      throw ValidationError(
        "a URI is missing; give URIs, or - to read them from standard input, one a line")
    }
    remaining = arguments[...]
  }

  /// Returns as many strings as are available without waiting, at least one; nil at the end.
  mutating func next() throws(CommandError) -> [String]? {
    if let lines = try input?.next() { return lines }
    input = nil
    let next = remaining.prefix { $0 != "-" }
    remaining = remaining.dropFirst(next.count)
    if !next.isEmpty { return Array(next) }
    guard remaining.popFirst() != nil else { return nil }
    input = InputLines()
    return try self.next()
  }
}
