/// Whether `bytes` are complete, valid UTF-8 (RFC 3629).
func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
  var index = 0
  let count = bytes.count
  while index < count {
    if index + 8 <= count,
      bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
    {
      index += 8
      continue
    }
    let lead = bytes[index]
    if lead < 0x80 {
      index += 1
      continue
    }
    let (length, lowest, highest): (Int, UInt8, UInt8)
    switch lead {
    case 0xC2...0xDF: (length, lowest, highest) = (2, 0x80, 0xBF)
    case 0xE0: (length, lowest, highest) = (3, 0xA0, 0xBF)
    case 0xED: (length, lowest, highest) = (3, 0x80, 0x9F)
    case 0xE1...0xEF: (length, lowest, highest) = (3, 0x80, 0xBF)
    case 0xF0: (length, lowest, highest) = (4, 0x90, 0xBF)
    case 0xF1...0xF3: (length, lowest, highest) = (4, 0x80, 0xBF)
    case 0xF4: (length, lowest, highest) = (4, 0x80, 0x8F)
    default: return false
    }
    guard index + length <= count, (lowest...highest).contains(bytes[index + 1]) else {
      return false
    }
    for next in 2..<max(length, 2) where bytes[index + next] & 0xC0 != 0x80 { return false }
    index += length
  }
  return true
}
