import Waybridge
import WaybridgeClient

extension Configuration {
  /// Connects to the bridge for as long as `body` runs. A session is opened where `opensSession`
  /// says so, or where there is a token or a session to join.
  func withClient(opensSession: Bool, _ body: (BridgeClient) async throws -> Void) async throws {
    do {
      let client = try await connect(opensSession)
      do {
        try await body(client)
      } catch {
        await client.close()
        throw error
      }
      await client.close()
    } catch let error as CallError {
      throw CommandError("\(error)\(error.data.map { " " + $0.text } ?? "")\(advice(on: error))")
    }
  }

  /// What to do about a bridge that takes nobody without a token.
  private func advice(on error: CallError) -> String {
    guard error.protocolCode == .notAuthenticated, tokenFile == nil else { return "" }
    return "\nGive the file of a token (--token-file); see waybridge token make."
  }

  /// The command is over with its connection, and says so.
  private func connect(_ opensSession: Bool) async throws -> BridgeClient {
    let token = try tokenFile.map(CommandTokenFile.read)
    let join = try membership
    guard opensSession || token != nil || join != nil else {
      return try await BridgeClient.connect(to: url)
    }
    let options = BridgeClient.SessionOptions(
      name: "waybridge command", version: BridgeServer.version, token: token, join: join,
      reconnect: .never)
    return try await BridgeClient.connect(to: url, session: options)
  }
}

extension BridgeClient {
  /// Calls a method; its progress is told on standard error.
  func result(of method: String, _ params: Value?) async throws -> Value {
    try await request(method, params) { progress in
      Output.tell("progress \(progress.text)")
    }
  }
}

extension Value {
  /// One line of JSON.
  var text: String { json ?? "(a value that is nested too deeply to print)" }
}
