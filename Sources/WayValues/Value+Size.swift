extension Value {
  /// About how many bytes of memory the value takes. A walk without recursion: any depth will do.
  package var size: Int {
    var size = 0
    var left = [self]
    while let value = left.popLast() {
      size += MemoryLayout<Value>.size
      switch value {
      case .null, .bool, .integer: break
      case .number(let number): size += number.digits.utf8.count
      case .string(let text): size += text.utf8.count
      case .list(let values): left += values
      case .object(let object):
        for member in object.members {
          size += MemoryLayout<ValueObject.Member>.size + member.name.utf8.count
          left.append(member.value)
        }
      }
    }
    return size
  }
}
