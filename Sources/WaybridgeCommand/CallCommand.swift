import ArgumentParser
import Foundation
import WaybridgeClient

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call one method of a bridge and print its result.",
    discussion: """
      Example: waybridge call router.invoke '{"uri": "action://time"}'
      The result is printed as one line of JSON; errors and progress go to standard error. The exit code is 0 after \
      a result, 1 after an error, and 64 where the command line is wrong.
      """)

  @Argument(help: "The method, for example router.canOpen or rpc.discover.")
  var method: String

  @Argument(help: "The params: a JSON object or array.")
  var params: String?

  @Option(help: "The bridge's address.")
  var url = "ws://127.0.0.1:8080/bridge"

  func run() async throws {
    let params = try params.map(Self.parse)
    let client = try await BridgeClient.connect(to: url)
    let answer: Result<Value, any Error>
    do {
      answer = .success(
        try await client.request(method, params) { Self.tell("progress \(Self.text($0))") })
    } catch {
      answer = .failure(error)
    }
    await client.close()
    do {
      print(Self.text(try answer.get()))
    } catch let error as CallError {
      throw CommandError("\(error)\(error.data.map { " " + Self.text($0) } ?? "")")
    }
  }

  private static func parse(_ text: String) throws(CommandError) -> Value {
    let value: Value
    do throws(InvalidJSON) {
      value = try Value(json: text)
    } catch {
      throw CommandError("PARAMS is not JSON: \(error)")
    }
    guard value.object != nil || value.list != nil else {
      throw CommandError("PARAMS must be a JSON object or array, not a \(value.kindName)")
    }
    return value
  }

  private static func text(_ value: Value) -> String {
    value.json ?? "(a value that is nested too deeply to print)"
  }

  private static func tell(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
