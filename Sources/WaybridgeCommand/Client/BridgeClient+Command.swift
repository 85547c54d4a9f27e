import Waybridge
import WaybridgeClient

extension CommandSettings {
  /// Connects to the server while `body` runs. Opens a session if `opensSession` is true, or if
  /// there is a token or a session to join.
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
      throw CommandError("\(CommandError(error, from: url))\(tokenHint(for: error))")
    }
  }

  /// The advice for a server that rejects clients without a token.
  private func tokenHint(for error: CallError) -> String {
    guard error.protocolCode == .notAuthenticated, tokenFile == nil else { return "" }
    return "\ngive the file of a token (--token-file); see waybridge token make"
  }

  /// The session to join; nil if none is given.
  var joinCredentials: BridgeClient.JoinCredentials? {
    get throws(CommandError) {
      switch (sessionID.isEmpty, joinToken.isEmpty) {
      case (true, true): return nil
      case (false, false): return BridgeClient.JoinCredentials(session: sessionID, token: joinToken)
      default:
        throw CommandError(
          "--session and --join belong together: give both, as waybridge shell prints them, or neither"
        )
      }
    }
  }

  /// Connects without reconnecting: the command ends with its connection and reports that.
  private func connect(_ opensSession: Bool) async throws -> BridgeClient {
    let token = try tokenFile.map(CommandTokenFile.read)
    let join = try joinCredentials
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
  /// Calls a method and prints its progress on standard error.
  func result(of method: String, _ params: Value?) async throws -> Value {
    try await request(method, params) { progress in
      Output.printError("progress \(progress.text)")
    }
  }
}

extension Value {
  /// The value as one line of JSON.
  var text: String { json ?? "(a value that is nested too deeply to print)" }
}
