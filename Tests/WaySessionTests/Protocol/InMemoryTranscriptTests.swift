import TestSupport
import Testing
import WayRouting
import WaySession
import WayTable
import WayTransport

@Suite(.timeLimit(.minutes(2)))
struct InMemoryTranscriptTests {
  @Test(arguments: try ProjectFiles.transcripts())
  func replaysTranscript(_ transcript: Transcript) async throws {
    let server: any ServerFixture =
      transcript.restartsServer
      ? try await RestartableServerFixture()
      : try InMemoryBridge.conformance(policy: transcript.policy).server
    try await transcript.replay(on: server)
  }

  @Test func echoesJSONUnchanged() async throws {
    #expect(try await JSONCases().failures(on: try InMemoryBridge.conformance().server) == [])
  }
}

extension Transcript: CustomTestStringConvertible {
  package var testDescription: String { name }
}
