import ArgumentParser
import Waybridge
import WaybridgeClient

struct ReplayCommand: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replay a session that the inspector has recorded, and compare it",
    discussion: """
      Example: waybridge replay s-4b1f.jsonl
      Example: waybridge replay s-4b1f.jsonl --ignore action://time

      FILE is a recording that the inspector has saved: lines of JSON, at most 64 MiB. The command \
      connects the recorded clients with their hosts to a server, and opens the pages that were open. \
      The clients then repeat their calls in the recorded order, and respond to requests as recorded. \
      Ids, secrets and pages are those of the new session.

      The command prints a line for each difference: other results, requests that are not in the \
      recording, and recorded requests that are missing. It does not compare times in milliseconds, \
      texts of errors and tokens. It does not repeat calls that began before the recording.

      All clients use the token of --token-file; guests use the invitations of the new session.

      \(CommandSettingHelp.environment)

      \(CommandSettingHelp.files)

      Exit code: 0 if nothing differs; 1 if something differs, or the recording or the server \
      fails; 64 if the command line is wrong.
      """)

  @Argument(help: "Recording; - reads standard input", completion: .file())
  var file: String

  @Flag(help: "Keep the pauses of the recording; without it, there are none")
  var timed = false

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Methods or URIs whose results are not compared; * at the end matches any rest",
      valueName: "name"), completion: .nothing)
  var ignore: [String] = []

  @OptionGroup(title: "Server options") var server: CommandSettingFlags<ServerSettings>

  @OptionGroup var config: ConfigurationFile

  var flags: [CommandSettingFlag] { server.all }

  func run() async throws {
    let settings = try settings()
    let recording = try ReplayedSession(
      Self.read(file).split(separator: "\n", omittingEmptySubsequences: false), from: file)
    let token = try settings.tokenFile.map(CommandTokenFile.read)
    let replayer = Replayer(
      recording, url: settings.url, token: token, isTimed: timed, ignoring: ignore)
    let summary: ReplayComparison.ReplaySummary
    do { summary = try await replayer.replay() } catch let error as CallError {
      throw CommandError(error, from: settings.url)
    }
    var output = Output()
    for line in summary.differences { try output.appendLine(line) }
    try output.appendLine(summary.text)
    try output.flush()
    if !summary.differences.isEmpty { throw ExitCode.failure }
  }

  /// The limit of a recording that the inspector saves.
  private static let maxSize = 64 << 20

  private static func read(_ path: String) throws(CommandError) -> String {
    let bytes: [UInt8]
    if path == "-" {
      bytes = try StandardInput.read(limit: maxSize)
    } else {
      do throws(FileError) {
        bytes = try BoundedServerFile(path, limit: maxSize).read().bytes
      } catch {
        throw CommandError("the recording \(error)")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError("the recording \(quoted(path)) is not UTF-8")
    }
    return text
  }
}
