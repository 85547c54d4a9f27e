import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)), .serialized)
struct SocketTranscriptTests {
  /// Transcripts that depend on time run at ten times the speed. Those that take minutes run in
  /// memory only.
  @Test(arguments: try ProjectFiles.transcripts().filter { !$0.isLong && !$0.restartsServer })
  func transcriptPassesOverASocket(_ transcript: Transcript) async throws {
    let scale = transcript.isSlow ? 10 : 1
    let server = try await LiveServer(timeScale: scale, policy: transcript.policy)
    await #expect(throws: Never.self) {
      try await transcript.dividingDeadlines(by: Int64(scale)).replay(on: server)
    }
    await server.stop()
  }

  @Test func echoReturnsJSONUnchanged() async throws {
    let server = try await LiveServer()
    let failures = try await JSONCases().failures(on: server)
    #expect(failures == [])
    await server.stop()
  }
}
