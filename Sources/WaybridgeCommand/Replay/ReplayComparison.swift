import Waybridge

/// Compares the responses of a replay with those of its recording, and maps their ids.
struct ReplayComparison {
  /// The result of a replay.
  struct ReplaySummary {
    var calls = 0
    var compared = 0
    var skipped = 0
    var differences: [String] = []

    /// The summary, for output.
    var text: String {
      let rest = skipped > 0 ? "; \(skipped) messages cannot be replayed" : ""
      return "\(calls) calls, \(compared) results compared, \(differences.count) differences\(rest)"
    }
  }

  var summary = ReplaySummary()
  var identifiers = ReplayIdentifierMap()
  private let ignoredPatterns: [String]

  /// `ignored` are methods and URIs whose results are not compared; a `*` at the end matches any
  /// rest.
  init(ignoring ignored: [String]) {
    self.ignoredPatterns = ignored
  }

  mutating func recordDifference(_ text: String) { summary.differences.append(text) }

  /// Compares the recorded result of a call with the actual one.
  mutating func compare(
    _ call: ReplayedSession.RecordedCall, with result: Result<Value, CallError>
  ) {
    if isIgnored(call) { return }
    let name = "\(call.line): \(call.text)"
    switch result {
    case .success(let value):
      guard call.code == 0 else {
        return recordDifference("\(name): the error \(call.code) has become a result")
      }
      guard let recorded = call.result else { return }
      summary.compared += 1
      summary.differences += identifiers.differences(
        from: recorded, to: value, at: "\(name): result")
    case .failure(let error):
      guard call.code == error.code else {
        let old = call.code == 0 ? "a result" : "the error \(call.code)"
        return recordDifference(
          "\(name): \(old) has become the error \(error.code): \(error.message)")
      }
      summary.compared += 1
      guard let recorded = call.result?["data"], let data = error.data else { return }
      summary.differences += identifiers.differences(
        from: recorded, to: data, at: "\(name): error.data", isError: true)
    }
  }

  private func isIgnored(_ call: ReplayedSession.RecordedCall) -> Bool {
    ignoredPatterns.contains { pattern in
      [call.method, call.params["uri"]?.string ?? ""].contains { text in
        pattern.hasSuffix("*") ? text.hasPrefix(pattern.dropLast()) : text == pattern
      }
    }
  }
}
