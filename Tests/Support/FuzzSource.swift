/// A generator that repeats itself from a seed (SplitMix64).
package struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Random parser inputs from a seed: samples that are cut, joined, repeated and damaged, mixed with
/// pieces that are significant to the parser.
package struct FuzzSource {
  package var random: SeededRandom
  private let samples: [[UInt8]]
  private let pieces: [[UInt8]]

  package init(seed: UInt64, samples: [String], pieces: [String]) {
    random = SeededRandom(seed: seed)
    self.samples = samples.map { Array($0.utf8) }
    self.pieces = pieces.map { Array($0.utf8) }
  }

  package mutating func next() -> [UInt8] {
    var bytes = random.next() % 4 == 0 ? [] : pick(samples)
    for _ in 0..<randomBelow(6) { mutate(&bytes) }
    return bytes
  }

  private mutating func mutate(_ bytes: inout [UInt8]) {
    let place = randomBelow(bytes.count + 1)
    switch randomBelow(7) {
    case 0: bytes.insert(contentsOf: pick(pieces), at: place)
    case 1: bytes.replaceSubrange(place..., with: pick(samples).suffix(randomBelow(40)))
    case 2: bytes.removeSubrange(place..<min(place + randomBelow(8), bytes.count))
    case 3 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: random.next())
    case 4 where place < bytes.count: bytes[place] ^= 1 << UInt8(randomBelow(8))
    case 5:
      let part = bytes[place..<min(place + 1 + randomBelow(8), bytes.count)]
      for _ in 0..<randomBelow(300) where bytes.count < 100_000 {
        bytes.insert(contentsOf: part, at: place)
      }
    default: bytes.append(contentsOf: pick(pieces))
    }
  }

  private mutating func pick(_ list: [[UInt8]]) -> [UInt8] {
    list.isEmpty ? [] : list[randomBelow(list.count)]
  }

  private mutating func randomBelow(_ count: Int) -> Int {
    Int.random(in: 0..<count, using: &random)
  }
}
