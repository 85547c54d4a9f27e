import WayRPC
import Waybridge

/// Creates tokens with a secret that their verifier has too (HS256), for tools and tests.
public struct TokenSigner: Sendable {
  private let key: TokenKey

  /// Reads the secret, see ``TokenKeyFile/secret(_:id:)``, from a file or a pipe. Throws
  /// ``TokenKeyError``.
  ///
  /// - Parameters:
  ///   - path: the path of the secret.
  ///   - keyID: the key id of the tokens (`kid`), 1 to 256 bytes.
  public init(secretFile path: String, keyID: String? = nil) async throws(TokenKeyError) {
    let file = TokenKeyFile.secret(path, id: keyID)
    do throws(FileError) {
      let content = BoundedServerFile(path, limit: TokenKeyFile.maxLength, isPrivate: true)
      key = try file.secretKey(in: try content.read().bytes, id: keyID)
    } catch {
      throw TokenKeyError(error, in: file)
    }
  }

  /// Returns a token with exactly these claims. Throws ``TokenError`` if no verifier would accept
  /// it: it is too long, its claims nest too deep, or its `kid` is not of 1 to 256 bytes.
  public func sign(_ claims: ValueObject) throws(TokenError) -> String {
    var header: ValueObject = ["alg": .string(key.algorithmName), "typ": "JWT"]
    header["kid"] = key.id.map(Value.string)
    let signed = try Self.encodePart(header) + "." + Self.encodePart(claims)
    guard let signature = key.sign(Array(signed.utf8)) else {
      throw TokenError(.invalidSignature, "the secret cannot sign")
    }
    let token = signed + "." + Base64URL.text(of: signature)
    _ = try UnverifiedToken(token).claims()
    return token
  }

  /// Returns a token with these claims, after checking them against the rules; throws
  /// ``TokenError`` if they violate them.
  package func sign(_ claims: ValueObject, for rules: TokenRules) throws(TokenError) -> String {
    _ = try Token(claims, keyID: key.id, rules: rules)
    return try sign(claims)
  }

  private static func encodePart(_ object: ValueObject) throws(TokenError) -> String {
    do throws(EncodingFailure) {
      return Base64URL.text(of: try JSON.text(.object(object)).utf8)
    } catch {
      throw TokenError(.malformed, "the claims cannot be encoded: \(error)")
    }
  }
}
