import ArgumentParser
import Foundation
import WayRPC
import WaybridgeClient

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Call one method of a bridge and print its result.",
    discussion: """
      Example: waybridge call router.invoke '{"uri": "action://time"}'
      The result is printed as one line of JSON; errors and progress go to standard error, and the exit code is 1.
      """)

  @Argument(help: "The method, for example router.canOpen or rpc.discover.")
  var method: String

  @Argument(help: "The params: a JSON object or array.")
  var params: String?

  @Option(help: "The bridge's address.")
  var url = "ws://127.0.0.1:8080/bridge"

  func run() async throws {
    let parsed = try params.map(Self.parse)
    do {
      let client = try await BridgeClient.connect(to: url) { progress in
        Self.tell("progress \(Self.text(progress))")
      }
      let result: Value
      do {
        result = try await client.request(method, parsed)
      } catch {
        await client.close()
        throw error
      }
      await client.close()
      print(Self.text(result))
    } catch let error as CallError {
      Self.tell("\(error)\(error.data.map { " " + Self.text($0) } ?? "")")
      throw ExitCode.failure
    } catch {
      Self.tell("error: \(error)")
      throw ExitCode.failure
    }
  }

  private static func parse(_ text: String) throws -> Value {
    do {
      let value = try JSON.parse(Array(text.utf8).span.bytes)
      guard value.object != nil || value.list != nil else {
        throw ValidationError("PARAMS must be a JSON object or array, not \(text)")
      }
      return value
    } catch let error as JSONError {
      throw ValidationError("PARAMS is not JSON: \(error)")
    }
  }

  private static func text(_ value: Value) -> String {
    (try? JSON.text(value)) ?? "(a value that is nested too deeply to print)"
  }

  private static func tell(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
