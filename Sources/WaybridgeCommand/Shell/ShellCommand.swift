import ArgumentParser
import Foundation
import UnixSignals
import Waybridge
import WaybridgeClient

struct ShellCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell",
    abstract: "Host an app's native pages on this terminal",
    discussion: """
      Example: waybridge shell
      Example: waybridge shell --task action://share

      The command opens a session, or joins the session of --session and --join. It hosts the pages \
      of a scheme and the tasks of --task, and asks you for their results: with a list if there are \
      choices, with a form if the route table declares the result, with a sheet for a task. It prints \
      how other clients can join the session.

      On a terminal it draws the pages in place, and you type below them. Otherwise it performs each \
      line of standard input, and prints events line by line without colours. If the output is not \
      read in time, a line has the number of omitted lines. The line "help" lists the possible input. \
      NO_COLOR switches colours off. The command reconnects after a lost connection, and pages stay.

      --content has the choices that the app would know for its pages: a JSON object of arrays, by \
      route name or URI.

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 after quit, the end of the input, SIGINT or SIGTERM; 1 if the server cannot be \
      reached or ends the session, or the input cannot be read; 64 if the command line is wrong.
      """)

  @Option(help: "Scheme of the pages to host", completion: .nothing)
  var scheme = "native"

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Patterns of tasks to run, such as action://share", valueName: "pattern"),
    completion: .nothing)
  var task: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Topics of events to print; * at the end of a topic matches any rest", valueName: "topic"),
    completion: .topic)
  var topic: [String] = []

  @Option(
    help: ArgumentHelp(
      "JSON object of arrays: the choices on a page, by its route's name or its URI",
      valueName: "file"),
    completion: .json)
  var content: String?

  @OptionGroup(title: "Server options") var server: CommandSettingFlags<ServerSettings>

  @OptionGroup(title: "Session options") var session: CommandSettingFlags<SessionSettings>

  @OptionGroup var config: ConfigurationFile

  var flags: [CommandSettingFlag] { server.all + session.all }

  func run() async throws {
    let settings = try settings()
    let join = try settings.joinCredentials
    let token = try settings.tokenFile.map(CommandTokenFile.read)
    let content = try content.map(ShellCommandContent.read) ?? [:]
    // Signals are handled before anything is awaited; otherwise a signal would leave the terminal
    // in its drawing state.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let isTerminal = ShellCommandTerminal.isAvailable
    let view: any ShellCommandView = isTerminal ? ShellCommandTerminal() : ShellLines()
    // The end waits for a reader of the lines, and there may be none. A terminal has to be restored
    // first.
    let secondSignalExit = isTerminal ? nil : CommandSignalExit()
    defer { secondSignalExit?.cancel() }
    let host = ShellCommandHost(view, content: content)
    let options = BridgeClient.SessionOptions(
      name: "waybridge shell", version: BridgeServer.version, token: token, join: join,
      hosts: [.pages(scheme: scheme, host)] + task.map { host.task($0) })
    let client: BridgeClient
    do {
      client = try await BridgeClient.connect(to: settings.url, session: options)
    } catch {
      throw CommandError(error, from: settings.url)
    }
    let runner = ShellCommandRunner(client: client, host: host, view: view, url: settings.url)
    try await runner.run(topics: topic, signals: signals)
  }
}
