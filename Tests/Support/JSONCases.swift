import WayRPC
import WayValues

/// `protocol/json.json`: strings that the protocol accepts as JSON, and strings that it does not.
package struct JSONCases {
  private let accepted: [Value]
  private let rejected: [Value]

  package init() throws {
    let document = try ProjectFiles.json("protocol/json.json")
    guard let accepted = document["accepted"]?.array, let rejected = document["rejected"]?.array,
      !accepted.isEmpty, !rejected.isEmpty
    else { throw TranscriptFailure(description: "json.json needs accepted and rejected") }
    self.accepted = accepted
    self.rejected = rejected
  }

  /// Sends each string to `echo`. Returns the responses that differ from the table.
  package func failures(on server: any ServerFixture) async throws -> [String] {
    let peer = try await RawClient.connect(to: server, subprotocol: nil)
    var failures: [String] = []
    for row in accepted {
      let (name, text) = try Self.row(row)
      let response = try await Self.echo(text, peer)
      let expected = #"{"jsonrpc":"2.0","id":1,"result":[\#(row["comes"]?.string ?? text)]}"#
      if response.utf8.elementsEqual(expected.utf8) { continue }
      failures.append("\(name): \(response)")
    }
    for row in rejected {
      let (name, text) = try Self.row(row)
      let response = try await Self.echo(text, peer)
      let error = try JSON.parse(Array(response.utf8).span.bytes)["error"]
      let place = (row["place"]?.integer ?? -1) + Int64(Self.requestPrefix.utf8.count)
      if error?["code"] == -32700, error?["message"]?.string?.contains("byte \(place):") == true {
        continue
      }
      failures.append("\(name): \(response), not at byte \(place)")
    }
    try await peer.close()
    return failures
  }

  private static let requestPrefix = #"{"jsonrpc":"2.0","id":1,"method":"echo","params":["#

  private static func row(_ row: Value) throws -> (name: String, text: String) {
    guard let name = row["name"]?.string, let text = row["text"]?.string else {
      throw TranscriptFailure(description: "a row of json.json needs name and text")
    }
    return (name, text)
  }

  private static func echo(_ text: String, _ peer: RawClient) async throws -> String {
    try await peer.send(Array("\(requestPrefix)\(text)]}".utf8))
    guard case .text(let response) = try await peer.next() else {
      throw TranscriptFailure(description: "\(text) got no text response")
    }
    return String(decoding: response, as: UTF8.self)
  }
}
