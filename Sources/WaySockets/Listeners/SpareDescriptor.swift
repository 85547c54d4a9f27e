import Glibc

/// A reserved descriptor. If the process has no other, this one is released briefly to reject a
/// client.
final class SpareDescriptor {
  private var descriptor = SpareDescriptor.open()

  private static func open() -> Int32 {
    Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
  }

  /// Runs `body` while the descriptor is free; `body` leaves none open. Returns false if there is
  /// no descriptor to free.
  func releaseTemporarily(_ body: () -> Void) -> Bool {
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
