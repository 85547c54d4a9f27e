extension Value {
  /// The approximate size of the value in bytes of memory, computed without recursion, for any
  /// depth.
  package var size: Int {
    var left: [Value] = []
    var size = size(leaving: &left)
    while let value = left.popLast() { size += value.size(leaving: &left) }
    return size
  }

  /// Returns the size without that of nested arrays and objects, which are appended to `left`.
  private func size(leaving left: inout [Value]) -> Int {
    var size = MemoryLayout<Value>.size
    switch self {
    case .null, .bool, .integer: break
    case .number(let number): size += number.digits.utf8.count
    case .string(let text): size += text.utf8.count
    case .array(let values):
      for value in values { size += value.sizeInside(leaving: &left) }
    case .object(let object):
      for member in object.members {
        size += MemoryLayout<ValueObject.ObjectMember>.size + member.name.utf8.count
        size += member.value.sizeInside(leaving: &left)
      }
    }
    return size
  }

  /// Returns the size of a value without nested ones, as most are; 0 for arrays and objects, which
  /// are appended to `left`.
  private func sizeInside(leaving left: inout [Value]) -> Int {
    switch self {
    case .array, .object:
      left.append(self)
      return 0
    case .null, .bool, .integer, .number, .string: return size(leaving: &left)
    }
  }
}
