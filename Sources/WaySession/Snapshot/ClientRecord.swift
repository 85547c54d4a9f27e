import WayRPC
import WayValues

/// The stored form of a client that can resume.
struct ClientRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, tokens, identity, software, hosts, topics
    case uncertainThrough = "doubtful"
    case definesIdentity, page, origin, address, invitation
    case isAgent = "agent"
  }

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
  var uncertainThrough: MessageNumber?
  /// Whether the client defines the identity of its session; `nil` if it has one of its own.
  var definesIdentity: Bool?
  var page: String?
  var origin: String?
  var address: String?
  /// The token of the invitation of a guest.
  var invitation: String?
  /// Whether the client is an agent; `nil` if not.
  var isAgent: Bool?
}

/// The stored form of a client's position in its messages, and of its calls.
struct ClientStateRecord: Codable {
  private enum CodingKeys: String, CodingKey {
    case received, acknowledged, sent
    case numbersMessages = "isNumbering"
    case calls, batches
    case unconfirmedResponses = "answered"
    case abandonedRequests = "requests"
  }

  /// A response that was lost with the server, unless the client has received it: `seq` is the
  /// number of its message.
  struct UnconfirmedResponse: Codable {
    let id: RequestID
    let seq: MessageNumber
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
    var batch: MessageNumber?
    var position: Int?
  }

  /// A batch whose responses are not complete. `answers` has an element for each message: the
  /// response as a string, `true` if it is still due, or `false` if there is none.
  struct UnfinishedBatch: Codable {
    let number: MessageNumber
    let answers: [Value]

    init(_ batch: SessionBatchResponse) {
      number = MessageNumber(batch.number)
      answers = batch.slots.map { slot in
        switch slot {
        case .none: false
        case .pending: true
        case .completed(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        }
      }
    }

    /// Returns the batch. Fails if one of the responses is none.
    func batch() throws(RecordDecodingError) -> SessionBatchResponse {
      SessionBatchResponse(
        number: number.value,
        slots: try answers.map { (value) throws(RecordDecodingError) in
          switch value {
          case .bool(let isWaiting): isWaiting ? .pending : .none
          case .string(let text): .completed(Array(text.utf8))
          default:
            throw RecordDecodingError("an answer of the batch \(number.value) is not a string")
          }
        })
    }
  }

  let received: MessageNumber
  let acknowledged: MessageNumber
  let sent: MessageNumber
  let numbersMessages: Bool
  // Most clients have none of these, and their state is stored ten times a second.
  var calls: [UnfinishedCall]?
  var batches: [UnfinishedBatch]?
  var unconfirmedResponses: [UnconfirmedResponse]?
  /// The requests to the client that nothing waits for after a restart.
  var abandonedRequests: [RequestID]?
}
