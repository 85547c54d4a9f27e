/// Whether the server is still there: when nothing has come from it for a while it is asked, and
/// when no answer comes it is not.
///
/// Pure; times are nanoseconds of one clock.
struct Liveness: Sendable {
  enum Verdict: Sendable, Equatable {
    /// Look again after so many nanoseconds.
    case wait(UInt64)
    /// Ask it, and look again then.
    case ask(UInt64)
    case lost
  }

  /// The longest that is waited for an answer where there is reason to doubt: 5 s.
  private static let doubt: UInt64 = 5_000_000_000

  private let quiet: UInt64
  private let patience: UInt64
  private var heard: UInt64
  private var isAsked = false
  /// Whether there was reason to doubt since something has come.
  private var isDoubted = false

  init(_ silence: Silence, at now: UInt64) {
    quiet = silence.quiet
    patience = silence.patience
    heard = now
  }

  /// Something has come.
  mutating func hear(at now: UInt64) {
    heard = now
    isAsked = false
    isDoubted = false
  }

  /// There is reason to doubt that it is there: the next look asks.
  mutating func doubt(at now: UInt64) {
    heard = now &- quiet
    isAsked = false
    isDoubted = true
  }

  mutating func look(at now: UInt64) -> Verdict {
    let silence = now &- heard
    let patience = isDoubted ? min(patience, Self.doubt) : patience
    if isAsked, silence >= quiet + patience { return .lost }
    guard silence >= quiet else { return .wait(quiet - silence) }
    // A clock that has jumped, as of a machine that slept, says nothing of an answer.
    if !isAsked {
      isAsked = true
      heard = now &- quiet
      return .ask(patience)
    }
    return .wait(quiet + patience - silence)
  }
}

/// How long a server may be silent, in nanoseconds.
struct Silence: Sendable, Equatable {
  /// After so much without a message it is asked.
  let quiet: UInt64
  /// After so much more it is given up.
  let patience: UInt64

  /// Milliseconds, each taken for a second to an hour.
  init(quiet: Int64 = 20_000, patience: Int64 = 15_000) {
    self.quiet = Self.nanoseconds(quiet)
    self.patience = Self.nanoseconds(patience)
  }

  private static func nanoseconds(_ milliseconds: Int64) -> UInt64 {
    UInt64(min(max(milliseconds, 1000), 3_600_000)) * 1_000_000
  }
}
