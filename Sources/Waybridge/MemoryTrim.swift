import CWayMalloc
import WayTransport

/// Gives memory back to the system after a burst: the C library keeps what lies between two pieces
/// in use, however much it is.
///
/// Every five seconds it looks at what the process holds without using it. Where that has grown by
/// much since it was last given back, it is given back (malloc_trim).
final class MemoryTrim: Sendable {
  private static let period = Duration.seconds(5)
  /// Bytes that are left alone: giving them back and taking them anew would cost more.
  private static let slack = 32 << 20

  private let loop: any EventLoop

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
