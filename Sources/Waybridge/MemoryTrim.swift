import CWayMalloc
import Glibc
import WayTransport

/// Gives memory back to the system after a burst: the C library keeps what lies between two pieces
/// in use, however much it is.
///
/// Every five seconds it looks at what the process holds without using it. Where that has grown by
/// much since it was last given back, it is given back (malloc_trim).
final class MemoryTrim: Sendable {
  private static let period = Duration.seconds(5)
  /// Bytes that are left alone: giving them back and taking them anew would cost more.
  private static let slack = 8 << 20

  private let loop: any EventLoop

  /// Has all threads take their memory from one place, unless `MALLOC_ARENA_MAX` says something else
  /// (mallopt). What one loop has freed serves the others then; without, each keeps what it has had
  /// at its peak. Small pieces come from a cache of each thread either way. To be called before
  /// there are loops.
  static func share() {
    if getenv("MALLOC_ARENA_MAX") == nil { mallopt(M_ARENA_MAX, 1) }
  }

  init(loop: any EventLoop) {
    self.loop = loop
    next(least: .max)
  }

  /// `least` is the smallest number of unused bytes that was seen.
  private func next(least: Int) {
    _ = loop.schedule(after: Self.period) { [weak self] in
      guard let self, var unused = Self.unused else { return }
      if least != .max, unused > least + Self.slack {
        malloc_trim(0)
        unused = Self.unused ?? unused
        next(least: unused)
      } else {
        next(least: min(least, unused))
      }
    }
  }

  /// Resident bytes that no piece of memory in use takes up, with those of the program itself.
  private static var unused: Int? {
    guard let resident = ProcessMetrics.residentBytes else { return nil }
    let heap = mallinfo2()
    return Int(resident) - Int(heap.uordblks) - Int(heap.hblkhd)
  }
}
