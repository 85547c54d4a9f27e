import ArgumentParser

/// Which bridge a command is a client of.
struct ServerFlags: ParsableArguments {
  @Option(help: .setting("url"), completion: .nothing)
  var url: String?

  @Option(help: .setting("tokenFile", valueName: "file"), completion: .file())
  var tokenFile: String?
}
