import WayNavigation
import WayRPC
import WayValues

extension BridgeClient.HostedPage {
  /// Decodes the parameters as a type. A string is converted to a number or boolean if the type
  /// requires one.
  ///
  /// Throws ``CallError`` (2422) with the path of the mismatch; a host that rethrows it rejects the
  /// page.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(CallError) -> Parameters {
    try params.checkedParameters(as: type)
  }
}

extension BridgeClient.TaskCall {
  /// Decodes the parameters as a type, as ``BridgeClient/HostedPage/decode(_:)`` does.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(CallError) -> Parameters {
    try params.checkedParameters(as: type)
  }
}

extension BridgeClient.InterceptedCall {
  /// Decodes the parameters as a type, as ``BridgeClient/HostedPage/decode(_:)`` does; if the interceptor
  /// rethrows the error, the call is refused.
  public func decode<Parameters: Decodable>(
    _ type: Parameters.Type = Parameters.self
  ) throws(CallError) -> Parameters {
    try params.checkedParameters(as: type)
  }
}

extension ValueObject {
  fileprivate func checkedParameters<Parameters: Decodable>(
    as type: Parameters.Type
  ) throws(CallError) -> Parameters {
    do { return try decodeParameters(as: type) } catch {
      throw CallError(.invalidParameters, "\(error)")
    }
  }
}
