import WayValues

/// Statistics of the calls of one route, while a client inspects the server.
struct InspectedRouteMeter: Sendable {
  private(set) var errors = 0
  private(set) var durations = InspectedDurationHistogram()

  mutating func record(code: Int, nanoseconds: UInt64) {
    if code != 0 { errors &+= 1 }
    durations.record(nanoseconds: nanoseconds)
  }

  static func += (all: inout InspectedRouteMeter, part: InspectedRouteMeter) {
    all.errors &+= part.errors
    all.durations += part.durations
  }

  /// The statistics as `admin.routes` reports them.
  var members: ValueObject {
    [
      "calls": .integer(Int64(durations.count)), "errors": .integer(Int64(errors)),
      "p50": durations.quantile(0.5).map { .milliseconds($0) } ?? .null,
      "p99": durations.quantile(0.99).map { .milliseconds($0) } ?? .null,
    ]
  }
}

extension Value {
  /// Nanoseconds as milliseconds with three decimal places.
  static func milliseconds(_ nanoseconds: UInt64) -> Value {
    let micros = nanoseconds / 1000
    return micros % 1000 == 0
      ? .integer(Int64(micros / 1000)) : Value((Double(micros) / 1000))
  }
}
