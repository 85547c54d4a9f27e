import Waybridge
import WaybridgeClient

/// A session that the inspector has recorded, as lines of JSON. The first line describes the state
/// at the start; the others are records of `admin.records` with their messages.
struct ReplayedSession {
  /// A client of the session.
  struct RecordedClient {
    /// The client's id in the recording.
    let id: String
    var name = "replay"
    var version = "1"
    var page: String?
    var isGuest = false
    var hosts: [Value] = []
    var topics: [String] = []
  }

  /// A page that was open when the recording began.
  struct RecordedPage {
    let id: String
    let uri: String
    let params: Value
    let isPresented: Bool
    /// The calls that opened it, if they ended in the recording.
    fileprivate(set) var openings: [RecordedCall] = []

    /// Decodes a page; nil if the value is not a page of a stack.
    fileprivate init?(_ value: Value) {
      guard let id = value["id"]?.string, let uri = value["uri"]?.string else { return nil }
      self.id = id
      self.uri = uri
      params = value["params"] ?? [:]
      isPresented = value["style"] == "present"
    }
  }

  /// A call of a client.
  struct RecordedCall: Sendable {
    /// The line in the recording, which identifies the call.
    let line: Int
    let client: String
    let method: String
    let params: Value
    let isNotification: Bool
    /// The page that the call has opened.
    let page: String?
    /// The result; nil if it is not known.
    let result: Value?
    let code: Int64

    fileprivate init(_ record: InspectorRecordLine, client: String, method: String) {
      line = record.line
      self.client = client
      self.method = method
      params = record.value["params"] ?? .null
      page = method == "router.open" ? record.fields.page : nil
      isNotification = record.fields.notification == true
      result = record.fields.ms == nil ? nil : record.value["result"]
      code = record.fields.code ?? 0
    }

    /// The call, for output.
    var text: String { "\(method) \(params["uri"]?.string ?? "")".trimmed }
  }

  /// A request to a client, and its response.
  struct RecordedRequest: Sendable {
    /// The line in the recording, which identifies the request.
    let line: Int
    let client: String
    let id: Value
    let method: String
    let params: Value
    let result: Value
    let code: Int64

    fileprivate init(
      _ record: InspectorRecordLine, client: String, params: Value, result: Value
    ) {
      line = record.line
      self.client = client
      self.params = params
      self.result = result
      id = record.value["id"] ?? .null
      method = record.fields.method ?? ""
      code = record.fields.code ?? 0
    }

    /// The subject by which the request is found again: a URI, or the name of a page's method.
    var subject: String {
      params["uri"]?.string ?? params["page"]?["uri"]?.string ?? params["method"]?.string ?? ""
    }

    /// The request, for output.
    var text: String { "\(method) \(subject)".trimmed }
  }

  enum RecordedEvent {
    case clientJoined(RecordedClient)
    case callSent(RecordedCall)
    case requestReceived(RecordedRequest)
    case responseSent(RecordedRequest)
    /// The page of a call is open.
    case pageOpened(String)
    case callCompleted(RecordedCall)
    case clientLeft(String)

    /// The order of events that have the same time.
    fileprivate var rank: Int {
      switch self {
      case .clientJoined: 0
      case .callSent: 1
      case .requestReceived: 2
      case .responseSent: 3
      case .pageOpened: 4
      case .callCompleted: 5
      case .clientLeft: 6
      }
    }
  }

  /// The clients that were connected when the recording began, in the order in which they joined.
  private(set) var clients: [RecordedClient] = []
  /// The pages that were open when the recording began, bottom first.
  private(set) var pages: [RecordedPage] = []
  /// The events by time, in milliseconds.
  private(set) var events: [(at: Double, event: RecordedEvent)] = []
  /// The number of messages that cannot be replayed. They were too large to be recorded, were left
  /// out, or belong to calls that had begun before the recording.
  private(set) var skippedCount = 0
  /// The start of the recording; records with an earlier time had begun before.
  private let startTime: Double
  /// The numbers of the calls that were pending at the start.
  private let pendingCalls: Set<Int64>

  /// The methods for a client's own session and connection, which the replay calls itself.
  private static let connectionMethods: Set = [
    "session.open", "session.resume", "session.close", "session.renew", "session.clients",
    "rpc.discover",
  ]

