import TestSupport
import Testing
import WayRouting
import WaySession
import WayTable
import WayTransport

@Suite(.timeLimit(.minutes(2)))
struct VectorTests {
  @Test(arguments: try ProjectFiles.transcripts())
  func transcriptHoldsInMemory(_ transcript: Transcript) async throws {
    try await transcript.replay(on: try WireBridge.conformance().server)
  }

  @Test func whatIsJSONComesBackAsItWas() async throws {
    #expect(try await JSONCases().failures(on: try WireBridge.conformance().server) == [])
  }
}

extension Transcript: CustomTestStringConvertible {
  package var testDescription: String { name }
}
