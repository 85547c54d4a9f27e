import TestSupport
import Testing
import WaybridgeClient

/// Runs the transcripts with the Swift client in place of each client that it can play. The
/// messages that it sends and receives are compared through its interface. The order of one
/// client's messages is not compared, because the interface does not preserve it.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct ClientTranscriptTests {
  private static let replayedTranscripts = Result {
    try ProjectFiles.transcripts().filter {
      !$0.playableClients.isEmpty && !$0.isLong && !$0.restartsServer
    }
  }

  @Test(arguments: try replayedTranscripts.get())
  func transcriptPassesWithTheSwiftClient(_ transcript: Transcript) async throws {
    let scale = transcript.isSlow ? 10 : 1
    let server = try await LiveServer(timeScale: scale, policy: transcript.policy)
    let playable = transcript.playableClients
    await #expect(throws: Never.self) {
      try await transcript.dividingDeadlines(by: Int64(scale)).replay(on: server) { name, options in
        guard playable.contains(name) else {
          return try await RawClient.connect(
            to: server, subprotocol: options["subprotocol"]?.string)
        }
        return try await TypedTranscriptClient(
          url: server.url, isPlain: options["subprotocol"] == nil,
          methodNames: transcript.methods(calledIn: name))
      }
    }
    await server.stop()
  }

  @Test func mostTranscriptsAreReplayed() throws {
    let all = try ProjectFiles.transcripts().count
    let played = try Self.replayedTranscripts.get().count
    #expect(played * 3 > all * 2, "\(played) of \(all)")
  }
}
