import ArgumentParser

/// The texts that a command is to work on: its arguments, and in the place of `-` the lines of
/// standard input.
struct ArgumentReader {
  private var rest: ArraySlice<String>
  private var input: InputLines?

  /// Throws where there are none.
  init(_ arguments: [String]) throws(ValidationError) {
    guard !arguments.isEmpty else {
      throw ValidationError("Give a URI, or - to read URIs from standard input, one a line.")
    }
    rest = arguments[...]
  }

  /// As many as are there without waiting, at least one; nil at the end.
  mutating func next() throws(CommandError) -> [String]? {
    if let lines = try input?.next() { return lines }
    input = nil
    let next = rest.prefix { $0 != "-" }
    rest = rest.dropFirst(next.count)
    if !next.isEmpty { return Array(next) }
    guard rest.popFirst() != nil else { return nil }
    input = InputLines()
    return try self.next()
  }
}
