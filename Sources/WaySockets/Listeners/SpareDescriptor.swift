import Glibc

/// A descriptor that is kept for the time when the process has no other left: for as long as it
/// takes to tell one client so.
final class SpareDescriptor {
  private var descriptor = SpareDescriptor.open()

  private static func open() -> Int32 {
    Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
  }

  /// Runs `body`, which leaves no descriptor open, while this one is free. False where there is
  /// none to free.
  func lend(_ body: () -> Void) -> Bool {
    if descriptor < 0 { descriptor = Self.open() }
    guard descriptor >= 0 else { return false }
    close(descriptor)
    body()
    descriptor = Self.open()
    return true
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}
