import WaybridgeClient

/// Whole lines on standard output from several tasks.
actor LinePrinter {
  private var output = Output()

  /// Writes a line at once.
  func line(_ text: String) throws(CommandError) {
    try output.line(text)
    try output.flush()
  }
}
