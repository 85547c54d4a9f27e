import Testing

@testable import WayCrypto

struct ContentDigestTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `Digests are those of FIPS 180, whatever the parts are`(text: String, digest: String) {
    for size in [1, 3, 100] {
      let content = ContentDigest()
      let bytes = Array(text.utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        content.update(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(content.finish() == digest)
      #expect(content.finish() == nil)
    }
  }
}
