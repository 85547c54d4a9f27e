import TestSupport
import Testing
import WaybridgeClient

/// The transcripts with the Swift client in the place of each client that it can play. What it
/// sends and what it gets is compared, through its interface; not the order in which one client
/// gets its messages, which the interface does not keep.
@Suite(.timeLimit(.minutes(1)), .serialized)
struct ClientTranscriptTests {
  private static let played = Result {
    try ProjectFiles.transcripts().filter { !$0.playable.isEmpty && !$0.isLong && !$0.restarts }
  }

  @Test(arguments: try played.get())
  func transcriptHoldsForTheSwiftClient(_ transcript: Transcript) async throws {
    let scale = transcript.isSlow ? 10 : 1
    let server = try await LiveServer(timeScale: scale, policy: transcript.policy)
    let playable = transcript.playable
    await #expect(throws: Never.self) {
      try await transcript.dividingDeadlines(by: Int64(scale)).replay(on: server) { name, options in
        guard playable.contains(name) else {
          return try await Peer.connect(to: server, subprotocol: options["subprotocol"]?.string)
        }
        return try await TypedTranscriptClient(
          url: server.url, isPlain: options["subprotocol"] == nil,
          methodNames: transcript.methods(calledIn: name))
      }
    }
    await server.stop()
  }

  @Test func mostTranscriptsArePlayed() throws {
    let all = try ProjectFiles.transcripts().count
    let played = try Self.played.get().count
    #expect(played * 3 > all * 2, "\(played) of \(all)")
  }
}
