import WayValues

/// Decides which requests that change nothing have an audit record. Of the requests of a client that
/// are about the same, the first has a record; afterwards their number is reported once an hour.
///
/// Its memory is bounded. Beyond ``maxReads``, it forgets the requests that began first, so that
/// their next one counts as the first again.
struct AuditedReads {
  /// What requests have in common that are counted together.
  struct Read: Hashable {
    let client: AuditedClient
    /// The network of a user's client.
    let network: String?
    let method: String
    let target: UTF8Key?
    /// The error's code; `nil` if the request was carried out.
    let code: Int?
  }

  /// The number of requests without a record.
  struct SuppressedReads {
    let read: Read
    let count: Int
  }

  private struct ReadWindow {
    let start: Int64
    var suppressedCount = 0

    /// Whether the window has ended; also if the clock was set back.
    func hasEnded(at now: Int64) -> Bool {
      now < start || now - start >= AuditedReads.windowLength
    }
  }

  /// The shortest time between two records, in milliseconds.
  static let windowLength: Int64 = 3_600_000
  /// The number of clients, methods and targets that are distinguished.
  static let maxReads = 1024

  private var windows: [Read: ReadWindow] = [:]

  /// Decides whether a request at a time in milliseconds has a record. Returns the number of other
  /// requests without a record if it had to forget them.
  mutating func decide(
    _ read: Read, at now: Int64
  ) -> (isRecorded: Bool, forgotten: SuppressedReads?) {
    if let window = windows[read], window.suppressedCount > 0 || !window.hasEnded(at: now) {
      windows[read] = ReadWindow(start: window.start, suppressedCount: window.suppressedCount + 1)
      return (false, nil)
    }
    windows[read] = nil
    let forgotten = windows.count < Self.maxReads ? nil : forgetOldest()
    windows[read] = ReadWindow(start: now)
    return (true, forgotten)
  }

  /// Returns the numbers of requests without a record, of those windows that have ended.
  mutating func report(at now: Int64) -> [SuppressedReads] {
    var reports: [SuppressedReads] = []
    for (read, window) in windows where window.hasEnded(at: now) {
      // The report is the record of the hour that begins now.
      windows[read] = window.suppressedCount > 0 ? ReadWindow(start: now) : nil
      if window.suppressedCount > 0 {
        reports.append(SuppressedReads(read: read, count: window.suppressedCount))
      }
    }
    return reports
  }

  /// Forgets all requests. Returns the numbers of those without a record.
  mutating func removeAll() -> [SuppressedReads] {
    defer { windows = [:] }
    return windows.compactMap { read, window in
      window.suppressedCount > 0
        ? SuppressedReads(read: read, count: window.suppressedCount) : nil
    }
  }

  /// The time at which the next number can be reported; `nil` if there is none.
  var nextReport: Int64? {
    windows.values.lazy.filter { $0.suppressedCount > 0 }.map { $0.start + Self.windowLength }.min()
  }

  private mutating func forgetOldest() -> SuppressedReads? {
    guard let (read, window) = windows.min(by: { $0.value.start < $1.value.start }) else {
      return nil
    }
    windows[read] = nil
    return window.suppressedCount > 0
      ? SuppressedReads(read: read, count: window.suppressedCount) : nil
  }
}
