extension Value {
  /// About how many bytes of memory the value takes. A walk without recursion: any depth will do.
  package var size: Int {
    var left: [Value] = []
    var size = size(leaving: &left)
    while let value = left.popLast() { size += value.size(leaving: &left) }
    return size
  }

  /// Without what is in its lists and objects, which are left to be looked at.
  private func size(leaving left: inout [Value]) -> Int {
    var size = MemoryLayout<Value>.size
    switch self {
    case .null, .bool, .integer: break
    case .number(let number): size += number.digits.utf8.count
    case .string(let text): size += text.utf8.count
    case .list(let values):
      for value in values { size += value.sizeInside(leaving: &left) }
    case .object(let object):
      for member in object.members {
        size += MemoryLayout<ValueObject.Member>.size + member.name.utf8.count
        size += member.value.sizeInside(leaving: &left)
      }
    }
    return size
  }

  /// That of what needs no further look, which most values are; 0 for others, which are left.
  private func sizeInside(leaving left: inout [Value]) -> Int {
    switch self {
    case .list, .object:
      left.append(self)
      return 0
    case .null, .bool, .integer, .number, .string: return size(leaving: &left)
    }
  }
}
