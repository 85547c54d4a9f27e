import WaybridgeClient

/// Prints whole lines on standard output from several tasks.
actor LinePrinter {
  private var output = Output()

  /// Writes a line at once.
  func printLine(_ text: String) throws(CommandError) {
    try output.appendLine(text)
    try output.flush()
  }
}
