import ArgumentParser

/// The flags that select the server of a client command.
struct ServerFlags: ParsableArguments {
  @Option(help: .setting("url"), completion: .nothing)
  var url: String?

  @Option(help: .setting("tokenFile", valueName: "file"), completion: .file())
  var tokenFile: String?
}
