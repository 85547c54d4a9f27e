/// The error of a value that does not fit the type that it is decoded as.
package struct ValueDecodingError: Error {
  /// The path of the value, as a JSON path (RFC 9535).
  package let path: String
  /// The fault.
  package let message: String
}

extension ValueDecodingError: CustomStringConvertible {
  package var description: String { "\(path): \(message)" }
}

extension ValueObject {
  /// Decodes the members as a type. Strings are parsed if the type expects a number or boolean.
  package func decodeParameters<Parameters: Decodable>(
    as type: Parameters.Type
  ) throws(ValueDecodingError) -> Parameters {
    try Value.object(self).decode(as: type, by: ValueDecoder(parsesStrings: true))
  }
}

extension Value {
  /// Decodes the value as a type, strictly.
  package func decode<Result: Decodable>(
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
    case .typeMismatch(_, let errorContext), .valueNotFound(_, let errorContext),
      .dataCorrupted(let errorContext):
      context = errorContext
      path = errorContext.codingPath
    case .keyNotFound(let key, let errorContext):
      context = errorContext
      path = errorContext.codingPath + [key]
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
