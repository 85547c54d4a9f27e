/// A parser of the server under input that someone else chooses, with a property that holds for every
/// input. The tests replay the stored corpus through ``all``, and the program of `Tests/Fuzz/in-process`
/// searches for new inputs with libFuzzer.
struct FuzzTarget: Sendable {
  /// The name of the target, and of its folder in `Tests/Fuzz/corpus`.
  let name: String
  /// Checks one input. Throws a ``FuzzFailure`` if the property does not hold. A fault of the parser may
  /// also trap.
  let check: @Sendable ([UInt8]) throws(FuzzFailure) -> Void

  init(_ name: String, _ check: @escaping @Sendable ([UInt8]) throws(FuzzFailure) -> Void) {
    self.name = name
    self.check = check
  }

  /// All targets, in the order of a message's way into the server.
  static let all = [
    requestHead, access, forwarded, addresses, chunkedBody, blobs, frames, json, messages, uris,
    patterns,
    tokens, claims, keySets, keyFiles, policies, invitations, tables, clusterMessages, peerRequests,
    sessionLogs, storedSessions, agentRequests,
  ]

  /// Returns the target with a name; `nil` if there is none.
  static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// The property of a ``FuzzTarget`` does not hold.
struct FuzzFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Throws `failure` unless a property holds.
  static func unless(
    _ holds: Bool, _ failure: @autoclosure () -> String
  ) throws(FuzzFailure) {
    guard holds else { throw FuzzFailure(failure()) }
  }
}

extension [UInt8] {
  /// The input as text; bytes that are no UTF-8 are replaced.
  var text: String { String(decoding: self, as: UTF8.self) }

  /// The input in pieces of a size from 1 to 7, which depends on its length: as it may arrive from a
  /// network.
  var pieces: [[UInt8]] {
    let size = count % 7 + 1
    return stride(from: 0, to: count, by: size).map {
      Array(self[$0..<Swift.min($0 + size, count)])
    }
  }
}
