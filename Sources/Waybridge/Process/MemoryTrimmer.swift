import CWayMalloc
import Glibc
import WayTransport

/// Returns memory to the system after a burst: the C library keeps free memory between two blocks
/// in use, however much it is.
///
/// Every five seconds it checks how much memory the process holds without using it. If that has
/// grown much since the last trim, it is returned (malloc_trim).
final class MemoryTrimmer: Sendable {
  private static let checkInterval = Duration.seconds(5)
  /// The growth in bytes that is not returned: returning and allocating it again would cost more.
  private static let minimumGain = 8 << 20

  private let loop: any EventLoop

  /// Makes all threads allocate from one arena, unless `MALLOC_ARENA_MAX` is set (mallopt). Memory
  /// that one loop frees is then available to the others; otherwise each loop keeps the memory of
  /// its peak. Small blocks come from a cache of each thread in both cases. Call this before loops
  /// are created.
  static func limitArenas() {
    if getenv("MALLOC_ARENA_MAX") == nil { mallopt(M_ARENA_MAX, 1) }
  }

  init(loop: any EventLoop) {
    self.loop = loop
    scheduleCheck(lowest: .max)
  }

  /// `lowest` is the smallest number of unused bytes that was seen.
  private func scheduleCheck(lowest: Int) {
    _ = loop.schedule(after: Self.checkInterval) { [weak self] in
      guard let self, var unused = Self.unusedBytes else { return }
      if lowest != .max, unused > lowest + Self.minimumGain {
        malloc_trim(0)
        unused = Self.unusedBytes ?? unused
        scheduleCheck(lowest: unused)
      } else {
        scheduleCheck(lowest: min(lowest, unused))
      }
    }
  }

  /// Resident bytes that are not in blocks in use, including those of the program itself.
  private static var unusedBytes: Int? {
    guard let resident = ProcessMetrics.residentBytes else { return nil }
    let heap = mallinfo2()
    return Int(resident) - Int(heap.uordblks) - Int(heap.hblkhd)
  }
}
