import ArgumentParser
import Waybridge
import WaybridgeClient

struct Replay: ConfigurableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Play a session that the inspector has recorded against a bridge.",
    discussion: """
      FILE is what the inspector saves: lines of JSON, at most 64 MiB. Its clients come again, with \
      their hosts, and the pages that were there are opened; they call what they called, in that \
      order, and answer what they are asked as they did. Ids, secrets and pages are those of the new \
      session. What differs is printed, a line each: answers, what is asked beside the recording, and \
      what is not asked any more. Moments in milliseconds, texts of errors and tokens are not \
      compared; calls that had begun before the recording are not made again.

      All clients come with the token of --token-file, guests with the invitations that they are \
      given anew.

      \(SettingHelp.sources)

      Exit code: 0 where all is as it was; 1 where something differs, or the recording or the \
      bridge fails; 64 where the command line is wrong.

      Example: waybridge replay s-4b1f.jsonl --url ws://127.0.0.1:8080/bridge --ignore action://time
      """)

  @Argument(help: "The recording; - reads standard input.", completion: .file())
  var file: String

  @Flag(help: "Keep the pauses of the recording; without, it goes as fast as the answers come.")
  var timed = false

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Methods or URIs whose answers are not compared; * at the end stands for any rest.",
      valueName: "name"), completion: .nothing)
  var ignore: [String] = []

  @OptionGroup var server: ServerFlags

  @OptionGroup var config: ConfigurationFile

  var flags: KeyValuePairs<String, String?> { ["url": server.url, "tokenFile": server.tokenFile] }

  func run() async throws {
    let settings = try settings()
    let recording = try RecordedSession(
      Self.read(file).split(separator: "\n", omittingEmptySubsequences: false), from: file)
    let token = try settings.tokenFile.map(CommandTokenFile.read)
    let player = Replayer(
      recording, url: settings.url, token: token, isTimed: timed, ignoring: ignore)
    let summary: ReplayComparison.Summary
    do { summary = try await player.play() } catch let error as CallError {
      throw CommandError("\(error)\(error.data.map { " " + $0.text } ?? "")")
    }
    var output = Output()
    for line in summary.differences { try output.line(line) }
    try output.line(summary.text)
    try output.flush()
    if !summary.differences.isEmpty { throw ExitCode.failure }
  }

  /// As much as the inspector saves.
  private static let limit = 64 << 20

  private static func read(_ path: String) throws(CommandError) -> String {
    let bytes: [UInt8]
    if path == "-" {
      bytes = try StandardInput.read(limit: limit)
    } else {
      do throws(FileFault) { bytes = try BoundedFile(path, limit: limit).read().bytes } catch {
        throw CommandError("The recording \(error)")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError("The recording \(path) is not UTF-8")
    }
    return text
  }
}
