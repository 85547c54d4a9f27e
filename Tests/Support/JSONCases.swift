import WayRPC
import WayValues

/// `protocol/json.json`: texts that are JSON to the protocol, and texts that are not.
package struct JSONCases {
  private let accepted: [Value]
  private let rejected: [Value]

  package init() throws {
    let document = try ProjectFiles.json("protocol/json.json")
    guard let accepted = document["accepted"]?.list, let rejected = document["rejected"]?.list,
      !accepted.isEmpty, !rejected.isEmpty
    else { throw TranscriptFailure(description: "json.json needs accepted and rejected") }
    self.accepted = accepted
    self.rejected = rejected
  }

  /// Sends each text to `echo`; gives what came otherwise than the table says.
  package func failures(on server: any PeerServer) async throws -> [String] {
    let peer = try await Peer.connect(to: server, subprotocol: nil)
    var failures: [String] = []
    for row in accepted {
      let (name, text) = try Self.row(row)
      let answer = try await Self.echo(text, peer)
      let expected = #"{"jsonrpc":"2.0","id":1,"result":[\#(row["comes"]?.string ?? text)]}"#
      if answer.utf8.elementsEqual(expected.utf8) { continue }
      failures.append("\(name): \(answer)")
    }
    for row in rejected {
      let (name, text) = try Self.row(row)
      let answer = try await Self.echo(text, peer)
      let error = try JSON.parse(Array(answer.utf8).span.bytes)["error"]
      let place = (row["place"]?.integer ?? -1) + Int64(Self.head.utf8.count)
      if error?["code"] == -32700, error?["message"]?.string?.contains("byte \(place):") == true {
        continue
      }
      failures.append("\(name): \(answer), not at byte \(place)")
    }
    try await peer.close()
    return failures
  }

  private static let head = #"{"jsonrpc":"2.0","id":1,"method":"echo","params":["#

  private static func row(_ row: Value) throws -> (name: String, text: String) {
    guard let name = row["name"]?.string, let text = row["text"]?.string else {
      throw TranscriptFailure(description: "a row of json.json needs name and text")
    }
    return (name, text)
  }

  private static func echo(_ text: String, _ peer: Peer) async throws -> String {
    try await peer.send(Array("\(head)\(text)]}".utf8))
    guard case .text(let answer) = try await peer.next() else {
      throw TranscriptFailure(description: "\(text) was not answered with a text")
    }
    return String(decoding: answer, as: UTF8.self)
  }
}
