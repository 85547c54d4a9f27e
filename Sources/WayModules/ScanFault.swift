/// Why modules cannot be registered, and where, in the form in which compilers tell it.
package struct ScanFault: Error, CustomStringConvertible {
  let place: SourcePlace
  let message: String

  package var description: String {
    "\(place.file):\(place.line):\(place.column): error: \(message)"
  }

  static func < (left: ScanFault, right: ScanFault) -> Bool {
    (left.place.file, left.place.line, left.place.column)
      < (right.place.file, right.place.line, right.place.column)
  }
}
