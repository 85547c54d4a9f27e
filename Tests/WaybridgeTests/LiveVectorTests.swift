import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)), .serialized)
struct LiveVectorTests {
  /// The transcripts that need no waiting; those run in memory, where time can be moved.
  @Test func transcriptsHoldOverASocket() async throws {
    let server = try await LiveServer()
    for transcript in try ProjectFiles.transcripts() where !transcript.isSlow {
      await #expect(throws: Never.self, "\(transcript.name)") {
        try await transcript.replay(on: server)
      }
    }
    await server.stop()
  }
}
