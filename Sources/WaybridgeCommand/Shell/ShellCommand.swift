import ArgumentParser
import Foundation
import UnixSignals
import Waybridge
import WaybridgeClient

struct ShellCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell",
    abstract: "Show an app's native pages on this terminal, and answer for them.",
    discussion: """
      Opens a session, or joins the one that --session and --join name, hosts its pages of a scheme \
      and the tasks that --task names, and asks whoever sits here: a list where there are choices, a \
      form where the route table tells what the result holds, a sheet for a task. It prints how other \
      clients join the session.

      On a terminal the pages are drawn in place, and a line is typed below them; else each line of \
      standard input is carried out, and what happens is printed line by line, without colours; of \
      what nobody reads in time, a line tells how many lines were left out. help lists what can be \
      typed. Colours are off where NO_COLOR is set. A connection that is lost is made again, and pages \
      stay.

      What an app would know of its pages, --content has: a JSON object of lists, by route name or \
      URI, of what can be chosen there.

      \(SettingHelp.sources)

      Exit code: 0 after quit, the end of the input, SIGINT or SIGTERM; 1 where the bridge is not \
      reached or ends the session for good, or the input cannot be read; 64 where the command line is \
      wrong.

      Example: waybridge shell --task action://share
      """)

  @Option(help: "The scheme whose pages are shown.", completion: .nothing)
  var scheme = "native"

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Patterns of tasks to run, such as action://share.", valueName: "pattern"),
    completion: .nothing)
  var task: [String] = []

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Topics of events to tell; * at the end of one stands for any rest.", valueName: "topic"),
    completion: .topic)
  var topic: [String] = []

  @Option(
    help: ArgumentHelp(
      "A JSON object of lists: what can be chosen on a page, by its route's name or its URI.",
      valueName: "file"),
    completion: .json)
  var content: String?

  @OptionGroup var member: SessionFlags

  @OptionGroup var server: ServerFlags

  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> {
    [
      "url": server.url, "tokenFile": server.tokenFile, "session": member.session,
      "join": member.join,
    ]
  }

  func run() async throws {
    let settings = try settings()
    let join = try settings.membership
    let token = try settings.tokenFile.map(CommandTokenFile.read)
    let content = try content.map(ShellCommandContent.read) ?? [:]
    // Before anything is awaited, or a signal would leave the terminal as it is drawn.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    let isTerminal = ShellCommandTerminal.isThere
    let view: any ShellCommandView = isTerminal ? ShellCommandTerminal() : ShellLines()
    // The end waits for who reads the lines, which may be nobody. A terminal is to be left as it was.
    let impatience = isTerminal ? nil : CommandSignalExit()
    defer { impatience?.end() }
    let host = ShellCommandHost(view, content: content)
    let options = BridgeClient.SessionOptions(
      name: "waybridge shell", version: BridgeServer.version, token: token, join: join,
      hosts: [.pages(scheme: scheme, host)] + task.map { host.task($0) })
    let client: BridgeClient
    do {
      client = try await BridgeClient.connect(to: settings.url, session: options)
    } catch {
      throw CommandError("\(error)\(error.data.map { " " + $0.text } ?? "")")
    }
    let run = ShellCommandRunner(client: client, host: host, view: view, url: settings.url)
    try await run.untilQuit(topics: topic, signals: signals)
  }
}
