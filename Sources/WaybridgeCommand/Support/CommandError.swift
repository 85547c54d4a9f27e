/// What went wrong although the command line was right: told on standard error, exit code 1.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
