extension Actor {
  /// As `assumeIsolated`, for who is isolated to an actor of the same loop, and so on that loop for
  /// certain; only a debug build looks. For what is done with every message: looking is a tenth of
  /// a call.
  @inline(__always)
  nonisolated func withoutCheckingIsolation<Success>(
    _ work: (isolated Self) throws -> Success
  ) rethrows -> Success {
    #if DEBUG
      preconditionIsolated()
    #endif
    return try withoutActuallyEscaping(work) { work in
      // What the standard library's `assumeIsolated` does behind its check.
      try unsafeBitCast(work, to: ((Self) throws -> Success).self)(self)
    }
  }
}
