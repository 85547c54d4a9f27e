import WayNavigation
import WayRPC
import WayValues

extension BridgeClient.Page {
  /// The parameters as a type. Text is read as a number or truth value where the type wants one.
  ///
  /// Throws ``CallError`` (2422) with the place of what does not fit; a host that lets it through
  /// refuses the page.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(CallError) -> Parameters {
    try params.read(as: type)
  }
}

extension BridgeClient.TaskCall {
  /// The parameters as a type, as ``BridgeClient/Page/decode(_:)`` reads them.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(CallError) -> Parameters {
    try params.read(as: type)
  }
}

extension ValueObject {
  fileprivate func read<Parameters: Decodable>(
    as type: Parameters.Type
  ) throws(CallError) -> Parameters {
    do { return try readParameters(as: type) } catch {
      throw CallError(.invalidParameters, "\(error)")
    }
  }
}
