import Waybridge

/// The answers of a replay beside those of its recording: what differs, and which id stands for which.
struct ReplayComparison {
  /// What has come of it.
  struct Summary {
    var calls = 0
    var compared = 0
    var left = 0
    var differences: [String] = []

    /// For people.
    var text: String {
      let rest = left > 0 ? "; \(left) messages cannot be played" : ""
      return "\(calls) calls, \(compared) answers compared, \(differences.count) differences\(rest)"
    }
  }

  var summary = Summary()
  var likeness = ReplayIdentifierMap()
  private let ignored: [String]

  /// `ignored` are methods and URIs whose answers do not count; a `*` at the end stands for any rest.
  init(ignoring ignored: [String]) {
    self.ignored = ignored
  }

  mutating func differ(_ text: String) { summary.differences.append(text) }

  /// Compares what a call was answered with what it is answered now.
  mutating func compare(
    _ call: RecordedSession.Call, with answer: Result<Value, CallError>
  ) {
    if isIgnored(call) { return }
    let name = "\(call.line): \(call.text)"
    switch answer {
    case .success(let value):
      guard call.code == 0 else {
        return differ("\(name): the error \(call.code) has become a result")
      }
      guard let recorded = call.answer else { return }
      summary.compared += 1
      summary.differences += likeness.differences(from: recorded, to: value, at: "\(name): result")
    case .failure(let error):
      guard call.code == error.code else {
        let old = call.code == 0 ? "a result" : "the error \(call.code)"
        return differ("\(name): \(old) has become the error \(error.code): \(error.message)")
      }
      summary.compared += 1
      guard let recorded = call.answer?["data"], let data = error.data else { return }
      summary.differences += likeness.differences(
        from: recorded, to: data, at: "\(name): error.data", isError: true)
    }
  }

  private func isIgnored(_ call: RecordedSession.Call) -> Bool {
    ignored.contains { pattern in
      [call.method, call.params["uri"]?.string ?? ""].contains { text in
        pattern.hasSuffix("*") ? text.hasPrefix(pattern.dropLast()) : text == pattern
      }
    }
  }
}
