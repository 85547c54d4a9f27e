import WayValues

/// The result of a change that is in force at this server, and of sharing it with the other servers
/// of the cluster.
struct ChangeResult: Sendable {
  /// The result for the client, which includes that of each other server.
  let value: Value
  /// The servers at which the change has failed, or is not known to be in force.
  let failedServers: [String]
  /// The reason why the change is in force at this server only; the client receives it instead of
  /// the value.
  let sharingError: CallError?

  /// Creates the result of a change that is complete unless servers have failed.
  init(_ value: Value, failedServers: [String] = []) {
    self.value = value
    self.failedServers = failedServers
    sharingError = nil
  }

  /// Creates the result of a change that was shared with all servers. `responses` has the response
  /// of each of them, or the reason why it could not be shared; `nil` if there is no cluster.
  init(_ members: ValueObject, _ responses: Result<[PeerResponse<Value>], CallError>?) {
    var members = members
    switch responses {
    case nil: (failedServers, sharingError) = ([], nil)
    case .success(let responses):
      members["servers"] = .array(responses.map(\.value))
      failedServers = responses.filter(\.isFailure).map(\.server)
      sharingError = nil
    case .failure(let error): (failedServers, sharingError) = ([], error)
    }
    value = .object(members)
  }

  /// Whether the change is not in force at all servers.
  var isIncomplete: Bool { sharingError != nil || !failedServers.isEmpty }

  /// The response for the client.
  var response: Result<Value, CallError> { sharingError.map(Result.failure) ?? .success(value) }
}