  /// Parses the lines of a file. `path` is included in errors.
  init(_ lines: [Substring], from path: String) throws(CommandError) {
    var values: [(line: Int, value: Value)] = []
    for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
      do throws(InvalidJSON) { values.append((index + 1, try Value(json: String(line)))) } catch {
        throw CommandError("\(path):\(index + 1): this is not JSON: \(error)")
      }
    }
    guard let head = values.first?.value, head["type"] == "recording", head["version"] == 1 else {
      throw CommandError(
        "\(path):1: this is not a recording: the first line must be {\"type\": \"recording\", "
          + "\"version\": 1, …}, as the inspector writes it")
    }
    clients = (head["clients"]?.array ?? []).compactMap { value in
      InspectorRecordLine(value, line: 1).flatMap { RecordedClient($0.fields) }
    }
    // Both times are from clocks that began at a whole millisecond.
    startTime = (head["at"]?.double ?? -.infinity) - 1
    pendingCalls = Set((head["calls"]?.array ?? []).compactMap { $0["call"]?.integer })
    let pageValues = Self.flattened(head["stack"]?["pages"]?.array ?? [])
    pages = pageValues.compactMap(RecordedPage.init)
    skippedCount = pageValues.count - pages.count
    addRecords(
      values.dropFirst().compactMap { line, value in
        let record = InspectorRecordLine(value, line: line)
        if record == nil { skippedCount += 1 }
        return record
      })
    sortEvents()
  }

  private mutating func addRecords(_ records: [InspectorRecordLine]) {
    // The records of calls that have not ended; a later record replaces them.
    var waiting: [Int64: InspectorRecordLine] = [:]
    for record in records {
      let fields = record.fields
      guard let at = fields.at, at.isFinite else {
        // The last line may state how many records the inspector has left out.
        skippedCount += Int(min(max(fields.left ?? 1, 0), 1 << 32))
        continue
      }
      switch fields.type {
      case "call":
        if fields.state == "waits", let number = fields.call {
          waiting[number] = record
        } else {
          if let number = fields.call { waiting[number] = nil }
          add(call: record, at)
        }
      case "ask": add(request: record, at)
      case "page":
        guard fields.event == "opened", let page = fields.page else { break }
        events.append((at, .pageOpened(page)))
      case "client": add(client: fields, at, among: records)
      default: break
      }
    }
    for record in waiting.values { add(call: record, record.fields.at ?? 0) }
  }

  private mutating func sortEvents() {
    // Pages that no call of the recording has opened cannot be awaited.
    let opened = Set(
      events.compactMap { if case .callSent(let call) = $0.event { call.page } else { nil } })
    events.removeAll {
      if case .pageOpened(let page) = $0.event { !opened.contains(page) } else { false }
    }
    let order = events.enumerated().sorted { left, right in
      (left.element.at, left.element.event.rank, left.offset)
        < (right.element.at, right.element.event.rank, right.offset)
    }
    events = order.map(\.element)
  }

  private mutating func add(call record: InspectorRecordLine, _ at: Double) {
    guard let client = record.fields.client, let method = record.fields.method,
      !Self.connectionMethods.contains(method), !method.hasPrefix("$/"), !method.hasPrefix("admin.")
    else { return }
    let call = RecordedCall(record, client: client, method: method)
    let end = call.isNotification ? nil : record.fields.ms.map { at + $0 }
    if let page = pages.firstIndex(where: { $0.id == call.page }) {
      // The page is opened before all events.
      guard let end else { return }
      pages[page].openings.append(call)
      events.append((end, .callCompleted(call)))
      return
    }
    if beganBeforeRecording(record.fields, at) { return }
    if record.value["paramsCut"] != nil {
      skippedCount += 1
      return
    }
    events.append((at, .callSent(call)))
    if let end { events.append((end, .callCompleted(call))) }
  }

  private mutating func add(request record: InspectorRecordLine, _ at: Double) {
    guard let client = record.fields.client, let ms = record.fields.ms else { return }
    if beganBeforeRecording(record.fields, at) { return }
    guard let params = record.value["params"], let result = record.value["result"] else {
      skippedCount += 1
      return
    }
    let request = RecordedRequest(record, client: client, params: params, result: result)
    events.append((at, .requestReceived(request)))
    events.append((at + ms, .responseSent(request)))
  }

  /// Whether the record had begun before the recording, or belongs to a pending call of that time:
  /// the replay does not repeat it. Counts it as skipped unless it had ended by then.
  private mutating func beganBeforeRecording(_ record: InspectorRecordFields, _ at: Double) -> Bool
  {
    let isPending = record.call.map(pendingCalls.contains) ?? false
    guard at < startTime || isPending else { return false }
    if at + (record.ms ?? 0) >= startTime { skippedCount += 1 }
    return true
  }

  private mutating func add(
    client record: InspectorRecordFields, _ at: Double, among records: [InspectorRecordLine]
  ) {
    guard at >= startTime, let id = record.client else { return }
    switch record.event {
    case "joined":
      var client = RecordedClient(record) ?? RecordedClient(id: id)
      // A record of its own lists the hosts that the client registers at the start.
      let hosts = records.first { $0.fields.event == "hosts" && $0.fields.client == id }
      client.hosts = hosts?.fields.hosts ?? []
      events.append((at, .clientJoined(client)))
    case "left": events.append((at, .clientLeft(id)))
    default: break
    }
  }

  /// All pages; the pages of a modal stack follow the page that they cover.
  private static func flattened(_ pages: [Value]) -> [Value] {
    pages.flatMap { [$0] + flattened($0["pages"]?.array ?? []) }
  }
}

extension ReplayedSession.RecordedClient {
  /// Creates a client of `admin.session` or of a client record; `nil` if the record is neither.
  fileprivate init?(_ record: InspectorRecordFields) {
    guard let id = record.client else { return nil }
    self.id = id
    name = record.name ?? name
    version = record.version ?? version
    page = record.page
    isGuest = record.guest == true
    hosts = record.hosts ?? []
    topics = record.topics ?? []
  }
}

extension String {
  fileprivate var trimmed: String { hasSuffix(" ") ? String(dropLast()) : self }
}
