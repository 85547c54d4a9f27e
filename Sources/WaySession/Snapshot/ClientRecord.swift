import WayRPC
import WayValues

/// The stored form of a client that can resume.
struct ClientRecord: Codable {
  let name: String
  /// The tokens with which the client resumes.
  let tokens: [String]
  let identity: IdentityRecord
  let software: ClientSoftware
  /// The definitions of the hosts, which are read as those of a request.
  let hosts: [Value]
  let topics: [String]
  /// The number up to which it is unknown which of the client's messages were handled; `nil` if it
  /// is known of all.
  var doubtful: UInt64?
  /// Whether the client defines the identity of its session; `nil` if it has one of its own.
  var definesIdentity: Bool?
  var page: String?
  var origin: String?
  var address: String?
  /// The token of the invitation of a guest.
  var invitation: String?
}

/// The stored form of a client's position in its messages, and of its calls.
struct ClientStateRecord: Codable {
  /// A response that was lost with the server, unless the client has received it: `seq` is the
  /// number of its message.
  struct UnconfirmedResponse: Codable {
    let id: RequestID
    let seq: UInt64
  }

  /// A call that has no response yet.
  struct UnfinishedCall: Codable {
    let id: RequestID
    let method: String
    var uri: String?
    /// The page whose outcome the call waits for.
    var page: String?
    /// The params of a call that may be made again.
    var params: Value?
    /// The number of its batch, and its place there.
    var batch: UInt64?
    var position: Int?
  }

  /// The responses of a batch so far, each as a text. Of the others, `true` stands for one that is
  /// due, and `false` for none.
  struct UnfinishedBatch: Codable {
    let number: UInt64
    let answers: [Value]
  }

  let received: UInt64
  let acknowledged: UInt64
  let sent: UInt64
  /// Whether the client numbers its messages.
  let isNumbering: Bool
  let calls: [UnfinishedCall]
  let batches: [UnfinishedBatch]
  let answered: [UnconfirmedResponse]
  /// The requests to the client that nothing waits for after a restart.
  let requests: [RequestID]
}

extension RequestID: Codable {
  package init(from decoder: any Decoder) throws {
    guard let id = RequestID(try Value(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "has to be a request id"))
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
