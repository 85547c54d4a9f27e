/// A value does not fit the type that it is read as.
package struct ValueDecodingError: Error {
  /// Where it is, as a JSON path (RFC 9535).
  package let path: String
  /// What is wrong.
  package let message: String
}

extension ValueDecodingError: CustomStringConvertible {
  package var description: String { "\(path): \(message)" }
}

extension ValueObject {
  /// The members as a type, text read as a number or truth value where the type wants one.
  package func readParameters<Parameters: Decodable>(
    as type: Parameters.Type
  ) throws(ValueDecodingError) -> Parameters {
    try Value.object(self).read(as: type, by: ValueDecoder(readsText: true))
  }
}

extension Value {
  /// The value as a type, strictly.
  package func read<Result: Decodable>(
    as type: Result.Type, by decoder: ValueDecoder = ValueDecoder()
  ) throws(ValueDecodingError) -> Result {
    do {
      return try decoder.decode(type, from: self)
    } catch let error as DecodingError {
      throw ValueDecodingError(error)
    } catch {
      throw ValueDecodingError(path: "$", message: "\(error)".brief)
    }
  }
}

extension ValueDecodingError {
  fileprivate init(_ error: DecodingError) {
    let context: DecodingError.Context
    var path: [any CodingKey] = []
    switch error {
    case .typeMismatch(_, let given), .valueNotFound(_, let given), .dataCorrupted(let given):
      context = given
      path = given.codingPath
    case .keyNotFound(let key, let given):
      context = given
      path = given.codingPath + [key]
    @unknown default:
      self.init(path: "$", message: "\(error)".brief)
      return
    }
    let place = path.reduce(JSONPath.root) { place, key in
      key.intValue.map(place.element) ?? place.member(key.stringValue.brief)
    }
    self.init(path: place.description, message: context.debugDescription)
  }
}
