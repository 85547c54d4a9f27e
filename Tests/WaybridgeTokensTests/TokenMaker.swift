import Foundation
import JWTKit
import TestSupport
import Waybridge
import WaybridgeTokens

/// What tests have in common: the time that it is in them, and tokens of any form.
enum TokenMaker {
  /// The time in seconds since 1970.
  static let now: Int64 = 1_800_000_000

  static let secret = "a secret of at least 32 bytes, in a file"

  /// Claims that are taken, and a token's header.
  static let claims =
    #"{"sub":"ada","groups":["editors","staff"],"aud":"waybridge","exp":1800000060}"#
  static let header = #"{"alg":"HS256","typ":"JWT"}"#

  static func rules(at seconds: Int64 = now) -> TokenRules {
    TokenRules(now: { seconds * 1_000 })
  }

  static func part(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// A token whose parts are these texts, signed with a secret, whatever the header says.
  static func token(
    header: String = header, claims: String = claims, secret: String = secret
  ) async throws -> String {
    let key = JWTKeyCollection()
    await key.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    return try await token(header: header, claims: claims, key: key.getKey())
  }

  static func token(
    header: String, claims: String = claims, key: any JWTAlgorithm
  ) throws -> String {
    let signed = part(header) + "." + part(claims)
    let signature = Data(try key.sign(Array(signed.utf8)))
    return signed + "."
      + signature.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
  }

  /// A key pair: what signs, and the public key as PEM.
  static func pair() async throws -> (key: any JWTAlgorithm, pem: String) {
    let pair = try EdDSA.PrivateKey()
    let keys = JWTKeyCollection()
    await keys.add(eddsa: pair)
    return (try await keys.getKey(), pair.publicKey.pemRepresentation + "\n")
  }
}
