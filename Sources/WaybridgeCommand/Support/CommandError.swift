/// An error that is not one of the command line: printed on standard error, exit code 1.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
