import WayValues

extension BridgeClient {
  /// A condition that calls of some routes wait for, such as that the user has signed in.
  public struct GateDescription: Sendable, Hashable, Decodable {
    private enum CodingKeys: String, CodingKey {
      case name
      case isOpen = "open"
    }

    /// The name.
    public let name: String
    /// Whether the condition is met in this client's session.
    public let isOpen: Bool
  }

  /// Returns the gates of the app, in the order in which a call passes them. Throws ``CallError`` if the
  /// connection is lost.
  public func gates() async throws(CallError) -> [GateDescription] {
    let response = try await perform("session.gates", nil)
    guard let message = try? response.decode(as: GatesMessage.self) else {
      throw .malformedResponse("session.gates", response)
    }
    return message.gates
  }

  /// Opens or closes a gate of the session, for example after the user has signed in or out. When it
  /// opens, the calls that wait for it continue.
  ///
  /// Throws ``CallError``: 2404 (kind `noGate`) if there is no such gate; 2403 for a guest, or if the
  /// policy does not allow it.
  ///
  /// - Parameters:
  ///   - name: the name of the gate.
  ///   - isOpen: whether it opens or closes.
  public func setGate(_ name: String, isOpen: Bool) async throws(CallError) {
    let params = GateParams(gate: name, open: isOpen)
    // Only a number that JSON cannot write is an error, and there is none.
    _ = try await perform("session.setGate", try? ValueEncoder().encode(params))
  }
}

/// The result of `session.gates`.
private struct GatesMessage: Decodable {
  let gates: [BridgeClient.GateDescription]
}

/// The params of `session.setGate`.
private struct GateParams: Encodable {
  let gate: String
  let open: Bool
}
